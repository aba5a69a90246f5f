/**
 * A path in an answer means the same file when a call gives it back: in every dialect, for every verb that names files,
 * wherever relative paths start. Everywhere in the workspace stands a file of the same name, so that a path that is short
 * by a folder leads to the wrong one, not to none.
 */

import * as nodePath from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { lineNumber } from "../../src/contract/target.ts";
import type { Profile } from "../../src/contract/profile.ts";
import type { Request } from "../../src/contract/call.ts";
import { createFilehand, type DialectName, type FilehandOptions, type Session } from "../../src/index.ts";
import { scriptedServer } from "../support/language-servers.ts";
import { readCalls, textOf } from "../support/reading.ts";
import { workspace } from "../support/workspace.ts";

const twin = (folder: string): string => `of:${folder}\nneedle\n`;
const made = workspace({
  r1: {
    "twin.scripted": twin("r1"),
    src: { "twin.scripted": twin("r1/src") },
    pkg: { "twin.scripted": twin("r1/pkg"), src: { "twin.scripted": twin("r1/pkg/src") } },
  },
  r2: { "twin.scripted": twin("r2"), src: { "twin.scripted": twin("r2/src") } },
  script: {},
});
const [r1, r2] = [made.path("r1"), made.path("r2")];

interface Setting {
  readonly name: string;
  readonly options: Pick<FilehandOptions, "roots" | "cwd">;
  /** Where the files lie that calls are about. */
  readonly folder: string;
  /** How such a file is named where a dialect keeps paths short. */
  readonly short: string;
}

const settings: readonly Setting[] = [
  { name: "in the only root", options: { roots: [r1] }, folder: "r1/src", short: "src/twin.scripted" },
  { name: "in the first of two roots", options: { roots: [r1, r2] }, folder: "r1/src", short: "src/twin.scripted" },
  {
    name: "in the second root",
    options: { roots: [r1, r2] },
    folder: "r2/src",
    short: made.path("r2/src/twin.scripted"),
  },
  {
    name: "beside the folder where paths start",
    options: { roots: [r1], cwd: made.path("r1/pkg") },
    folder: "r1/src",
    short: made.path("r1/src/twin.scripted"),
  },
  {
    name: "in the folder where paths start",
    options: { roots: [r1], cwd: made.path("r1/pkg") },
    folder: "r1/pkg/src",
    short: made.path("r1/pkg/src/twin.scripted"),
  },
  {
    name: "in the first root, where paths start in the second",
    options: { roots: [r1, r2], cwd: r2 },
    folder: "r1/src",
    short: made.path("r1/src/twin.scripted"),
  },
  {
    name: "in the second root, where paths start there",
    options: { roots: [r1, r2], cwd: r2 },
    folder: "r2/src",
    short: "src/twin.scripted",
  },
];

const grep = {
  verb: "grep",
  pattern: "needle",
  glob: undefined,
  types: [],
  before: 0,
  after: 0,
  letterCase: "exact",
  reach: "line",
  numbers: true,
  skip: 0,
  entriesMax: 100,
  order: "path",
  lineCharsMax: 500,
} as const;

type Asked = (folder: string, profile: Profile) => Request;

const file = (folder: string): string => `${folder}/twin.scripted`;
const ranges = [{ from: lineNumber(1), linesMax: 100 }] as const;

/** All that names files in its answers. What would change them is a dry run. */
const asked: Readonly<Record<string, Asked>> = {
  "grep for lines": (path) => ({ ...grep, mode: "content", path }),
  "grep for files": (path) => ({ ...grep, mode: "files", path }),
  "grep for counts": (path) => ({ ...grep, mode: "count", path }),
  "grep in one file": (path) => ({ ...grep, mode: "files", path: file(path) }),
  glob: (path) => ({ verb: "glob", pattern: "**/*.scripted", path, filesMax: 100 }),
  "a path that is not there": (path, profile) => ({
    verb: "read",
    path: `${path}/twin.script`,
    ranges,
    overBudget: "first page",
    profile,
  }),
  edit: (path, profile) => ({
    verb: "edit",
    path: file(path),
    edits: [{ oldText: "needle", newText: "needle more", all: false }],
    profile,
  }),
  patch: (path, profile) => ({
    verb: "patch",
    patchText: `*** Begin Patch\n*** Update File: ${file(path)}\n@@\n of:${nodePath.relative(made.top, path)}\n+more\n*** End Patch`,
    profile,
  }),
  "history of all turns": (_, profile) => ({
    verb: "history",
    turn: undefined,
    path: undefined,
    from: 1,
    itemsMax: 9,
    profile,
  }),
  "history of one turn": (_, profile) => ({
    verb: "history",
    turn: "m1",
    path: undefined,
    from: 1,
    itemsMax: 9,
    profile,
  }),
  "history of a file": (path, profile) => ({
    verb: "history",
    turn: undefined,
    path: file(path),
    from: 1,
    itemsMax: 9,
    profile,
  }),
  rewind: () => ({ verb: "rewind", to: "m1", files: undefined, force: false, as: "rewind", byModel: { dryRun: true } }),
  "a language server": (path, profile) => ({
    verb: "lsp",
    operation: "definition",
    path: file(path),
    at: { line: 2, column: 1, symbol: undefined },
    query: undefined,
    from: 1,
    profile,
  }),
};

/** No paths to be given back: a title, and a context that the specification wants below the root; and diffs, which are for `git apply`. */
const notGivenBack: ReadonlySet<string> = new Set(["title", "context", "diff", "patch"]);

/** All paths to the files in an answer, in its words and in its fields. */
function pathsIn(value: unknown): readonly string[] {
  if (typeof value === "string") {
    const lines = value.split("\n").filter((line) => !/^(---|\+\+\+) /.test(line));
    return lines.flatMap((line) => line.match(/[^\s"'`:()<>|,]*twin\.scripted/g) ?? []);
  }
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, one]) => (notGivenBack.has(key) ? [] : pathsIn(one)));
}

export function givenBackSuite(dialect: DialectName): void {
  const server = scriptedServer(made.path("script", `${dialect}.json`));
  const { tool, parameter } = readCalls[dialect];

  for (const { name, options, folder, short } of settings) {
    describe(`${dialect}: a path to a file ${name}`, () => {
      const place = made.path(folder);
      const state = workspace({}).top;
      const open = (more: Partial<FilehandOptions> = {}) =>
        createFilehand({ ...options, ask: "yes", readFirst: false, dedup: false, stateDir: state, ...more });
      const asking = open({ languageTools: true, ...server.options });
      afterAll(() => asking.close());
      let session: Promise<Session> | undefined;
      /** With a past. */
      const begun = async (): Promise<Session> => {
        const started = open({ historyTools: true }).session({ dialect });
        await started.checkpoint("m1");
        const edits = [{ oldText: "needle", newText: "needle more", all: false }] as const;
        const { reply } = await started.run((profile) => ({ verb: "edit", path: file(place), edits, profile }));
        expect(reply.isError, textOf(reply)).toBe(false);
        return started;
      };
      const means = async (path: string): Promise<string | undefined> => {
        const reply = await (await (session ??= begun())).call(tool, { [parameter]: path });
        return /of:(\S+)/.exec(textOf(reply))?.[1];
      };

      for (const [what, request] of Object.entries(asked)) {
        test(`leads back to it: ${what}`, async () => {
          server.says({ "textDocument/definition": { result: [{ uri: pathToFileURL(file(place)).href, range }] } });
          const at = await (session ??= begun());
          const asks = what === "a language server" ? asking.session({ dialect }) : at;
          const { reply } = await asks.run((profile) => request(place, profile), { dryRun: true });
          const paths = new Set([...pathsIn(textOf(reply)), ...pathsIn(reply.structured)]);
          if (what === "history of one turn") expect([...paths], textOf(reply)).toContain(short);
          expect([...paths], textOf(reply)).not.toEqual([]);
          for (const path of paths) expect([path, await means(path)]).toEqual([path, folder]);
        });
      }

      test("leads back to it: ls", async () => {
        const at = await (session ??= begun());
        const { reply } = await at.run(() => ({
          verb: "ls",
          path: place,
          from: lineNumber(1),
          entriesMax: 9,
          depth: 3,
        }));
        const [head] = /^\/\S*\/$/m.exec(textOf(reply)) ?? [`${place}/`];
        expect(textOf(reply)).toContain("twin.scripted");
        expect(await means(`${head}twin.scripted`)).toBe(folder);
      });
    });
  }
}

const range = { start: { line: 0, character: 0 }, end: { line: 0, character: 1 } };
