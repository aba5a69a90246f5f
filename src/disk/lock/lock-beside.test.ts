import { deepEqual, equal, ok } from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { hash } from "node:crypto";
import * as fs from "node:fs";
import { describe, test } from "vitest";
import { openDescriptors, workspace } from "../../../test/support/workspace.ts";
import type { LockedFolder } from "./folder-lock.ts";
import { createLocksBeside, lockReach, sweepBeside } from "./lock-beside.ts";
import { createLocks } from "./lock.ts";
import { processIdentity } from "./process-identity.ts";

const never = new AbortController().signal;
const [, , realm = ""] = processIdentity().split("-");
const dead = `${spawnSync(process.execPath, ["-e", ""]).pid}-1-${realm}`;
const elsewhere = `4242-17-${"0".repeat(12)}`;
const lockName = `.filehand-lock-${hash("sha256", "a.txt", "hex").slice(0, 32)}`;

const folderAt = (path: string, isLocal: boolean): LockedFolder => {
  const { dev: device, ino: inode } = fs.statSync(path, { bigint: true });
  return { device, inode, path, isLocal };
};

describe.skipIf(process.platform !== "linux")("a lock beside a file (skipped: it needs Linux)", () => {
  for (const isLocal of [true, false]) {
    const where = isLocal ? "on a local disk without kernel locks" : "on a file system that machines share";
    const locked = async (top: string, waitMsMax = 50): Promise<readonly string[] | string> => {
      const locks = createLocks({ folder: `${top}-locks`, waitMsMax, kernel: async () => undefined });
      const keys = [{ folder: folderAt(top, isLocal), name: "a.txt" }];
      try {
        return await locks.exclusively(keys, never, async ({ byKernel }) => [
          byKernel ? "reaches all" : "reaches some",
          ...fs.readdirSync(top),
        ]);
      } catch (error) {
        return String(error);
      }
    };

    test(`${where} exists while the work goes on, and is gone after it`, async () => {
      const before = openDescriptors();
      const { path: at } = workspace({ w: {} });
      deepEqual(await locked(at("w")), ["reaches all", lockName]);
      deepEqual(fs.readdirSync(at("w")), []);
      equal(openDescriptors(), before);
    });

    test(`${where} of a process that has ended is taken over; of one elsewhere it is not`, async () => {
      const { path: at } = workspace({ w: {} });
      const plant = (line: string): void => {
        if (isLocal) fs.symlinkSync(line, at("w", lockName));
        else fs.writeFileSync(at("w", lockName), line);
      };
      plant(`${dead} aa-1\n`);
      deepEqual(await locked(at("w")), ["reaches all", lockName]);
      deepEqual(fs.readdirSync(at("w")), []);
      plant(`${elsewhere} aa-1\n`);
      ok(String(await locked(at("w"))).includes("in use by process 4242"));
      deepEqual(fs.readdirSync(at("w")), [lockName]);
    });

    test(`${where}: something else under its name is an answer, not a hang`, async () => {
      const { path: at } = workspace({ w: { [lockName]: {} }, pipe: { [lockName]: { fifo: true } } });
      ok(String(await locked(at("w"))).startsWith("LockFailed: Files cannot be locked"));
      ok(String(await locked(at("pipe"))).startsWith("Lock"));
    });

    test(`${where}: a folder that was swapped for another gets none`, async () => {
      const { path: at } = workspace({ w: {}, other: {} });
      const folder = folderAt(at("w"), isLocal);
      fs.renameSync(at("w"), at("was"));
      fs.symlinkSync(at("other"), at("w"));
      const take = () => createLocksBeside().take(folder, "a.txt", () => false, { pid: undefined });
      equal(take(), undefined);
      fs.unlinkSync(at("w"));
      equal(take(), undefined);
      fs.renameSync(at("other"), at("w"));
      equal(take(), undefined);
      deepEqual(fs.readdirSync(at("w")), []);
    });
  }

  test("of a process that has ended is swept, of another is not", () => {
    const { path: at } = workspace({ w: {} });
    for (const [owner, left] of [
      [dead, []],
      [elsewhere, [lockName]],
      [processIdentity(), [lockName]],
    ] as const) {
      fs.symlinkSync(`${owner} aa-1\n`, at("w", lockName));
      sweepBeside(at("w", lockName));
      deepEqual(fs.readdirSync(at("w")), left);
      fs.rmSync(at("w", lockName), { force: true });
    }
  });

  test("which lock a folder gets", () => {
    const { top } = workspace({});
    const kernel = { tryLock: () => "locked" as const };
    equal(lockReach(top, true, kernel), "kernel");
    equal(lockReach(top, undefined, kernel), "kernel");
    equal(lockReach(top, false, kernel), "beside");
    equal(lockReach(top, true, undefined), "beside");
    equal(lockReach(`${top}/gone`, true, kernel), undefined);
  });
});
