/**
 * The one place that runs ripgrep: the binary of the package `@vscode/ripgrep`, else `rg` on the PATH, else the
 * WebAssembly build in the package `ripgrep`. It gets no shell, no input, no configuration and an empty environment. Its
 * output is handed on in chunks, no faster than they are taken, and it is gone before `runRipgrep` answers.
 */

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { createRequire } from "node:module";
import * as nodePath from "node:path";
import { programsOnPath, whyNotStarted } from "../disk/disk.ts";

export interface Ripgrep {
  readonly command: string;
  /** Arguments before all others: the WebAssembly build is a script that Node runs. */
  readonly before: readonly string[];
  readonly kind: RipgrepKind;
}

export type RipgrepKind = "package" | "path" | "wasm";

/** Where to look for it. */
export interface Where {
  /** As in the environment variable PATH. */
  readonly path: string | undefined;
  /** Nothing beneath these folders is ever run: whoever works in them could have put it there. */
  readonly notBeneath: readonly string[];
  /** In which order; for tests. */
  readonly kinds?: readonly RipgrepKind[];
}

export interface RipgrepRun {
  /** A folder; `/proc/self/fd/N` of a held one is that very folder, whatever its name is by then. */
  readonly cwd: string;
  readonly signal: AbortSignal;
  /** Takes what ripgrep prints. `enough` ends the run; a promise holds ripgrep back until it is kept. */
  readonly onChunk: (chunk: Buffer) => Taken | Promise<Taken>;
  readonly timeMsMax?: number;
  /** Standard input, which is empty otherwise: an open file by its descriptor, read from where it stands, or bytes. */
  readonly input?: number | Uint8Array | undefined;
  /** Nothing beneath these folders is ever run: whoever works in them could have put it there. */
  readonly notBeneath?: readonly string[];
  /** In which order kinds are tried, and on which PATH; for tests. */
  readonly where?: Where;
}

export type Taken = "more" | "enough";

export type RipgrepEnd =
  /** 0: something was found. 1: nothing. 2: something went wrong, perhaps besides something found; `complaints` says what. */
  | {
      readonly ended: "by itself";
      readonly status: number;
      readonly complaints: string;
      readonly complaintsCut: boolean;
    }
  /** It was stopped: `onChunk` had enough, or the time was over. */
  | { readonly ended: "enough" | "time"; readonly complaints: string; readonly complaintsCut: boolean }
  /** Somebody else stopped it, such as a system without memory: what it had to say is not whole. */
  | { readonly ended: "killed"; readonly signal: string }
  /** The system lacks what a new process needs, or does not let it into the folder. */
  | { readonly ended: "not started"; readonly errno: string }
  /** There is no ripgrep to run. */
  | { readonly ended: "missing" };

/** What ripgrep complains of is kept up to here: one line for each unreadable file can become a lot. */
const complaintCharsMax = 65_536;

const found = new Map<string, Promise<Ripgrep | undefined>>();

/** Which ripgrep will be run; undefined where there is none. */
export function ripgrep(where: Where = anywhere()): Promise<Ripgrep | undefined> {
  const key = JSON.stringify(where);
  let search = found.get(key);
  if (search === undefined) {
    search = find(where, new Set());
    found.set(key, search);
  }
  return search;
}

/**
 * Runs ripgrep to its end, to the end of the time, or until somebody has enough. Throws the signal's reason if that is
 * aborted. The caller's arguments MUST put patterns behind `-e` and paths behind `--`.
 */
export async function runRipgrep(args: readonly string[], run: RipgrepRun): Promise<RipgrepEnd> {
  const where = { ...(run.where ?? anywhere()), ...(run.notBeneath && { notBeneath: run.notBeneath }) };
  const broken = new Set<string>();
  for (;;) {
    // One that was there and cannot be started now may have been moved by an update, or lie where nothing may be run.
    const one = broken.size === 0 ? await ripgrep(where) : await find(where, broken);
    if (one === undefined) {
      found.delete(JSON.stringify(where));
      return { ended: "missing" };
    }
    const end = await runOnce(one, args, run);
    if (end.ended !== "gone") {
      if (broken.size > 0) found.set(JSON.stringify(where), Promise.resolve(one));
      return end;
    }
    broken.add(one.command);
  }
}

const anywhere = (): Where => ({ path: process.env["PATH"], notBeneath: [] });

async function runOnce(
  one: Ripgrep,
  args: readonly string[],
  { cwd, signal, onChunk, timeMsMax, input }: RipgrepRun,
): Promise<RipgrepEnd | { readonly ended: "gone" }> {
  signal.throwIfAborted();
  const errno = whyNotStarted();
  if (errno !== undefined) return { ended: "not started", errno };
  const child = spawn(one.command, [...one.before, "--no-config", ...args], {
    cwd,
    env: environment(),
    stdio: [input instanceof Uint8Array ? "pipe" : (input ?? "ignore"), "pipe", "pipe"],
    windowsHide: true,
  });
  const exit = exitOf(child);
  const { stdout } = child;
  // Without a free descriptor there is no pipe either, not even the property.
  if (!stdout) {
    const ended = await exit;
    return { ended: "not started", errno: "errno" in ended ? ended.errno : "unknown" };
  }
  running(child);
  // Whoever ends before all of it was read breaks the pipe, and that is all right.
  if (input instanceof Uint8Array) child.stdin?.on("error", () => undefined).end(input);
  const complaints = collect(child);
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
      // A pipe without an encoding yields buffers.
      if ((await onChunk(chunk as Buffer)) === "enough") stop("enough");
    }
  } finally {
    // Also when the taker throws: nothing runs on without anybody listening.
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
  const isGone = ["ENOENT", "EACCES", "ENOEXEC", "ENOTDIR"].includes(ended.errno) && !(await starts(one));
  return isGone ? { ended: "gone" } : { ended: "not started", errno: ended.errno };
}

type Exit = { readonly status: number } | { readonly signal: string } | { readonly errno: string };

/** How the child ended, or why it could not be started. */
function exitOf(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => {
    child.once("error", (error: NodeJS.ErrnoException) => {
      if (child.pid === undefined) resolve({ errno: error.code ?? "unknown" });
    });
    child.once("close", (status, signal) => resolve(status === null ? { signal: signal ?? "unknown" } : { status }));
  });
}

/** Does it start anywhere at all? A folder that may not be entered fails like a program that is not there. */
const starts = ({ command, before }: Ripgrep): Promise<boolean> =>
  new Promise((resolve) => {
    const child = spawn(command, [...before, "--version"], { env: environment(), stdio: "ignore", windowsHide: true });
    child.once("error", () => resolve(false));
    child.once("spawn", () => resolve(true));
  });

function collect(child: ChildProcess): () => { readonly complaints: string; readonly complaintsCut: boolean } {
  let complaints = "";
  let complaintsCut = false;
  child.stderr?.setEncoding("utf8").on("data", (piece: string) => {
    const room = complaintCharsMax - complaints.length;
    complaintsCut ||= piece.length > room;
    complaints += piece.slice(0, room);
  });
  return () => ({ complaints, complaintsCut });
}

const children = new Set<ChildProcess>();
let watching = false;

/** A host that exits takes its searches along: without output nothing else would tell them. */
function running(child: ChildProcess): void {
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

/**
 * Nothing of ours: tokens, and the path of a configuration. The WebAssembly build would keep its code in the temporary
 * folder and run what it finds there under a known name, so it gets a folder that cannot be.
 */
function environment(): NodeJS.ProcessEnv {
  const nowhere = process.platform === "win32" ? "NUL" : "/dev/null";
  const env: NodeJS.ProcessEnv = { TMPDIR: nowhere, TMP: nowhere, TEMP: nowhere };
  const systemRoot = process.env["SystemRoot"]; // no program starts without it on Windows
  return systemRoot === undefined ? env : { ...env, SystemRoot: systemRoot };
}

async function find(where: Where, broken: ReadonlySet<string>): Promise<Ripgrep | undefined> {
  const finders = { package: inPackage, path: onPath, wasm: inWebAssembly };
  for (const kind of where.kinds ?? (["package", "path", "wasm"] as const)) {
    const one = await finders[kind](where, broken);
    if (one !== undefined && !broken.has(one.command)) return one;
  }
  return undefined;
}

/** The bundler puts the address of the bundle for `import.meta.url`, also in CommonJS. */
const ownRequire = (): NodeJS.Require => createRequire(import.meta.url);

/** The package has one more for each platform, with the binary inside; npm installs the one that fits. */
async function inPackage(): Promise<Ripgrep | undefined> {
  const { platform, arch } = process;
  try {
    // Looked for from that package on: not every package manager lets us see what another one depends on.
    const theirs = createRequire(ownRequire().resolve("@vscode/ripgrep"));
    const name = platform === "win32" ? "rg.exe" : "rg";
    const command = theirs.resolve(`@vscode/ripgrep-${platform}-${arch}/bin/${name}`);
    return { command, before: [], kind: "package" };
  } catch {
    return undefined; // optional: npm may have left it out
  }
}

async function onPath({ path = "", notBeneath }: Where, broken: ReadonlySet<string>): Promise<Ripgrep | undefined> {
  const { platform } = process;
  for (const command of programsOnPath("rg", { path, platform, runnable: true, notBeneath })) {
    if (!broken.has(command) && (await isRipgrep(command))) return { command, before: [], kind: "path" };
  }
  return undefined;
}

/** Asked for its version: there are other programs of that name. */
function isRipgrep(command: string): Promise<boolean> {
  return new Promise((resolve) => {
    execFile(command, ["--version"], { env: environment(), timeout: 5_000, windowsHide: true }, (error, stdout) =>
      resolve(error === null && /^ripgrep (?:1[3-9]|[2-9]\d)\./.test(stdout)),
    );
  });
}

async function inWebAssembly(): Promise<Ripgrep | undefined> {
  try {
    const entry = ownRequire().resolve("ripgrep");
    const script = nodePath.join(nodePath.dirname(entry), "rg.mjs");
    return { command: process.execPath, before: [script], kind: "wasm" };
  } catch {
    return undefined;
  }
}
