/** Calls that wait for nothing still let the event loop turn: timers, sockets and other callers are not kept waiting. */

import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { afterAll, expect, test } from "vitest";
import { createFilehand, type Reply } from "../src/index.ts";

const root = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "filehand-fair-"));
afterAll(() => fs.rmSync(root, { recursive: true, force: true }));
fs.writeFileSync(path.join(root, "a.txt"), "one\ntwo\n");
const session = createFilehand({ roots: [root], dedup: false, ask: "yes" }).session();
const read = (): Promise<Reply> => session.call("Read", { file_path: "a.txt" });

/** How often the loop turned while the work was done. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let going = true;
  const count = (): void => {
    turns += 1;
    if (going) setImmediate(count);
  };
  setImmediate(count);
  await work();
  going = false;
  return turns;
}

test("a loop of reads lets it turn every sixteen calls at the latest", async () => {
  await read();
  const turns = await turnsDuring(async () => {
    for (let call = 0; call < 320; call += 1) await read();
  });
  expect(turns).toBeGreaterThanOrEqual(19);
});

test("of many reads at once all but the first few get a turn of their own", async () => {
  const turns = await turnsDuring(() => Promise.all(Array.from({ length: 300 }, read)));
  expect(turns).toBeGreaterThanOrEqual(280);
});

test("many changes of one file at once are made in the order of the calls", async () => {
  fs.writeFileSync(path.join(root, "b.txt"), "0\n");
  await session.call("Read", { file_path: "b.txt" });
  const numbers = Array.from({ length: 60 }, (_, index) => index);
  const edits = numbers.map((n) =>
    session.call("Edit", { file_path: "b.txt", old_string: `${n}\n`, new_string: `${n + 1}\n` }),
  );
  const later = new Promise<Reply>((resolve) => {
    const last = { file_path: "b.txt", old_string: "60\n", new_string: "end\n" };
    setImmediate(() => resolve(session.call("Edit", last)));
  });
  for (const reply of [...(await Promise.all(edits)), await later]) expect(reply.error).toBeUndefined();
  expect(fs.readFileSync(path.join(root, "b.txt"), "utf8")).toBe("end\n");
});

test("a patch of many files, and a rewind of it, let it turn after each file", async () => {
  const stateDir = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "filehand-fair-state-"));
  try {
    const keeping = createFilehand({ roots: [root], ask: "yes", readFirst: false, stateDir }).session({
      dialect: "opencode",
    });
    const names = Array.from({ length: 40 }, (_, index) => `many-${index}.txt`);
    const patch = async (part: (name: string) => string): Promise<void> => {
      const patchText = ["*** Begin Patch", ...names.map(part), "*** End Patch"].join("\n");
      const reply = await keeping.call("patch", { patchText });
      expect(reply.error).toBeUndefined();
    };
    const added = await turnsDuring(() => patch((name) => `*** Add File: ${name}\n+one`));
    expect(added).toBeGreaterThanOrEqual(names.length);
    await keeping.checkpoint("changed");
    const changed = await turnsDuring(() => patch((name) => `*** Update File: ${name}\n@@\n-one\n+two`));
    expect(changed).toBeGreaterThanOrEqual(names.length);
    const rewound = await turnsDuring(() => keeping.rewind("changed"));
    expect(rewound).toBeGreaterThanOrEqual(names.length);
    expect(fs.readFileSync(path.join(root, "many-0.txt"), "utf8")).toBe("one\n");
    const removed = await turnsDuring(() => patch((name) => `*** Delete File: ${name}`));
    expect(removed).toBeGreaterThanOrEqual(names.length);
  } finally {
    fs.rmSync(stateDir, { recursive: true, force: true });
  }
});
