/** A small file that only its owner can read, such as one with a token. Throws an Error with a message for people. */

import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import { constants, fstatSync, openSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import * as nodePath from "node:path";
import { Descriptor } from "../descriptor.ts";
import { errnoName } from "../errno.ts";
import { readSmallFile } from "./small-file.ts";

/** The content of the file, which is created with `text` if missing. A file that others can read is refused. */
export function privateFile(path: string, text: () => string, bytesMax: number): string {
  const created = create(path, text);
  if (created !== undefined) return created;
  refuseIfShared(path);
  const existing = readSmallFile(path, bytesMax);
  if (existing === undefined) throw new Error(`Cannot use "${path}": it has just been taken away, try again`);
  return existing;
}

function create(path: string, text: () => string): string | undefined {
  let fd: number;
  try {
    // Exclusive: fails if another user put a symlink or file there.
    fd = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  } catch (error) {
    if (errnoName(error) === "EEXIST") return undefined;
    const why = `the system says ${errnoName(error) ?? String(error)}`;
    throw new Error(`Cannot make "${path}": ${why}, name a file in a folder that is there and yours`, { cause: error });
  }
  using file = new Descriptor(fd);
  const written = text();
  writeSync(fd, `${written}\n`);
  file.close();
  return written;
}

function refuseIfShared(path: string): void {
  if (process.platform === "win32") return; // modes mean nothing there
  using file = new Descriptor(openSync(path, constants.O_RDONLY | constants.O_NONBLOCK));
  const stat = fstatSync(file.fd);
  if (!stat.isFile()) throw new Error(`Cannot use "${path}": it is no file, name another one`);
  if ((stat.mode & 0o077) !== 0) {
    throw new Error(`Cannot use "${path}": others can read it, run chmod 600 on it`);
  }
}

export const scratchPrefix = ".filehand-scratch-";

/** A private file in the temporary folder for another program to read; undefined if there is no such folder or no space. */
export function scratchFile(text: string) {
  const path = nodePath.join(tmpdir(), scratchPrefix + randomBytes(12).toString("hex"));
  try {
    fs.writeFileSync(path, text, { flag: "wx", mode: 0o600 });
  } catch (error) {
    if (errnoName(error) === undefined) throw error;
    return undefined;
  }
  return { path, remove: () => fs.rmSync(path, { force: true }) };
}
