/** Puts together what ripgrep reports, file by file: the first ones of the answer are held, all of them are counted. */

import { isUtf8 } from "node:buffer";
import type { GrepMode } from "../contract/grep.ts";
import { limits } from "../contract/limits.ts";
import { comparePaths } from "../text/order.ts";
import { FirstOnes } from "../text/first-ones.ts";
import type { FoundLine, OutputTaker } from "./grep-output.ts";

export interface FoundFile {
  /** Below the folder that is searched, with forward slashes; empty if a file is. */
  readonly path: string;
  readonly mtimeNs: bigint;
  readonly lines: FoundLine[];
  count: number;
}

export interface Collecting {
  /** Lines in `content`, else files, that are held. */
  readonly entriesMax: number;
  /** May this file be told? `path` is below the folder that is searched. */
  readonly isWanted: (path: string) => boolean;
  /** Looks a file up again beneath the roots; what is not there is neither told nor counted. */
  readonly again: Again | undefined;
  /** If the newest come first: looks a file up again like `again`, and tells when it was last changed; undefined if it is not there. */
  readonly mtimeOf: ((path: string) => bigint | undefined) | undefined;
}

/**
 * A folder that is swapped for a link while ripgrep is in it leads ripgrep outside. So whatever it reports is looked up again,
 * name by name and without links, before it counts.
 */
export interface Again {
  /** `folder`: only whether there is such a folder, for names that cannot be looked up. */
  isThere(path: string, what: "file" | "folder"): boolean;
  /** Lets go of the folders that are held for a while. */
  letGo(): void;
}

export class Collector implements OutputTaker {
  filesTotal = 0;
  linesTotal = 0;
  entriesTotal = 0;
  binary = 0;
  unnamed = 0;
  /** Was there a file with more matching lines than are counted? */
  overflown = false;
  readonly #collecting: Collecting;
  readonly #mode: GrepMode;
  readonly #first: FirstOnes<FoundFile>;
  /** The file that is reported now; `undefined`: it is not told. */
  #file: { readonly held: FoundFile | undefined; matches: boolean; binary: boolean; lines: number } | undefined;

  constructor(collecting: Collecting, mode: GrepMode, place: "folder" | "input") {
    this.#collecting = collecting;
    this.#mode = mode;
    const weightOf = mode === "content" ? (file: FoundFile) => file.lines.length : () => 1;
    this.#first = new FirstOnes(
      collecting.entriesMax,
      collecting.mtimeOf === undefined ? byPath : newestFirst,
      weightOf,
    );
    // Of the one file on standard input nothing is reported if nothing matches.
    if (place === "input") this.#file = { held: fileAt("", 0n), matches: false, binary: false, lines: 0 };
  }

  file(bytes: Buffer): void {
    this.#end();
    const { path, isText } = pathOf(bytes);
    // Also of a name that nobody can be told: what rules hide is not counted by what it holds.
    if (!this.#collecting.isWanted(path)) return;
    const { again, mtimeOf } = this.#collecting;
    if (!isText) {
      const folder = path.slice(0, Math.max(0, path.lastIndexOf("/")));
      if (again?.isThere(folder, "folder") !== false) this.unnamed += 1;
      return;
    }
    const mtimeNs = mtimeOf === undefined ? 0n : mtimeOf(path);
    if (mtimeNs === undefined || (mtimeOf === undefined && again?.isThere(path, "file") === false)) return;
    const file = fileAt(path, mtimeNs);
    this.#file = { held: this.#first.accepts(file) ? file : undefined, matches: true, binary: false, lines: 0 };
  }

  line(found: FoundLine): void {
    const file = this.#file;
    if (file === undefined) return;
    file.matches = true;
    if (found.column > 0) {
      this.linesTotal += 1;
      file.lines += 1;
      this.overflown ||= file.lines >= limits.searchFileLinesMax;
      if (this.#mode === "count" && file.held !== undefined) file.held.count += 1;
    }
    if (this.#mode !== "content") return;
    this.entriesTotal += 1;
    if (file.held !== undefined && file.held.lines.length < this.#collecting.entriesMax) file.held.lines.push(found);
  }

  count(lines: number): void {
    const file = this.#file;
    if (file === undefined || lines === 0) return;
    file.matches = true;
    this.linesTotal += lines;
    if (file.held !== undefined) file.held.count = lines;
  }

  binaryFile(): void {
    if (this.#file === undefined) return;
    if (!this.#file.binary) this.binary += 1;
    this.#file.matches = true;
    this.#file.binary = true;
  }

  /** The first ones, in order. */
  finish(): readonly FoundFile[] {
    this.#end();
    return this.#first.sorted();
  }

  #end(): void {
    const file = this.#file;
    this.#file = undefined;
    if (file === undefined || !file.matches) return;
    this.filesTotal += 1;
    if (this.#mode !== "content") this.entriesTotal += 1;
    if (file.held !== undefined) this.#first.add(file.held);
  }
}

/** Without the `./` that ripgrep puts before it. If it is no text, as far as it is: the folders above it may well be. */
export function pathOf(bytes: Buffer): { readonly path: string; readonly isText: boolean } {
  const path = bytes.toString("utf8", 2);
  return { path: process.platform === "win32" ? path.replaceAll("\\", "/") : path, isText: isUtf8(bytes) };
}

const fileAt = (path: string, mtimeNs: bigint): FoundFile => ({ path, mtimeNs, lines: [], count: 0 });

const byPath = (a: FoundFile, b: FoundFile): number => comparePaths(a.path, b.path);

/** Of the same time, by path. */
export const newestFirst = (a: FoundFile, b: FoundFile): number =>
  a.mtimeNs === b.mtimeNs ? comparePaths(a.path, b.path) : a.mtimeNs > b.mtimeNs ? -1 : 1;
