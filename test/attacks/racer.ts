/** Starts and stops the process that swaps names (`swapper.js`), and says how often to try. */

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** `npm run test:races` tries ten times as often. */
export const timesMore = Number(process.env["FILEHAND_RACES"] ?? 1);

export interface Racer {
  /** Does it still run? */
  readonly runs: () => boolean;
  /** Runs `work` while nothing is swapped and `leaf` is what is said; every other name is in its place, `way` leads outside. */
  atRest<Result>(leaf: "file" | "link", work: () => Promise<Result>): Promise<Result>;
  /** With every name in its place. */
  stop(): Promise<void>;
}

export async function race(kinds: readonly string[], folder: string): Promise<Racer> {
  const script = fileURLToPath(new URL("swapper.js", import.meta.url));
  const child: ChildProcess = fork(script, [kinds.join(","), folder], { execArgv: [] });
  await once(child, "message");
  return {
    runs: () => child.exitCode === null && child.signalCode === null,
    atRest: async (leaf, work) => {
      const resting = once(child, "message");
      child.send(leaf);
      await resting;
      try {
        return await work();
      } finally {
        child.send("go on");
      }
    },
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "exit");
      child.send("stop");
      await ended;
    },
  };
}

/** A control is mostly caught within a few thousand tries. Tries and not seconds, so that a busy machine proves the same. */
const triesMax = 1_000_000;
const triesInARow = 500;

/** Until it happened once. Gives the racer a turn now and then, where both share one core. */
export function untilCaught(attempt: () => boolean): { readonly tries: number; readonly caught: boolean } {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  let tries = 0;
  while (tries < triesMax) {
    tries += 1;
    if (tries % triesInARow === 0) Atomics.wait(pause, 0, 0, 1);
    try {
      if (attempt()) return { tries, caught: true };
    } catch {
      // The name is gone for a moment, or is not what it was.
    }
  }
  return { tries, caught: false };
}
