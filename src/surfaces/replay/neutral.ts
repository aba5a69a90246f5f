/** The neutral form of a conversation, which any program can write: docs/explanation/benchmark.md describes it. Pure. */

import { isRecord } from "../../contract/common.ts";
import {
  type Action,
  editIn,
  type FailureKind,
  failureKinds,
  type FileFact,
  jsonOf,
  type JsonRecord,
  listIn,
  numberOf,
  recordIn,
  shellIn,
  type Step,
  textIn,
  type TranscriptReader,
  writeIn,
} from "./conversation.ts";

/** The key of the line that begins a conversation; its value is the version of the form. */
const headKey = "filehand-replay";

export const isNeutral = (value: JsonRecord): boolean => value[headKey] === 1;

export function readNeutral(): TranscriptReader {
  let conversations = 0;
  const feed = (value: JsonRecord): readonly Step[] => {
    if (isNeutral(value)) {
      conversations += 1;
      const id = textIn(value, "id") ?? String(conversations);
      return [{ step: "start", client: "neutral", id, cwd: textIn(value, "cwd") ?? "/" }];
    }
    if (textIn(value, "mark") === "compaction") return [{ step: "compaction" }];
    const tool = textIn(value, "tool");
    if (tool === undefined) return [];
    const input = recordIn(value, "input") ?? {};
    const action = actionOf(textIn(value, "verb") ?? "", input);
    const failed = failedAs(value["failed"]);
    const written = textIn(value, "written") ?? jsonOf(input);
    const call = {
      tool,
      action,
      written,
      answer: textIn(value, "result") ?? "",
      failed,
      facts: factsOf(action, value),
    };
    return [{ step: "call", call }];
  };
  return { feed, finish: () => [] };
}

function failedAs(value: unknown): FailureKind | undefined {
  if (value === undefined || value === false || value === null) return undefined;
  return failureKinds.find((kind) => kind === value) ?? "other";
}

function actionOf(verb: string, input: JsonRecord): Action {
  const path = textIn(input, "path");
  switch (verb) {
    case "read":
      if (path === undefined) break;
      return { verb, path, from: numberOf(input, "from"), linesMax: numberOf(input, "lines") };
    case "edit":
      return editIn(input, path, ["old", "new", "all"]);
    case "write":
      return writeIn(input, path);
    case "patch": {
      const patchText = textIn(input, "patch");
      if (patchText !== undefined) return { verb, patchText };
      break;
    }
    case "search":
      return { verb, path, input };
    case "shell":
      return shellIn(input, textIn(input, "folder"));
  }
  return { verb: "other" };
}

/** `found`: lines that a search showed. */
function linesFound(found: unknown): readonly FileFact[] {
  if (!Array.isArray(found)) return [];
  return found.flatMap((one: unknown): FileFact[] => {
    const [path, from] = [textIn(one, "path"), numberOf(one, "from")];
    const lines = listIn(one, "lines").filter((line): line is string => typeof line === "string");
    if (path === undefined || from === undefined || from < 1 || lines.length === 0) return [];
    return [{ path, at: "before", is: "lines", from, lines }];
  });
}

/** `before` and `after`: the whole text, null where there was no file. `shown`: lines of the file as it was before. */
function factsOf(action: Action, value: JsonRecord): readonly FileFact[] {
  if (action.verb === "search") return linesFound(value["found"]);
  if (action.verb !== "read" && action.verb !== "edit" && action.verb !== "write") return [];
  const { path } = action;
  const facts: FileFact[] = [];
  for (const at of ["before", "after"] as const) {
    const text = value[at];
    if (text === null) facts.push({ path, at, is: "absent" });
    if (typeof text === "string") facts.push({ path, at, is: "whole", text });
  }
  const shown = recordIn(value, "shown");
  const from = numberOf(shown, "from");
  const lines =
    isRecord(shown) && Array.isArray(shown["lines"])
      ? shown["lines"].filter((line): line is string => typeof line === "string")
      : [];
  if (from === undefined || from < 1 || lines.length === 0) return facts;
  const linesTotal = numberOf(shown, "total");
  return [
    ...facts,
    { path, at: "before", is: "lines", from, lines, ...(linesTotal === undefined ? {} : { linesTotal }) },
  ];
}
