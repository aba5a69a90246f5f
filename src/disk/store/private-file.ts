/** A small file that is its owner's alone, such as one that holds a token. Throws an Error in words. */

import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import { constants, fstatSync, openSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import * as nodePath from "node:path";
import { Descriptor } from "../descriptor.ts";
import { errnoName } from "../errno.ts";
import { readSmallFile } from "./small-file.ts";

/** What the file holds; made with `text` if there is none. A file that others can read is refused. */
export function privateFile(path: string, text: () => string, bytesMax: number): string {
  const made = create(path, text);
  if (made !== undefined) return made;
  refuseIfShared(path);
  const held = readSmallFile(path, bytesMax);
  if (held === undefined) throw new Error(`Cannot use "${path}": it has just been taken away, try again`);
  return held;
}

function create(path: string, text: () => string): string | undefined {
  let fd: number;
  try {
    // Exclusively: nobody can have put a link or a file of their own there.
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
  if (process.platform === "win32") return; // modes say nothing there
  using file = new Descriptor(openSync(path, constants.O_RDONLY | constants.O_NONBLOCK));
  const stat = fstatSync(file.fd);
  if (!stat.isFile()) throw new Error(`Cannot use "${path}": it is no file, name another one`);
  if ((stat.mode & 0o077) !== 0) {
    throw new Error(`Cannot use "${path}": others can read it, run chmod 600 on it`);
  }
}

// A file for another program to read, in the system's folder for such: nobody else can read it or have made it.

export interface ScratchFile {
  readonly path: string;
  remove(): void;
}

export const scratchPrefix = ".filehand-scratch-";

/** Undefined where there is no such folder, or no room in it. */
export function scratchFile(text: string): ScratchFile | undefined {
  const path = nodePath.join(tmpdir(), scratchPrefix + randomBytes(12).toString("hex"));
  try {
    fs.writeFileSync(path, text, { flag: "wx", mode: 0o600 });
  } catch (error) {
    if (errnoName(error) === undefined) throw error;
    return undefined;
  }
  return { path, remove: () => fs.rmSync(path, { force: true }) };
}
