import { describe, expect, test } from "vitest";
import { corpus } from "../../../bench/replay/corpus.js";
import { isRecord } from "../../contract/common.ts";
import type { JsonRecord, RecordedCall, Step } from "./conversation.ts";
import { failureIn } from "./failure-words.ts";
import { readerFor } from "./read-transcript.ts";

/** The values of a transcript: a document, or one a line. */
function valuesIn(text: string): readonly JsonRecord[] {
  const parts = text.startsWith("{\n") ? [text] : text.trimEnd().split("\n");
  return parts.map((part) => JSON.parse(part) as JsonRecord);
}

function stepsIn(values: readonly JsonRecord[]): readonly Step[] {
  const known = values.findIndex((value) => readerFor(value) !== undefined);
  const reader = readerFor(values[known] ?? {});
  if (reader === undefined) throw new Error("the format is not recognised");
  return [...values.flatMap((value) => reader.feed(value)), ...reader.finish()];
}

const callsIn = (values: readonly JsonRecord[]): readonly RecordedCall[] =>
  stepsIn(values).flatMap((step) => (step.step === "call" ? [step.call] : []));

const paths = (call: RecordedCall): readonly string[] =>
  call.facts.map(({ path }) => path.replace(/^src/, "/home/ada/notes/src"));

describe.each(Object.entries(corpus()))("%s", (name, text) => {
  const values = valuesIn(text);
  const calls = callsIn(values);

  test("has the same calls as every other format", () => {
    const isCodex = name === "codex.jsonl";
    const change = isCodex ? "patch" : "edit";
    const verbs = ["read", change, change, change, isCodex ? "patch" : "write", "read", change, "shell", "shell"];
    expect(calls.map(({ action }) => action.verb)).toEqual(verbs);
    expect(calls.map(({ failed }) => failed)).toEqual(
      verbs.map((_, at) => ([2, 6].includes(at) ? "text not found" : undefined)),
    );
  });

  test("shows what is known of the files", () => {
    expect(paths(calls[0] as RecordedCall)).toEqual(["/home/ada/notes/src/list.ts"]);
    expect(calls[0]?.facts[0]).toMatchObject({ at: "before", is: expect.stringMatching(/whole|lines/) });
    expect(calls[5]?.facts[0]).toMatchObject({ is: "lines", from: 6, lines: { length: 3 } });
    expect(calls[5]?.action).toMatchObject({ from: 6, linesMax: 3 });
    expect(calls[2]?.facts.filter(({ at }) => at !== "before")).toEqual([]);
    expect(calls[4]?.facts).toMatchObject([{ is: "absent" }, { is: "whole", at: "after" }]);
  });

  test("starts one conversation", () => {
    expect(stepsIn(values).filter(({ step }) => step === "start")).toHaveLength(1);
  });

  test("nothing in it is trusted to have a shape", () => {
    // Each value anywhere in it is replaced by another one; no reader may throw.
    const odd = [null, 7, "x", [], {}, [[null]], { type: 1 }, -1, "\u0000", true];
    let at = 0;
    const broken = (value: unknown): unknown => {
      at += 1;
      if (at % 7 === 0) return odd[at % odd.length];
      if (Array.isArray(value)) return value.map(broken);
      if (!isRecord(value)) return value;
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, broken(inner)]));
    };
    for (let turn = 0; turn < 50; turn += 1) {
      at = turn;
      const reader = readerFor(values.find((value) => readerFor(value) !== undefined) ?? {});
      for (const value of values) {
        const other = broken(value);
        if (isRecord(other)) expect(() => reader?.feed(other)).not.toThrow();
      }
    }
  });
});

test("a value of no known format has no reader", () => {
  for (const value of [{}, { type: "user" }, { sessionId: 1 }, { messages: [] }, { type: "session_meta" }]) {
    expect(readerFor(value)).toBeUndefined();
  }
});

test("messages that Claude Code repeats for its own use are read once", () => {
  const [head = {}, ...lines] = valuesIn(corpus()["claude-code.jsonl"] ?? "");
  const repeated = lines.map((line) => ({ type: "api-request-blob", sessionId: "notes", message: line["message"] }));
  expect(callsIn([head, ...lines, ...repeated])).toHaveLength(9);
});

test("a compaction is a step of its own", () => {
  const common = { uuid: "1", sessionId: "notes", cwd: "/w" };
  const claude = stepsIn([{ type: "system", subtype: "compact_boundary", ...common }]);
  expect(claude.map(({ step }) => step)).toEqual(["start", "compaction"]);
  const codex = stepsIn([
    { type: "session_meta", payload: { id: "1", cwd: "/w" } },
    { type: "compacted", payload: { message: "" } },
  ]);
  expect(codex.map(({ step }) => step)).toEqual(["start", "compaction"]);
});

test("a command of Codex that pipes a patch into apply_patch is a patch", () => {
  const cmd = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\nEOF";
  const payload = { type: "function_call", name: "exec_command", arguments: JSON.stringify({ cmd }), call_id: "1" };
  const [call] = callsIn([
    { type: "session_meta", payload: { id: "1", cwd: "/w" } },
    { type: "response_item", payload },
    { type: "response_item", payload: { type: "function_call_output", call_id: "1", output: "Success." } },
  ]);
  expect(call?.action).toEqual({ verb: "patch", patchText: "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\n" });
});

test.each([
  ["<tool_use_error>String to replace not found in file.\nString: x", "text not found"],
  ["Found 3 matches of the string to replace, but replace_all is false.", "several places"],
  ["File has not been read yet. Read it first before writing to it.", "not read"],
  ["File has been modified since read, either by the user or by a linter.", "changed since"],
  ["The user doesn't want to proceed with this tool use.", "refused by a person"],
  ["No changes to make: old_string and new_string are exactly the same.", "no change"],
  ["File does not exist.", "no such file"],
  ["something else", "other"],
])("the failure %j is %s", (answer, kind) => expect(failureIn(answer)).toBe(kind));
