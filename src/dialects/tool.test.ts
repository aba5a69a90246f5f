import { deepEqual, equal, throws } from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, test } from "vitest";
import { Problem } from "../contract/problem.ts";
import { dialectNames, dialects } from "./index.ts";
import { requestOf } from "./lenient-input.ts";
import { tool } from "./tool.ts";

const { profile } = dialects.claude;

/** A tool of no dialect: all that is known of it stands in this literal. */
const peek = tool("read", {
  name: "Peek",
  description: "Reads.",
  input: {
    where: { sets: "path", type: "string", words: "Path of the file", required: true },
    start: { sets: "from", type: "position", words: "First line" },
    lines: { sets: "linesMax", type: "integer", min: 1, max: 9, words: "How many", default: 3 },
    skipped: { sets: "column", type: "skip", words: "Characters to skip" },
  },
  fixed: { overBudget: "refuse" },
});

const asked = (input: unknown) => requestOf(peek, input, { numbers: "lenient" }, profile);

const issuesOf = (input: unknown): unknown => {
  let issues: unknown;
  throws(
    () => asked(input),
    (error) => {
      if (error instanceof Problem && error.data.code === "INVALID_PARAM" && error.data.reason === "arguments") {
        issues = error.data.issues;
      }
      return issues !== undefined;
    },
  );
  return issues;
};

describe("from one literal follows", () => {
  test("the JSON schema", () => {
    deepEqual(peek.inputSchema, {
      type: "object",
      properties: {
        where: { type: "string", description: "Path of the file" },
        start: { type: "integer", minimum: 1, description: "First line" },
        lines: { type: "integer", minimum: 1, maximum: 9, description: "How many", default: 3 },
        skipped: { type: "integer", minimum: 0, description: "Characters to skip" },
      },
      required: ["where"],
      additionalProperties: false,
    });
  });

  test("the request, with defaults and what the dialect fixes", () => {
    const rest = { verb: "read", path: "a", profile } as const;
    deepEqual(asked({ where: "a" }), {
      ...rest,
      ranges: [{ from: 1, linesMax: 3 }],
      overBudget: "first page",
      whole: true,
    });
    deepEqual(asked({ where: "a", start: 5, lines: 2, skipped: 7 }), {
      ...rest,
      ranges: [{ from: 5, linesMax: 2, column: 8 }],
      overBudget: "refuse",
      whole: false,
    });
  });

  test("what is forgiven: integers as texts, and 0 for the beginning", () => {
    deepEqual(asked({ where: "a", start: 0, lines: "2" }), asked({ where: "a", lines: 2 }));
  });

  test("a fault for each argument that is wrong, and the nearest name for an unknown one", () => {
    const known = ["where", "start", "lines", "skipped"];
    deepEqual(issuesOf({ where: 1, start: -1, lines: 10, skipped: 1.5, lins: 1 }), [
      { fault: "type", name: "where", expected: "a string", got: "1", optional: false },
      { fault: "range", name: "start", got: -1, min: 1, max: undefined, optional: true },
      { fault: "range", name: "lines", got: 10, min: undefined, max: 9, optional: true },
      { fault: "type", name: "skipped", expected: "an integer", got: "1.5", optional: true },
      { fault: "unknown", name: "lins", nearest: "lines", known },
    ]);
    deepEqual(issuesOf({}), [{ fault: "missing", name: "where", expected: "a string", long: false }]);
  });
});

test("an empty text for a list is one fault, of its type alone", () => {
  const spec = dialects.claude.specs.find(({ name }) => name === "MultiEdit");
  throws(
    () => spec?.toRequest({ file_path: "a", edits: "" }, profile),
    (error) =>
      error instanceof Problem &&
      error.data.code === "INVALID_PARAM" &&
      error.data.reason === "arguments" &&
      error.data.issues.length === 1,
  );
});

test("of thousands of faults only the first are named, and the rest is not looked at", () => {
  let looked = 0;
  const edits = Array.from({ length: 10_000 }, () => ({
    get old_string() {
      looked += 1;
      return 1;
    },
  }));
  const spec = dialects.claude.specs.find(({ name }) => name === "MultiEdit");
  throws(() => spec?.toRequest({ file_path: "a", edits }, profile), Problem);
  equal(looked <= 20, true);
});

/** docs/adding-a-parameter.md names the places that a parameter is written in. */
describe("a parameter is written once for each dialect and once for its verb", () => {
  const isWritten = (file: string): boolean => file.endsWith(".ts") && !/(?:\.test|inputs)\.ts$/.test(file);
  const sources = readdirSync("src/dialects", { recursive: true, encoding: "utf8" })
    .filter(isWritten)
    .map((file) => [file, readFileSync(`src/dialects/${file}`, "utf8")] as const);
  const countIn = (pattern: RegExp): Readonly<Record<string, number>> =>
    Object.fromEntries(
      sources
        .map(([file, text]) => [file, text.match(pattern)?.length ?? 0] as const)
        .filter(([, count]) => count > 0)
        .toSorted(([a], [b]) => (a < b ? -1 : 1)),
    );

  const setting = (value: string): RegExp =>
    new RegExp(`(?:\\bsets: |\\b(?:string|choice|integer|position|boolean)\\(\\s*)"${value}"`, "g");

  test("Read's column: worded once, and once more for the dialect that counts from 0", () => {
    // Lsp and Rename have a column of their own, in shared-tools.ts.
    deepEqual(countIn(setting("column")), { "opencode/tools.ts": 1, "shared-tools.ts": 2 });
    deepEqual(countIn(/\bcolumnAt\("/g), { "claude/tools.ts": 1, "envelope/tools.ts": 1, "opencode/tools.ts": 1 });
  });

  test("Rewind's force: worded once for all dialects", () => {
    deepEqual(countIn(setting("force")), { "shared-tools.ts": 1 });
    for (const name of dialectNames) {
      const rewind = dialects[name].specs.find(({ verb }) => verb === "rewind");
      equal(rewind?.input["force"]?.words, "Also overwrite what somebody else changed since");
    }
  });

  test("no file of the dialects checks arguments or makes a schema by itself", () => {
    deepEqual(Object.keys(countIn(/\bparseArguments\(|\bjsonSchemaOf\(|\bz\./g)), ["parameters.ts", "tool.ts"]);
  });
});

test("each dialect has the tools that it is specified with", () => {
  const offered = Object.fromEntries(
    dialectNames.map((name) => [
      name,
      dialects[name].specs.filter(({ offered }) => offered === "always").map((spec) => spec.name),
    ]),
  );
  deepEqual(offered, {
    claude: ["Read", "Outline", "Grep", "Glob", "LS", "Edit", "MultiEdit", "Write", "NotebookEdit", "Delete", "Move"],
    opencode: ["read", "outline", "glob", "list", "grep", "edit", "multiedit", "write", "patch", "delete", "move"],
    "opencode-legacy": ["read", "outline", "glob", "list", "grep", "edit", "write", "patch", "delete", "move"],
    envelope: ["Read", "Outline", "Grep", "Glob", "LS", "Edit", "MultiEdit", "Write", "NotebookEdit", "Delete", "Move"],
  });
});
