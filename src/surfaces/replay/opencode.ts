/**
 * Transcripts of opencode: parts of messages, each a JSON value, from the files below `~/.local/share/opencode/storage`, from the rows
 * of `opencode.db` or from a document that `opencode export` writes. Pure.
 */

import { isRecord } from "../../contract/common.ts";
import {
  type Action,
  editIn,
  type FileFact,
  hunksOfUnified,
  jsonOf,
  type JsonRecord,
  listIn,
  numberOf,
  type RecordedCall,
  recordIn,
  shellIn,
  type Step,
  textIn,
  type TranscriptReader,
  writeIn,
} from "./conversation.ts";
import { failureIn } from "./failure-words.ts";
import { linesRead } from "./shell.ts";

/** A document of `opencode export`; a session, which has its folder; or a part. */
export function isOpencode(value: JsonRecord): boolean {
  if (Array.isArray(value["messages"]) && recordIn(value, "info") !== undefined) return true;
  return isSession(value) || (textIn(value, "type") !== undefined && "sessionID" in value && "messageID" in value);
}

const isSession = (value: JsonRecord): boolean =>
  textIn(value, "id")?.startsWith("ses_") === true && textIn(value, "directory") !== undefined;

export function readOpencode(): TranscriptReader {
  const startOf = (session: JsonRecord): Step => ({
    step: "start",
    client: "opencode",
    id: textIn(session, "id") ?? "",
    cwd: textIn(session, "directory") ?? "/",
  });
  const feed = (value: JsonRecord): readonly Step[] => {
    if (isSession(value)) return [startOf(value)];
    if (Array.isArray(value["messages"])) {
      const info = recordIn(value, "info") ?? {};
      const parts = listIn(value, "messages").flatMap((message) => listIn(message, "parts"));
      return [startOf(info), ...parts.flatMap((part) => (isRecord(part) ? partSteps(part) : []))];
    }
    return partSteps(value);
  };
  return { feed, finish: () => [] };
}

function partSteps(part: JsonRecord): readonly Step[] {
  const type = textIn(part, "type");
  if (type === "compaction") return [{ step: "compaction" }];
  const state = recordIn(part, "state");
  const [tool, status] = [textIn(part, "tool"), textIn(state, "status")];
  if (type !== "tool" || state === undefined || tool === undefined) return [];
  if (status !== "completed" && status !== "error") return [];
  return [{ step: "call", call: recorded(tool, state, status === "error") }];
}

function recorded(tool: string, state: JsonRecord, isFailed: boolean): RecordedCall {
  const input = recordIn(state, "input") ?? {};
  const answer = (isFailed ? textIn(state, "error") : textIn(state, "output")) ?? "";
  const metadata = recordIn(state, "metadata");
  const action = actionOf(tool, input);
  const read =
    action.verb === "shell" && !isFailed && numberOf(metadata, "exit") === 0 ? linesRead(action, answer) : undefined;
  return {
    tool,
    action: read?.action ?? action,
    written: jsonOf(input),
    answer,
    failed: isFailed ? failureIn(answer) : undefined,
    facts: isFailed ? [] : (read?.facts ?? factsOf(action, answer, metadata)),
  };
}

function actionOf(tool: string, input: JsonRecord): Action {
  const path = textIn(input, "filePath") ?? "";
  switch (tool) {
    case "read":
      if (path === "") break;
      return { verb: "read", path, from: numberOf(input, "offset"), linesMax: numberOf(input, "limit") };
    case "edit":
    case "multiedit":
      return editIn(input, path, ["oldString", "newString", "replaceAll"]);
    case "write":
      return writeIn(input, path);
    case "patch":
    case "apply_patch": {
      const patchText = textIn(input, "patchText");
      if (patchText !== undefined) return { verb: "patch", patchText };
      break;
    }
    case "bash":
      return shellIn(input, textIn(input, "workdir"));
    case "grep":
    case "glob":
    case "list":
      return { verb: "search", path: textIn(input, "path"), input };
  }
  return { verb: "other" };
}

function factsOf(action: Action, answer: string, metadata: JsonRecord | undefined): readonly FileFact[] {
  if (action.verb === "read") return readFacts(action.path, answer, recordIn(metadata, "display"));
  if (action.verb !== "edit" && action.verb !== "write") return [];
  const { path } = action;
  const filediff = recordIn(metadata, "filediff");
  const [before, after] = [textIn(filediff, "before"), textIn(filediff, "after")];
  const wrote: readonly FileFact[] =
    action.verb === "write" ? [{ path, at: "after", is: "whole", text: action.content }] : [];
  if (metadata?.["exists"] === false) return [{ path, at: "before", is: "absent" }, ...wrote];
  if (before !== undefined && after !== undefined) {
    const isNew = before === "" && action.verb === "edit" && action.edits[0].oldText === "";
    return [
      isNew ? { path, at: "before", is: "absent" } : { path, at: "before", is: "whole", text: before },
      { path, at: "after", is: "whole", text: after },
    ];
  }
  const diff = textIn(metadata, "diff") ?? textIn(filediff, "patch");
  if (diff === undefined) return wrote;
  return action.verb === "write" ? wrote : [{ path, at: "both", is: "hunks", hunks: hunksOfUnified(diff) }];
}

/** Numbered lines of an answer: `12: text`, in older versions `00012| text`. */
const numberedLine = /^(?:(\d{1,9}): |(\d{5,9})\| )(.*)$/;

function readFacts(path: string, answer: string, display: JsonRecord | undefined): readonly FileFact[] {
  const text = textIn(display, "text");
  const [start, end, total] = [
    numberOf(display, "lineStart"),
    numberOf(display, "lineEnd"),
    numberOf(display, "totalLines"),
  ];
  if (
    text !== undefined &&
    start !== undefined &&
    start > 0 &&
    total !== undefined &&
    textIn(display, "type") === "file"
  ) {
    // The final newline is not recorded; nearly every text has one.
    if (start === 1 && end === total)
      return [{ path, at: "before", is: "whole", text: text === "" ? "" : `${text}\n` }];
    return [{ path, at: "before", is: "lines", from: start, lines: text.split("\n"), linesTotal: total + 1 }];
  }
  const numbered = answer.split("\n").flatMap((line) => {
    const [, short, long, rest] = numberedLine.exec(line) ?? [];
    const number = short ?? long;
    return number === undefined || rest === undefined ? [] : [{ number: Number(number), rest }];
  });
  const [first] = numbered;
  if (first === undefined || first.number < 1 || numbered.some(({ number }, at) => number !== first.number + at))
    return [];
  return [{ path, at: "before", is: "lines", from: first.number, lines: numbered.map(({ rest }) => rest) }];
}
