/**
 * The process of one row at one size: prepares, then runs rounds as the parent asks for them. A round reports the cost of a call, the
 * peak of memory above that before, and the longest turn of the event loop.
 */

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout } from "node:timers/promises";
import { findRow } from "./rows.js";

/** @typedef {import("./row.js").Measured} Measured */
/** @typedef {{ readonly ms: number, readonly peakMb: number, readonly pauseMs: number, readonly wallMs: number }} Round */

const [name = "", size = "", folder = "", shared = "", module = ""] = process.argv.slice(2);
const beatMs = 2;
/** A round repeats a call until it has used so much processor time: the account of the system is not finer. */
const roundMs = 40;
const callsMax = 2_000;

const row = await findRow(name, module);
const work = await row.prepare(Number(size), { folder, shared });

process.on("message", (/** @type {"round" | "end"} */ asked) => {
  const answer = asked === "round" ? round() : end();
  answer.then(
    (result) => process.send?.(result),
    (error) => process.send?.({ failure: String(error instanceof Error ? (error.stack ?? error) : error) }),
  );
});
process.on("disconnect", () => process.exit()); // the run was interrupted
process.send?.({ ready: true });

async function end() {
  await work.close?.();
  return { ended: true };
}

/** @returns {Promise<Round>} */
async function round() {
  globalThis.gc?.();
  await setTimeout(10 * beatMs);
  const pause = watchTurns();
  const beforeMb = residentMb();
  resetPeak();
  await setTimeout(5 * beatMs); // the delay of the event loop counts from the second beat on
  /** @type {Measured[]} */
  const own = [];
  const started = performance.now();
  const startedMs = cpuMs();
  let calls = 0;
  do {
    const measured = await work.measure(calls);
    if (measured !== undefined) own.push(measured);
    calls += 1;
  } while (
    work.calls !== "once" &&
    calls < callsMax &&
    cpuMs() - startedMs < roundMs &&
    performance.now() - started < 2_000
  );
  const ms = (cpuMs() - startedMs) / calls;
  const wallMs = (performance.now() - started) / calls;
  const peakMb = Math.max(0, memoryPeakMb() - beforeMb);
  await setTimeout(5 * beatMs);
  const pauseMs = pause();
  await work.between?.();
  const most = (/** @type {"peakMb" | "pauseMs"} */ key) =>
    own.reduce(
      (/** @type {number | undefined} */ max, { [key]: value }) =>
        value === undefined ? max : Math.max(max ?? 0, value),
      undefined,
    );
  const told = own.flatMap(({ cpuMs }) => (cpuMs === undefined ? [] : [cpuMs]));
  return {
    ms: told.length === 0 ? ms : told.reduce((sum, value) => sum + value, 0) / told.length,
    wallMs,
    peakMb: most("peakMb") ?? peakMb,
    pauseMs: most("pauseMs") ?? pauseMs,
  };
}

/**
 * Processor time of this process, all threads, and of its children that have ended (ripgrep). The system counts the children's in
 * steps of 10 ms, but adds them up before.
 */
function cpuMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000 + childrenMs();
}

function childrenMs() {
  if (process.platform !== "linux") return 0;
  const stat = readFileSync("/proc/self/stat", "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[13]) + Number(fields[14])) * 10;
}

/**
 * Starts watching; the returned function ends that and gives the longest turn: in processor time of the main thread, and no more than
 * the clock saw. So neither other processes nor several turns in a row count as a pause.
 */
function watchTurns() {
  const delay = monitorEventLoopDelay({ resolution: beatMs });
  let [longest, last] = [0, mainThreadMs()];
  const beat = () => {
    const now = mainThreadMs();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const timer = setInterval(beat, beatMs);
  delay.enable();
  return () => {
    beat();
    clearInterval(timer);
    delay.disable();
    return Math.min(longest, delay.max / 1e6);
  };
}

function mainThreadMs() {
  const file = `/proc/${process.pid}/task/${process.pid}/schedstat`;
  if (process.platform === "linux" && existsSync(file)) {
    return Number(readFileSync(file, "latin1").split(" ", 1)[0]) / 1e6;
  }
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

function residentMb() {
  return process.memoryUsage.rss() / 1e6;
}

/** The system then counts the peak anew. */
function resetPeak() {
  try {
    writeFileSync("/proc/self/clear_refs", "5");
  } catch {
    // Elsewhere the peak is that of the process so far.
  }
}

function memoryPeakMb() {
  if (process.platform !== "linux") return (process.resourceUsage().maxRSS * 1024) / 1e6;
  return (Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1]) * 1024) / 1e6;
}
