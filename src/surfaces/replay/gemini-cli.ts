/** Transcripts of Gemini CLI: `~/.gemini/tmp/<project>/chats/session-*`, one JSON document, or in newer versions one record a line. Pure. */

import { isRecord } from "../../contract/common.ts";
import {
  type Action,
  editIn,
  type FileFact,
  jsonOf,
  type JsonRecord,
  listIn,
  numberOf,
  type RecordedCall,
  recordIn,
  shellIn,
  type Step,
  textIn,
  textOfParts,
  type TranscriptReader,
  writeIn,
} from "./conversation.ts";
import { failureIn } from "./failure-words.ts";
import { linesRead } from "./shell.ts";

export const isGeminiCli = (value: JsonRecord): boolean => "sessionId" in value && "projectHash" in value;

/** Ids of calls that were read; a message is written again when it grows. */
const idsMax = 10_000;

export function readGeminiCli(): TranscriptReader {
  const done = new Set<string>();
  const callsOf = (message: unknown): Step[] =>
    listIn(message, "toolCalls").flatMap((call): Step[] => {
      const id = textIn(call, "id");
      if (id === undefined || done.has(id) || !isRecord(call)) return [];
      const status = textIn(call, "status");
      if (status !== "success" && status !== "error" && status !== "cancelled") return [];
      done.add(id);
      if (done.size > idsMax) done.clear();
      return [{ step: "call", call: recorded(call, status) }];
    });
  return {
    feed(value) {
      const steps: Step[] = [];
      // The record has only a hash of the folder, so relative paths start at the top.
      if (isGeminiCli(value)) {
        const id = textIn(value, "sessionId") ?? "";
        steps.push({ step: "start", client: "Gemini CLI", id, cwd: "/" });
      }
      const messages = [...listIn(value, "messages"), ...listIn(recordIn(value, "$set"), "messages"), value];
      for (const message of messages) {
        if (textIn(message, "type") === "gemini") steps.push(...callsOf(message));
      }
      return steps;
    },
    finish: () => [],
  };
}

function recorded(call: JsonRecord, status: string): RecordedCall {
  const tool = textIn(call, "name") ?? "";
  const input = recordIn(call, "args") ?? {};
  const answer = answerOf(call["result"]);
  const failed = status === "cancelled" ? "refused by a person" : status === "error" ? failureIn(answer) : undefined;
  const action = actionOf(tool, input);
  const read = action.verb === "shell" && failed === undefined ? linesRead(action, printed(answer)) : undefined;
  return {
    tool,
    action: read?.action ?? action,
    written: jsonOf(input),
    answer,
    failed: action.verb === "shell" ? undefined : failed,
    facts: failed !== undefined ? [] : (read?.facts ?? factsOf(action, answer, call["resultDisplay"])),
  };
}

function answerOf(result: unknown): string {
  if (!Array.isArray(result)) return textOfParts(result);
  return result
    .map((part: unknown) => {
      const response = recordIn(recordIn(part, "functionResponse"), "response");
      return textIn(response, "output") ?? textIn(response, "error") ?? textIn(part, "text") ?? "";
    })
    .join("\n");
}

function printed(answer: string): string {
  const [, output] =
    /^Output: ([\s\S]*?)\n(?:Error|Exit Code|Signal|Process Group PGID|Background PIDs): /m.exec(answer) ?? [];
  return output ?? answer;
}

function actionOf(tool: string, input: JsonRecord): Action {
  const path = textIn(input, "file_path") ?? textIn(input, "absolute_path") ?? "";
  switch (tool) {
    case "read_file": {
      if (path === "") break;
      const [start, end] = [numberOf(input, "start_line"), numberOf(input, "end_line")];
      const offset = numberOf(input, "offset");
      const from = start ?? (offset === undefined ? undefined : offset + 1);
      const linesMax = end === undefined ? numberOf(input, "limit") : Math.max(1, end - (from ?? 1) + 1);
      return { verb: "read", path, from, linesMax };
    }
    case "replace": {
      const action = editIn(input, path, ["old_string", "new_string", "allow_multiple"]);
      const isSeveral = (numberOf(input, "expected_replacements") ?? 1) > 1;
      return action.verb === "edit" && isSeveral ? { ...action, edits: [{ ...action.edits[0], all: true }] } : action;
    }
    case "write_file":
      return writeIn(input, path);
    case "run_shell_command":
      return shellIn(input, textIn(input, "dir_path") ?? textIn(input, "directory"));
    case "grep_search":
    case "search_file_content":
    case "glob":
    case "list_directory":
      return { verb: "search", path: textIn(input, "dir_path") ?? textIn(input, "path"), input };
  }
  return { verb: "other" };
}

/** The head of an answer that shows a part of a file. */
const partHead =
  /^\s*IMPORTANT: The file content has been truncated\.\nStatus: Showing lines (\d{1,9})-(\d{1,9}) of (\d{1,9}) total lines\./;
const contentMark = "--- FILE CONTENT (truncated) ---\n";

function factsOf(action: Action, answer: string, display: unknown): readonly FileFact[] {
  if (action.verb === "read") {
    const { path } = action;
    const head = partHead.exec(answer);
    if (head === null) {
      // An answer that is no content, such as that for an image, would be a part of its own.
      return [{ path, at: "before", is: "whole", text: answer }];
    }
    const at = answer.indexOf(contentMark);
    const from = Number(head[1]);
    if (at === -1 || from < 1) return [];
    const lines = answer.slice(at + contentMark.length).split("\n");
    return [{ path, at: "before", is: "lines", from, lines, linesTotal: Number(head[3]) }];
  }
  if (action.verb !== "edit" && action.verb !== "write") return [];
  const { path } = action;
  const [before, after] = [textIn(display, "originalContent"), textIn(display, "newContent")];
  if (before === undefined || after === undefined || !isRecord(display)) return [];
  return [
    display["isNewFile"] === true
      ? { path, at: "before", is: "absent" }
      : { path, at: "before", is: "whole", text: before },
    { path, at: "after", is: "whole", text: after },
  ];
}
