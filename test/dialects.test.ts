/** Every dialect runs the shared suite. */

import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, test } from "vitest";
import type { Outcome } from "../src/contract/call.ts";
import type { Target } from "../src/contract/target.ts";
import { type DialectName, dialectNames, dialects } from "../src/dialects/index.ts";
import { createFilehand } from "../src/index.ts";
import { type DialectCase, dialectSuite, facts } from "./suites/dialect.ts";

const cases: readonly DialectCase[] = [
  { name: "claude", tool: "Read", path: "file_path", offset: "offset", first: 1 },
  { name: "opencode", tool: "read", path: "filePath", offset: "offset", first: 1 },
  { name: "opencode-legacy", tool: "read", path: "filePath", offset: "offset", first: 0 },
  { name: "envelope", tool: "Read", path: "path", offset: "start_line", first: 1 },
];

for (const given of cases) dialectSuite(given);

test("no dialect is left out", () => {
  expect(cases.map(({ name }) => name).toSorted()).toEqual(dialectNames.toSorted());
});

describe("Outline is offered in every dialect", () => {
  const offered = (dialect: DialectName, options: { readonly outlineTool?: boolean } = {}) =>
    createFilehand({ roots: [import.meta.dirname], ...options })
      .session({ dialect })
      .definitions()
      .filter(({ name }) => /^outline$/iu.test(name))
      .map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));

  for (const dialect of dialectNames) {
    test(`${dialect}: on by default, within 130 tokens, and absent when it is switched off`, () => {
      const [tool] = offered(dialect);
      expect(tool?.inputSchema).toMatchObject({ properties: { depth: { minimum: 1, maximum: 20 } } });
      expect(countTokens(JSON.stringify(tool))).toBeLessThanOrEqual(130);
      expect(offered(dialect, { outlineTool: false })).toEqual([]);
    });
  }
});

describe("Delete and Move are offered in every dialect by default, in few tokens", () => {
  const listOf = (dialect: DialectName) =>
    createFilehand({ roots: [import.meta.dirname] })
      .session({ dialect })
      .definitions()
      .map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));

  for (const dialect of dialectNames) {
    test(`${dialect}: Delete within 75 tokens, Move within 110`, () => {
      const tokensOf = (wanted: string): number =>
        countTokens(JSON.stringify(listOf(dialect).filter(({ name }) => name.toLowerCase() === wanted)[0] ?? ""));
      for (const [tool, tokensMax] of [
        ["delete", 75],
        ["move", 110],
      ] as const) {
        expect(tokensOf(tool)).toBeGreaterThan(20);
        expect(tokensOf(tool)).toBeLessThanOrEqual(tokensMax);
      }
    });
  }

  test("the whole tool list of the claude dialect takes at most 3,000 tokens", () => {
    expect(countTokens(JSON.stringify(listOf("claude")))).toBeLessThanOrEqual(3_000);
  });
});

describe("History, Rewind, Lsp and outlines are worded once", () => {
  const target = { asked: "a.ts", absolute: "/w/a.ts", relative: "a.ts", realRelative: "a.ts" } as Target;
  const at = { path: "/w/a.ts", relative: "a.ts" };
  const hunk = { oldStart: 1, oldLines: 1, newStart: 1, newLines: 1, lines: ["-a", "+b"] };
  const kept = { kind: "file", sizeBytes: 1, content: "c" } as const;
  const forced = { does: "restore", content: "c", sizeBytes: 1 } as const;
  const outcomes: readonly Outcome[] = [
    {
      kind: "history",
      of: "files",
      turns: [
        {
          messageId: "m1",
          name: "m1",
          timestamp: new Date(0),
          rewinds: undefined,
          undone: "no",
          files: [
            {
              ...at,
              did: "changed",
              movedFrom: undefined,
              modes: undefined,
              observed: false,
              undone: false,
              lines: { additions: 1, deletions: 1 },
              why: undefined,
              hunks: [hunk],
              cut: true,
            },
          ],
          filesTotal: 1,
          hiddenByRules: 1,
        },
      ],
      from: 1,
      total: 1,
      next: undefined,
      path: undefined,
    },
    {
      kind: "rewind",
      to: "m1",
      passed: [],
      turn: "m2",
      files: [
        { ...at, step: forced, came: "done", action: forced },
        {
          ...at,
          step: { does: "conflict", why: "changed since", base: kept, ours: kept, theirs: "t", forced },
          came: "left",
          action: undefined,
        },
      ],
      dryRun: false,
      forModel: { hiddenByRules: 1, unchanged: ["c.ts"] },
    },
    {
      kind: "lsp",
      operation: "hover",
      target,
      server: "tsserver",
      at: { line: 2, column: 3, symbol: "run", elsewhere: true },
      query: undefined,
      results: [],
      from: 1,
      total: 0,
      next: undefined,
      hiddenByRules: 0,
      text: "function run(): void",
      textCut: true,
    },
    {
      kind: "outline",
      target,
      why: "asked",
      language: "typescript",
      by: "grammar",
      items: [{ name: "run", kind: "function", from: 1, to: 2, depth: 0, hidden: 0 }],
      total: 1,
      counted: "all",
      depthShown: undefined,
      linesTotal: 2,
      linesRead: undefined,
      faultLine: 2,
      sizeBytes: 9,
      mtimeMs: 0,
      encoding: "utf-8",
      lossy: false,
    },
  ];
  /** The words without the frame of the dialect and its spelling of the tools' names. */
  const wordsIn = (name: DialectName, outcome: Outcome): string => {
    const [part] = dialects[name].render(outcome, facts).content;
    return (part?.type === "text" ? part.text : "")
      .replace("\n(Took 3ms)", "")
      .replaceAll("call Rewind", "call rewind");
  };

  for (const outcome of outcomes) {
    test(`${outcome.kind}: every dialect has the same words`, () => {
      const words = dialectNames.map((name) => wordsIn(name, outcome));
      expect(new Set(words).size, words.join("\n\n")).toBe(1);
    });
  }
});
