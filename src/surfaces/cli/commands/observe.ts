/** `filehand hook`, `run` and `observe`: what other programs change becomes a turn that can be undone. */

import { spawn } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { isFailure } from "../../../contract/problem.ts";
import {
  type HookClient,
  hookClients,
  hookDecision,
  isToolOf,
  messageToPerson,
  onlyLooks,
  ownToolRefusal,
  personDialect,
  shellCommandOf,
  shellOutputOf,
} from "../../../dialects/dialects.ts";
import type { Coverage, Observed, Session, ShownFile } from "../../../options.ts";
import { appendShellNotes } from "../../../state/state.ts";
import { escapeName } from "../../../text/text.ts";
import { nameFrom } from "../change.ts";
import {
  type Command,
  type CommandExit,
  type ExitCode,
  type Given,
  type Host,
  option,
  UsageError,
} from "../command.ts";
import { confinedCommand, masksOf, shellQuoted } from "../confine.ts";
import { type HookEvent, readHookEvent } from "../hook-event.ts";
import { openSession, startUpkeep } from "../open-session.ts";
import { oneOf } from "../parse.ts";
import { jsonLine, orJsonFailure, print, printJson } from "../print.ts";

const clientNames = Object.keys(hookClients) as HookClient[]; // its keys

/** Of one event: the answer of a tool can be long. */
const eventBytesMax = 67_108_864;
/** The first scan of a workspace leaves contents that take longer to the next one: clients end a hook after a minute. */
const firstCopyMsMax = 20_000;

export const hook: Command = {
  name: "hook",
  summary: "What an agent's client calls around its own tools: each shell command becomes a turn",
  parameters: ["<client>"],
  options: {
    "replace-builtins": option.flag("Refuse the client's own file tools, name ours instead, and allow ours"),
    server: option.text("NAME", "The name of our MCP server in the client's settings (default: filehand)"),
  },
  details: [
    `Clients: ${clientNames.join(", ")}. It reads one event as JSON from stdin, and is set up in the client's settings.`,
    "Before a tool runs the state of the workspace is noted; after it, what changed is a turn with the command as its title.",
    "Whatever goes wrong here, the client's tool runs: the exit code is 0, or 1 with the reason on stderr.",
  ].join("\n"),
  examples: ["filehand hook claude-code", "filehand hook gemini --replace-builtins"],
  async run(given, host) {
    // Exit code 2 would make clients refuse the tool. Nothing here is a reason for that.
    try {
      const client = oneOf("client", given.parameters[0] ?? "", clientNames);
      const text = await eventText(host);
      const event = text === undefined ? "too long" : readHookEvent(text);
      if (event === "unknown") return 0;
      if (typeof event === "string") {
        const what = event === "too long" ? `it has more than ${eventBytesMax} bytes` : "it is no event of a hook";
        host.stderr.write(`filehand: Cannot use standard input: ${what}, the command is not observed\n`);
        return 1;
      }
      return await answer(client, event, given, host);
    } catch (error) {
      if (!(error instanceof UsageError) && !isFailure(error)) throw error;
      host.stderr.write(`filehand: ${escapeName(error.message)}, the command is not observed\n`);
      return 1;
    }
  },
};

async function eventText(host: Host): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of host.stdin) {
    const buffer = Buffer.from(chunk as string | Buffer); // no other kind comes from a pipe
    bytes += buffer.length;
    if (bytes <= eventBytesMax) chunks.push(buffer);
    else chunks.length = 0;
  }
  return bytes > eventBytesMax ? undefined : Buffer.concat(chunks).toString("utf8");
}

async function answer(client: HookClient, event: HookEvent, given: Given, host: Host): Promise<ExitCode> {
  const server = given.text("server") ?? "filehand";
  const isOurs = isToolOf(server, event.tool);
  if (event.when === "before" && given.flag("replace-builtins")) {
    const refusal = ownToolRefusal(client, event.tool, server);
    const verdict = isOurs ? hookDecision(client, "allow", `a tool of ${server}`) : undefined;
    const said = refusal === undefined ? verdict : hookDecision(client, "deny", refusal);
    if (said !== undefined) return say(said, host);
  }
  // Our own tools keep the history by themselves.
  if (isOurs || onlyLooks(client, event.tool)) return 0;
  const opened = await openSession(given, host, "people", {
    dialect: personDialect,
    stdin: "used",
    reports: "by itself",
    roots: rootsOf(client, event, given, host),
    session: { id: `${client}-${event.session}`, client: hookClients[client] },
  });
  const observed = await opened.session.observe({
    command: commandOf(event),
    copyMsMax: firstCopyMsMax,
    signal: host.signal,
  });
  if (event.when === "after" && opened.stateDir !== undefined) {
    await leaveNotes(client, event, [event.cwd ?? host.cwd, ...opened.filehand.roots], opened.session, opened.stateDir);
  }
  if (event.when !== "before") await startUpkeep(opened, host);
  const words = event.when === "before" ? beforehand(observed) : afterwards(observed, opened.filehand.roots);
  const said = words === undefined ? undefined : messageToPerson(client, words);
  return said === undefined ? 0 : say(said, host);
}

/**
 * The lines that the command showed count as read for our server in the same conversation. `folders`: where the command may have begun;
 * some clients name the folder in which it ended.
 */
async function leaveNotes(
  client: HookClient,
  { input, response, session: conversation }: HookEvent,
  folders: readonly string[],
  session: Session,
  stateDir: string,
): Promise<void> {
  const [command, output] = [shellCommandOf(input), shellOutputOf(client, response)];
  if (command === undefined || output === undefined || output === "") return;
  const shown = new Map<string, ShownFile>();
  for (const cwd of new Set(folders)) {
    for (const file of await session.markShell({ command, output, cwd })) shown.set(file.path, file);
  }
  appendShellNotes(stateDir, conversation, [...shown.values()]);
}

function say(value: object, host: Host): ExitCode {
  host.stdout.write(jsonLine(value));
  return 0;
}

const projectVariables: Readonly<Partial<Record<HookClient, string>>> = {
  "claude-code": "CLAUDE_PROJECT_DIR",
  gemini: "GEMINI_PROJECT_DIR",
  qwen: "QWEN_PROJECT_DIR",
};

/** The project, also if the agent's shell is in a folder of it by now. */
function rootsOf(client: HookClient, event: HookEvent, given: Given, { env, cwd }: Host): readonly string[] {
  if (given.list("root").length > 0) return [];
  const variable = projectVariables[client];
  const project = variable === undefined ? undefined : env[variable];
  return [project === undefined || project === "" ? (event.cwd ?? cwd) : project];
}

function commandOf({ when, session, tool, input, callId, title }: HookEvent) {
  const does = when === "before" ? "begins" : when === "after" ? "ends" : "ended unseen";
  if (callId !== undefined) return { id: callId, title, does } as const;
  // Without an id, the same call before and after is recognised by what it does; each time it is another turn.
  const same = JSON.stringify([session, tool, input]);
  const id = createHash("sha256").update(same).digest("hex").slice(0, 16);
  return { id, title, does, turn: `${id}-${Date.now().toString(36)}` } as const;
}

/** Of one line on a terminal. */
const namesMax = 5;

function beforehand({ complete }: Observed): string | undefined {
  return complete ? undefined : "Filehand cannot undo all of this command: filehand observe status says why";
}

function afterwards({ notCovered }: Observed, roots: readonly string[]): string | undefined {
  if (notCovered.length === 0) return undefined;
  const names = notCovered.slice(0, namesMax).map((path) => escapeName(nameFrom(roots[0] ?? "/", path)));
  const more = notCovered.length > names.length ? ` and ${notCovered.length - names.length} more` : "";
  return `Filehand cannot undo what this command did to ${names.join(", ")}${more}: filehand observe status says why`;
}

export const run: Command = {
  name: "run",
  summary: "Run a command, and make what it changes a turn that filehand undo takes back",
  parameters: ["<command...>"],
  options: {
    confined: option.flag(
      "Let the command reach only the roots, the system and toolchains, without what the rules deny (Linux)",
    ),
  },
  details: [
    "Write -- before a command that has options of its own. It runs without a shell, in the current folder, and gets the",
    "terminal; its exit code is that of filehand run. What undo cannot bring back is named on stderr.",
    "--confined runs it in bubblewrap: files that a rule denies, or asks about (unless --yes), are refused to every program in it.",
  ].join("\n"),
  examples: [
    "filehand run -- make build",
    "filehand run --confined -- npm test",
    "filehand run -- sh -c 'rm -rf src/*.bak'",
  ],
  async run(given, host) {
    const [program = "", ...args] = given.parameters;
    const opened = await openSession(given, host, "people", { dialect: personDialect });
    const { session, filehand } = opened;
    const masked = given.flag("confined") ? masksOf(filehand, given.flag("yes") ? "allowed" : "hidden") : undefined;
    const wrapper = masked === undefined ? [] : confinedCommand(opened.confinable, masked, host);
    const id = randomUUID();
    const title = given.parameters.map(shellQuoted).join(" ");
    const before = await session.observe({ command: { id, title, does: "begins" }, signal: host.signal });
    if (!before.complete) host.stderr.write(`filehand: ${beforehand(before)}\n`);
    const [first = program, ...rest] = [...wrapper, program, ...args];
    const ended = await runToEnd(first, rest, host);
    // Ctrl-C ends the command, and what it did until then is recorded.
    const observed = await session.observe({ command: { id, title, does: "ends" } });
    opened.record();
    await startUpkeep(opened, host);
    if (typeof ended === "string") throw new UsageError(`Cannot run "${program}": ${ended}`);
    const files = observed.observed === 1 ? "one change" : `${observed.observed} changes`;
    if (observed.observed > 0) host.stderr.write(`filehand: ${files}, filehand undo takes them back\n`);
    const not = afterwards(observed, filehand.roots);
    if (not !== undefined) host.stderr.write(`filehand: ${not}\n`);
    return ended;
  },
};

/** Its exit code, 128 and the signal's number if a signal ended it, as shells have it; or why it did not start. */
function runToEnd(program: string, args: readonly string[], host: Host): Promise<CommandExit | string> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd: host.cwd, env: { ...host.env }, stdio: "inherit", windowsHide: true });
    // On a terminal Ctrl-C reaches the command by itself, and some commands go on after it.
    const stop = (): void => void (host.stdin.isTTY !== true && child.kill("SIGTERM"));
    host.signal.addEventListener("abort", stop, { once: true });
    child.on("error", (error: NodeJS.ErrnoException) =>
      resolve(error.code === "ENOENT" ? "there is no such program" : `the system says ${error.code}`),
    );
    child.on("close", (code, signal) => {
      host.signal.removeEventListener("abort", stop);
      resolve((code ?? 128 + (signalNumbers[signal ?? "SIGTERM"] ?? 15)) as CommandExit); // what a shell would say
    });
  });
}

const signalNumbers: Readonly<Partial<Record<NodeJS.Signals, number>>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGABRT: 6,
  SIGKILL: 9,
  SIGSEGV: 11,
  SIGPIPE: 13,
  SIGTERM: 15,
};

export const observe: Command = {
  name: "observe",
  summary: "Say which files could be undone after a shell command, and which not",
  parameters: ["<status>"],
  options: {},
  details: [
    "It looks at the workspace as filehand hook and filehand run do before a command, and says what is covered: files that git",
    "has, files that are copied, and what is left out and why. The setting observe has the limits.",
  ].join("\n"),
  examples: ["filehand observe status", "filehand observe status --json"],
  run: (given, host) =>
    orJsonFailure(given, host, async () => {
      oneOf("word", given.parameters[0] ?? "", ["status"]);
      const { session } = await openSession(given, host, "people", { dialect: personDialect });
      const { coverage } = await session.observe({ coverage: true, signal: host.signal });
      if (coverage === undefined) throw new Error("the coverage was asked for");
      return given.flag("json") ? printJson(coverage, host) : print(statusText(coverage), host);
    }),
};

type Why = Coverage["notCovered"][number]["why"];

const whyWords: Readonly<Record<Why, string>> = {
  ignored: "ignored by git",
  secret: "secrets, never stored",
  "too large": "too large for a copy",
  "over budget": "no room left for copies",
  special: "neither files nor folders nor symlinks",
  unreadable: "not readable, or not read yet",
  git: "folders of git itself",
  dependencies: "dependencies",
  denied: "hidden by a deny rule",
  "other mount": "on another file system",
  "too many": "beyond the number of names",
};

function statusText({ files, folders, inGit, copied, copiedBytes, limits, complete, notCovered }: Coverage): string {
  const mib = (bytes: number): string => `${(bytes / 1_048_576).toFixed(1)} MiB`;
  const lines = [
    `Covered: ${files} files and symlinks, ${folders} folders`,
    `  ${inGit} have their content in git, ${copied} are copied (${mib(copiedBytes)} of ${mib(limits.bytesMax)})`,
    `Not covered: ${notCovered.length === 0 ? "nothing that was seen" : ""}`.trimEnd(),
    ...notCovered.map(({ why, count, names }) => {
      const more = count > names.length && names.length > 0 ? ", ..." : "";
      const list = names.length === 0 ? "" : `: ${names.map(escapeName).join(", ")}${more}`;
      return `  ${count} ${whyWords[why]}${list}`;
    }),
    ...(complete
      ? []
      : [`Not all was seen: at most ${limits.filesMax} names are looked at, and readable folders only`]),
  ];
  return lines.join("\n");
}
