/**
 * The one place that runs ripgrep: the binary of the package `@vscode/ripgrep`, else `rg` on the PATH, else the
 * WebAssembly build that is a part of Filehand. It gets no shell, no configuration and an empty environment. Its output is
 * passed on in chunks with backpressure, and the process has exited before `runRipgrep` returns.
 */

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { createRequire } from "node:module";
import * as nodePath from "node:path";
import { partFile, programsOnPath, whyNotStarted } from "../disk/disk.ts";

export interface Ripgrep {
  readonly command: string;
  /** Arguments before all others: the WebAssembly build is a script that Node runs. */
  readonly before: readonly string[];
  readonly kind: RipgrepKind;
}

export type RipgrepKind = "package" | "path" | "wasm";

export interface Where {
  readonly path: string | undefined;
  /** No program beneath these folders is run: an agent that works in them could have put it there. */
  readonly notBeneath: readonly string[];
  /** The order to try; for tests. */
  readonly kinds?: readonly RipgrepKind[];
}

export interface RipgrepRun {
  /** A folder; `/proc/self/fd/N` of an open handle is that same folder even after a rename. */
  readonly cwd: string;
  readonly signal: AbortSignal;
  /** Receives the output. `enough` ends the run; a pending promise pauses ripgrep. */
  readonly onChunk: (chunk: Buffer) => ChunkAnswer | Promise<ChunkAnswer>;
  readonly timeMsMax?: number;
  /** Standard input, empty by default: an open file by its descriptor, read from its current position, or bytes. */
  readonly input?: number | Uint8Array | undefined;
  /** No program beneath these folders is run: an agent that works in them could have put it there. */
  readonly notBeneath?: readonly string[];
  /** The order of kinds and the PATH; for tests. */
  readonly where?: Where;
}

export type ChunkAnswer = "more" | "enough";

export type RipgrepEnd =
  /** Status 0: matches. 1: no match. 2: an error, perhaps besides matches; `complaints` has the message. */
  | {
      readonly ended: "by itself";
      readonly status: number;
      readonly complaints: string;
      readonly complaintsCut: boolean;
    }
  /** Killed by us: `onChunk` returned `enough`, or the time was over. */
  | { readonly ended: "enough" | "time"; readonly complaints: string; readonly complaintsCut: boolean }
  /** Killed from outside, for example by the OOM killer: the output is incomplete. */
  | { readonly ended: "killed"; readonly signal: string }
  /** The system lacks the resources for a new process, or `cwd` cannot be entered. */
  | { readonly ended: "not started"; readonly errno: string }
  | { readonly ended: "missing" };

/** What is kept of stderr: ripgrep prints one line for each unreadable file. */
const complaintCharsMax = 65_536;

const binaries = new Map<string, Promise<Ripgrep | undefined>>();

export function ripgrep(where: Where = anywhere()): Promise<Ripgrep | undefined> {
  const key = JSON.stringify(where);
  const search = binaries.get(key) ?? find(where, new Set());
  binaries.set(key, search);
  return search;
}

/** Throws the signal's reason. `args` MUST put patterns after `-e` or into `--regexp=`, and paths after `--`. */
export async function runRipgrep(args: readonly string[], run: RipgrepRun): Promise<RipgrepEnd> {
  const where = { ...(run.where ?? anywhere()), ...(run.notBeneath && { notBeneath: run.notBeneath }) };
  const broken = new Set<string>();
  for (;;) {
    // A binary that no longer starts may have been moved by an update, or be on a disk mounted noexec.
    const binary = broken.size === 0 ? await ripgrep(where) : await find(where, broken);
    if (binary === undefined) {
      binaries.delete(JSON.stringify(where));
      return { ended: "missing" };
    }
    const end = await runOnce(binary, args, run);
    if (end.ended !== "gone") {
      if (broken.size > 0) binaries.set(JSON.stringify(where), Promise.resolve(binary));
      return end;
    }
    broken.add(binary.command);
  }
}

const anywhere = (): Where => ({ path: process.env["PATH"], notBeneath: [] });

async function runOnce(
  binary: Ripgrep,
  args: readonly string[],
  { cwd, signal, onChunk, timeMsMax, input }: RipgrepRun,
): Promise<RipgrepEnd | { readonly ended: "gone" }> {
  signal.throwIfAborted();
  const errno = whyNotStarted();
  if (errno !== undefined) return { ended: "not started", errno };
  const child = spawn(binary.command, [...binary.before, "--no-config", ...args], {
    cwd,
    env: environment(),
    stdio: [input instanceof Uint8Array ? "pipe" : (input ?? "ignore"), "pipe", "pipe"],
    windowsHide: true,
  });
  const exit = exitOf(child);
  const { stdout } = child;
  // Without a free descriptor `spawn` makes no pipe, not even the property.
  if (!stdout) {
    const ended = await exit;
    return { ended: "not started", errno: "errno" in ended ? ended.errno : "unknown" };
  }
  killOnExit(child);
  // ripgrep may exit before it has read all of its input: EPIPE is expected.
  if (input instanceof Uint8Array) child.stdin?.on("error", () => undefined).end(input);
  const complaints = collectStderr(child);
  let stopped: "enough" | "time" | undefined;
  const stop = (why: typeof stopped): void => {
    stopped ??= why;
    child.kill("SIGKILL");
  };
  const onAbort = (): void => stop(undefined);
  signal.addEventListener("abort", onAbort, { once: true });
  const timer = timeMsMax === undefined ? undefined : setTimeout(() => stop("time"), timeMsMax);
  try {
    for await (const chunk of stdout) {
      if (signal.aborted || stopped !== undefined) break;
      // A stream without an encoding yields buffers.
      if ((await onChunk(chunk as Buffer)) === "enough") stop("enough");
    }
  } finally {
    // Also if `onChunk` throws: the process must not outlive this call.
    if (child.exitCode === null && (stopped !== undefined || signal.aborted || !stdout.readableEnded)) {
      child.kill("SIGKILL");
    }
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
    await exit;
  }
  signal.throwIfAborted();
  const ended = await exit;
  if (stopped !== undefined) return { ended: stopped, ...complaints() };
  if ("status" in ended) return { ended: "by itself", status: ended.status, ...complaints() };
  if ("signal" in ended) return { ended: "killed", signal: ended.signal };
  const isGone = ["ENOENT", "EACCES", "ENOEXEC", "ENOTDIR"].includes(ended.errno) && !(await starts(binary));
  return isGone ? { ended: "gone" } : { ended: "not started", errno: ended.errno };
}

type Exit = { readonly status: number } | { readonly signal: string } | { readonly errno: string };

function exitOf(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => {
    child.once("error", (error: NodeJS.ErrnoException) => {
      if (child.pid === undefined) resolve({ errno: error.code ?? "unknown" });
    });
    child.once("close", (status, signal) => resolve(status === null ? { signal: signal ?? "unknown" } : { status }));
  });
}

/** Whether the program starts in our own folder: spawn reports a `cwd` that cannot be entered like a missing program. */
const starts = ({ command, before }: Ripgrep): Promise<boolean> =>
  new Promise((resolve) => {
    const child = spawn(command, [...before, "--version"], { env: environment(), stdio: "ignore", windowsHide: true });
    child.once("error", () => resolve(false));
    child.once("spawn", () => resolve(true));
  });

function collectStderr(child: ChildProcess): () => { readonly complaints: string; readonly complaintsCut: boolean } {
  let complaints = "";
  let complaintsCut = false;
  child.stderr?.setEncoding("utf8").on("data", (piece: string) => {
    const charsLeft = complaintCharsMax - complaints.length;
    complaintsCut ||= piece.length > charsLeft;
    complaints += piece.slice(0, charsLeft);
  });
  return () => ({ complaints, complaintsCut });
}

const children = new Set<ChildProcess>();
let watching = false;

/** Kills running searches when the host exits: a search that prints nothing would not notice the closed pipe. */
function killOnExit(child: ChildProcess): void {
  if (!watching) {
    watching = true;
    process.once("exit", () => {
      for (const each of children) each.kill("SIGKILL");
    });
  }
  children.add(child);
  child.once("close", () => children.delete(child));
  child.once("error", () => children.delete(child));
}

/** None of our variables. The WebAssembly build runs a file of the temporary folder, so it gets one that cannot exist. */
function environment(): NodeJS.ProcessEnv {
  const nowhere = process.platform === "win32" ? "NUL" : "/dev/null";
  const env: NodeJS.ProcessEnv = { TMPDIR: nowhere, TMP: nowhere, TEMP: nowhere };
  const systemRoot = process.env["SystemRoot"]; // Windows starts no program without it
  return systemRoot === undefined ? env : { ...env, SystemRoot: systemRoot };
}

async function find(where: Where, broken: ReadonlySet<string>): Promise<Ripgrep | undefined> {
  const finders = { package: inPackage, path: onPath, wasm: inWebAssembly };
  for (const kind of where.kinds ?? (["package", "path", "wasm"] as const)) {
    const binary = await finders[kind](where, broken);
    if (binary !== undefined && !broken.has(binary.command)) return binary;
  }
  return undefined;
}

/** Undefined for an optional dependency that npm has left out. */
function ifInstalled(find: (ours: NodeJS.Require) => Ripgrep): Ripgrep | undefined {
  try {
    // The bundler replaces `import.meta.url` by the URL of the bundle, also in CommonJS.
    return find(createRequire(import.meta.url));
  } catch {
    return undefined;
  }
}

/** The binary is in one package per platform; npm installs the one that fits. */
const inPackage = (): Ripgrep | undefined =>
  ifInstalled((ours) => {
    const { platform, arch } = process;
    // Resolved from that package: not every package manager shows us the dependencies of a dependency.
    const theirs = createRequire(ours.resolve("@vscode/ripgrep"));
    const name = platform === "win32" ? "rg.exe" : "rg";
    const command = theirs.resolve(`@vscode/ripgrep-${platform}-${arch}/bin/${name}`);
    return { command, before: [], kind: "package" };
  });

const inWebAssembly = (): Ripgrep | undefined =>
  ifInstalled((ours) => {
    // Before the build, and in a program that bundles ours without its parts, the package it is made from.
    const script = partFile("rg.mjs") ?? nodePath.join(nodePath.dirname(ours.resolve("ripgrep")), "rg.mjs");
    return { command: process.execPath, before: [script], kind: "wasm" };
  });

async function onPath({ path = "", notBeneath }: Where, broken: ReadonlySet<string>): Promise<Ripgrep | undefined> {
  const { platform } = process;
  for (const command of programsOnPath("rg", { path, platform, runnable: true, notBeneath })) {
    if (!broken.has(command) && (await isRipgrep(command))) return { command, before: [], kind: "path" };
  }
  return undefined;
}

/** Checks the version: other programs are called `rg` too. */
function isRipgrep(command: string): Promise<boolean> {
  return new Promise((resolve) => {
    execFile(command, ["--version"], { env: environment(), timeout: 5_000, windowsHide: true }, (error, stdout) =>
      resolve(error === null && /^ripgrep (?:1[3-9]|[2-9]\d)\./.test(stdout)),
    );
  });
}
