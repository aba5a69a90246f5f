import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { heicDecoder, heicHeader } from "../../../test/samples/images.ts";
import { hasFailed, runInWorker, type TaskLimits } from "./host.ts";

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "filehand-worker-"));
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));
const never = new AbortController().signal;

/** Runs a decoder that misbehaves as told: its code is what a worker loads as the decoder of HEIC. */
function run(code: string, changed: Partial<TaskLimits> = {}) {
  const heic = path.join(folder, `${fs.readdirSync(folder).length}.cjs`);
  fs.writeFileSync(heic, heicDecoder(code));
  const within = { signal: never, msMax: 60_000, ...changed };
  return runInWorker("image", { bytes: heicHeader(10, 10), pixelsMax: 1_000, heic }, within);
}

const good = "return { width: 1, height: 1 };";
const works = async (): Promise<void> => {
  expect(await run(good)).toMatchObject({ pixels: { width: 1, height: 1 } });
};

describe("a worker that does wrong fails one call, and the next call works", () => {
  for (const [name, code, answer, limited] of [
    ["hangs", "for (;;);", { failed: "time" }, { msMax: 500, wallMsMax: 600_000 }],
    ["never answers", "await new Promise(() => setInterval(() => 0, 1e6));", { failed: "time" }, { wallMsMax: 500 }],
    ["ends its thread", "process.exit(3);", { failed: "crash" }],
    [
      "throws where nothing catches it",
      "setTimeout(() => { throw new Error('x'); }); await new Promise(() => 0);",
      { failed: "crash" },
    ],
    ["fills the heap", "const all = []; for (;;) all.push({ a: all.length });", { failed: "memory" }],
    [
      "fills a memory of WebAssembly",
      "const all = new WebAssembly.Memory({ initial: 1 }); for (;;) all.grow(100);",
      { failed: "memory" },
    ],
    ["throws", "throw new Error('not a picture');", { pixels: { damaged: "not a picture" } }],
  ] as const satisfies readonly (readonly [string, string, object, Partial<TaskLimits>?])[]) {
    test(`it ${name}`, async () => {
      expect(await run(code, limited)).toMatchObject(answer);
      await works();
    });
  }
});

test.skipIf(!fs.existsSync("/proc/thread-self/schedstat"))(
  "a worker that waits, as on a busy machine, uses none of its time",
  async () => {
    const waits = `await new Promise((resolve) => setTimeout(resolve, 1_500)); ${good}`;
    expect(await run(waits, { msMax: 1_000 })).toMatchObject({ pixels: { width: 1 } });
  },
);

test("a call that is called off while it runs ends at once, and the next call works", async () => {
  const stop = new AbortController();
  const going = run("for (;;);", { signal: stop.signal });
  setTimeout(() => stop.abort(new Error("enough")), 100);
  await expect(going).rejects.toThrow("enough");
  await works();
});

test("a call that is called off while it waits for a worker leaves the queue", async () => {
  const stop = new AbortController();
  const busy = [1, 2, 3].map(() => run("for (;;);", { signal: stop.signal }));
  const waiting = new AbortController();
  const called = run(good, { signal: waiting.signal });
  waiting.abort(new Error("not any more"));
  await expect(called).rejects.toThrow("not any more");
  stop.abort(new Error("enough"));
  for (const call of busy) await expect(call).rejects.toThrow("enough");
  await works();
});

test("a kind of file that keeps its workers busy does not stop the others", async () => {
  const stop = new AbortController();
  const busy = [1, 2, 3].map(() => run("for (;;);", { signal: stop.signal }));
  const bytes = Buffer.from("not a zip");
  const limits = { entryBytesMax: 1, totalBytesMax: 1, ratioMax: 1, entriesMax: 1, cellsMax: 1, depthMax: 1 };
  const other = await runInWorker("office", { bytes, format: "docx", limits }, { signal: never, msMax: 60_000 });
  expect(hasFailed(other)).toBe(false);
  expect(other).toMatchObject({ kind: "damaged" });
  stop.abort(new Error("enough"));
  await Promise.allSettled(busy);
});

test("the bytes stay the caller's", async () => {
  const bytes = heicHeader(10, 10);
  const copy = Buffer.from(bytes);
  await runInWorker("image", { bytes, pixelsMax: 1, heic: undefined }, { signal: never, msMax: 60_000 });
  expect(Buffer.compare(bytes, copy)).toBe(0);
});
