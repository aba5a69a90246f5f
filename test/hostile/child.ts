/**
 * Runs cases one after the other and measures each: processor time, memory above what the process had before, and the longest time
 * in which the event loop did not turn. A thread watches and ends the process when a case is far over its limits, since the main
 * thread may never get to it. Cases come as JSON lines, results go out as JSON lines.
 */

import * as fs from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { createInterface } from "node:readline";
import { Worker } from "node:worker_threads";
import { FilehandError } from "../../src/index.ts";
import { caseOf } from "./inputs.ts";
import type { Asked, Measured } from "./harness.ts";

const [, , folder = ""] = process.argv;
const beatMs = 2;

/** Seen by the thread: is a case under way, the processor time at its beginning, memory before it, the most memory since. */
const seen = new Float64Array(new SharedArrayBuffer(4 * 8));

/** Processor time of the main thread alone; where the system does not tell, that of the process. */
const cpuFile = `/proc/${process.pid}/task/${process.pid}/schedstat`;
const hasCpuFile = fs.existsSync(cpuFile);
function mainCpuMs(): number {
  if (hasCpuFile) return Number(fs.readFileSync(cpuFile, "latin1").split(" ", 1)[0]) / 1e6;
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

const watcher = new Worker(
  `const { workerData: { seen, cpuFile, cpuMsMax, bytesMax } } = require("node:worker_threads");
   const fs = require("node:fs");
   setInterval(() => {
     const rss = process.memoryUsage.rss();
     if (seen[0] === 0) return;
     seen[3] = Math.max(seen[3], rss);
     const cpuMs = cpuFile === "" ? 0 : Number(fs.readFileSync(cpuFile, "latin1").split(" ", 1)[0]) / 1e6 - seen[1];
     const ended = cpuMs > cpuMsMax ? "processor time" : rss - seen[2] > bytesMax ? "memory" : undefined;
     if (ended === undefined) return;
     fs.writeSync(1, JSON.stringify({ ended, cpuMs, bytes: rss - seen[2], pauseMs: cpuMs }) + "\\n");
     process.kill(process.pid, "SIGKILL");
   }, 10);`,
  { eval: true, workerData: { seen, cpuFile: hasCpuFile ? cpuFile : "", cpuMsMax: 8_000, bytesMax: 700_000_000 } },
);
watcher.unref();

async function measured(asked: Asked, number: number): Promise<Omit<Measured, "label" | "exact" | "exactLength">> {
  const place = `${folder}/${number}`;
  fs.mkdirSync(place);
  const { label, exact, work } = await caseOf(asked, place);
  // Said before, because the process may not live to say it after.
  process.stdout.write(`${JSON.stringify({ label, exact: exact.slice(0, 2_000), exactLength: exact.length })}\n`);
  globalThis.gc?.();
  await new Promise((resolve) => setTimeout(resolve, 10 * beatMs));
  const delay = monitorEventLoopDelay({ resolution: beatMs });
  let [longest, last] = [0, mainCpuMs()];
  const beat = (): void => {
    const now = mainCpuMs();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const beating = setInterval(beat, beatMs);
  seen.set([0, last, process.memoryUsage.rss(), 0]);
  seen[0] = 1;
  delay.enable();
  // It counts from its second beat on.
  await new Promise((resolve) => setTimeout(resolve, 5 * beatMs));
  const cpuBefore = process.cpuUsage();
  let answer: string;
  try {
    answer = await work();
  } catch (error) {
    // A refusal is an answer: a deny rule that cannot be understood stops a toolkit at its start.
    const isRefusal = error instanceof FilehandError;
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    answer = isRefusal ? `refused: ${error.message}` : `THROWN ${text}`;
  }
  await new Promise((resolve) => setTimeout(resolve, 5 * beatMs));
  beat();
  delay.disable();
  clearInterval(beating);
  seen[0] = 0;
  const { user, system } = process.cpuUsage(cpuBefore);
  fs.rmSync(place, { recursive: true, force: true });
  return {
    cpuMs: (user + system) / 1_000,
    bytes: Math.max(0, (seen[3] ?? 0) - (seen[2] ?? 0)),
    // A busy machine makes the loop late without any work of ours, and work in several turns is no pause.
    pauseMs: Math.min(longest, delay.max / 1e6),
    answer: answer.slice(0, 300),
  };
}

let number = 0;
process.stdout.write(`${JSON.stringify({ ready: true })}\n`);
for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line) as Asked; // written by the harness
  const result = await measured(asked, (number += 1)).catch((error: unknown) => ({
    failed: error instanceof Error ? (error.stack ?? error.message) : String(error),
  }));
  process.stdout.write(`${JSON.stringify(result)}\n`);
}
process.exit(0);
