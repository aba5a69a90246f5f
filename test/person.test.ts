/** Words for a person at a terminal: made of outcomes and problems, never read out of the sentences for models. */

import * as fs from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { brokenWordRules } from "../scripts/rooms.js";
import type { GrepRequest } from "../src/contract/grep.ts";
import type { ProblemData } from "../src/contract/problem.ts";
import { lineNumber } from "../src/contract/target.ts";
import { type Line, person, sentenceForPerson, viewOf } from "../src/dialects/person/index.ts";
import { createFilehand, type Profile, type Request } from "../src/index.ts";
import { everyProblem, facts } from "./suites/dialect.ts";
import { type Tree, workspace } from "./support/workspace.ts";

const textOf = (lines: readonly Line[]): string =>
  lines.map((line) => line.map(({ text }) => text).join("")).join("\n");
const rolesOf = (lines: readonly Line[]): readonly string[] =>
  lines.map((line) => line.map(({ role, text }) => `${role}:${text}`).join(" "));

const open = (files: Tree) => {
  const { top } = workspace(files);
  return createFilehand({
    roots: [top],
    ask: "yes",
    reminder: false,
    lineNumbers: "arrow",
    dedup: false,
    readFirst: false,
  }).session();
};

describe("every problem has a sentence for a person", () => {
  for (const problem of Object.values(everyProblem).flat()) {
    const reason = "reason" in problem ? ` (${problem.reason})` : "";
    test(`${problem.code}${reason}`, () => {
      for (const verb of ["edit", "read"] as const) {
        const reply = person.renderProblem(problem, { ...facts, verb });
        expect(reply).toMatchObject({ isError: true, error: { code: problem.code } });
        expect(reply.error?.message).toMatch(/^[A-Z].{10,}/s);
        // What only a call of a model has, and what is said to a model about its user.
        expect(reply.error?.message).not.toMatch(
          /undefined|\[object|NaN|old_string|new_string|replace_all|NotebookEdit/,
        );
        expect(reply.error?.message).not.toMatch(/the user rejected|tell the user|say what you would change/);
      }
    });
  }
});

describe("a refusal says what the person can do about it", () => {
  const place = { asked: "a.txt", absolute: "/w/a.txt", relative: "a.txt" };
  const asking = { code: "ACCESS_DENIED", place, rule: "Edit", remedy: "Edit(/a.txt)", feedback: undefined } as const;
  const cases: readonly (readonly [string, ProblemData, string])[] = [
    [
      "in a mode that writes nothing",
      { code: "ACCESS_DENIED", place, reason: "mode", mode: "plan" },
      'Cannot edit "a.txt": in plan mode nothing is written, use --mode default',
    ],
    [
      "with nobody to ask",
      { ...asking, reason: "nobody to ask" },
      'Cannot edit "a.txt": the rule Edit needs approval and nobody is connected who could give it, the rule Edit(/a.txt) would allow it (--allow), or answer with --yes',
    ],
    ["after a no", { ...asking, reason: "rejected" }, 'Cannot edit "a.txt": you said no'],
    [
      "where several places fit",
      {
        code: "AMBIGUOUS",
        place,
        which: { index: 1, of: 1, othersFound: [] },
        matchedBy: "exact",
        lines: [1, 2],
        total: 2,
      },
      'Cannot edit "a.txt": the old text fits 2 places (at lines 1, 2), nothing was changed, add lines around it until it fits one, or give --all',
    ],
  ];
  for (const [name, problem, words] of cases) {
    test(name, () => expect(sentenceForPerson(problem, "edit")).toBe(words));
  }
});

test("the name of a file is quoted as it is, also if it reads like a sentence of ours", async () => {
  const name = 'a": set replace_all to true, old_string.txt';
  const session = open({ [name]: "one\none\n" });
  const edits = [{ oldText: "one", newText: "two", all: false }] as const;
  const { reply } = await session.run((profile) => ({ verb: "edit", path: name, edits, profile }), { words: person });
  expect(reply.error?.message).toMatch(
    /^Cannot edit "a": set replace_all to true, old_string\.txt": the old text fits 2 places/,
  );
  expect(reply.error?.message).toMatch(/or give --all$/);
});

describe("what is read is shown to a person as a model gets it", () => {
  const files = {
    "a.txt": "one\n\ttwo [x]\n(three)\n<four>\n",
    "crlf.txt": "one\r\ntwo\r\n",
    "empty.txt": "",
    "long.txt": `short\n${"x".repeat(5_000)}\n`,
    "many.txt": "a line of the file\n".repeat(30_000),
    src: {
      "[id].ts": "export function first(): void {}\nexport class Second {\n  method(): void {}\n}\n",
      "(group)": { "page.ts": "const x = 1;\n" },
    },
    "n.ipynb": JSON.stringify({
      cells: [{ cell_type: "code", source: "1", metadata: {}, outputs: [], execution_count: 1, id: "c1" }],
      metadata: {},
      nbformat: 4,
      nbformat_minor: 5,
    }),
  };
  const all = { from: lineNumber(1), linesMax: Number.POSITIVE_INFINITY };
  const read = (path: string, ...ranges: readonly (typeof all | { last: number })[]) =>
    ((profile: Profile) => ({
      verb: "read",
      path,
      ranges: ranges.length === 0 ? [all] : ranges,
      overBudget: "first page",
      profile,
    })) as (profile: Profile) => Request; // at least one range
  const requests: Readonly<Record<string, (profile: Profile) => Request>> = {
    "a text": read("a.txt"),
    "a part of it": read("a.txt", { from: lineNumber(2), linesMax: 1 }),
    "its end": read("a.txt", { last: 2 }),
    "several parts": read("a.txt", { from: lineNumber(1), linesMax: 1 }, { from: lineNumber(3), linesMax: 1 }),
    "Windows line ends": read("crlf.txt"),
    "an empty file": read("empty.txt"),
    "the first page of a long one": read("many.txt"),
    "a line that is cut": (profile) =>
      ({ ...read("long.txt")(profile), profile: { ...profile, lineCharsMax: 100 } }) as Request,
    "a notebook": read("n.ipynb"),
    "a folder": () => ({ verb: "ls", path: ".", from: lineNumber(1), entriesMax: 99, depth: 3 }),
    "a part of a folder": () => ({ verb: "ls", path: ".", from: lineNumber(2), entriesMax: 3, depth: 1 }),
    "an empty folder": () => ({ verb: "ls", path: "src", from: lineNumber(1), entriesMax: 9, ignore: ["*"] }),
    "an outline": (profile) => ({ verb: "outline", path: "src/[id].ts", profile }),
  };
  for (const [name, request] of Object.entries(requests)) {
    test(name, async () => {
      const session = open(files);
      const model = await session.run(request);
      const { reply, outcome } = await session.run(request, { words: person });
      const text = model.reply.content
        .map((part) => (part.type === "text" ? part.text : `[${part.mimeType}]`))
        .join("\n\n");
      // A model knows from the numbers where the part that it asked for ends.
      const short = (shown: string): string =>
        shown.replace(/\[lines \d+ to \d+ of (\d+), go on[^\]]*\]/g, "[$1 lines]");
      expect(short(textOf(viewOf(reply).body))).toBe(text);
      expect(outcome?.kind).toBe(model.outcome?.kind);
    });
  }

  test("what a line is does not depend on how it looks: names in brackets are names", async () => {
    const session = open(files);
    const listed = await session.run(requests["a folder"] ?? read("a.txt"), { words: person });
    const lines = rolesOf(viewOf(listed.reply).body);
    expect(lines).toContain("text:    -  folder:(group)/ aside:");
    expect(lines.map((line) => line.replace(/\d+ B/, "N B"))).toContain("text:    -  text:[id].ts aside: (N B)");
    const found = await session.run(() => ({ verb: "glob", pattern: "src/*", path: undefined, filesMax: 9 }), {
      words: person,
    });
    const { body, notes } = viewOf(found.reply);
    expect(body.map((line) => line.map(({ role }) => role))).toEqual([["aside", "text"]]);
    expect(body[0]?.[1]?.text).toBe("[id].ts");
    expect(rolesOf(notes)).toEqual([]);
    const page = rolesOf(viewOf((await session.run(read("a.txt"), { words: person })).reply).body);
    expect(page).toEqual([
      "number:1→ text:one",
      "number:2→ text:\ttwo [x]",
      "number:3→ text:(three)",
      "number:4→ text:<four>",
    ]);
  });
});

describe("what is found stands apart from what is said about it", () => {
  const grep = (more: Partial<GrepRequest>): GrepRequest => ({
    verb: "grep",
    pattern: "one",
    path: undefined,
    glob: undefined,
    types: [],
    mode: "content",
    before: 0,
    after: 0,
    letterCase: "exact",
    reach: "line",
    numbers: true,
    skip: 0,
    entriesMax: 9,
    order: "newest",
    lineCharsMax: 500,
    ...more,
  });
  const files = { "a.txt": "one\n[not a note]\none more\n", "b.txt": "[one]\n" };

  test("a line of a file that looks like a note is none", async () => {
    const { reply } = await open(files).run(() => grep({ path: "b.txt" }), { words: person });
    expect(viewOf(reply)).toEqual({ body: [[{ role: "text", text: "1:[one]" }]], notes: [] });
  });

  test("nothing found, and a page of what was", async () => {
    const session = open(files);
    const none = await session.run(() => grep({ pattern: "three" }), { words: person });
    expect(viewOf(none.reply)).toEqual({ body: [], notes: [[{ role: "notice", text: "No matches found" }]] });
    const part = await session.run(() => grep({ path: "a.txt", entriesMax: 1 }), { words: person });
    expect(rolesOf(viewOf(part.reply).notes)).toEqual(["notice:These are lines 1 to 1 of 2, go on with offset 1"]);
  });

  test("places of matches are shown below the names of their files", async () => {
    const { reply } = await open(files).run(() => grep({ path: "a.txt", after: 1, spans: true }), { words: person });
    expect(rolesOf(viewOf(reply).body)).toEqual([
      "file:a.txt",
      "count:1 text:  text: match:one text:",
      "number:2 text:  text:[not a note]",
      "count:3 text:  text: match:one text: more",
    ]);
  });
});

describe("a change", () => {
  test("that was found by a loose match has a note, and no lines of the file: the diff shows them", async () => {
    const session = open({ "a.txt": "one  \ntwo\n" });
    const edits = [{ oldText: "one\ntwo", newText: '3 errors in "b":\nWould two', all: false }] as const;
    const { outcome, reply } = await session.run((profile) => ({ verb: "edit", path: "a.txt", edits, profile }), {
      words: person,
    });
    expect(outcome?.found[0]?.matchedBy).toBe("trailing whitespace");
    expect(rolesOf(viewOf(reply).body)).toEqual(['text:Edited "a.txt": 1 replacement at line 1 (+2 -2).']);
    expect(rolesOf(viewOf(reply).notes)).toEqual(["notice:The old text was found, ignoring trailing whitespace."]);
  });

  test("of several files, in a dry run", async () => {
    const session = open({ "a.txt": "one\n" });
    const patchText = "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n*** Add File: b.txt\n+b\n*** End Patch";
    const { reply } = await session.run((profile) => ({ verb: "patch", patchText, profile }), {
      words: person,
      dryRun: true,
    });
    expect(textOf(viewOf(reply).body)).toBe(
      'Dry run, nothing was written.\nWould update "a.txt" (+1 -1).\nWould add "b.txt" (+1 -0).',
    );
  });
});

describe("only a dialect knows our words", () => {
  test("no surface reads them, and no room but dialects knows a dialect's name", () => {
    expect(brokenWordRules()).toEqual([]);
  });

  const broken = (path: string, code: string): readonly string[] => {
    const { top } = workspace({});
    const file = join(top, path);
    fs.mkdirSync(dirname(file), { recursive: true });
    fs.writeFileSync(file, code);
    return brokenWordRules(top).map((line) => line.replace(file, "it"));
  };
  for (const [name, path, code, said] of [
    [
      "a pattern",
      "surfaces/cli/x.ts",
      "const isNote = /^(?:Dry run|Would)\\b/;\n",
      "it reads words with /^(?:Dry run|Would)\\b/",
    ],
    [
      "a text",
      "surfaces/mcp/x.ts",
      'if (text.includes("is not checked yet")) x();\n',
      'it reads words with .includes("is not checked yet"',
    ],
    ["a parameter", "x.ts", 'text.replaceAll("old_string", "x");\n', 'it reads words with .replaceAll("old_string"'],
    [
      "a dialect's name",
      "surfaces/cli/x.ts",
      'const needs = { dialect: "claude" };\n',
      'it knows the dialect "claude"',
    ],
    [
      "a dialect's file",
      "surfaces/cli/x.ts",
      'import { a } from "../../dialects/claude/a.ts";\n',
      "it imports the dialect claude",
    ],
  ] as const) {
    test(`${name} that breaks the rule is found`, () => expect(broken(path, code)).toEqual([said]));
  }

  test("what a person types, file names and protocols may be read", () => {
    const code =
      'const a = /^(\\d+)-(\\d+)$/.exec(text);\nif (path.startsWith("/api/")) b(text.split("\\n"));\n// The session is: /is not checked/\n';
    expect(broken("surfaces/cli/x.ts", code)).toEqual([]);
  });
});
