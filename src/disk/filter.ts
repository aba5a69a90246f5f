/** Runs a program as a filter, without a shell: bytes into its standard input, bytes out of its standard output. */

import { type ChildProcess, spawn } from "node:child_process";
import { errnoName } from "./errno.ts";
import { whyNotStarted } from "./programs.ts";
import { nodeSystem } from "./system.ts";

export interface FilterRun {
  /** An absolute path. */
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly input: Uint8Array;
  readonly outputBytesMax: number;
  /** Ends the program and what it started. */
  readonly signal: AbortSignal;
}

export type FilterEnd =
  | { readonly ended: "by itself"; readonly status: number; readonly output: Buffer; readonly complaints: string }
  | { readonly ended: "too much output" | "stopped" }
  | { readonly ended: "killed"; readonly signal: string }
  | { readonly ended: "not started"; readonly errno: string };

/** Characters of standard error that are kept; a person reads a line or two of it. */
const complaintCharsMax = 4_096;

export async function runFilter(run: FilterRun): Promise<FilterEnd> {
  const { signal } = run;
  if (signal.aborted) return { ended: "stopped" };
  const errno = whyNotStarted();
  if (errno !== undefined) return { ended: "not started", errno };
  const isPosix = nodeSystem.platform !== "win32";
  let child: ChildProcess;
  try {
    child = spawn(run.program, run.args, {
      cwd: run.cwd,
      env: run.env,
      stdio: "pipe",
      windowsHide: true,
      // Its own process group: a wrapper script is ended together with the program that it started.
      detached: isPosix,
    });
  } catch (error) {
    // For arguments that no process can be given, such as a NUL byte or too many bytes.
    return { ended: "not started", errno: errnoName(error) ?? "unknown" };
  }
  let end: (how: FilterEnd) => void = () => undefined;
  const ended = new Promise<FilterEnd>((resolve) => {
    end = resolve;
  });
  const kill = (): void => {
    if (child.pid === undefined) return;
    try {
      if (isPosix) process.kill(-child.pid, "SIGKILL");
      else child.kill("SIGKILL");
    } catch {
      // It has ended.
    }
  };
  const stop = (why: "too much output" | "stopped"): void => {
    kill();
    end({ ended: why });
  };
  const onAbort = (): void => stop("stopped");
  signal.addEventListener("abort", onAbort, { once: true });
  process.once("exit", kill);
  const chunks: Buffer[] = [];
  let [bytes, complaints] = [0, ""];
  child.stdout?.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > run.outputBytesMax) stop("too much output");
    else chunks.push(chunk);
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    complaints = (complaints + text).slice(0, complaintCharsMax);
  });
  // A program may end before it has read all of its input: EPIPE is expected.
  child.stdin?.on("error", () => undefined).end(run.input);
  child.once("error", (error) => end({ ended: "not started", errno: errnoName(error) ?? "unknown" }));
  child.once("close", (status, killedBy) => {
    if (status === null) end({ ended: "killed", signal: String(killedBy) });
    else end({ ended: "by itself", status, output: Buffer.concat(chunks), complaints });
  });
  try {
    return await ended;
  } finally {
    signal.removeEventListener("abort", onAbort);
    process.off("exit", kill);
  }
}
