/**
 * A letter with an accent is one code point or two (NFC, NFD). macOS and archives made there leave the second form on
 * disks that take the two for different names; models and keyboards write the first. They are one text, so a path that
 * names nothing is looked for in the other form.
 */

import * as nodePath from "node:path";
import type { Disk } from "../disk/disk.ts";

/**
 * The path as the disk spells it, as far as it leads: undefined if no name on the way is there in another form alone. A
 * name that is there as asked is never another, and of two other forms neither is taken.
 */
export function respelt(path: string, disk: Pick<Disk, "look">): string | undefined {
  if (/^[\0-\x7f]*$/.test(path)) return undefined;
  const [top = "", ...names] = path.split(nodePath.sep === "\\" ? /[\\/]/ : "/");
  let found = top;
  let changed = false;
  for (const [at, name] of names.entries()) {
    const spelling = /^[\0-\x7f]*$/.test(name) ? name : spellingOf(name, found, disk);
    // What is not there in any form is a new name, and so is all below it.
    if (spelling === undefined) {
      found = [found, ...names.slice(at)].join(nodePath.sep);
      break;
    }
    changed ||= spelling !== name;
    found += nodePath.sep + spelling;
  }
  return changed ? found : undefined;
}

function spellingOf(name: string, folder: string, disk: Pick<Disk, "look">): string | undefined {
  const isThere = (spelling: string): boolean => {
    const look = disk.look(folder + nodePath.sep + spelling);
    if (look.seen === "node") look.held.close();
    // Above a root nothing is looked at.
    return look.seen !== "missing";
  };
  if (isThere(name)) return name;
  const others = [...new Set([name.normalize("NFC"), name.normalize("NFD")])].filter((other) => other !== name);
  const there = others.filter(isThere);
  return there.length === 1 ? there[0] : undefined;
}
