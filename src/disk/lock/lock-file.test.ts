import { deepEqual, equal, ok, throws } from "node:assert/strict";
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import * as nodePath from "node:path";
import { afterAll, describe, test } from "vitest";
import { type HeldLock, type LockFiles, openLockFiles, publishFile, type Taken } from "./lock-file.ts";
import { defaultLockFolders, prepareLockFolder } from "./lock-folder.ts";
import { createLocks, LockFailed, trackSilence } from "./lock.ts";
import { processIdentity } from "./process-identity.ts";

const top = fs.mkdtempSync(nodePath.join(tmpdir(), "filehand-lock-file-"));
afterAll(() => fs.rmSync(top, { recursive: true, force: true }));

let made = 0;
const newFolder = (): string => {
  made += 1;
  const folder = nodePath.join(top, String(made));
  fs.mkdirSync(folder, { mode: 0o700 });
  return folder;
};

const [, , realm = ""] = processIdentity().split("-");
/** With a start time that no process has: its process id may have been reused. */
const deadMark = `${spawnSync(process.execPath, ["-e", ""]).pid}-1-${realm}`;
const foreignMark = `4242-17-${"0".repeat(12)}`;
const name = "0123456789abcdef0123456789abcdef";
const onWindows = process.platform === "win32";
const asRoot = process.getuid?.() === 0;

const patient = (): boolean => false;
const grim = (): boolean => true;
const take = (files: LockFiles): Taken => files.take(name, patient);
function mustTake(files: LockFiles): HeldLock {
  const { held } = take(files);
  ok(held);
  return held;
}

describe("the lock of a dead process", () => {
  test("is inherited at once, and nothing is left of it", () => {
    const folder = newFolder();
    fs.writeFileSync(nodePath.join(folder, name), `${deadMark} aa-1\n`);
    const held = mustTake(openLockFiles(folder));
    deepEqual(fs.readdirSync(folder), [name]);
    held.release();
    deepEqual(fs.readdirSync(folder), []);
  });

  test("whose heirs died as well is inherited from the last of them", () => {
    const folder = newFolder();
    fs.writeFileSync(nodePath.join(folder, name), `${deadMark} aa-1\n`);
    fs.writeFileSync(nodePath.join(folder, `${name}.aa-1`), `${deadMark} bb-1\n`);
    fs.writeFileSync(nodePath.join(folder, `${name}.bb-1`), `${deadMark} cc-1\n`);
    const held = mustTake(openLockFiles(folder));
    deepEqual(fs.readdirSync(folder), [name]);
    held.release();
    deepEqual(fs.readdirSync(folder), []);
  });

  test("that a living heir is just taking over is not to be had", () => {
    const folder = newFolder();
    fs.writeFileSync(nodePath.join(folder, name), `${deadMark} aa-1\n`);
    fs.writeFileSync(nodePath.join(folder, `${name}.aa-1`), `${processIdentity()} bb-1\n`);
    const taken = take(openLockFiles(folder));
    ok(taken.held === undefined && taken.holder?.token === "bb-1");
  });

  test("that was inherited between check and creation is not taken from the heir", () => {
    const folder = newFolder();
    fs.writeFileSync(nodePath.join(folder, name), `${deadMark} aa-1\n`);
    const quick = openLockFiles(folder);
    let heir: HeldLock | undefined;
    const slow = openLockFiles(folder, (line, path) => {
      if (path !== nodePath.join(folder, name)) heir ??= mustTake(quick);
      fs.symlinkSync(line, path);
    });
    equal(take(slow).held, undefined);
    deepEqual(fs.readdirSync(folder), [name]);
    equal(take(slow).held, undefined);
    heir?.release();
    mustTake(slow).release();
    deepEqual(fs.readdirSync(folder), []);
  });

  test("that was inherited and released meanwhile does not let a process past the next holder", () => {
    const folder = newFolder();
    fs.writeFileSync(nodePath.join(folder, name), `${deadMark} aa-1\n`);
    fs.writeFileSync(nodePath.join(folder, `${name}.aa-1`), `${deadMark} bb-1\n`);
    const quick = openLockFiles(folder);
    let next: HeldLock | undefined;
    const slow = openLockFiles(folder, (line, path) => {
      if (next === undefined && path !== nodePath.join(folder, name)) {
        mustTake(quick).release();
        next = mustTake(quick);
      }
      fs.symlinkSync(line, path);
    });
    equal(take(slow).held, undefined);
    deepEqual(fs.readdirSync(folder), [name]);
    next?.release();
    deepEqual(fs.readdirSync(folder), []);
  });
});

describe("a lock", () => {
  test("that was taken from its holder is not released by it", () => {
    const folder = newFolder();
    const held = mustTake(openLockFiles(folder));
    fs.rmSync(nodePath.join(folder, name));
    fs.symlinkSync(`${foreignMark} aa-1\n`, nodePath.join(folder, name));
    const { mtimeMs } = fs.lstatSync(nodePath.join(folder, name));
    held.beat();
    held.release();
    equal(fs.lstatSync(nodePath.join(folder, name)).mtimeMs, mtimeMs);
  });

  test("as a file, as on Windows, and as a symlink exclude each other", () => {
    const folder = newFolder();
    const [files, links] = [openLockFiles(folder, publishFile), openLockFiles(folder)];
    for (const [one, other] of [
      [files, links],
      [links, files],
      [files, files],
    ] as const) {
      const held = mustTake(one);
      equal(take(other).held, undefined);
      deepEqual(fs.readdirSync(folder), [name]);
      held.beat();
      held.release();
      deepEqual(fs.readdirSync(folder), []);
    }
  });

  test("survives that the folder was cleaned away", () => {
    const folder = newFolder();
    const files = openLockFiles(folder);
    fs.rmdirSync(folder);
    const held = mustTake(files);
    fs.rmSync(folder, { recursive: true });
    held.release();
    mustTake(files).release();
  });

  test("works where symlinks cannot be created", () => {
    const folder = newFolder();
    const files = openLockFiles(folder, () => {
      throw Object.assign(new Error("no links"), { errno: -1 });
    });
    const held = mustTake(files);
    equal(take(files).held, undefined);
    deepEqual(fs.readdirSync(folder), [name]);
    held.release();
    fs.writeFileSync(nodePath.join(folder, name), `${deadMark} aa-1\n`);
    mustTake(files).release();
    deepEqual(fs.readdirSync(folder), []);
  });

  test("that a power cut emptied is no sign of life, but no proof of death either", () => {
    const folder = newFolder();
    fs.writeFileSync(nodePath.join(folder, name), "");
    const files = openLockFiles(folder);
    equal(take(files).held, undefined);
    files.take(name, grim).held?.release();
    deepEqual(fs.readdirSync(folder), []);
  });

  test.skipIf(onWindows)("that is somebody's link is not followed, and no sign of life either", () => {
    const folder = newFolder();
    fs.symlinkSync("elsewhere", nodePath.join(folder, name));
    fs.writeFileSync(nodePath.join(folder, "elsewhere"), `${deadMark} aa-1\n`);
    const files = openLockFiles(folder);
    equal(take(files).held, undefined);
    files.take(name, grim).held?.release();
    deepEqual(fs.readdirSync(folder), ["elsewhere"]);
  });

  test.skipIf(onWindows)("that is a folder is refused in words", () => {
    const folder = newFolder();
    fs.mkdirSync(nodePath.join(folder, name));
    throws(() => take(openLockFiles(folder)), LockFailed);
  });
});

describe.concurrent("a holder in another container", () => {
  const never = new AbortController().signal;
  const key = { folder: { device: 1n, inode: 1n }, name: "a" };

  /** A folder with a lock on `key` as left by a process that cannot be seen from here. */
  async function foreignLock(silentMs: number): Promise<{ readonly folder: string; readonly lock: string }> {
    const folder = newFolder();
    let lock = "";
    await createLocks({ folder }).exclusively([key], never, async () => {
      const [lockName = ""] = fs.readdirSync(folder);
      lock = nodePath.join(folder, lockName);
    });
    fs.symlinkSync(`${foreignMark} aa-1\n`, lock);
    const beat = new Date(Date.now() - silentMs);
    fs.lutimesSync(lock, beat, beat);
    return { folder, lock };
  }

  test("that has been silent for long is given up, and nothing is left of its lock", async () => {
    const { folder } = await foreignLock(20_000);
    await createLocks({ folder }).exclusively([key], never, () => Promise.resolve());
    deepEqual(fs.readdirSync(folder), []);
  });

  /** Whether the holder is given up at one of these checks, each so many milliseconds after the last. */
  const givenUpAt = (everyMs: number, looks: number, beatMs: (look: number) => number): number | undefined => {
    let nowMs = 0;
    const giveUp = trackSilence(() => nowMs);
    for (let look = 0; look < looks; look += 1) {
      if (giveUp({ owner: foreignMark, token: "aa-1", beatMs: beatMs(look) })) return look;
      nowMs += everyMs;
    }
    return undefined;
  };
  const hourAgoMs = Date.now() - 3_600_000;

  test("is watched for five seconds first", () =>
    equal(
      givenUpAt(25, 1_000, () => hourAgoMs),
      201,
    ));

  test("that gives signs of life is waited for, even if its clock is wrong by an hour", () => {
    equal(
      givenUpAt(25, 1_000, (look) => hourAgoMs + Math.floor(look / 80)),
      undefined,
    );
    equal(
      givenUpAt(25, 1_000, () => Date.now()),
      undefined,
    );
  });

  test("is not given up because we were stopped together", () => {
    equal(
      givenUpAt(60_000, 20, () => hourAgoMs),
      undefined,
    );
    equal(
      givenUpAt(60_000, 30, () => hourAgoMs),
      21,
    );
  });

  test("sees our heartbeats while work takes long", async () => {
    const folder = newFolder();
    await createLocks({ folder }).exclusively([key], never, async () => {
      const [lockName = ""] = fs.readdirSync(folder);
      const lock = nodePath.join(folder, lockName);
      const long = new Date(Date.now() - 60_000);
      fs.lutimesSync(lock, long, long);
      const { mtimeMs } = fs.lstatSync(lock);
      while (fs.lstatSync(lock).mtimeMs === mtimeMs) await new Promise((resolve) => setTimeout(resolve, 50));
      ok(fs.lstatSync(lock).mtimeMs > mtimeMs + 50_000);
    });
  });
});

describe("the first use", () => {
  test("removes the leftovers of dead processes, and nothing else", () => {
    const folder = newFolder();
    const put = (file: string, text: string, ageMs = 0): void => {
      const path = nodePath.join(folder, file);
      fs.writeFileSync(path, text);
      const time = new Date(Date.now() - ageMs);
      fs.utimesSync(path, time, time);
    };
    const days = 2 * 86_400_000;
    put("aaaa", `${deadMark} aa-1\n`);
    put("aaaa.aa-1", `${deadMark} aa-2\n`);
    put("aaaa.aa-9", `${deadMark} aa-3\n`);
    put("bbbb.aa-1", `${deadMark} aa-4\n`);
    put(`new-${deadMark}-aa-5`, "");
    put(`new-${foreignMark}-aa-6`, "", days);
    put("eeee", `${foreignMark} aa-10\n`, days);
    put("cccc", `${foreignMark} aa-7\n`);
    put("dddd", `${processIdentity()} aa-8\n`, days);
    put("dddd.aa-9", `${deadMark} aa-9\n`);
    put(`new-${foreignMark}-aa-10`, "");
    put(`new-${processIdentity()}-aa-11`, "", days);
    openLockFiles(folder).sweep();
    deepEqual(
      new Set(fs.readdirSync(folder)),
      new Set(["cccc", "dddd", "dddd.aa-9", `new-${foreignMark}-aa-10`, `new-${processIdentity()}-aa-11`]),
    );
  });
});

describe("the folder for lock files", () => {
  test("is private to this user", () => {
    const folder = nodePath.join(newFolder(), "locks");
    prepareLockFolder(folder);
    prepareLockFolder(folder);
    if (!onWindows) equal(fs.statSync(folder).mode & 0o777, 0o700);
    if (!onWindows) ok(defaultLockFolders().first.endsWith(`filehand-locks-${process.geteuid?.()}`));
  });

  test.skipIf(onWindows)("is refused if it is a link, no folder or open to others", async () => {
    const inside = newFolder();
    const at = (file: string): string => nodePath.join(inside, file);
    fs.mkdirSync(at("real"), { mode: 0o700 });
    fs.symlinkSync("real", at("link"));
    fs.symlinkSync("nowhere", at("dangling"));
    fs.writeFileSync(at("file"), "");
    fs.mkdirSync(at("open"));
    fs.chmodSync(at("open"), 0o777);
    fs.mkdirSync(at("group"));
    fs.chmodSync(at("group"), 0o750);
    const words = { link: "is a link", dangling: "is a link", file: "is not a folder", open: "open", group: "open" };
    for (const [file, word] of Object.entries(words)) {
      const locks = createLocks({ folder: at(file) });
      const key = { folder: { device: 1n, inode: 1n }, name: "a" };
      const failure: unknown = await locks
        .exclusively([key], new AbortController().signal, () => Promise.resolve())
        .catch((error: unknown) => error);
      ok(failure instanceof LockFailed && failure.message.includes(word), `${file}: ${String(failure)}`);
    }
    throws(() => prepareLockFolder(at("missing/locks")), /folder cannot be made, the system says ENOENT/u);
  });

  test.skipIf(!asRoot)("is refused if it belongs to another user", () => {
    const folder = newFolder();
    fs.chownSync(folder, 65_534, 65_534);
    throws(() => prepareLockFolder(folder), /belongs to another user/u);
  });
});
