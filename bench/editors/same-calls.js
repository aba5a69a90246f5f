/**
 * The system calls of a small Write of Filehand, in their order and with nothing around them: walk, lock, read, compare,
 * temporary file, sync, swap, folder sync, look again, unlock. What the promises take of the system, whoever keeps them.
 * Linux only.
 */

import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
  renameSync,
  symlinkSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { basename, dirname } from "node:path";
import { promisify } from "node:util";

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR, W_OK } = constants;
const O_PATH = 0o10000000;
const exact = { bigint: true };
const syncLater = promisify(fsync);
const space = Buffer.alloc(65_536);
const lock = `/dev/shm/filehand-bench-${process.pid}`;
let count = 0;

/** @returns {Promise<import("../worker.js").Reader>} */
export async function open() {
  return {
    lines: () => [],
    total: () => undefined,
    editor: {
      write: (path, content) => {
        const folder = openSync(dirname(path), O_RDONLY | O_NOFOLLOW | O_PATH | O_DIRECTORY);
        fstatSync(folder, exact);
        const name = `${at(folder)}/${basename(path)}`;
        const found = lstatSync(name, { bigint: true, throwIfNoEntry: false });
        return found === undefined ? create(folder, name, content) : replace(folder, name, content);
      },
    },
  };
}

const at = (/** @type {number} */ fd) => `/proc/self/fd/${fd}`;

/** @param {number} folder @param {string} content */
function temporary(folder, content) {
  const path = `${at(folder)}/.bench-new-${process.pid}-${(count += 1)}`;
  const fd = openSync(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  const bytes = Buffer.from(content);
  writeSync(fd, bytes, 0, bytes.length, 0);
  fstatSync(fd, exact);
  return { path, fd, bytes };
}

/** @param {number} fd @param {Buffer} bytes */
function synced(fd, bytes) {
  fsyncSync(fd);
  readSync(fd, space, 0, bytes.length, 0);
  closeSync(fd);
  if (bytes.compare(space, 0, bytes.length) !== 0) throw new Error("other bytes than those written");
}

/** @param {number} folder @param {string} name */
function lookAgain(folder, name) {
  lstatSync(name, exact);
  readlinkSync(at(folder));
}

function unlock() {
  readlinkSync(lock);
  unlinkSync(lock);
}

/** @param {number} folder @param {string} name @param {string} content */
function create(folder, name, content) {
  readlinkSync(at(folder));
  fstatSync(folder, exact);
  symlinkSync("who has it", lock);
  for (let look = 1; look <= 2; look += 1) lstatSync(name, { bigint: true, throwIfNoEntry: false });
  readlinkSync(at(folder));
  const { path, fd, bytes } = temporary(folder, content);
  synced(fd, bytes);
  const toSync = openSync(`${at(folder)}/.`, O_RDONLY | O_DIRECTORY);
  readlinkSync(at(folder));
  linkSync(path, name);
  unlinkSync(path);
  fsyncSync(toSync);
  lookAgain(folder, name);
  closeSync(toSync);
  closeSync(folder);
  unlock();
}

/** @param {number} folder @param {string} name @param {string} content */
async function replace(folder, name, content) {
  const held = openSync(name, O_RDONLY | O_NOFOLLOW | O_PATH);
  fstatSync(held, exact);
  readlinkSync(at(held));
  fstatSync(folder, exact);
  symlinkSync("who has it", lock);
  lookAgain(folder, name);
  const old = openSync(at(held), O_RDONLY | O_NOCTTY | O_NONBLOCK);
  const { size } = fstatSync(old);
  readSync(old, space, 0, size, 0);
  accessSync(at(held), W_OK);
  const { path, fd, bytes } = temporary(folder, content);
  fchmodSync(fd, 0o644);
  synced(fd, bytes);
  const toSync = openSync(`${at(folder)}/.`, O_RDONLY | O_DIRECTORY);
  readSync(old, space, 0, size, 0);
  lookAgain(folder, name);
  renameSync(path, name);
  const syncing = syncLater(toSync);
  closeSync(old);
  closeSync(held);
  lookAgain(folder, name);
  await syncing;
  closeSync(toSync);
  closeSync(folder);
  unlock();
}
