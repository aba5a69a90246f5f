/**
 * Changes as they lie in a journal, taken apart only when somebody asks for more than their message. A list of turns asks
 * for no more, and of ten thousand changes that is most of its cost. Only lines of exactly the shape that is written for
 * a usual change are left as they are: every value in them has been looked at, so that none can turn out to be wrong.
 */

import type { ChangeRecord, FileVersion } from "../contract/history.ts";

/** Without escapes, so that it is what it looks like. */
const string = String.raw`"[^"\\\x00-\x1f]*"`;
const count = String.raw`(?:0|[1-9]\d{0,14})`;
const mark = "inode(?:-[0-9a-f]{1,32}){4}";
const file = [
  `file","sizeBytes":${count}(?:,"mode":${count})?(?:,"links":${count})?`,
  `(?:,"mark":"${mark}")?(?:,"content":"(?:[0-9a-f]{64}|${mark})")?(?:,"notKept":"(?:secret|too large|failed)")?`,
].join("");
const version = String.raw`\{"kind":"(?:absent"|${file})\}`;
const [head, headEnd] = ['{"type":"change","messageId":"', '","path":'];
const shape = [
  String.raw`\{${head.slice(1, -1)}${string},"path":${string},"relative":${string},`,
  String.raw`"before":${version},"after":${version},"tool":${string},"timeMs":${count}\}`,
].join("");

/** A reader of changes in a text: the one from `from` to `to`, or undefined if it has another shape. */
export function writtenChanges(text: string): (from: number, to: number) => ChangeRecord | undefined {
  const usual = new RegExp(shape, "y");
  let [messageId, beginning] = ["", head + headEnd];
  return (from, to) => {
    usual.lastIndex = from;
    if (!usual.test(text) || usual.lastIndex !== to) return undefined;
    if (!text.startsWith(beginning, from)) {
      const start = from + head.length;
      messageId = text.slice(start, text.indexOf('"', start));
      beginning = head + messageId + headEnd;
    }
    return new WrittenChange(messageId, text, from, to);
  };
}

/** It has no property of its own to be copied by a spread: see `plainOf`. */
class WrittenChange implements ChangeRecord {
  readonly type = "change";
  readonly messageId: string;
  readonly #text: string;
  readonly #from: number;
  readonly #to: number;
  #plain: ChangeRecord | undefined;
  constructor(messageId: string, text: string, from: number, to: number) {
    this.messageId = messageId;
    this.#text = text;
    this.#from = from;
    this.#to = to;
  }
  /** Its name is that which JSON asks for, so that it is written as it was. */
  toJSON(): ChangeRecord {
    this.#plain ??= JSON.parse(this.#text.slice(this.#from, this.#to)) as ChangeRecord; // its shape was looked at
    return this.#plain;
  }
  get path(): string {
    return this.toJSON().path;
  }
  get relative(): string {
    return this.toJSON().relative;
  }
  get before(): FileVersion {
    return this.toJSON().before;
  }
  get after(): FileVersion {
    return this.toJSON().after;
  }
  get tool(): string {
    return this.toJSON().tool;
  }
  get timeMs(): number {
    return this.toJSON().timeMs;
  }
}

/** The same with all its values in itself: for whoever makes another one of it. */
export const plainOf = (change: ChangeRecord): ChangeRecord =>
  change instanceof WrittenChange ? change.toJSON() : change;
