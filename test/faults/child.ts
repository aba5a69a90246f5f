/**
 * A small program for the fault tests: makes one of the changes in a folder and prints the outcome. With a number it
 * kills itself right before that system call, as a power cut or an operator would.
 *
 *   node child.mjs <title of the change> <folder> [n]
 */

import { faultySystem } from "../support/faulty-system.ts";
import { everyChange } from "./changes.ts";

const [, , title, folder, n] = process.argv;
const change = everyChange.find((one) => one.title === title);
if (change === undefined || folder === undefined) throw new Error("Usage: child.mjs <change> <folder> [n]");
const system = faultySystem();
const killAt = Number(n ?? 0);
system.onCall = (count) => {
  if (count === killAt) process.kill(process.pid, "SIGKILL");
};
const outcome = await change.run(folder, system);
const text = JSON.stringify({ outcome, calls: system.calls }, (_key, value: unknown) =>
  typeof value === "bigint" ? String(value) : value,
);
process.stdout.write(`${text}\n`);
