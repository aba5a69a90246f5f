/** Runs a command: how long it took as a whole, what it printed, and, in a run of its own, what it used. */

import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** @typedef {readonly [string, ...string[]]} Command */
/** @typedef {{ readonly rssMb: number, readonly cpuMs: number }} Usage */

const reporter = fileURLToPath(new URL("report-rusage.cjs", import.meta.url));
const gnuTime = "/usr/bin/time";
/** What Filehand keeps between runs must neither help a later run nor end up in the user's home. */
const env = { ...process.env, XDG_STATE_HOME: fileURLToPath(new URL("../.bench/state", import.meta.url)) };

/**
 * @param {Command} command
 * @returns {Promise<{ readonly ms: number, readonly stdout: string }>}
 */
export async function timeCommand(command) {
  const { ms, stdout } = await run(command);
  return { ms, stdout };
}

/**
 * The same command once more, watched. Apart from the timed runs, because watching costs a millisecond.
 * @param {Command} command
 * @returns {Promise<Usage | undefined>}  undefined where the system offers no way to know
 */
export async function usageOf(command) {
  if (command[0] === process.execPath) {
    const { report } = await run([command[0], "--require", reporter, ...command.slice(1)]);
    return report === "" ? undefined : JSON.parse(report);
  }
  // GNU time is small: what its child inherits from it through exec is less than any program uses.
  if (process.platform !== "linux" || !existsSync(gnuTime)) return undefined;
  const { stderr } = await run([gnuTime, "-f", "%M %U %S", ...command]);
  const [kb, user, system] = (stderr.trim().split("\n").at(-1) ?? "").split(" ").map(Number);
  if (kb === undefined || user === undefined || system === undefined) return undefined;
  return { rssMb: kb / 1024, cpuMs: (user + system) * 1000 };
}

/**
 * What a process that goes on has used so far, all threads: the scheduler's own account, in nanoseconds where
 * `/proc/PID/stat` counts in steps of 10 ms.
 * @param {number | undefined} pid
 * @returns {number | undefined}  in milliseconds; undefined where the system does not tell
 */
export function cpuMsOf(pid) {
  if (process.platform !== "linux" || pid === undefined) return undefined;
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const used = threads.map((id) => readFileSync(`/proc/${pid}/task/${id}/schedstat`, "utf8").split(" ", 1)[0]);
    return used.reduce((sum, nanoseconds) => sum + Number(nanoseconds), 0) / 1e6;
  } catch {
    return undefined; // a thread that ended meanwhile, or a kernel that keeps no account
  }
}

/**
 * @param {Command} command
 * @returns {Promise<{ ms: number, stdout: string, stderr: string, report: string }>}
 */
function run([program, ...args]) {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const child = spawn(program, args, { env, stdio: ["ignore", "pipe", "pipe", "pipe"] });
    let ms = Number.NaN;
    const streams = [child.stdout, child.stderr, child.stdio[3]];
    const texts = ["", "", ""];
    for (const [index, stream] of streams.entries()) {
      stream?.on("data", (data) => (texts[index] += String(data)));
    }
    child.on("error", reject);
    child.on("exit", () => (ms = performance.now() - started));
    child.on("close", (code) => {
      const [stdout = "", stderr = "", report = ""] = texts;
      if (code === 0) resolve({ ms, stdout, stderr, report });
      else reject(new Error(`${program} ended with ${code}: ${stderr.trim().split("\n").at(-1) ?? ""}`));
    });
  });
}
