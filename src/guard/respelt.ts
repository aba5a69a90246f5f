/**
 * A letter with an accent is one code point or two (NFC, NFD). macOS and archives made there leave the second form on
 * disks that take the two for different names; models and keyboards write the first. macOS also puts U+202F before AM and PM in the names
 * of screenshots, and others have U+00A0, where models write a space. They are one text to who reads them, so a path that names
 * nothing is looked for in the other forms.
 */

import * as nodePath from "node:path";
import type { Disk } from "../disk/disk.ts";

/**
 * The path as the disk spells it, as far as it leads: undefined if no name on the way is there in another form alone. A
 * name that is there as asked is never another, and of two other forms neither is taken.
 */
export function respelt(path: string, disk: Pick<Disk, "look">): string | undefined {
  if (isPlain(path)) return undefined;
  const [top = "", ...names] = path.split(nodePath.sep === "\\" ? /[\\/]/ : "/");
  let found = top;
  let changed = false;
  for (const [at, name] of names.entries()) {
    const spelling = isPlain(name) ? name : spellingOf(name, found, disk);
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

/** Has one form only. */
const isPlain = (text: string): boolean => /^[\x01-\x1f\x21-\x7f]*$/.test(text);

const spaces = /[ \u00a0\u202f]/g;
/** A name with more spaces is looked for with all of them alike, and not with one that differs. */
const spacesMax = 16;

/** All spaces alike, or one that differs from plain ones; each as NFC and NFD. */
function otherForms(name: string): readonly string[] {
  const forms = new Set([name]);
  const places = [...name.matchAll(spaces)].map(({ index }) => index);
  if (places.length > 0) {
    for (const space of [" ", "\u00a0", "\u202f"]) forms.add(name.replace(spaces, space));
    const plain = name.replace(spaces, " ");
    for (const at of places.length > spacesMax ? [] : places) {
      for (const space of ["\u00a0", "\u202f"]) forms.add(plain.slice(0, at) + space + plain.slice(at + 1));
    }
  }
  const both = [...forms].flatMap((form) => [form, form.normalize("NFC"), form.normalize("NFD")]);
  return [...new Set(both)].filter((form) => form !== name);
}

function spellingOf(name: string, folder: string, disk: Pick<Disk, "look">): string | undefined {
  const isThere = (spelling: string): boolean => {
    const look = disk.look(folder + nodePath.sep + spelling);
    if (look.seen === "node") look.held.close();
    // Above a root nothing is looked at.
    return look.seen !== "missing";
  };
  if (isThere(name)) return name;
  const there = otherForms(name).filter(isThere);
  return there.length === 1 ? there[0] : undefined;
}
