/**
 * One made-up conversation as each client would record it, and in the neutral form: the corpus of `filehand replay`. Everything in it
 * is written here. `node bench/replay/corpus.js` writes the files of `corpus/`.
 */

import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const cwd = "/home/ada/notes";
const path = `${cwd}/src/list.ts`;
const added = `${cwd}/docs/todo.md`;

const first = [
  "export interface Note {",
  "  readonly id: number;",
  "  readonly title: string;",
  "}",
  "",
  "export function titles(notes: readonly Note[]): string[] {",
  "  return notes.map((note) => note.title);",
  "}",
  "",
  "export function find(notes: readonly Note[], id: number) {  ",
  "  return notes.find((note) => note.id === id);",
  "}",
  "",
].join("\n");

const rename = { old: "  readonly title: string;", new: "  readonly heading: string;" };
/** Its first line lacks the two spaces at the end that the file has: the recorded client did not find it. */
const typed = {
  old: "export function find(notes: readonly Note[], id: number) {\n  return notes.find((note) => note.id === id);",
  new: "export function find(notes: readonly Note[], id: number): Note | undefined {\n  return notes.find((note) => note.id === id);",
};
const typedLater = { old: typed.old.replace("{\n", "{  \n"), new: typed.new };
const missing = { old: "export function remove(", new: "export function drop(" };
const todo = "# To do\n\n- sort notes by heading\n";

const second = first.replace(rename.old, rename.new);
const third = second.replace(typedLater.old, typedLater.new);
const notFound = "String to replace not found in file.";

/** The steps, the same for all formats. @type {readonly Step[]} */
const steps = [
  { does: "read", before: first },
  { does: "edit", edit: rename, before: first, after: second },
  { does: "edit", edit: typed, before: second, failed: true },
  { does: "edit", edit: typedLater, before: second, after: third },
  { does: "write" },
  { does: "read", before: third, from: 6, lines: 3 },
  { does: "edit", edit: missing, before: third, failed: true },
  { does: "shell", command: "rm -rf build && sed -i 's/notes/list/' README.md" },
  { does: "shell", command: "ls src" },
];

/**
 * @typedef {{ readonly old: string, readonly new: string }} TextEdit
 * @typedef {{ readonly does: "read", readonly before: string, readonly from?: number, readonly lines?: number }
 *   | { readonly does: "edit", readonly edit: TextEdit, readonly before: string, readonly after?: string, readonly failed?: true }
 *   | { readonly does: "write" }
 *   | { readonly does: "shell", readonly command: string }} Step
 */

const jsonl = (/** @type {readonly object[]} */ values) => values.map((value) => `${JSON.stringify(value)}\n`).join("");
const part = (/** @type {Step & { does: "read" }} */ { before, from = 1, lines }) =>
  before.split("\n").slice(from - 1, lines === undefined ? undefined : from - 1 + lines);
const numbered = (/** @type {readonly string[]} */ lines, from = 1, mark = "\t") =>
  lines.map((line, at) => `${from + at}${mark}${line}`).join("\n");

/** The change as one hunk without context. @returns {{ oldStart: number, oldLines: number, newStart: number, newLines: number, lines: string[] }} */
function hunk(/** @type {string} */ before, /** @type {string} */ after) {
  const [old, made] = [before.split("\n"), after.split("\n")];
  let head = 0;
  while (old[head] === made[head]) head += 1;
  let tail = 0;
  while (old[old.length - 1 - tail] === made[made.length - 1 - tail]) tail += 1;
  const [out, put] = [old.slice(head, old.length - tail), made.slice(head, made.length - tail)];
  const lines = [...out.map((line) => `-${line}`), ...put.map((line) => `+${line}`)];
  return { oldStart: head + 1, oldLines: out.length, newStart: head + 1, newLines: put.length, lines };
}

function unified(/** @type {string} */ before, /** @type {string} */ after) {
  const { oldStart, oldLines, newStart, newLines, lines } = hunk(before, after);
  return `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@\n${lines.join("\n")}\n`;
}

function neutral() {
  const calls = steps.map((step) => {
    switch (step.does) {
      case "read": {
        const { before, from, lines } = step;
        const shown = { from: from ?? 1, lines: part(step), total: before.split("\n").length };
        return { tool: "Read", verb: "read", input: { path, from, lines }, result: numbered(part(step), from), shown };
      }
      case "edit": {
        const { edit, before, after, failed } = step;
        const came = failed === true ? { result: notFound, failed: "text not found" } : { result: "Done.", after };
        return { tool: "Edit", verb: "edit", input: { path, ...edit }, ...came, before };
      }
      case "write":
        return {
          tool: "Write",
          verb: "write",
          input: { path: added, content: todo },
          result: "Done.",
          before: null,
          after: todo,
        };
      case "shell":
        return { tool: "Bash", verb: "shell", input: { command: step.command }, result: "" };
    }
  });
  return jsonl([{ "filehand-replay": 1, id: "notes", cwd }, ...calls]);
}

function claudeCode() {
  const common = { sessionId: "notes", cwd, version: "2.1.0", isSidechain: false };
  const lines = steps.flatMap((step, at) => {
    const id = `toolu_${at}`;
    /** @type {{ name: string, input: object, content: string, toolUseResult: object | string, is_error?: true }} */
    let call;
    switch (step.does) {
      case "read": {
        const { before, from = 1, lines: limit } = step;
        const file = { filePath: path, content: part(step).join("\n"), startLine: from };
        const input = { file_path: path, ...(limit === undefined ? {} : { offset: from, limit }) };
        const counts = { numLines: part(step).length, totalLines: before.split("\n").length };
        const content = numbered(part(step), from);
        call = { name: "Read", input, content, toolUseResult: { type: "text", file: { ...file, ...counts } } };
        break;
      }
      case "edit": {
        const { edit, before, after, failed } = step;
        const input = { file_path: path, old_string: edit.old, new_string: edit.new };
        const content = `The file ${path} has been updated successfully.`;
        const toolUseResult = { filePath: path, originalFile: before, userModified: false, replaceAll: false };
        call =
          failed === true
            ? { name: "Edit", input, content: notFound, toolUseResult: `Error: ${notFound}`, is_error: true }
            : {
                name: "Edit",
                input,
                content,
                toolUseResult: { ...toolUseResult, structuredPatch: [hunk(before, after ?? "")] },
              };
        break;
      }
      case "write": {
        const input = { file_path: added, content: todo };
        const toolUseResult = { type: "create", filePath: added, content: todo, originalFile: null };
        call = { name: "Write", input, content: `File created successfully at: ${added}`, toolUseResult };
        break;
      }
      case "shell":
        call = {
          name: "Bash",
          input: { command: step.command },
          content: "",
          toolUseResult: { stdout: "", stderr: "" },
        };
    }
    const { name, input, content, toolUseResult, is_error } = call;
    const result = { type: "tool_result", tool_use_id: id, content, ...(is_error && { is_error }) };
    return [
      {
        type: "assistant",
        uuid: `a${at}`,
        message: { role: "assistant", content: [{ type: "tool_use", id, name, input }] },
        ...common,
      },
      { type: "user", uuid: `u${at}`, message: { role: "user", content: [result] }, toolUseResult, ...common },
    ];
  });
  return jsonl([{ type: "summary", summary: "Notes", leafUuid: "u8" }, ...lines]);
}

const patchOf = (/** @type {TextEdit} */ edit) =>
  [
    "*** Begin Patch",
    "*** Update File: src/list.ts",
    "@@",
    ...edit.old.split("\n").map((line) => `-${line}`),
    ...edit.new.split("\n").map((line) => `+${line}`),
    "*** End Patch",
    "",
  ].join("\n");

function codex() {
  /** @returns {readonly object[]} */
  const linesOf = (/** @type {Step} */ step, /** @type {number} */ at) => {
    const call_id = `call_${at}`;
    const command = (/** @type {string} */ cmd, output = "") => [
      {
        type: "response_item",
        payload: { type: "function_call", name: "exec_command", arguments: JSON.stringify({ cmd }), call_id },
      },
      {
        type: "event_msg",
        payload: {
          type: "item_completed",
          item: { type: "CommandExecution", id: call_id, aggregated_output: output, exit_code: 0 },
        },
      },
      {
        type: "response_item",
        payload: { type: "function_call_output", call_id, output: `Process exited with code 0\nOutput:\n${output}` },
      },
    ];
    const patch = (
      /** @type {string} */ input,
      /** @type {object | undefined} */ changes,
      /** @type {string} */ output,
    ) => [
      { type: "response_item", payload: { type: "custom_tool_call", name: "apply_patch", input, call_id } },
      ...(changes === undefined
        ? []
        : [{ type: "event_msg", payload: { type: "patch_apply_end", call_id, success: true, changes } }]),
      { type: "response_item", payload: { type: "custom_tool_call_output", call_id, output } },
    ];
    switch (step.does) {
      case "read": {
        const { from, lines: limit } = step;
        if (from === undefined || limit === undefined) return command("cat src/list.ts", step.before);
        return command(`sed -n '${from},${from + limit - 1}p' src/list.ts`, `${part(step).join("\n")}\n`);
      }
      case "edit": {
        const { edit, before, after, failed } = step;
        if (failed === true) return patch(patchOf(edit), undefined, "Failed to find expected lines in src/list.ts");
        const changes = { [path]: { type: "update", unified_diff: unified(before, after ?? ""), move_path: null } };
        return patch(patchOf(edit), changes, "Success. Updated the following files:\nM src/list.ts\n");
      }
      case "write": {
        const text = [
          "*** Begin Patch",
          "*** Add File: docs/todo.md",
          ...todo
            .trimEnd()
            .split("\n")
            .map((line) => `+${line}`),
          "*** End Patch",
          "",
        ];
        return patch(
          text.join("\n"),
          { [added]: { type: "add", content: todo } },
          "Success. Updated the following files:\nA docs/todo.md\n",
        );
      }
      case "shell":
        return command(step.command);
    }
  };
  const timestamp = "2026-01-01T00:00:00.000Z";
  return jsonl(
    [{ type: "session_meta", payload: { id: "notes", cwd } }, ...steps.flatMap(linesOf)].map((line) => ({
      timestamp,
      ...line,
    })),
  );
}

function geminiCli() {
  const head = { sessionId: "notes", projectHash: "0".repeat(64), startTime: "2026-01-01T00:00:00.000Z" };
  const messages = steps.map((step, at) => {
    const id = `tool-${at}`;
    const call = (
      /** @type {string} */ name,
      /** @type {object} */ args,
      /** @type {object} */ response,
      /** @type {unknown} */ resultDisplay = "",
    ) => ({
      id,
      name,
      args,
      result: [{ functionResponse: { id, name, response } }],
      status: "error" in response ? "error" : "success",
      resultDisplay,
    });
    const message = (/** @type {object} */ toolCall) => ({
      id: `m${at}`,
      type: "gemini",
      content: "",
      toolCalls: [toolCall],
    });
    switch (step.does) {
      case "read": {
        const { before, from, lines } = step;
        if (from === undefined || lines === undefined)
          return message(call("read_file", { file_path: path }, { output: before }));
        const end = from + lines - 1;
        const total = before.split("\n").length;
        const note = `\nIMPORTANT: The file content has been truncated.\nStatus: Showing lines ${from}-${end} of ${total} total lines.\nAction: read on.\n\n--- FILE CONTENT (truncated) ---\n`;
        return message(
          call(
            "read_file",
            { file_path: path, start_line: from, end_line: end },
            { output: note + part(step).join("\n") },
          ),
        );
      }
      case "edit": {
        const { edit, before, after, failed } = step;
        const args = { file_path: path, instruction: "", old_string: edit.old, new_string: edit.new };
        if (failed === true)
          return message(call("replace", args, { error: "Could not find an exact match for 'old_string'." }));
        return message(
          call("replace", args, { output: "Done." }, { filePath: path, originalContent: before, newContent: after }),
        );
      }
      case "write":
        return message(
          call(
            "write_file",
            { file_path: added, content: todo },
            { output: "Done." },
            { originalContent: "", newContent: todo, isNewFile: true },
          ),
        );
      case "shell":
        return message(call("run_shell_command", { command: step.command }, { output: "Output: (empty)" }));
    }
  });
  return `${JSON.stringify({ ...head, messages }, undefined, 2)}\n`;
}

function opencode() {
  const parts = steps.map((step, at) => {
    const tool = (/** @type {string} */ name, /** @type {object} */ state) => ({
      type: "tool",
      id: `prt_${at}`,
      sessionID: "ses_notes",
      messageID: `msg_${at}`,
      tool: name,
      callID: `call_${at}`,
      state,
    });
    switch (step.does) {
      case "read": {
        const { before, from = 1, lines } = step;
        const shown = lines === undefined ? part(step).slice(0, -1) : part(step);
        const counts = { lineStart: from, lineEnd: from + shown.length - 1, totalLines: before.split("\n").length - 1 };
        const display = { type: "file", path, text: shown.join("\n"), ...counts };
        const input = { filePath: path, ...(lines === undefined ? {} : { offset: from, limit: lines }) };
        const output = `<path>${path}</path>\n<content>\n${numbered(shown, from, ": ")}\n</content>`;
        return tool("read", { status: "completed", input, output, metadata: { display } });
      }
      case "edit": {
        const { edit, before, after, failed } = step;
        const input = { filePath: path, oldString: edit.old, newString: edit.new };
        if (failed === true)
          return tool("edit", { status: "error", input, error: "Could not find oldString in the file." });
        const metadata = { diff: `--- ${path}\n+++ ${path}\n${unified(before, after ?? "")}` };
        return tool("edit", { status: "completed", input, output: "Edit applied successfully.", metadata });
      }
      case "write": {
        const input = { filePath: added, content: todo };
        return tool("write", {
          status: "completed",
          input,
          output: "Wrote file successfully.",
          metadata: { exists: false },
        });
      }
      case "shell":
        return tool("bash", {
          status: "completed",
          input: { command: step.command },
          output: "(no output)",
          metadata: { exit: 0 },
        });
    }
  });
  const messages = parts.map((one, at) => ({ info: { id: `msg_${at}`, role: "assistant" }, parts: [one] }));
  return `${JSON.stringify({ info: { id: "ses_notes", directory: cwd }, messages }, undefined, 2)}\n`;
}

/** File name and content. @returns {Readonly<Record<string, string>>} */
export const corpus = () => ({
  "neutral.jsonl": neutral(),
  "claude-code.jsonl": claudeCode(),
  "codex.jsonl": codex(),
  "gemini-cli.json": geminiCli(),
  "opencode.json": opencode(),
});

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = fileURLToPath(new URL("corpus/", import.meta.url));
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(corpus())) writeFileSync(`${folder}${name}`, text);
}
