/** Transcripts of Codex: `~/.codex/sessions/<year>/<month>/<day>/rollout-*.jsonl`, one record a line. Pure. */

import {
  type Action,
  type FileFact,
  hunksOfUnified,
  jsonOf,
  type JsonRecord,
  listIn,
  numberOf,
  type RecordedCall,
  recordIn,
  type Step,
  textIn,
  textOfParts,
  type TranscriptReader,
} from "./conversation.ts";
import { dropOldest, isRecord } from "../../contract/common.ts";
import { parseJson } from "../../text/text.ts";
import { failureIn } from "./failure-words.ts";
import { linesRead, patchInCommand } from "./shell.ts";

export function isCodex(value: JsonRecord): boolean {
  return textIn(value, "type") === "session_meta" && recordIn(value, "payload") !== undefined;
}

interface Waiting {
  readonly tool: string;
  readonly action: Action;
  readonly written: string;
  /** What an event about the same call told; it comes before the answer. */
  readonly facts: FileFact[];
  failed: boolean;
  output: string | undefined;
}

/** Calls without a result that are kept; the oldest go first. */
const waitingMax = 1_000;

export function readCodex(): TranscriptReader {
  const waiting = new Map<string, Waiting>();
  let id = "";
  let cwd: string | undefined;
  const start = (at: string): Step[] => {
    if (at === cwd) return [];
    cwd = at;
    return [{ step: "start", client: "Codex", id, cwd }];
  };
  const open = (callId: string, tool: string, action: Action, written: string): void => {
    waiting.set(callId, { tool, action, written, facts: [], failed: false, output: undefined });
    dropOldest(waiting, waitingMax);
  };
  return {
    feed(value) {
      const payload = recordIn(value, "payload");
      if (payload === undefined) return [];
      const type = textIn(payload, "type");
      const callId = textIn(payload, "call_id") ?? "";
      const kind = textIn(value, "type");
      if (kind === "session_meta") {
        id = textIn(payload, "id") ?? id;
        return start(textIn(payload, "cwd") ?? "/");
      }
      if (kind === "compacted") return [{ step: "compaction" }];
      if (kind === "event_msg") eventOf(payload, waiting);
      if (kind !== "response_item") return [];
      if (type === "function_call" || type === "local_shell_call" || type === "custom_tool_call") {
        const input = inputOf(payload);
        open(callId, textIn(payload, "name") ?? type, actionOf(payload, input), writtenOf(payload, input));
        return [];
      }
      const call = waiting.get(callId);
      if (call === undefined || (type !== "function_call_output" && type !== "custom_tool_call_output")) return [];
      waiting.delete(callId);
      return [{ step: "call", call: recorded(call, answerOf(payload["output"])) }];
    },
    finish: () => [],
  };
}

function recorded({ tool, action, written, facts, failed, output }: Waiting, answer: string): RecordedCall {
  const isPatch = action.verb === "patch";
  const isFailed =
    failed || exitCodeIn(answer) > 0 || (isPatch && facts.length === 0 && !/success|"exit_code":0/i.test(answer));
  const read = action.verb === "shell" && !isFailed ? linesRead(action, output ?? outputIn(answer)) : undefined;
  return {
    tool,
    // A command that only prints lines of a file is a read.
    action: read?.action ?? action,
    written,
    answer,
    failed: isFailed && action.verb !== "shell" ? failureIn(answer) : undefined,
    facts: read?.facts ?? facts,
  };
}

/** The answer to a command has lines about it before its output; older versions wrap both in JSON. */
function outputIn(answer: string): string {
  const parsed = answer.startsWith("{") ? parseJson(answer) : undefined;
  const inner = parsed !== undefined && "value" in parsed ? textIn(parsed.value, "output") : undefined;
  if (inner !== undefined) return inner;
  const at = answer.indexOf("Output:\n");
  return at === -1 || at > 600 ? answer : answer.slice(at + "Output:\n".length);
}

function exitCodeIn(answer: string): number {
  const head = answer.slice(0, 300);
  const [, code] =
    /Process exited with code (\d{1,3})\b|"exit_code":\s*(\d{1,3})\b|^Exit code: (\d{1,3})\b/m
      .exec(head)
      ?.filter((text) => text !== undefined) ?? [];
  return Number(code ?? 0);
}

/** Older versions give the output as a text, newer ones also as parts. */
const answerOf = (output: unknown): string =>
  isRecord(output) ? (textIn(output, "content") ?? "") : textOfParts(output);

function inputOf(payload: JsonRecord): unknown {
  const given = textIn(payload, "arguments");
  if (given === undefined) return recordIn(payload, "action") ?? payload["input"];
  const parsed = parseJson(given);
  return "value" in parsed ? parsed.value : undefined;
}

const writtenOf = (payload: JsonRecord, input: unknown): string =>
  textIn(payload, "arguments") ?? (typeof input === "string" ? input : jsonOf(input));

function actionOf(payload: JsonRecord, input: unknown): Action {
  const name = textIn(payload, "name") ?? "shell";
  if (name === "apply_patch") {
    const patchText = typeof input === "string" ? input : (textIn(input, "input") ?? textIn(input, "patch"));
    return patchText === undefined ? { verb: "other" } : { verb: "patch", patchText };
  }
  const parts = listIn(input, "command").filter((part): part is string => typeof part === "string");
  if (parts[0] === "apply_patch" && parts[1] !== undefined) return { verb: "patch", patchText: parts[1] };
  // `bash -lc "…"`
  const command = textIn(input, "cmd") ?? textIn(input, "command") ?? parts.at(-1);
  if (command === undefined || !/shell|exec|command|local_shell/.test(name)) return { verb: "other" };
  const patchText = patchInCommand(command);
  return patchText === undefined
    ? { verb: "shell", command, folder: textIn(input, "workdir") }
    : { verb: "patch", patchText };
}

/** Events tell what a patch changed and what a command printed, before the model gets the answer. */
function eventOf(payload: JsonRecord, waiting: ReadonlyMap<string, Waiting>): void {
  const item = recordIn(payload, "item") ?? payload;
  const type = textIn(item, "type");
  const call =
    waiting.get(textIn(item, "id") ?? textIn(item, "call_id") ?? "") ?? waiting.get(textIn(item, "call_id") ?? "");
  if (call === undefined) return;
  if (type === "CommandExecution" || type === "exec_command_end") {
    call.output = textIn(item, "aggregated_output") ?? textIn(item, "stdout");
    call.failed ||= (numberOf(item, "exit_code") ?? 0) !== 0;
  }
  if (type !== "FileChange" && type !== "patch_apply_end") return;
  if (item["success"] === false || textIn(item, "status") === "failed") {
    call.failed = true;
    return;
  }
  for (const [path, change] of Object.entries(recordIn(item, "changes") ?? {}))
    call.facts.push(...changeFacts(path, change));
}

function changeFacts(path: string, change: unknown): readonly FileFact[] {
  const type =
    textIn(change, "type") ?? ["add", "delete", "update"].find((name) => recordIn(change, name) !== undefined);
  const inner = textIn(change, "type") === undefined ? recordIn(change, type ?? "") : change;
  const content = textIn(inner, "content");
  if (type === "add" && content !== undefined) {
    return [
      { path, at: "before", is: "absent" },
      { path, at: "after", is: "whole", text: content },
    ];
  }
  if (type === "delete") {
    const gone: FileFact = { path, at: "after", is: "absent" };
    return content === undefined ? [gone] : [{ path, at: "before", is: "whole", text: content }, gone];
  }
  const diff = textIn(inner, "unified_diff");
  if (type !== "update" || diff === undefined || textIn(inner, "move_path") !== undefined) return [];
  return [{ path, at: "both", is: "hunks", hunks: hunksOfUnified(diff) }];
}
