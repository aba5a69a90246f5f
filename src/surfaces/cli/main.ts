/** The command line's entry: which command, run it, and how the process ends. Exit codes are decided here alone. */

import { spawn } from "node:child_process";
import { homedir, userInfo } from "node:os";
import { isAbsolute } from "node:path";
import { isFailure } from "../../contract/problem.ts";
import { nearestWord } from "../../dialects/dialects.ts";
import { argumentsAreUtf8 } from "../../settings/settings.ts";
import { escapeName } from "../../text/text.ts";
import { type Command, type ExitCode, type Host, UsageError } from "./command.ts";
import { commands } from "./commands/index.ts";
import { helpOf, helpOfAll } from "./help.ts";
import { commonOptions, oneOf, parseCommandLine } from "./parse.ts";
import { internalError, print, version } from "./print.ts";

export async function main(argv: readonly string[], host: Host): Promise<ExitCode> {
  try {
    return await run(argv, host);
  } catch (error) {
    if (error instanceof UsageError || isFailure(error)) {
      // One line with control characters escaped: it quotes arguments, which may be file names that a shell has expanded.
      host.stderr.write(`filehand: ${escapeName(error.message)}\n`);
      // An unusable root, rule or dialect is wrong usage; anything else was refused by a tool.
      const usage = error instanceof UsageError || ["NO_ROOT", "UNCLEAR_RULE", "UNKNOWN_DIALECT"].includes(error.code);
      return usage ? 2 : 1;
    }
    internalError(error, host);
    return 1;
  }
}

async function run(argv: readonly string[], host: Host): Promise<ExitCode> {
  const [name, ...rest] = commandFirst(argv);
  if (argv.some((argument) => argument.includes("\ufffd")) && host.argumentsAreUtf8?.() === false) {
    throw new UsageError(
      "Cannot take the arguments: one of them is not UTF-8, give a text in a file and a path by a pattern or a link",
    );
  }
  if (name === "--version" || name === "-v") return print(version, host);
  if (name === undefined || name === "--help" || name === "-h" || name === "help") {
    if (rest[0] === undefined) return print(helpOfAll(), host);
    return print(helpOf(commandNamed(rest[0])), host);
  }
  const command = commandNamed(name);
  const given = parseCommandLine(command, rest);
  return given.flag("help") ? print(helpOf(command), host) : command.run(given, withColour(given.text("color"), host));
}

/** `--color` is for this run what NO_COLOR and FORCE_COLOR are for all programs. */
function withColour(when: string | undefined, host: Host): Host {
  const { NO_COLOR: _, FORCE_COLOR: __, ...env } = host.env;
  switch (oneOf("way to colour", when ?? "auto", ["auto", "always", "never"])) {
    case "auto":
      return host;
    case "always":
      return { ...host, env: { ...env, FORCE_COLOR: "1" } };
    case "never":
      return { ...host, env: { ...env, NO_COLOR: "1" } };
  }
}

/** Options of every command may stand before its name. */
function commandFirst(argv: readonly string[]): readonly string[] {
  let at = 0;
  for (; at < argv.length; at += 1) {
    const given = argv[at] ?? "";
    if (!given.startsWith("--") || given === "--" || given === "--help" || given === "--version") break;
    const name = given.slice(2);
    if (Object.hasOwn(commonOptions, name) && commonOptions[name as keyof typeof commonOptions].type !== "flag")
      at += 1;
  }
  const name = argv[at];
  return at === 0 || name === undefined ? argv : [name, ...argv.slice(0, at), ...argv.slice(at + 1)];
}

function commandNamed(name: string): Command {
  const command = commands.find((candidate) => candidate.name === name);
  if (command !== undefined) return command;
  const names = commands.map((candidate) => candidate.name);
  const near = nearestWord(name, names);
  const hint = near === undefined ? "see filehand --help" : `did you mean ${near}`;
  throw new UsageError(`There is no command "${name}", ${hint}`);
}

/** The current folder may have been deleted; then no relative path has a meaning. */
function currentFolder(): string {
  try {
    return process.cwd();
  } catch {
    process.stderr.write("Cannot start: the current folder was deleted, go to one that exists (cd)\n");
    process.exit(2);
  }
}

/** Each of them lets a change finish or rolls it back, and reports that. */
const stopSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export function processHost(): Host {
  const interrupted = new AbortController();
  // The second signal ends the process in the system's way.
  const stop = (): void => {
    for (const signal of stopSignals) process.off(signal, stop);
    interrupted.abort();
  };
  for (const signal of stopSignals) process.on(signal, stop);
  const { stdin, stdout, stderr, env, platform } = process;
  const outliveReaders = watchReaders({ stdout, stderr });
  return {
    stdin,
    stdout,
    stderr,
    env,
    platform,
    cwd: currentFolder(),
    home: homeOf(env["HOME"]),
    signal: interrupted.signal,
    background: startAgain,
    outliveReaders,
    onIdle: (work) => process.once("beforeExit", work),
    abandon: () => process.exit(0),
    program: [process.execPath, ...process.argv.slice(1, 2)],
    argumentsAreUtf8,
  };
}

function startAgain(args: readonly string[]): void {
  const [program = ""] = process.argv.slice(1);
  const child = spawn(process.execPath, [program, ...args], { detached: true, stdio: "ignore", windowsHide: true });
  child.on("error", () => undefined); // where no process can be started, a later command will try again
  child.unref();
}

/** An empty or relative HOME is ignored: its files would land in the workspace. */
function homeOf(given: string | undefined): string | undefined {
  if (given !== undefined && isAbsolute(given)) return given;
  if (given === undefined) return homedir();
  try {
    return userInfo().homedir;
  } catch {
    return undefined; // a user id without an entry, as containers have it
  }
}

/** Handles readers of stdout and stderr that are gone. Returns a function for commands whose work is not their output. */
function watchReaders({ stdout, stderr }: Pick<Host, "stdout" | "stderr">): () => void {
  let worksOn = false;
  stdout.on("error", ({ code }: NodeJS.ErrnoException) => {
    if (worksOn) return;
    // A reader that has seen enough (`| head`) is no error.
    if (code === "EPIPE") process.exit(0);
    const why = code === "ENOSPC" ? "no space is left where it goes" : `the system says ${code}`;
    stderr.write(`filehand: Cannot print the answer: ${why}, send stdout elsewhere\n`, () => process.exit(1));
  });
  // Without a reader of stderr, such as a server's log, the work goes on.
  stderr.on("error", () => undefined);
  return () => {
    worksOn = true;
  };
}
