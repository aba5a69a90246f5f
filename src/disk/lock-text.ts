/** What a lock says, whichever kind it is: the text of a link, or the beginning of a file. */

import * as fs from "node:fs";
import { errnoName } from "./errno.ts";

/** Windows has neither flag. */
export const noFollow = (fs.constants.O_NOFOLLOW ?? 0) | (fs.constants.O_NONBLOCK ?? 0);

/** Between two looks a file may have become a link, and a link a file: a lock of the other kind took its place. */
const looksMax = 100;

/** What a link or a file says, without going where a link leads; undefined if there is nothing. */
export function textOf(path: string, readLink: (path: string) => string = fs.readlinkSync): string | undefined {
  if (process.platform === "win32") return textOfFile(path);
  for (let looks = 1; ; looks += 1) {
    try {
      return readLink(path);
    } catch (error) {
      if (errnoName(error) === "ENOENT") return undefined;
      if (errnoName(error) !== "EINVAL") throw error;
    }
    try {
      return textOfFile(path);
    } catch (error) {
      if (errnoName(error) !== "ELOOP" || looks >= looksMax) throw error;
    }
  }
}

const lineBytesMax = 256;

function textOfFile(path: string): string | undefined {
  let fd: number;
  try {
    fd = fs.openSync(path, fs.constants.O_RDONLY | noFollow);
  } catch (error) {
    if (errnoName(error) === "ENOENT") return undefined;
    throw error;
  }
  try {
    const bytes = Buffer.allocUnsafe(lineBytesMax);
    return bytes.toString("latin1", 0, fs.readSync(fd, bytes));
  } finally {
    fs.closeSync(fd);
  }
}
