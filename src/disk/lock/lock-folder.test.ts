/** Another user has created the lock folder first: locks go elsewhere, and no two processes lock in different places. */

import { deepEqual, equal, ok, throws } from "node:assert/strict";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import * as nodePath from "node:path";
import { afterAll, describe, test } from "vitest";
import { type LockFolders, lockFolderStates, prepareLockFolders } from "./lock-folder.ts";
import { createLocks, type LockKey, LockTimeout } from "./lock.ts";

const top = fs.mkdtempSync(nodePath.join(fs.realpathSync(tmpdir()), "filehand-lock-folder-"));
afterAll(() => fs.rmSync(top, { recursive: true, force: true }));

let made = 0;
/** A folder like /dev/shm, and a home. */
function newPlace(): LockFolders {
  made += 1;
  const shared = nodePath.join(top, `shared-${made}`);
  fs.mkdirSync(shared);
  fs.chmodSync(shared, 0o1777);
  const home = nodePath.join(top, `home-${made}`);
  fs.mkdirSync(home, { mode: 0o700 });
  return { first: nodePath.join(shared, "locks"), second: nodePath.join(home, ".filehand", "locks") };
}

function takenByAnother(folder: string): void {
  fs.mkdirSync(folder, { mode: 0o700 });
  fs.chownSync(folder, 65_534, 65_534);
}

const key: LockKey = { folder: { device: 1n, inode: 2n }, name: "a" };
const never = new AbortController().signal;
const asRoot = process.getuid?.() === 0;
const onWindows = process.platform === "win32";
const why = asRoot ? "" : " (skipped: it needs root to make another user's folder)";

describe.skipIf(onWindows)("the folders for locks", () => {
  test("without another user's folder there is one lock folder, and no second is created", () => {
    const folders = newPlace();
    deepEqual(prepareLockFolders(folders), [folders.first]);
    equal(fs.existsSync(folders.second ?? ""), false);
  });

  test("a second one that is there counts too", () => {
    const { first, second = "" } = newPlace();
    fs.mkdirSync(second, { recursive: true, mode: 0o700 });
    deepEqual(prepareLockFolders({ first, second }), [first, second]);
    // No process of ours can use it.
    fs.chmodSync(second, 0o777);
    deepEqual(prepareLockFolders({ first, second }), [first]);
  });

  test("a query lists every folder that would be used and creates none", () => {
    const { first, second = "" } = newPlace();
    const fine = { fault: undefined, leftAlone: false };
    deepEqual(lockFolderStates({ first, second }), [{ path: first, ...fine }]);
    equal(fs.existsSync(first), false);
    fs.mkdirSync(second, { recursive: true, mode: 0o700 });
    deepEqual(lockFolderStates({ first, second }), [
      { path: first, ...fine },
      { path: second, ...fine },
    ]);
    fs.mkdirSync(first);
    fs.chmodSync(first, 0o777);
    equal(lockFolderStates({ first, second })[0]?.fault, "is open to other users");
  });

  test.skipIf(!asRoot)(`who only asks hears that another user's folder is left alone${why}`, () => {
    const { first, second = "" } = newPlace();
    takenByAnother(first);
    deepEqual(lockFolderStates({ first, second }), [
      { path: first, fault: "belongs to another user", leftAlone: true },
      { path: second, fault: undefined, leftAlone: false },
    ]);
    equal(fs.existsSync(second), false);
  });

  test("a folder with a fault of our own may be in use: it is refused, not bypassed", () => {
    const { first, second } = newPlace();
    fs.mkdirSync(first);
    fs.chmodSync(first, 0o777);
    throws(() => prepareLockFolders({ first, second }), { fault: `"${first}" is open to other users` });
    equal(fs.existsSync(second ?? ""), false);
  });

  test.skipIf(!asRoot)(`another user's folder is never used, the one at home is${why}`, () => {
    const folders = newPlace();
    takenByAnother(folders.first);
    deepEqual(prepareLockFolders(folders), [folders.second]);
    equal(fs.statSync(folders.second ?? "").mode & 0o777, 0o700);
    deepEqual(fs.readdirSync(folders.first), []);
  });

  test.skipIf(!asRoot)(`without a home it is refused, and the message says who can help${why}`, () => {
    const { first } = newPlace();
    takenByAnother(first);
    throws(() => prepareLockFolders({ first, second: undefined }), {
      fault: `"${first}" belongs to another user`,
      remedy: `have the administrator remove "${first}", which is made anew`,
    });
  });

  test.skipIf(!asRoot)(`where others can take our folder away it is refused${why}`, () => {
    const { first, second } = newPlace();
    fs.chmodSync(nodePath.dirname(first), 0o777);
    takenByAnother(first);
    throws(() => prepareLockFolders({ first, second }), /belongs to another user/u);
  });

  test.skipIf(!asRoot)(
    `who began at home and who came after the folder was free again exclude each other${why}`,
    async () => {
      const folders = newPlace();
      takenByAnother(folders.first);
      const early = createLocks({ folder: folders, waitMsMax: 50 });
      let came: unknown;
      await early.exclusively([key], never, async () => {
        fs.rmdirSync(folders.first);
        const late = createLocks({ folder: folders, waitMsMax: 50 });
        came = await late.exclusively([key], never, async () => "both worked").catch((error: unknown) => error);
        deepEqual(fs.readdirSync(folders.first), [], "the lock in the first folder was not given back");
      });
      ok(came instanceof LockTimeout, String(came));
      // And the other way round.
      const late = createLocks({ folder: folders, waitMsMax: 50 });
      await late.exclusively([key], never, async () => {
        came = await early.exclusively([key], never, async () => "both worked").catch((error: unknown) => error);
      });
      ok(came instanceof LockTimeout, String(came));
      equal(await early.exclusively([key], never, async () => "worked"), "worked");
    },
  );

  test.skipIf(!asRoot)(`a folder that falls into other hands meanwhile is left with the next call${why}`, async () => {
    const folders = newPlace();
    const locks = createLocks({ folder: folders });
    equal(await locks.exclusively([key], never, async () => 1), 1);
    fs.rmdirSync(folders.first);
    fs.writeFileSync(folders.first, "");
    fs.chownSync(folders.first, 65_534, 65_534);
    const came = await locks.exclusively([key], never, async () => 2).catch(() => "refused");
    equal(came, "refused");
    equal(await locks.exclusively([key], never, async () => 3), 3);
    deepEqual(fs.readdirSync(folders.second ?? ""), []);
  });
});
