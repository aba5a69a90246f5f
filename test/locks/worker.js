/**
 * A process that works under locks, for locks.test.ts: `worker.js <bundle of disk/lock/lock.ts> <lock folder> <file> <id>`.
 * What it is to do comes as messages.
 */

import * as fs from "node:fs";

const [bundle = "", folder = "", file = "", id = ""] = process.argv.slice(2);
/** @type {typeof import("../../src/disk/lock/lock.ts")} */
const { createLocks } = await import(bundle);
const locks = createLocks({ folder });
const never = new AbortController().signal;

/** @param {string} name */
const keys = (name) => [{ folder: { device: 1n, inode: 1n }, name }];
/** @param {string} word */
const say = (word) => void process.send?.({ word });
const moment = () => new Promise((resolve) => setImmediate(resolve));

/** Reads a number, waits a little, writes one more: without a lock some of these get lost. */
async function increment() {
  const before = Number(fs.readFileSync(file, "utf8"));
  await moment();
  fs.writeFileSync(file, String(before + 1));
}

/** The same for a process that may be killed: its own number among those of all, and the file whole at each moment. */
async function incrementOwn() {
  const all = JSON.parse(fs.readFileSync(file, "utf8"));
  await moment();
  all[id] = (all[id] ?? 0) + 1;
  fs.writeFileSync(`${file}.${id}`, JSON.stringify(all));
  fs.renameSync(`${file}.${id}`, file);
}

/** Fails if somebody else is inside. */
async function beAlone() {
  const inside = `${file}.inside`;
  fs.closeSync(fs.openSync(inside, "wx"));
  await moment();
  fs.unlinkSync(inside);
}

let read = 0;

/** @param {{ task: string, count: number, atMs: number }} message */
async function run({ task, count, atMs }) {
  if (task === "count") {
    for (let turn = 0; turn < count; turn += 1) await locks.exclusively(keys("counted"), never, increment);
  } else if (task === "read without a lock") {
    read = Number(fs.readFileSync(file, "utf8"));
  } else if (task === "write without a lock") {
    fs.writeFileSync(file, String(read + 1));
  } else if (task === "count until killed") {
    for (;;) {
      await locks.exclusively(keys("counted"), never, incrementOwn);
      say("counted");
    }
  } else if (task === "inherit") {
    while (Date.now() < atMs);
    await locks.exclusively(keys(`round ${count}`), never, beAlone);
  }
}

process.on("message", (/** @type {{ task: string, count: number, atMs: number }} */ message) => {
  run(message).then(
    () => say("done"),
    (error) => {
      say(String(error));
      say("done");
    },
  );
});
process.on("disconnect", () => process.exit());
say("ready");
