/** The end of a language server, whatever it does about it. */

import { equal } from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { EventEmitter } from "node:events";
import { test } from "vitest";
import { waitForExit } from "./client.ts";

/** A child of which nothing is heard, whatever it is sent. */
function childThatStays(): { readonly child: ChildProcess; readonly signals: readonly unknown[] } {
  const signals: unknown[] = [];
  const fields = { pid: 1, exitCode: null, signalCode: null, kill: (signal: unknown) => signals.push(signal) > 0 };
  return { child: Object.assign(new EventEmitter(), fields) as unknown as ChildProcess, signals }; // what is used of one
}

test("a server that outlives its kill is left behind: waiting for its end settles", async () => {
  const { child, signals } = childThatStays();
  await waitForExit(child);
  equal(signals.join(), "SIGKILL");
});

test("a server that ends by itself is not killed", async () => {
  const { child, signals } = childThatStays();
  setImmediate(() => child.emit("exit", 0, null));
  await waitForExit(child);
  equal(signals.length, 0);
});
