/** A full listing of a tree, so that a test can tell that nothing in it was touched. */

import { createHash } from "node:crypto";
import * as fs from "node:fs";

/** By path: kind, mode, owner, names, times and content. Only the time of the last reading is left out. */
export function snapshot(folder: string): Readonly<Record<string, string>> {
  const listed: Record<string, string> = {};
  const add = (path: string): void => {
    const stat = fs.lstatSync(path, { bigint: true });
    const content = stat.isFile()
      ? createHash("sha256").update(fs.readFileSync(path)).digest("hex")
      : stat.isSymbolicLink()
        ? fs.readlinkSync(path, { encoding: "buffer" }).toString("hex")
        : "";
    const { ino, mode, uid, gid, nlink, size, mtimeNs, ctimeNs } = stat;
    listed[path] = [ino, mode, uid, gid, nlink, size, mtimeNs, ctimeNs, content].join(" ");
    if (stat.isDirectory()) for (const name of fs.readdirSync(path)) add(`${path}/${name}`);
  };
  add(folder);
  return listed;
}
