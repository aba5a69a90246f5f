/** Hunks as one text, in the form that `git apply` and `patch` read. */

import { Buffer } from "node:buffer";
import { hiddenCharacters } from "../contract/hidden-characters.ts";
import type { Hunk } from "../contract/edit.ts";

/** Empty if there are no hunks: a file created or deleted empty has no diff. Otherwise it ends with a newline. */
export function unified(
  path: string,
  hunks: readonly Hunk[],
  kind: "update" | "create" | "delete",
  /** Of a file that was moved. */
  oldPath = path,
): string {
  if (hunks.length === 0) return "";
  const lines = [
    `--- ${kind === "create" ? "/dev/null" : fileName("a", oldPath)}`,
    `+++ ${kind === "delete" ? "/dev/null" : fileName("b", path)}`,
    ...hunks.flatMap((hunk) => [hunkHeader(hunk), ...linesWithEnds(hunk)]),
  ];
  return `${lines.join("\n")}\n`;
}

/** What stands after a line that has no newline. */
export const noNewlineRow = "\\ No newline at end of file";

/** A line that ends in CRLF has its `\r` in a diff, or neither `git apply` nor `patch` would find it. */
function linesWithEnds({ lines, lineEnd }: Hunk): readonly string[] {
  if (lineEnd === undefined) return lines;
  return lines.map((line, at) => (line === noNewlineRow || lines[at + 1] === noNewlineRow ? line : `${line}\r`));
}

export function hunkHeader({ oldStart, oldLines, newStart, newLines }: Hunk): string {
  return `@@ -${range(oldStart, oldLines)} +${range(newStart, newLines)} @@`;
}

function range(start: number, lines: number): string {
  return lines === 1 ? `${start}` : `${start},${lines}`;
}

/** What would end the header line for some reader, act on a terminal, or hide. The same characters as in escape.ts. */
const unsafe = new RegExp(`[\\p{Cc}\\p{Cs}${hiddenCharacters}"\\\\]`, "u");
const everyUnsafe = new RegExp(unsafe, "gu");

/**
 * A name as git writes it with `core.quotePath` off: in quotes and escaped if it must be. A tab after a name with
 * blanks in it says where it ends; without it `patch` would take its last word for a date.
 */
function fileName(side: "a" | "b", path: string): string {
  const name = `${side}/${path.replace(/^\/+/, "")}`;
  if (unsafe.test(name)) return `"${name.replace(everyUnsafe, quoted)}"`;
  return name.includes(" ") ? `${name}\t` : name;
}

const shortEscapes: Readonly<Record<string, string>> = {
  '"': '\\"',
  "\\": "\\\\",
  "\x07": "\\a",
  "\b": "\\b",
  "\t": "\\t",
  "\n": "\\n",
  "\v": "\\v",
  "\f": "\\f",
  "\r": "\\r",
};

function quoted(character: string): string {
  return shortEscapes[character] ?? Array.from(Buffer.from(character), octal).join("");
}

function octal(byte: number): string {
  return `\\${byte.toString(8).padStart(3, "0")}`;
}
