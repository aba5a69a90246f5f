/**
 * Reads one file after the other, as a model would, and prints what each took: `node hostile-reader.mjs <folder> <files>`.
 * It ends by itself: a worker that waits for its next task must not keep a process alive.
 */

import { monitorEventLoopDelay } from "node:perf_hooks";
import { createFilehand } from "../../src/index.ts";

export interface Taken {
  readonly file: string;
  readonly answer: string;
  /** The longest time in which nothing else had a turn. */
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
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const outlined = /\.(?:ts|cpp)$/.test(file);
  // "a.xlsx*4" is read four times at once.
  const [name = "", times = "1"] = file.split("*");
  const reads = Array.from({ length: Number(times) }, () => (outlined ? outline(name) : read(name)));
  const answer = (await Promise.all(reads)).join("\n");
  // One more turn: what blocked the last one counts.
  await new Promise((resolve) => setTimeout(resolve, 20));
  delay.disable();
  const taken: Taken = { file, answer, blockedMs: delay.max / 1e6, megabytes: (most - before) / 1e6 };
  process.stdout.write(`${JSON.stringify(taken)}\n`);
}
clearInterval(watch);

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
