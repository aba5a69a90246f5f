/** `filehand mcp`: the tools of a dialect for any MCP client, over stdin and stdout. */

import { serveOverStdio } from "../../mcp/stdio.ts";
import { tracing } from "../../mcp/log.ts";
import type { Log } from "../../mcp/mcp-workspace.ts";
import { preload } from "../../../filehand.ts";
import { openReceipts, programFiles, type Receipts } from "../../../state/state.ts";
import { escapeName } from "../../../text/text.ts";
import { isRemote, remotePlace } from "../../remote/address.ts";
import type { BridgeGreeting } from "../../remote/bridge.ts";
import { type Command, type ExitCode, type Given, type Host, UsageError } from "../command.ts";
import { sayWaiting } from "../input.ts";
import { confineServer } from "../confine.ts";
import { offeredTools, shared } from "../parse.ts";
import { type OpenedWorkspace, openWorkspace } from "../open-workspace.ts";
import { version } from "../print.ts";
import { createSharedStates } from "../shared-state.ts";

export const mcp: Command = {
  name: "mcp",
  summary: "Serve the tools to an MCP client over stdin and stdout",
  parameters: ["[folder...]"],
  options: shared(
    "structured",
    "line-numbers",
    "answer-bytes",
    "no-change-notices",
    ...offeredTools,
    "tool-prefix",
    "state",
    "tenant",
    "audit",
    "audit-key",
    "language-servers",
    "observe",
    "no-confine",
  ),
  details: [
    "The folders are the workspace's roots; without any it is CLAUDE_PROJECT_DIR, or the current folder.",
    "What a rule asks about is put to the person behind the client, if it can do that; else it is refused and the rule named.",
    'Changes ask by default: --allow "Edit" leaves that to the client\'s own questions.',
    "Files on another machine or in a container: give one address instead, such as ssh://me@host/srv/app or docker://name/srv/app.",
    "Filehand then runs there (it needs Node 20.19), through your own ssh, docker, podman or kubectl. Options and settings apply there.",
  ].join("\n"),
  examples: [
    "filehand mcp",
    'filehand mcp ~/project --allow "Edit"',
    "filehand mcp --dialect opencode --deny 'Read(/private/**)'",
    "filehand mcp --tools Read,Grep,Glob --tool-prefix files_",
    "filehand mcp ssh://me@build.example.com/~/project",
  ],
  async run(given, host) {
    const remote = given.parameters.find(isRemote);
    if (remote !== undefined) return serveRemote(remote, given, host);
    const { CLAUDE_CODE_SESSION_ID: startedFor, CLAUDE_PROJECT_DIR: project } = host.env;
    const roots = given.parameters.length > 0 ? given.parameters : rootOf(given, project);
    const watchCall = Object.keys(host.env).some((name) => name.startsWith("OTEL_"))
      ? await tracing(version)
      : undefined;
    sayWaiting("an MCP client on stdin: clients start this command themselves, see filehand init", host);
    const parts = serverParts(host);
    const { onPartGone } = parts;
    const states = createSharedStates(given, host);
    const needs = {
      name: "filehand",
      states,
      program: "mcp",
      roots,
      startedFor,
      resultBytesMax: "stdio",
      onPartGone,
    } as const;
    const workspace = await openWorkspace(given, host, { ...needs, ...(watchCall === undefined ? {} : { watchCall }) });
    const network = watchCall === undefined ? "closed" : "open"; // a tracer sends its spans
    await confineServer(given, host, [workspace.confinable], network, workspace.log);
    const { FILEHAND_BRIDGE: bridge } = host.env;
    const receipts = bridge === undefined ? undefined : await greetBridge(bridge, workspace, host, parts.replaced);
    const loadSdk = async () => {
      const sdk = await import("../../mcp/index.ts");
      // The client has its first answer by now.
      parts.load(workspace.log);
      return sdk;
    };
    const left = await serveOverStdio(workspace, host, parts.stop, loadSdk, receipts);
    await receipts?.close();
    await workspace.close();
    await states.close();
    if (left === "unread") host.abandon?.();
    return parts.exitCode();
  },
};

/** A client here, the files elsewhere. */
async function serveRemote(address: string, given: Given, host: Host): Promise<ExitCode> {
  if (given.parameters.length > 1 || given.list("root").length > 0) {
    throw new UsageError(`"${address}" must be the only folder: one server serves one machine`);
  }
  const place = remotePlace(address);
  if ("fault" in place) throw new UsageError(`Cannot open "${address}": ${place.fault}`);
  const { runBridge, LaunchError } = await import("../../remote/bridge.ts");
  const program = host.program?.[1];
  const files = program === undefined ? undefined : programFiles(program);
  if (files === undefined)
    throw new UsageError("Cannot carry this program to another machine: it is not the built one");
  const { stdin, stdout, stderr, signal } = host;
  const startedFor = host.env["CLAUDE_CODE_SESSION_ID"];
  const argv = ["mcp", ...given.argv];
  try {
    await runBridge({ place, argv, version, files, startedFor, stdin, stdout, stderr, signal });
    return 0;
  } catch (error) {
    if (!(error instanceof LaunchError)) throw error;
    stderr.write(`filehand: ${escapeName(error.message)}\n`);
    return 1;
  }
}

/** Beside the files: reports what became of the calls of earlier connections of this bridge. */
async function greetBridge(
  bridge: string,
  { stateDir, log }: OpenedWorkspace,
  host: Host,
  onReplaced: () => void,
): Promise<Receipts | undefined> {
  let receipts: Receipts | undefined;
  try {
    if (stateDir !== undefined && /^[0-9a-f-]{36}$/.test(bridge)) {
      receipts = await openReceipts(stateDir, bridge, onReplaced);
    }
  } catch (error) {
    log("warn", "no receipts of calls can be kept", {
      message: error instanceof Error ? error.message : String(error),
    });
  }
  const greeting: BridgeGreeting = { filehandBridge: { receipts: receipts?.earlier } };
  host.stdout.write(`${JSON.stringify(greeting)}\n`);
  return receipts;
}

const rootOf = (given: Given, project: string | undefined): readonly string[] =>
  given.list("root").length > 0 || project === undefined || project === "" ? [] : [project];

/** How long the answer that says so may take to be written. */
const lastAnswerMs = 200;

/** What a server does about the parts of its package, which may be replaced under it. */
export function serverParts(host: Host) {
  const gone = new AbortController();
  let isGone = false;
  return {
    /** Stopped by the person, by the system, or because a part of the package is gone. */
    stop: AbortSignal.any([host.signal, gone.signal]),
    onPartGone: (): void => {
      if (isGone) return;
      isGone = true;
      setTimeout(() => gone.abort(), lastAnswerMs);
    },
    /** Another process of the same bridge takes over. */
    replaced: (): void => gone.abort(),
    /** Loads in the background all modules that calls may need. */
    load(log: Log): void {
      const own = [() => import("../../../settings/keep-rule.ts"), () => import("../../report/link.ts")];
      preload(own).catch((error: unknown) => {
        const message = error instanceof Error ? error.message : String(error);
        log("warn", "a part of Filehand cannot be loaded, restart it", { message });
      });
    },
    exitCode: (): ExitCode => (isGone ? 1 : 0),
  };
}
