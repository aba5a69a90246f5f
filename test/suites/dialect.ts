/** What every dialect must do, whatever its words are. */

import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { JsonSchema } from "../../src/contract/call.ts";
import type { DifferenceKind } from "../../src/contract/edit.ts";
import type { SearchFault } from "../../src/contract/grep.ts";
import type { Code, PatchFault, PatternFault, ProblemData, ProblemOf } from "../../src/contract/problem.ts";
import type { Facts } from "../../src/dialects/dialect.ts";
import { type DialectName, dialects } from "../../src/dialects/index.ts";
import { createFilehand, type FilehandOptions, type Reply, type Session } from "../../src/index.ts";

/** What differs: the names of the tool and of its parameters. */
export interface DialectCase {
  readonly name: DialectName;
  readonly tool: string;
  readonly path: string;
  readonly offset: string;
  /** The offset that means the first line. */
  readonly first: number;
}

const place = { asked: "a.txt", absolute: "/w/a.txt", relative: "a.txt" };
export const facts: Facts = {
  tool: "Read",
  verb: "read",
  full: false,
  input: { path: "a.txt" },
  elapsedMs: 3,
  cwd: ".",
  spell: (absolute) => absolute.replace("/w/", ""),
  reminder: true,
  numbers: undefined,
  model: undefined,
  ids: { session: "s", message: "m", next: () => "p" },
};

const patchFaults: readonly PatchFault[] = [
  "no begin",
  "no end",
  "text after end",
  "empty",
  "unknown line",
  "no path",
  "add line without +",
  "empty line without prefix",
  "empty hunk",
  "nothing changes",
  "same lines",
  "same file twice",
  "two names",
  "in a new file",
  "mixed forms",
  "not of a diff",
  "binary",
  "special file",
  "names differ",
  "other lines deleted",
];
const patternFaults: readonly PatternFault[] = [
  "empty",
  "nul",
  "parent",
  "no name",
  "too long",
  "unclosed bracket",
  "unclosed group",
  "unclosed brace",
  "trailing backslash",
  "reversed range",
  "unknown class",
  "too many groups",
  "too many choices",
  "too many names",
];
const which = { index: 1, of: 1, othersFound: [] };
const differences: readonly DifferenceKind[] = [
  "tab or space",
  "indentation",
  "trailing whitespace",
  "whitespace inside the line",
  "line end",
  "final newline",
  "quote",
  "look-alike",
  "escape",
  "case",
  "number",
  "missing line",
  "extra line",
  "text",
];

const searchFaults: readonly SearchFault[] = [
  ...(["empty", "nul", "too long"] as const).map((why) => ({ of: "pattern", pattern: "a", why }) as const),
  ...(["escape braces", "escape", "no look-around", "several lines", undefined] as const).map(
    (remedy) => ({ of: "pattern", pattern: "a{", why: "engine", message: "unclosed", at: 2, remedy }) as const,
  ),
  { of: "glob", glob: "[", fault: "unclosed bracket" },
  { of: "type", type: "tz", nearest: ["ts"] },
  { of: "type", type: "qqq", nearest: [] },
];

/** At least one problem of every code and reason. A new code does not compile until it stands here. */
export const everyProblem: { readonly [C in Code]: readonly Extract<ProblemData, { code: C }>[] } = {
  UNKNOWN_TOOL: [{ code: "UNKNOWN_TOOL", tool: "Rd", known: ["Read"], nearest: "Read" }],
  INVALID_PARAM: [
    ...searchFaults.map((fault) => ({ code: "INVALID_PARAM", reason: "search", fault }) as const),
    {
      code: "INVALID_PARAM",
      reason: "arguments",
      tool: "Read",
      issues: [
        { fault: "missing", name: "path", expected: "a string", long: false },
        { fault: "missing", name: "content", expected: "a string", long: true },
        { fault: "cut off", name: "input", chars: 1_200 },
        { fault: "type", name: "offset", expected: "an integer", got: "true", optional: true },
        { fault: "range", name: "limit", got: 0, min: 1, max: undefined, optional: true },
        { fault: "unknown", name: "lmit", nearest: "limit", known: ["limit"] },
      ],
    },
    { code: "INVALID_PARAM", reason: "path", asked: "a\0b", fault: "nul" },
    ...(["no pages", "form", "order", "past the end", "too many", "choose"] as const).map((fault) => ({
      code: "INVALID_PARAM" as const,
      reason: "pages" as const,
      place,
      fault,
      pagesTotal: 12,
      pagesMax: 20,
    })),
    ...patternFaults.map((fault) => ({
      code: "INVALID_PARAM" as const,
      reason: "pattern" as const,
      pattern: "[a",
      fault,
    })),
    { code: "INVALID_PARAM", reason: "range", place, of: "lines", from: 9, total: 3 },
    { code: "INVALID_PARAM", reason: "range", place, of: "lines", from: 9, total: 0 },
    { code: "INVALID_PARAM", reason: "range", place, of: "entries", from: 9, total: 3 },
    ...(["same text", "empty old text", "lone surrogate", "notebook", "stub"] as const).map((fault) => ({
      code: "INVALID_PARAM" as const,
      reason: "edit" as const,
      place,
      fault,
    })),
    ...(
      [
        { why: "nothing named" },
        { why: "no query" },
        { why: "line", line: 9, linesTotal: 3 },
        { why: "column", column: 9, columnsMax: 3 },
        { why: "symbol", symbol: "run", line: 4, lines: [7, 9] },
        { why: "symbol", symbol: "run", line: undefined, lines: [] },
      ] as const
    ).map((fault) => ({ code: "INVALID_PARAM" as const, reason: "code place" as const, place, fault })),
    ...(
      [
        "root",
        "into itself",
        "special",
        "hidden by rules",
        "too many",
        "unreadable",
        "other mount",
        "not kept",
      ] as const
    ).map((fault) => ({ code: "INVALID_PARAM" as const, reason: "folder" as const, place, fault, count: 2 })),
    ...(["be deleted", "be moved"] as const).map((would) => ({
      code: "INVALID_PARAM" as const,
      reason: "link" as const,
      place,
      leadsTo: "real/a.txt",
      would,
    })),
    ...(["empty file", "no cell named", "same source"] as const).map((fault) => ({
      code: "INVALID_PARAM" as const,
      reason: "cell" as const,
      place,
      fault,
    })),
    ...patchFaults.map((fault) => ({
      code: "INVALID_PARAM" as const,
      reason: "patch" as const,
      fault,
      line: 3,
      text: "*** Foo",
    })),
  ],
  NOT_FOUND: [
    { code: "NOT_FOUND", place, reason: "missing", suggestions: [] },
    {
      code: "NOT_FOUND",
      place,
      reason: "file on the way",
      suggestions: [{ absolute: "/w/b.txt", relative: "b.txt", kind: "file" }],
    },
  ],
  ACCESS_DENIED: [
    { code: "ACCESS_DENIED", place, reason: "outside", roots: ["/w"], suggestions: [] },
    { code: "ACCESS_DENIED", place, reason: "root changed" },
    { code: "ACCESS_DENIED", place, reason: "system" },
    { code: "ACCESS_DENIED", place, reason: "read-only" },
    { code: "ACCESS_DENIED", place, reason: "rule", rule: "Read(a.txt)", source: "options" },
    { code: "ACCESS_DENIED", place, reason: "rule", rule: "Edit(a.txt)", source: "Filehand itself" },
    {
      code: "ACCESS_DENIED",
      place,
      reason: "nobody to ask",
      rule: "Read(a.txt)",
      remedy: "Read(/a.txt)",
      feedback: undefined,
    },
    {
      code: "ACCESS_DENIED",
      place,
      reason: "nobody to ask",
      rule: "Read(a.txt)",
      remedy: "Read(/a.txt)",
      feedback: undefined,
      closed: true,
    },
    {
      code: "ACCESS_DENIED",
      place,
      reason: "rejected",
      rule: "Read(a.txt)",
      remedy: "Read(/a.txt)",
      feedback: "not now",
    },
  ],
  IS_DIRECTORY: [{ code: "IS_DIRECTORY", place }],
  NOT_DIRECTORY: [{ code: "NOT_DIRECTORY", place }],
  LINK_LOOP: [{ code: "LINK_LOOP", place }],
  SPECIAL_FILE: [{ code: "SPECIAL_FILE", place, special: "FIFO" }],
  BINARY_FILE: [
    { code: "BINARY_FILE", place, reason: "content" },
    { code: "BINARY_FILE", place, reason: "extension", restricted: ".exe" },
    { code: "BINARY_FILE", place, reason: "name", restricted: "Thumbs.db" },
    { code: "BINARY_FILE", place, reason: "kind", kind: "image" },
  ],
  DAMAGED: [{ code: "DAMAGED", place, kind: "pdf", detail: "no cross references" }],
  ENCRYPTED: [{ code: "ENCRYPTED", place, kind: "pdf" }],
  TOO_LARGE: [
    { code: "TOO_LARGE", place, kind: "image", limit: "100 megapixels" },
    { code: "TOO_LARGE", place, kind: "text", limit: "1 byte" },
  ],
  NO_CODEC: [{ code: "NO_CODEC", place, kind: "image", install: "sharp" }],
  OVER_BUDGET: [
    {
      code: "OVER_BUDGET",
      place,
      tokens: 30_000,
      counted: "all",
      tokensMax: 25_000,
      of: "lines",
      from: 1,
      lines: 900,
      linesThatFit: 700,
    },
    {
      code: "OVER_BUDGET",
      place,
      tokens: 30_000,
      counted: "at least",
      tokensMax: 25_000,
      of: "lines",
      from: 1,
      lines: 2,
      linesThatFit: 0,
    },
  ],
  LANGUAGE_SERVER: [
    ...(["off", "unknown language", "not shown"] as const).map((reason) => ({
      code: "LANGUAGE_SERVER" as const,
      place,
      reason,
    })),
    {
      code: "LANGUAGE_SERVER",
      place,
      reason: "not installed",
      servers: [
        { server: "gopls", command: "gopls", install: "go install" },
        { server: "own", command: "own-server", install: undefined },
      ],
    },
    { code: "LANGUAGE_SERVER", place, reason: "failed", server: "gopls", why: "it ended\n(status 1)" },
    { code: "LANGUAGE_SERVER", place, reason: "not offered", server: "gopls" },
    { code: "LANGUAGE_SERVER", place, reason: "too slow", server: "gopls", waitedMs: 10_000 },
  ],
  NO_RENAME: (
    [
      "name",
      "same name",
      "other name",
      "nothing",
      "files",
      "outside",
      "hidden by rules",
      "overlap",
      "incomplete",
    ] as const
  ).map((reason) => ({
    code: "NO_RENAME" as const,
    place,
    reason,
    count: 2,
  })),
  NO_OUTLINE: [
    ...(["language", "time", "memory", "crash"] as const).map((reason) => ({
      code: "NO_OUTLINE" as const,
      place,
      reason,
    })),
    { code: "NO_OUTLINE", place, reason: "not installed", install: "web-tree-sitter" },
  ],
  CHANGED: [{ code: "CHANGED", place }],
  NOT_READ: [
    { code: "NOT_READ", place, reason: "never" },
    ...(["line", "cell"] as const).flatMap((unit): ProblemOf<"NOT_READ">[] => {
      const shown = [{ from: 1, to: 9 }];
      return [
        { code: "NOT_READ", place, reason: "elsewhere", unit, shown, needed: [{ from: 40, to: 40 }] },
        {
          code: "NOT_READ",
          place,
          reason: "elsewhere",
          unit,
          shown,
          needed: [
            { from: 40, to: 42 },
            { from: 900, to: 900 },
          ],
        },
        { code: "NOT_READ", place, reason: "partly", unit, shown, cut: [] },
        { code: "NOT_READ", place, reason: "partly", unit, shown, cut: [{ from: 2, to: 2 }] },
      ];
    }),
  ],
  STALE: [
    { code: "STALE", place, reason: "changed", sizeThen: 4, sizeNow: 5, mtimeMs: 7 },
    { code: "STALE", place, reason: "changed", sizeThen: undefined, sizeNow: 5, mtimeMs: 7 },
    { code: "STALE", place, reason: "deleted" },
    { code: "STALE", place, reason: "while changing it" },
  ],
  NO_MATCH: [
    { code: "NO_MATCH", place, which, nearest: undefined, searched: "loosely" },
    { code: "NO_MATCH", place, which, nearest: undefined, searched: "exactly" },
    ...differences.map((kind) => ({
      code: "NO_MATCH" as const,
      place,
      which: { index: 2, of: 3, othersFound: [1, 3] },
      nearest: { from: 4, lines: ["\tb"], linesTotal: 2, difference: { kind, line: 4, asked: " b", actual: "\tb" } },
      searched: "loosely" as const,
    })),
    ...(
      [{ why: "not found" }, { why: "header not found", header: "def f" }, { why: "out of order", line: 3 }] as const
    ).map((hunk) => ({
      code: "NO_MATCH" as const,
      place,
      which,
      nearest: undefined,
      searched: "loosely" as const,
      hunk,
    })),
  ],
  AMBIGUOUS: [
    { code: "AMBIGUOUS", place, which, matchedBy: "exact", lines: [1, 3], total: 2 },
    { code: "AMBIGUOUS", place, which, matchedBy: "indentation", lines: [1, 3], total: 60 },
    { code: "AMBIGUOUS", place, which, matchedBy: "exact", lines: [1, 3], total: 2, hunk: true },
  ],
  WRONG_LINES: (["moved", "first differs", "shown twice"] as const).map((reason) => ({
    code: "WRONG_LINES" as const,
    place,
    reason,
    which,
    asked: { from: 3, to: 4 },
    first: reason === "first differs" ? "a" : undefined,
    now: [
      { from: 3, to: 4, lines: ["b", "c"] },
      ...(reason === "shown twice" ? [{ from: 7, to: 8, lines: ["d", "e"] }] : []),
    ],
  })),
  ALREADY_APPLIED: [{ code: "ALREADY_APPLIED", place, which, line: 3 }],
  NO_CELL: [
    { code: "NO_CELL", place, cellId: "x", known: ["a", "b"] },
    { code: "NO_CELL", place, cellId: "x", known: [] },
  ],
  ENCODING: [{ code: "ENCODING", place, encoding: "windows-1252", character: "😀" }],
  EXISTS: (["file", "folder", "link"] as const).map((reason) => ({ code: "EXISTS", place, reason })),
  NO_RIPGREP: [{ code: "NO_RIPGREP", install: "@vscode/ripgrep" }],
  NO_TURN: [
    ...(
      ["unknown", "pruned", "no history", "content gone", "unreadable", "nothing to undo", "nothing to redo"] as const
    ).map((reason) => ({ code: "NO_TURN" as const, asked: "m1", reason })),
    { code: "NO_TURN", asked: "", reason: "no history" },
    { code: "NO_TURN", asked: "m1", reason: "unknown", known: ["m3", "m2"] },
    { code: "NO_TURN", asked: "m1", reason: "unknown", known: [] },
  ],
  LOCKED: [
    { code: "LOCKED", place, reason: "busy", holder: "process 7" },
    { code: "LOCKED", place, reason: "no locks", fault: '"/l" is a link', remedy: 'remove "/l"' },
  ],
  ROLLED_BACK: [
    {
      code: "ROLLED_BACK",
      place,
      cause: { code: "IO_ERROR", place, errno: "EIO", during: "writing" },
      putBack: [place],
      left: [],
    },
    {
      code: "ROLLED_BACK",
      place,
      cause: { code: "IO_ERROR", place, errno: "EIO", during: "writing" },
      putBack: [],
      left: [place],
    },
  ],
  IO_ERROR: [{ code: "IO_ERROR", place, errno: "EIO", during: "reading it" }],
  STATE_UNAVAILABLE: [{ code: "STATE_UNAVAILABLE", place, fault: "the database does not answer" }],
  CANCELLED: [{ code: "CANCELLED", tool: "Read" }],
};

/** Switches on the tools that models do not get by default and that need no state folder or language server. */
export const optInOptions = {
  fileTools: ["delete", "move", "copy", "make-folder"],
  lineEdits: true,
  editFiles: true,
  patchTool: true,
} as const satisfies Partial<FilehandOptions>;

/** Tools that a sentence or two describe: the tool list is sent with every request, and has a budget of tokens. */
const briefTools: readonly string[] = ["delete", "move", "copy", "makefolder", "editfiles"];

/** The properties of a schema, and those of the items of its lists. */
const propertiesOf = ({ properties = {} }: JsonSchema): readonly JsonSchema[] =>
  Object.values(properties).flatMap((property) => [property, ...propertiesOf(property.items ?? {})]);

export function dialectSuite(given: DialectCase): void {
  describe(`the dialect ${given.name}`, () => {
    const dialect = dialects[given.name];
    let root = "";
    let session: Session;
    const call = (input: unknown, tool = given.tool): Promise<Reply> => session.call(tool, input);
    const read = (file: string, more: object = {}): Promise<Reply> => call({ [given.path]: file, ...more });

    beforeAll(() => {
      root = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "filehand-dialect-"));
      fs.writeFileSync(path.join(root, "a.txt"), "one\ntwo\nthree\n");
      fs.mkdirSync(path.join(root, "folder"));
    });
    // What one test has read would be unchanged to the next.
    beforeEach(() => {
      session = createFilehand({ roots: [root] }).session({ dialect: given.name });
    });
    afterAll(() => fs.rmSync(root, { recursive: true, force: true }));

    for (const problem of Object.values(everyProblem).flat()) {
      const reason = "reason" in problem ? ` (${problem.reason})` : "";
      test(`it has words for ${problem.code}${reason}`, () => {
        const reply = dialect.renderProblem(problem, facts);
        expect(reply.isError).toBe(true);
        expect(reply.error?.code).toBe(problem.code);
        expect(reply.content).toEqual([{ type: "text", text: reply.error?.message }]);
        expect(reply.error?.message).toMatch(/^[A-Z"oliu].{10,}/s);
        expect(reply.error?.message).not.toMatch(/undefined|\[object|NaN/);
      });
    }

    test("a file is answered with text for the model and data for programs", async () => {
      const reply = await read("a.txt");
      expect(reply.isError).toBe(false);
      expect(reply.error).toBeUndefined();
      expect(reply.structured).not.toBeNull();
      expect(reply.content).toHaveLength(1);
      expect(reply.content[0]).toMatchObject({ type: "text", text: expect.stringContaining("two") });
    });

    test("relative and absolute paths name the same file", async () => {
      const other = createFilehand({ roots: [root], dedup: false }).session({ dialect: given.name });
      const names = ["a.txt", path.join(root, "folder", "..", "a.txt")];
      for (const name of names) {
        const reply = await other.call(given.tool, { [given.path]: name });
        expect(reply.isError).toBe(false);
        expect(JSON.stringify(reply.structured)).toContain("three");
      }
    });

    for (const [what, input] of [
      ["no path", {}],
      ["null for the path", { [given.path]: null }],
      ["a number for the path", { [given.path]: 7 }],
      ["a fraction for the offset", { [given.path]: "a.txt", [given.offset]: 1.5 }],
      ["true for the offset", { [given.path]: "a.txt", [given.offset]: true }],
      ["words for the offset", { [given.path]: "a.txt", [given.offset]: "ten" }],
      ["an offset before the first line", { [given.path]: "a.txt", [given.offset]: -1 }],
      ["a limit of 0", { [given.path]: "a.txt", limit: 0 }],
      ["a list instead of an object", ["a.txt"]],
      ["a text instead of an object", "a.txt"],
      ["null instead of an object", null],
      ["a key of the prototype", JSON.parse(`{"${given.path}":"a.txt","__proto__":{"x":1}}`) as unknown],
      ["an empty path", { [given.path]: "" }],
      ["a NUL in the path", { [given.path]: "a\0.txt" }],
      ["a network path", { [given.path]: "\\\\server\\share\\a.txt" }],
      ["a path longer than the system takes", { [given.path]: "a/".repeat(3_000) }],
      ["a name longer than the system takes", { [given.path]: "b".repeat(300) }],
    ] as const) {
      test(`${what} is an INVALID_PARAM with a sentence`, async () => {
        const reply = await call(input);
        expect(reply.error?.code).toBe("INVALID_PARAM");
        expect(reply.error?.message).not.toMatch(/\n\s+at |Zod|undefined/);
      });
    }

    test("an unknown parameter is refused and the nearest known one is named", async () => {
      const reply = await read("a.txt", { limt: 3 });
      expect(reply.error?.code).toBe("INVALID_PARAM");
      expect(reply.error?.message).toContain("limit");
    });

    test("an unknown tool is refused and the nearest known one is named", async () => {
      const reply = await call({ [given.path]: "a.txt" }, given.tool === "Read" ? "Raed" : "raed");
      expect(reply.error?.code).toBe("UNKNOWN_TOOL");
      expect(reply.error?.message).toContain(given.tool);
      expect((await call({}, "toString")).error?.code).toBe("UNKNOWN_TOOL");
    });

    test("a missing file is NOT_FOUND, one outside the roots is ACCESS_DENIED", async () => {
      expect((await read("b.md")).error?.code).toBe("NOT_FOUND");
      expect((await read("../b.md")).error?.code).toBe("ACCESS_DENIED");
    });

    test("a cancelled call is CANCELLED", async () => {
      const reply = await session.call(given.tool, { [given.path]: "a.txt" }, { signal: AbortSignal.abort() });
      expect(reply.error?.code).toBe("CANCELLED");
    });

    test("its tools are described for a model in at most 2 KB, with a lean schema", () => {
      const switchedOn = createFilehand({ roots: [root], ...optInOptions }).session({ dialect: given.name });
      const definitions = switchedOn.definitions();
      const names = definitions.map(({ name }) => name);
      expect(names).toEqual(expect.arrayContaining(session.definitions().map(({ name }) => name)));
      expect(names.map((name) => name.toLowerCase())).toEqual(expect.arrayContaining([...briefTools]));
      expect(names).toContain(given.tool);
      for (const { name, description, inputSchema } of definitions) {
        const bytesMin = briefTools.includes(name.toLowerCase()) ? 80 : 150;
        expect(Buffer.byteLength(description), name).toBeGreaterThan(bytesMin);
        expect(Buffer.byteLength(description), name).toBeLessThanOrEqual(2_048);
        const schema = JSON.stringify(inputSchema);
        expect(schema).not.toMatch(/9007199254740991|\$schema|anyOf|null/);
        expect(inputSchema).toMatchObject({ type: "object", additionalProperties: false });
        expect(inputSchema.required).not.toHaveLength(0);
        for (const property of propertiesOf(inputSchema)) expect(property.description, name).toMatch(/^[A-Z"]/);
        for (const property of Object.values(inputSchema.properties ?? {}))
          expect(property.description).toMatch(/^[A-Z]/);
      }
    });

    test("a definition runs the tool it describes", async () => {
      const definition = session.definitions().find(({ name }) => name === given.tool);
      const reply = await definition?.execute({ [given.path]: "a.txt" });
      expect(reply?.isError).toBe(false);
      expect(definition?.readOnly).toBe(true);
    });

    describe("the tools that look back", () => {
      const spell = (name: string): string => (given.tool === "Read" ? name : name.toLowerCase());
      const dryRun = given.tool === "Read" ? "dry_run" : "dryRun";
      const opened = (historyTools: boolean): Session => {
        const stateDir = path.join(root, "..", `${path.basename(root)}-state`);
        const filehand = createFilehand({ roots: [root], stateDir, ask: "yes", historyTools });
        return filehand.session({ dialect: given.name });
      };
      const named = (on: Session): readonly string[] => on.definitions().map(({ name }) => name);
      afterAll(() =>
        fs.rmSync(path.join(root, "..", `${path.basename(root)}-state`), { recursive: true, force: true }),
      );

      test("are offered only where the operator wants them, and unknown elsewhere", async () => {
        for (const name of ["History", "Rewind"].map(spell)) {
          expect(named(opened(true))).toContain(name);
          expect(named(opened(false))).not.toContain(name);
          expect(named(session)).not.toContain(name);
          const reply = await opened(false).call(name, { turn: "start" });
          expect(reply.error?.code).toBe("UNKNOWN_TOOL");
          expect(reply.error?.message).not.toMatch(/(use one of|did you mean).*(history|rewind)/i);
        }
      });

      test("are described in at most 2 KB, with a lean schema", () => {
        const definitions = opened(true).definitions();
        const [history, rewind] = ["History", "Rewind"].map((name) =>
          definitions.find((definition) => definition.name === spell(name)),
        );
        expect([history?.readOnly, rewind?.readOnly]).toEqual([true, false]);
        expect([history?.inputSchema.required, rewind?.inputSchema.required]).toEqual([[], ["turn"]]);
        expect(Object.keys(rewind?.inputSchema.properties ?? {})).toEqual(["turn", "paths", dryRun, "force"]);
        for (const definition of [history, rewind]) {
          expect(Buffer.byteLength(definition?.description ?? "")).toBeGreaterThan(150);
          expect(Buffer.byteLength(definition?.description ?? "")).toBeLessThanOrEqual(2_048);
          expect(JSON.stringify(definition?.inputSchema)).not.toMatch(/9007199254740991|\$schema|anyOf|null/);
          for (const property of Object.values(definition?.inputSchema.properties ?? {}))
            expect(property.description).toMatch(/^[A-Z]/);
        }
      });

      test("tell of a change and take it back", async () => {
        const on = opened(true);
        await on.checkpoint("m1");
        await on.call(spell("Write"), { [given.path]: "made.txt", content: "made\n" });
        const listed = await on.call(spell("History"), {});
        expect(JSON.stringify(listed.content)).toMatch(/m1.*created.*made\.txt/);
        expect(JSON.stringify(listed.structured)).toContain("made.txt");
        const planned = await on.call(spell("Rewind"), { turn: "m1", [dryRun]: true });
        expect(JSON.stringify(planned.content)).toMatch(/Dry run, nothing was written.*would be deleted/);
        expect(fs.existsSync(path.join(root, "made.txt"))).toBe(true);
        const rewound = await on.call(spell("Rewind"), { turn: "m1" });
        expect([rewound.isError, rewound.error]).toEqual([false, undefined]);
        expect(fs.existsSync(path.join(root, "made.txt"))).toBe(false);
      });

      test("cancelled, they are CANCELLED", async () => {
        const signal = AbortSignal.abort();
        for (const name of ["History", "Rewind"].map(spell)) {
          expect((await opened(true).call(name, { turn: "m1" }, { signal })).error?.code).toBe("CANCELLED");
        }
      });
    });

    test("several ranges in one call are worded one by one", async () => {
      const ranges = [{ from: 3, linesMax: 1 }, { from: 1, linesMax: 1 }, { last: 1 }] as never;
      const { reply } = await session.run((profile) => ({
        verb: "read",
        path: "a.txt",
        ranges,
        overBudget: "first page",
        profile,
      }));
      expect(reply.content).toHaveLength(3);
      const last = given.name === "opencode-legacy" ? "00004| " : "three";
      const words = reply.content.map((part) => (part.type === "text" ? part.text : ""));
      expect(words[0]).toContain("three");
      expect(words[1]).toContain("one");
      expect(words[1]).not.toContain("three");
      expect(words[2]).toContain(last);
      expect(reply.structured).toMatchObject({ ranges: [expect.anything(), expect.anything(), expect.anything()] });
    });
  });
}
