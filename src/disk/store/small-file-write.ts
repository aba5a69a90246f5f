/**
 * Writes a whole small text file of our own making, such as a settings file: the old text or the new one, never
 * something between. Not for files of a workspace that a model changes; those go through `replace`.
 */

import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import * as nodePath from "node:path";
import { Descriptor } from "../descriptor.ts";
import { errnoName } from "../errno.ts";
import { makeFolders } from "../write/make-folders.ts";
import { type ByteOrderMark, readSmallFile } from "./small-file.ts";

export interface SmallWrite {
  readonly path: string;
  /** What was read before; undefined if there was no file. */
  readonly before: string | undefined;
  readonly text: string;
  readonly bytesMax: number;
  /** Is a link at this name followed, as people have for files that they keep elsewhere? Otherwise it is refused. */
  readonly links: "follow" | "refuse";
  /** Is a byte order mark part of `before`? Not unless said. */
  readonly mark?: ByteOrderMark;
}

/** Undefined when it is done. `changed`: somebody else wrote meanwhile, and nothing was done. */
export function writeSmallFile(write: SmallWrite): "changed" | { readonly why: string } | undefined {
  try {
    return put(write);
  } catch (error) {
    const errno = errnoName(error);
    if (errno === undefined) throw error;
    return { why: writeReasons.get(errno) ?? `the system says ${errno}` };
  }
}

const writeReasons: ReadonlyMap<string, string> = new Map([
  ["EACCES", "the system does not permit it"],
  ["EPERM", "the system does not permit it"],
  ["EROFS", "it lies on a disk that is read-only"],
  ["ENOSPC", "the disk is full"],
  ["ELOOP", "its links lead in a circle"],
  ["ENOENT", "it is a link to something that does not exist"],
  ["EEXIST", "its folder is no folder"],
  ["ENOTDIR", "its folder is no folder"],
]);

function put({
  path,
  before,
  text,
  bytesMax,
  links,
  mark,
}: SmallWrite): "changed" | { readonly why: string } | undefined {
  makeFolders(nodePath.dirname(path));
  const there = fs.lstatSync(path, { throwIfNoEntry: false });
  if (there?.isSymbolicLink() === true && links === "refuse") return { why: "it is a link" };
  const goal = there?.isSymbolicLink() === true ? fs.realpathSync.native(path) : path;
  const old = fs.statSync(goal, { throwIfNoEntry: false });
  // A rename would replace it all the same, and for root every file is writable: but somebody said no.
  if (old !== undefined && (old.mode & 0o222) === 0) return { why: "it is read-only" };
  const temporary = `${goal}.${randomBytes(6).toString("hex")}.tmp`;
  const fd = fs.openSync(temporary, "wx", old === undefined ? 0o666 : 0o600);
  try {
    using file = new Descriptor(fd);
    fs.writeFileSync(fd, text);
    // Root works on others' files, and they must stay theirs.
    if (old !== undefined && process.geteuid?.() === 0) fs.fchownSync(fd, old.uid, old.gid);
    if (old !== undefined) fs.fchmodSync(fd, old.mode & 0o777);
    fs.fsyncSync(fd);
    file.close();
    if (textAt(goal, bytesMax, mark) !== before) {
      fs.unlinkSync(temporary);
      return "changed";
    }
    fs.renameSync(temporary, goal);
    return undefined;
  } catch (error) {
    fs.rmSync(temporary, { force: true });
    throw error;
  }
}

function textAt(path: string, bytesMax: number, mark?: ByteOrderMark): string | undefined {
  try {
    return readSmallFile(path, bytesMax, mark);
  } catch {
    return undefined; // what cannot be read was not read before either
  }
}
