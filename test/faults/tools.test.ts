/** Every system call of every tool fails once: whatever the tool answers, it has closed all that it opened, and nothing twice. */

import { deepEqual, equal, ok } from "node:assert/strict";
import * as fs from "node:fs";
import { describe, test, vi } from "vitest";
import { createFilehand } from "../../src/index.ts";
import type * as Disks from "../../src/disk/disk.ts";
import { nodeSystem } from "../../src/disk/system.ts";
import { type FaultySystem, faultySystem, paced } from "../support/faulty-system.ts";
import { onWindows, openDescriptors, plant, workspace } from "../support/workspace.ts";

const used = vi.hoisted((): { system: FaultySystem | undefined } => ({ system: undefined }));

vi.mock("../../src/disk/disk.ts", async (original) => {
  const real = await original<typeof Disks>();
  return {
    ...real,
    createDisk: (roots: readonly string[], _: unknown, options: Parameters<typeof real.createDisk>[2]) =>
      real.createDisk(roots, used.system, options),
  };
});

const { path: at } = workspace({});

const tree = {
  "a.txt": "one\ntwo\nthree\n",
  "old.txt": "old\n",
  ".gitignore": "ignored\n",
  folder: { "b.txt": "two\n", deeper: { "c.txt": "two\n" } },
  ignored: { "d.txt": "two\n" },
};

const calls: readonly { readonly tool: string; readonly input: Readonly<Record<string, unknown>> }[] = [
  { tool: "Read", input: { file_path: "a.txt" } },
  { tool: "Read", input: { file_path: "missing.txt" } },
  { tool: "LS", input: { path: "." } },
  { tool: "Glob", input: { pattern: "folder/**/*.txt" } },
  { tool: "Grep", input: { pattern: "two", output_mode: "content" } },
  { tool: "Edit", input: { file_path: "a.txt", old_string: "two", new_string: "2" } },
  { tool: "MultiEdit", input: { file_path: "a.txt", edits: [{ old_string: "two", new_string: "2" }] } },
  { tool: "Write", input: { file_path: "a.txt", content: "new\n" } },
  { tool: "Write", input: { file_path: "new/deep/n.txt", content: "new\n" } },
];

describe.skipIf(onWindows)("a tool of which the n-th system call fails closes what it opened", () => {
  for (const { tool, input } of calls) {
    test(`${tool} ${JSON.stringify(input)}`, async () => {
      const root = at(`${tool}-${calls.findIndex((call) => call.input === input)}`);
      // Old files are closed by another thread, and no call waits for that: here at once, so that they can be counted.
      const system = faultySystem({ ...paced(nodeSystem, 0), closeLater: async (fd) => nodeSystem.close(fd) });
      used.system = system;
      fs.mkdirSync(root);
      plant(root, tree);
      const filehand = createFilehand({
        roots: [root],
        ask: "yes",
        readFirst: false,
        history: false,
        stateDir: `${root}-state`,
      });
      const session = filehand.session({ dialect: "claude" });
      const run = async (n: number | undefined): Promise<number> => {
        fs.rmSync(root + "/new", { recursive: true, force: true });
        for (const name of ["a.txt", "old.txt"] as const) fs.writeFileSync(`${root}/${name}`, tree[name]);
        session.forget();
        const before = system.calls.length;
        system.failAt(n, "EIO");
        await session.call(tool, input);
        system.failAt(undefined, "EIO");
        return system.calls.length - before;
      };
      // What is loaded or looked at once is so from then on.
      await run(undefined);
      const total = await run(undefined);
      ok(total > 5, `only ${total} calls`);
      const open = openDescriptors();
      for (let n = 1; n <= total; n += 1) {
        await run(n);
        deepEqual([[...system.stillOpen], system.closedTwice], [[], []], `call ${n} of ${total}`);
      }
      equal(openDescriptors(), open);
      await filehand.close();
    });
  }
});
