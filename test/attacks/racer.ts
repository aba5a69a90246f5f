/** Starts and stops the process that swaps names (`swapper.js`), and says how often to try. */

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** `npm run test:races` tries ten times as often. */
export const timesMore = Number(process.env["FILEHAND_RACES"] ?? 1);

export interface Racer {
  /** Does it still run? */
  readonly runs: () => boolean;
  /** With every name in its place. */
  stop(): Promise<void>;
}

export async function race(kinds: readonly string[], folder: string): Promise<Racer> {
  const script = fileURLToPath(new URL("swapper.js", import.meta.url));
  const child: ChildProcess = fork(script, [kinds.join(","), folder], { execArgv: [] });
  await once(child, "message");
  return {
    runs: () => child.exitCode === null && child.signalCode === null,
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "exit");
      child.send("stop");
      await ended;
    },
  };
}

/** Until it happened once, or half a minute has passed: then the racer is too slow to prove anything. */
export function untilCaught(attempt: () => boolean): { readonly tries: number; readonly caught: boolean } {
  const end = performance.now() + 30_000;
  let tries = 0;
  while (performance.now() < end) {
    tries += 1;
    try {
      if (attempt()) return { tries, caught: true };
    } catch {
      // The name is gone for a moment, or is not what it was.
    }
  }
  return { tries, caught: false };
}
