import { deepEqual, equal, ok, rejects, throws } from "node:assert/strict";
import * as fs from "node:fs";
import * as fc from "fast-check";
import { describe, test } from "vitest";
import { faultySystem, systemError } from "../../../test/support/faulty-system.ts";
import { onWindows, workspace } from "../../../test/support/workspace.ts";
import { createDisk } from "../disk.ts";
import { nodeSystem, type System } from "../system.ts";
import type { FileNode } from "./lookup.ts";
import { openFile, type OpenFile, ReadFailed } from "./open-file.ts";

const text = "0123456789abcdefghijklmnopqrstuvwxyz";
const { path: at } = workspace({ "a.txt": text, "b.txt": "another" });

/** Looks up with the real system and opens with the given one. */
function opened(
  system: System,
  reads: "at once" | "later",
  name = "a.txt",
): { readonly file: OpenFile; readonly close: () => void } {
  const node = lookup(name);
  const file = openFile({ ...node, handle: { ...node.handle, reads } }, system);
  ok(!("errno" in file));
  return {
    file,
    close: () => {
      file.close();
      node.handle.close();
    },
  };
}

function lookup(name: string): FileNode {
  const found = createDisk([at()]).lookup(at(name));
  ok(found.seen === "node");
  return found;
}

describe.skipIf(onWindows)("an open file", () => {
  for (const reads of ["at once", "later"] as const) {
    test(`read ${reads}: bytes by position, short only at the end`, async () => {
      const { file, close } = opened(nodeSystem, reads);
      for (const [from, length, expected] of [
        [0, 10, text.slice(0, 10)],
        [10, 5, text.slice(10, 15)],
        [30, 100, text.slice(30)],
        [36, 10, ""],
        [1_000, 10, ""],
        [0, 0, ""],
        [0, 100, text],
      ] as const) {
        const buffer = Buffer.alloc(length);
        const got = await file.read(buffer, from);
        equal(buffer.toString("utf8", 0, got), expected);
      }
      close();
    });

    test(`read ${reads}: bits of any size make the same bytes`, async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.infiniteStream(fc.integer({ min: 1, max: 9 })),
          fc.nat(40),
          fc.nat(40),
          async (bits, from, length) => {
            const bit = (): number => bits.next().value ?? 1;
            const system: System = {
              ...nodeSystem,
              read: (fd, into, offset, wanted, position) =>
                nodeSystem.read(fd, into, offset, Math.min(wanted, bit()), position),
              readLater: (fd, into, offset, wanted, position) =>
                nodeSystem.readLater(fd, into, offset, Math.min(wanted, bit()), position),
            };
            const { file, close } = opened(system, reads);
            const buffer = Buffer.alloc(length);
            const got = await file.read(buffer, from);
            close();
            equal(buffer.toString("utf8", 0, got), text.slice(from, from + length));
          },
        ),
        { numRuns: 200 },
      );
    });

    test(`read ${reads}: an error of the system is a ReadFailed with its name, also in the middle`, async () => {
      for (const n of [1, 2, 3]) {
        let calls = 0;
        const fails = (): void => {
          calls += 1;
          if (calls === n) throw systemError("EIO", "read");
        };
        const system: System = {
          ...nodeSystem,
          read: (fd, into, offset, wanted, position) => {
            fails();
            return nodeSystem.read(fd, into, offset, Math.min(wanted, 10), position);
          },
          readLater: async (fd, into, offset, wanted, position) => {
            fails();
            return nodeSystem.readLater(fd, into, offset, Math.min(wanted, 10), position);
          },
        };
        const { file, close } = opened(system, reads);
        await rejects(
          async () => file.read(Buffer.alloc(36), 0),
          (error) => error instanceof ReadFailed && error.errno === "EIO",
        );
        close();
      }
    });

    test(`read ${reads}: a bug stays a bug`, async () => {
      const bug = new TypeError("a bug");
      const system: System = {
        ...nodeSystem,
        read: () => {
          throw bug;
        },
        readLater: () => Promise.reject(bug),
      };
      const { file, close } = opened(system, reads);
      await rejects(async () => file.read(Buffer.alloc(1), 0), bug);
      close();
    });
  }

  test("a local file is read without a promise", () => {
    const { file, close } = opened(nodeSystem, "at once");
    equal(file.read(Buffer.alloc(4), 0), 4);
    close();
  });

  test("its identity is that of the open file", () => {
    const { file, close } = opened(nodeSystem, "at once");
    const stat = fs.statSync(at("a.txt"), { bigint: true });
    deepEqual([file.identity.inode, file.sizeBytes], [stat.ino, text.length]);
    equal(file.mtimeMs, Number(stat.mtimeNs / 1_000_000n));
    close();
  });

  test("another file at the same place is stale, and is closed", () => {
    const node = lookup("a.txt");
    const system = faultySystem();
    const other = lookup("b.txt");
    const file = openFile({ ...node, handle: { ...node.handle, handlePath: other.handle.handlePath } }, system);
    deepEqual(file, { errno: "ESTALE" });
    equal(system.stillOpen.size, 0);
    node.handle.close();
    other.handle.close();
  });

  for (const n of [1, 2]) {
    test(`when system call ${n} of opening fails, that is the answer and nothing stays open`, () => {
      const node = lookup("a.txt");
      const system = faultySystem();
      system.failAt(n, "EACCES");
      deepEqual(openFile(node, system), { errno: "EACCES" });
      equal(system.stillOpen.size, 0);
      node.handle.close();
    });
  }

  test("reports whether the file has changed since", () => {
    const { file, close } = opened(nodeSystem, "at once", "b.txt");
    equal(file.changed(), "no");
    fs.appendFileSync(at("b.txt"), "!");
    equal(file.changed(), "grown");
    fs.writeFileSync(at("b.txt"), "");
    equal(file.changed(), "rewritten");
    close();
    throws(() => file.changed(), ReadFailed);
  });

  test("closing twice closes once, and a read after that fails", () => {
    const system = faultySystem();
    const { file, close } = opened(system, "at once");
    file.close();
    file.close();
    deepEqual(system.closedTwice, []);
    throws(() => file.read(Buffer.alloc(1), 0), ReadFailed);
    close();
  });
});
