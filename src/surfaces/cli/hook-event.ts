/**
 * What a client says to `filehand hook`: one JSON object on stdin. Pure. The fields are
 * those of Claude Code, which Codex, Gemini CLI and Qwen Code took over; others come from the plugin in the docs.
 */

import { isRecord } from "../../contract/common.ts";
import { callTitle } from "../../dialects/dialects.ts";

export interface HookEvent {
  /** `idle`: no command is running any more, whatever was said before. */
  readonly when: "before" | "after" | "idle";
  readonly session: string;
  readonly tool: string;
  readonly title: string;
  /** The client's own id of the call; some have none. */
  readonly callId: string | undefined;
  readonly cwd: string | undefined;
  readonly input: unknown;
  /** What the tool answered; after it. */
  readonly response: unknown;
}

/** Every event that a client may send here; others are none of ours. */
const events: ReadonlyMap<string, HookEvent["when"]> = new Map([
  ["PreToolUse", "before"],
  ["BeforeTool", "before"],
  ["tool.execute.before", "before"],
  ["PostToolUse", "after"],
  ["PostToolUseFailure", "after"],
  ["AfterTool", "after"],
  ["tool.execute.after", "after"],
  ["Stop", "idle"],
  ["SessionStart", "idle"],
  ["SessionEnd", "idle"],
  ["UserPromptSubmit", "idle"],
  ["BeforeAgent", "idle"],
  ["AfterAgent", "idle"],
  ["session.idle", "idle"],
]);

/** A longer id is none of a client. */
const idCharsMax = 200;

/** `unknown`: an event that needs nothing from us. `not an event`: the text is something else. */
export function readHookEvent(text: string): HookEvent | "unknown" | "not an event" {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return "not an event";
  }
  if (!isRecord(value)) return "not an event";
  const name = value["hook_event_name"];
  const session = textOf(value["session_id"]);
  if (typeof name !== "string" || session === undefined) return "not an event";
  const when = events.get(name);
  if (when === undefined) return "unknown";
  const tool = textOf(value["tool_name"]);
  if (tool === undefined && when !== "idle") return "not an event";
  const input = value["tool_input"];
  return {
    when,
    session,
    tool: tool ?? "",
    title: callTitle(tool ?? "", input),
    callId: textOf(value["tool_use_id"]),
    cwd: typeof value["cwd"] === "string" && value["cwd"] !== "" ? value["cwd"] : undefined,
    input,
    response: value["tool_response"],
  };
}

/** Ids are parts of names and of records. */
const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" && value.length <= idCharsMax ? value : undefined;
