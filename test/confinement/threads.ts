/**
 * A process that confines itself and then tries to leave, from each of its threads: V8's, Node's, those of libuv's pool and of a
 * worker. Started by every-thread.test.ts. Arguments: the folder it may have, a file outside. Prints JSON.
 */

import * as fs from "node:fs";
import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import type * as Koffi from "koffi";
import { addressOf, bindSyscall, inEveryThread } from "../../src/confinement/every-thread.ts";
import { confine } from "../../src/confinement/landlock.ts";

const [inside = "", outside = ""] = process.argv.slice(2);
const koffi = createRequire(import.meta.url)("koffi") as typeof Koffi;
const syscall = bindSyscall(koffi);
const openat = 257;
const currentFolder = -100;

/** Answers forever, and opens files for whoever asks. */
const workerSource = `const fs = require("node:fs"); const { parentPort } = require("node:worker_threads");
parentPort.on("message", (path) => { try { fs.readFileSync(path); parentPort.postMessage("read"); } catch (error) { parentPort.postMessage(error.code); } });`;

const tryWorker = (worker: Worker, path: string): Promise<unknown> =>
  new Promise((resolve) => {
    worker.once("message", resolve);
    worker.postMessage(path, []);
  });

/** From every thread: the errno, 0 if the file was opened. */
async function tryEvery(path: string): Promise<Readonly<Record<number, number>>> {
  const name = Buffer.from(`${path}\0`);
  const results = await inEveryThread(koffi, syscall, openat, currentFolder, addressOf(koffi, name), 0);
  return Object.fromEntries([...results].map(([thread, result]) => [thread, Math.min(result, 0)]));
}

const failure = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "read",
    (error: NodeJS.ErrnoException) => error.code ?? error.message,
  );

await fs.promises.readFile(`${inside}/a.txt`); // starts the pool
const before = new Worker(workerSource, { eval: true });
const beforehand = await tryEvery(outside);
const state = await confine({
  read: [inside, process.execPath, "/proc", "/usr/lib", "/lib", "/lib64"],
  run: [],
  write: [],
  network: "closed",
});
const after = new Worker(workerSource, { eval: true });
await tryWorker(after, `${inside}/a.txt`);
const threads = fs.readdirSync("/proc/self/task");
process.stdout.write(
  JSON.stringify({
    state: state.is,
    threads: threads.map(Number),
    beforehand,
    outside: await tryEvery(outside),
    inside: await tryEvery(`${inside}/a.txt`),
    privileges: threads.map(
      (thread) => /NoNewPrivs:\s+(\d)/.exec(fs.readFileSync(`/proc/self/task/${thread}/status`, "utf8"))?.[1],
    ),
    pool: await Promise.all(Array.from({ length: 16 }, () => failure(fs.promises.readFile(outside)))),
    workers: [await tryWorker(before, outside), await tryWorker(after, outside)],
    written: await failure(fs.promises.writeFile(`${inside}/b.txt`, "")),
  }),
);
await Promise.all([before.terminate(), after.terminate()]);
