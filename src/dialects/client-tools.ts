/**
 * The tools that clients bring along: which run a shell, which only look, and which tool of ours stands in for each. With the
 * sentence that a model gets if its client is set to use ours.
 */

import { isRecord } from "../contract/common.ts";

/** Clients that call a program around each of their tools. */
export const hookClients = {
  "claude-code": "Claude Code",
  codex: "Codex",
  gemini: "Gemini CLI",
  qwen: "Qwen Code",
  opencode: "opencode",
} as const;

export type HookClient = keyof typeof hookClients;

/** What a client's own file tool does, in words for a model: our tool for it has the same duty in every dialect. */
type Duty = "read" | "edit" | "write" | "search" | "list" | "patch" | "edit notebooks";

const claudeTools: Readonly<Record<string, Duty>> = {
  Read: "read",
  Edit: "edit",
  MultiEdit: "edit",
  Write: "write",
  NotebookEdit: "edit notebooks",
  Grep: "search",
  Glob: "list",
  LS: "list",
};

const geminiTools: Readonly<Record<string, Duty>> = {
  read_file: "read",
  read_many_files: "read",
  replace: "edit",
  edit: "edit",
  write_file: "write",
  notebook_edit: "edit notebooks",
  search_file_content: "search",
  grep_search: "search",
  glob: "list",
  list_directory: "list",
};

const ownFileTools: Readonly<Record<HookClient, Readonly<Record<string, Duty>>>> = {
  "claude-code": claudeTools,
  codex: { apply_patch: "patch", read_file: "read", list_dir: "list", grep_files: "search" },
  gemini: geminiTools,
  qwen: geminiTools,
  opencode: {
    read: "read",
    edit: "edit",
    multiedit: "edit",
    write: "write",
    patch: "patch",
    apply_patch: "patch",
    grep: "search",
    glob: "list",
    list: "list",
  },
};

/** The names of a client's own file tools, for settings that switch them off. */
export const ownFileToolsOf = (client: HookClient): readonly string[] => Object.keys(ownFileTools[client]);

const looking: ReadonlySet<Duty> = new Set(["read", "search", "list"]);

/** A call that cannot change a file: it is not worth a scan. */
export function onlyLooks(client: HookClient, tool: string): boolean {
  const duty = dutyOf(client, tool);
  return duty !== undefined && looking.has(duty);
}

function dutyOf(client: HookClient, tool: string): Duty | undefined {
  const tools = ownFileTools[client];
  return Object.hasOwn(tools, tool) ? tools[tool] : undefined;
}

/** A tool of our server: clients write its name as `mcp__filehand__Read`, `filehand_read` or `filehand.read`. */
export function isToolOf(server: string, tool: string): boolean {
  const at = tool.lastIndexOf(server);
  const [before, after] = [tool[at - 1], tool[at + server.length]];
  return at >= 0 && (before === undefined || before === "_") && (after === "_" || after === "." || after === ":");
}

/** Why a client's own file tool is refused; undefined for any other tool. */
export function ownToolRefusal(client: HookClient, tool: string, server: string): string | undefined {
  const duty = dutyOf(client, tool);
  if (duty === undefined) return undefined;
  return `Cannot use ${tool}: files of this workspace are worked on with the tools of the MCP server ${server}, use its tool to ${duty} instead`;
}

/** Of the title of a turn: enough for a person to recognise a command. */
const titleCharsMax = 1_000;
const pathKeys = ["file_path", "filePath", "path", "absolute_path", "notebook_path"] as const;

/** What a call is called in the history: its shell command, or the tool and the file. */
export function callTitle(tool: string, input: unknown): string {
  const command = shellCommandOf(input);
  if (command !== undefined) return command.slice(0, titleCharsMax);
  if (!isRecord(input)) return tool;
  const path = pathKeys.map((key) => input[key]).find((value) => typeof value === "string");
  return path === undefined ? tool : `${tool} ${path}`.slice(0, titleCharsMax);
}

/** The command that a call gives to a shell; undefined if it gives none. */
export function shellCommandOf(input: unknown): string | undefined {
  if (!isRecord(input)) return undefined;
  const { command, cmd } = input;
  const said = typeof command === "string" || Array.isArray(command) ? command : cmd;
  if (typeof said === "string") return said;
  return Array.isArray(said) ? shellWordsOf(said) : undefined;
}

/** Characters of a shell's output that every version of the client shows whole; a longer output is cut somewhere in it. */
const shellCharsShown: Readonly<Record<HookClient, number>> = {
  "claude-code": 30_000,
  codex: 10_000,
  gemini: 10_000,
  qwen: 10_000,
  opencode: 30_000,
};

/** What a shell tool printed, as far as the client shows it to the model; undefined if that is not known. */
export function shellOutputOf(client: HookClient, response: unknown): string | undefined {
  const text = printedIn(response);
  if (text === undefined || text.length > shellCharsShown[client]) return undefined;
  // Gemini CLI and Qwen Code name the command and the folder first.
  const [, output] = /^Command: [^]*?\n(?:Output|Stdout): ([^]*)$/.exec(text) ?? [];
  return output ?? text;
}

function printedIn(response: unknown): string | undefined {
  if (typeof response === "string") return response;
  if (!isRecord(response)) return undefined;
  const { stdout, output, llmContent } = response;
  return [stdout, output, llmContent].find((one) => typeof one === "string");
}

/** `["bash", "-lc", "rm x"]` is `rm x`. */
function shellWordsOf(words: readonly unknown[]): string {
  const texts = words.slice(0, titleCharsMax).filter((word) => typeof word === "string");
  const [, flag = "", script] = texts;
  return texts.length === 3 && script !== undefined && /^-l?c$/.test(flag) ? script : texts.join(" ");
}

/** Undefined: nothing is to be said, and the client decides as it does without us. */
export function hookDecision(client: HookClient, verdict: "deny" | "allow", reason: string): object | undefined {
  switch (client) {
    case "claude-code":
    case "qwen":
      return preToolUse(verdict, reason);
    case "codex":
      // Codex takes a refusal only.
      return verdict === "allow" ? undefined : preToolUse(verdict, reason);
    case "gemini":
      return { decision: verdict, reason };
    case "opencode":
      return verdict === "allow" ? undefined : { deny: reason };
  }
}

const preToolUse = (permissionDecision: "deny" | "allow", permissionDecisionReason: string): object => ({
  hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision, permissionDecisionReason },
});

/** A line for the person, not for the model; opencode's plugin has no place for it. */
export const messageToPerson = (client: HookClient, text: string): object | undefined =>
  client === "opencode" ? undefined : { systemMessage: text };
