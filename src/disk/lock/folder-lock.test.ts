/** Kernel locks on folders: which call has one, which share it, and where there is none. */

import { equal, ok, throws } from "node:assert/strict";
import * as fs from "node:fs";
import { describe, test } from "vitest";
import { onWindows, openDescriptors, workspace } from "../../../test/support/workspace.ts";
import {
  canLockFolder,
  createFolderLocks,
  type KernelLockCalls,
  loadKernelLock,
  type LockedFolder,
} from "./folder-lock.ts";
import { createLocks } from "./lock.ts";

const { path: at } = workspace({ one: {}, two: {}, "a.txt": "" });
const calls = await loadKernelLock();
const folderAt = (path: string): LockedFolder => {
  const { dev: device, ino: inode } = fs.statSync(path, { bigint: true });
  return { device, inode, path };
};
const give = (taken: ReturnType<ReturnType<typeof createFolderLocks>["take"]>): void => {
  ok(typeof taken === "function");
  taken();
};

describe.skipIf(onWindows || calls === undefined)("a lock of the kernel on a folder (skipped: it needs koffi)", () => {
  const kernel = calls as KernelLockCalls; // skipped otherwise

  test("excludes others until it is released, and leaves no descriptor and no file", () => {
    const before = openDescriptors();
    // Two lock tables without shared descriptors are to the kernel what two processes are.
    const [ours, theirs] = [createFolderLocks(), createFolderLocks()];
    const taken = ours.take(folderAt(at("one")), kernel);
    equal(theirs.take(folderAt(at("one")), kernel), "busy");
    give(theirs.take(folderAt(at("two")), kernel));
    give(taken);
    give(theirs.take(folderAt(at("one")), kernel));
    equal(openDescriptors(), before);
    equal(fs.readdirSync(at("one")).length, 0);
  });

  test("is shared by the calls of a process, and no longer when others have waited for long", () => {
    let nowMs = 0;
    const [ours, theirs] = [createFolderLocks(() => nowMs), createFolderLocks()];
    const first = ours.take(folderAt(at("one")), kernel);
    const second = ours.take(folderAt(at("one")), kernel);
    nowMs = 1_000;
    equal(ours.take(folderAt(at("one")), kernel), "busy");
    give(first);
    equal(theirs.take(folderAt(at("one")), kernel), "busy");
    give(second);
    give(theirs.take(folderAt(at("one")), kernel));
    give(ours.take(folderAt(at("one")), kernel));
  });

  test("there is none for a folder that is gone, another one, a link or a file", () => {
    const before = openDescriptors();
    const locks = createFolderLocks();
    fs.symlinkSync(at("one"), at("link"));
    for (const path of [at("gone"), at("two"), at("link"), at("a.txt"), undefined]) {
      equal(locks.take({ ...folderAt(at("one")), path }, kernel), undefined);
    }
    equal(openDescriptors(), before);
  });

  test("a file system that refuses it goes without; without descriptors nothing is done", () => {
    const failing = (code: string, errno: number): KernelLockCalls => ({
      tryLock: () => {
        throw Object.assign(new Error(code), { code, errno: -errno });
      },
    });
    const before = openDescriptors();
    equal(createFolderLocks().take(folderAt(at("one")), failing("ENOLCK", 37)), undefined);
    throws(() => createFolderLocks().take(folderAt(at("one")), failing("EMFILE", 24)), { code: "EMFILE" });
    equal(openDescriptors(), before);
    equal(canLockFolder(at("one"), failing("ENOTSUP", 95)), false);
    equal(canLockFolder(at("gone"), kernel), undefined);
    equal(canLockFolder(at("one"), kernel), true);
  });

  test("the work learns whether the kernel locked all folders", async () => {
    const never = new AbortController().signal;
    const locks = createLocks({ folder: at("locks") });
    const keys = ["one", "two"].map((name) => ({ folder: folderAt(at(name)), name: "f" }));
    const told = async (some: typeof keys): Promise<boolean> =>
      locks.exclusively(some, never, async ({ byKernel }) => byKernel);
    equal(await told(keys), true);
    equal(await told([...keys, { folder: { ...folderAt(at("one")), inode: 1n }, name: "g" }]), false);
    equal(await told([]), false);
    const without = createLocks({ folder: at("locks"), kernel: async () => undefined });
    const pathless = keys.map((key) => ({ ...key, folder: { ...key.folder, path: undefined } }));
    equal(await without.exclusively(pathless, never, async ({ byKernel }) => byKernel), false);
  });

  test("a folder that another process keeps is given up for after the longest wait, or when the call is cancelled", async () => {
    const theirs = createFolderLocks().take(folderAt(at("one")), kernel);
    const keys = [{ folder: folderAt(at("one")), name: "f" }];
    const locks = createLocks({ folder: at("locks"), waitMsMax: 50 });
    const outcome = async (signal: AbortSignal): Promise<string> =>
      locks.exclusively(keys, signal, async () => "inside").catch((error: Error) => error.name);
    equal(await outcome(new AbortController().signal), "LockTimeout");
    equal(await outcome(AbortSignal.abort(Object.assign(new Error("stop"), { name: "Stop" }))), "Stop");
    give(theirs);
    equal(await outcome(new AbortController().signal), "inside");
  });
});
