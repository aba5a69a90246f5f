/**
 * Reads one file after the other, as a model would, and prints what each took: `node hostile-reader.mjs <folder> <files>`.
 * It ends by itself: a worker that waits for its next task must not keep a process alive.
 */

import { readFileSync } from "node:fs";
import { createFilehand } from "../../src/index.ts";

export interface Taken {
  readonly file: string;
  readonly answer: string;
  /** The longest turn of the event loop, in which nothing else is done. */
  readonly blockedMs: number;
  /** The most memory so far, over what the process had when it began. */
  readonly megabytes: number;
}

const [root = "", ...files] = process.argv.slice(2);
const session = createFilehand({ roots: [root], dedup: false, reminder: false }).session();
await session.call("Read", { file_path: `${root}/first.txt` });
const before = process.memoryUsage.rss();
let most = before;
const watch = setInterval(() => {
  most = Math.max(most, process.memoryUsage.rss());
}, 5);

for (const file of files) {
  const turns = watchTurns();
  const outlined = /\.(?:ts|cpp)$/.test(file);
  // "a.xlsx*4" is read four times at once.
  const [name = "", times = "1"] = file.split("*");
  const reads = Array.from({ length: Number(times) }, () => (outlined ? outline(name) : read(name)));
  const answer = (await Promise.all(reads)).join("\n");
  // One more turn: what blocked the last one counts.
  await new Promise((resolve) => setTimeout(resolve, 20));
  const taken: Taken = { file, answer, blockedMs: turns.longestMs(), megabytes: (most - before) / 1e6 };
  process.stdout.write(`${JSON.stringify(taken)}\n`);
}
clearInterval(watch);

/** By the time that the main thread worked, where the system tells it: a busy machine makes a turn last, and not work, longer. */
function watchTurns(): { longestMs(): number } {
  let last = workedMs();
  let longest = 0;
  const timer = setInterval(() => {
    const now = workedMs();
    longest = Math.max(longest, now - last);
    last = now;
  }, 1);
  return {
    longestMs() {
      clearInterval(timer);
      return longest;
    },
  };
}

function workedMs(): number {
  if (process.platform !== "linux") return performance.now();
  return Number(readFileSync("/proc/thread-self/schedstat", "utf8").split(" ")[0]) / 1e6;
}

async function read(file: string): Promise<string> {
  const { content } = await session.call("Read", { file_path: `${root}/${file}` });
  return content
    .map((part) => (part.type === "text" ? part.text : `<${part.mimeType}>`))
    .join("\n")
    .slice(0, 300);
}

async function outline(file: string): Promise<string> {
  try {
    return `${(await session.outline(`${root}/${file}`)).total} items`;
  } catch (error) {
    return String(error);
  }
}
