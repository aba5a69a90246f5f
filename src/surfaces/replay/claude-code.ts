/** Transcripts of Claude Code: `~/.claude/projects/<folder>/<session>.jsonl`, one message a line. Pure. */

import { dropOldest, isRecord } from "../../contract/common.ts";
import {
  type Action,
  editIn,
  type FileFact,
  hunksIn,
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

/** Lines that are no message have these types; a file may begin with them. */
const besides = [
  "summary",
  "queue-operation",
  "file-history-snapshot",
  "mode",
  "permission-mode",
  "custom-title",
  "agent-name",
  "ai-title",
  "last-prompt",
];

export function isClaudeCode(value: JsonRecord): boolean {
  const type = textIn(value, "type") ?? "";
  if (besides.includes(type)) return "sessionId" in value || "leafUuid" in value || "messageId" in value;
  return ["user", "assistant", "system", "attachment"].includes(type) && "uuid" in value && "sessionId" in value;
}

interface Waiting {
  readonly tool: string;
  readonly input: unknown;
  /** The folder that the shell was in: a `cd` lasts to the next command. */
  readonly cwd: string | undefined;
}

/** Calls without a result that are kept; the oldest go first. */
const waitingMax = 1_000;

export function readClaudeCode(): TranscriptReader {
  const waiting = new Map<string, Waiting>();
  let session: string | undefined;
  const begin = (value: JsonRecord): Step[] => {
    const id = textIn(value, "sessionId");
    const cwd = textIn(value, "cwd");
    if (id === undefined || cwd === undefined || id === session) return [];
    session = id;
    return [{ step: "start", client: "Claude Code", id, cwd }];
  };
  return {
    feed(value) {
      if (value["isCompactSummary"] === true || textIn(value, "subtype") === "compact_boundary") {
        return [...begin(value), { step: "compaction" }];
      }
      // Other lines repeat messages, such as those that keep what was sent to the model.
      if (!["user", "assistant"].includes(textIn(value, "type") ?? "")) return [];
      const steps: Step[] = begin(value);
      for (const part of listIn(recordIn(value, "message"), "content")) {
        const type = textIn(part, "type");
        const [id, name, answered] = [textIn(part, "id"), textIn(part, "name"), textIn(part, "tool_use_id")];
        if (type === "tool_use" && id !== undefined && name !== undefined && isRecord(part)) {
          waiting.set(id, { tool: name, input: part["input"], cwd: textIn(value, "cwd") });
          dropOldest(waiting, waitingMax);
        }
        const call = answered === undefined ? undefined : waiting.get(answered);
        if (type !== "tool_result" || call === undefined || answered === undefined || !isRecord(part)) continue;
        waiting.delete(answered);
        const result = recordIn(value, "toolUseResult");
        steps.push({ step: "call", call: recorded(call, part, result) });
      }
      return steps;
    },
    finish: () => [],
  };
}

function recorded(call: Waiting, part: JsonRecord, result: JsonRecord | undefined): RecordedCall {
  const { tool, input } = call;
  const answer = textOfParts(part["content"]);
  const failed = part["is_error"] === true ? failureIn(answer) : undefined;
  const action = actionOf(call);
  const isChanged = result?.["userModified"] === true;
  return {
    tool,
    // What a person changed in the question is not what the call says.
    action: isChanged ? { verb: "other" } : action,
    written: jsonOf(input),
    answer,
    failed,
    facts: failed === undefined ? factsOf(action, result) : [],
  };
}

function actionOf({ tool, input, cwd }: Waiting): Action {
  const path = textIn(input, "file_path") ?? "";
  switch (tool) {
    case "Read":
      if (path === "" || textIn(input, "pages") !== undefined) break;
      return { verb: "read", path, from: numberOf(input, "offset"), linesMax: numberOf(input, "limit") };
    case "Edit":
    case "MultiEdit":
      return editIn(input, path, ["old_string", "new_string", "replace_all"]);
    case "Write":
      return writeIn(input, path);
    case "Bash":
    case "PowerShell":
      return shellIn(input, cwd);
    case "Grep":
    case "Glob":
    case "LS":
      if (isRecord(input)) return { verb: "search", path: textIn(input, "path"), input };
  }
  return { verb: "other" };
}

function factsOf(action: Action, result: JsonRecord | undefined): readonly FileFact[] {
  if (result === undefined) return [];
  switch (action.verb) {
    case "read": {
      const file = recordIn(result, "file");
      const content = textIn(file, "content");
      const [from, linesTotal] = [numberOf(file, "startLine"), numberOf(file, "totalLines")];
      if (textIn(result, "type") !== "text" || content === undefined || from === undefined || from < 1) return [];
      const lines = content.split("\n");
      const { path } = action;
      if (from === 1 && linesTotal !== undefined && lines.length >= linesTotal) {
        return [{ path, at: "before", is: "whole", text: content }];
      }
      return [{ path, at: "before", is: "lines", from, lines, ...(linesTotal === undefined ? {} : { linesTotal }) }];
    }
    case "edit":
    case "write": {
      const { path } = action;
      const original = result["originalFile"];
      const facts: FileFact[] = [];
      if (typeof original === "string") facts.push({ path, at: "before", is: "whole", text: original });
      else if (textIn(result, "type") === "create") facts.push({ path, at: "before", is: "absent" });
      const hunks = hunksIn(listIn(result, "structuredPatch"));
      if (action.verb === "edit" && hunks.length > 0) facts.push({ path, at: "both", is: "hunks", hunks });
      if (action.verb === "write") facts.push({ path, at: "after", is: "whole", text: action.content });
      return facts;
    }
    case "search":
      return textIn(result, "mode") === "content" ? linesFound(textIn(result, "content") ?? "") : [];
    case "patch":
    case "shell":
    case "other":
      return [];
  }
}

/** Lines of a search with line numbers: `path:12:text`. A path with a colon and a digit in it would be cut wrongly, so it is left out. */
function linesFound(content: string): readonly FileFact[] {
  return content.split("\n").flatMap((line): FileFact[] => {
    const [, path, from, text] = /^([^:\n]{1,1000}):(\d{1,7}):(.*)$/.exec(line) ?? [];
    if (path === undefined || from === undefined || text === undefined || Number(from) < 1) return [];
    return [{ path, at: "before", is: "lines", from: Number(from), lines: [text] }];
  });
}
