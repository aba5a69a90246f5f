/**
 * The state of a tree as a scan noted it: every name with its stat, and where its content is. It is made for a quick
 * comparison of 100,000 files, so it consists of columns that are read from one file without parsing. Pure.
 */

import * as zlib from "node:zlib"; // a Node without crc32 must get as far as the check of its version

/** Where the content of a name is, or why it is nowhere. The numbers are on disk. */
export const contentPlaces = {
  folder: 0,
  "git sha1": 1,
  "git sha256": 2,
  /** In the store of the history, by its sha256. Also for a symlink: where it leads to. */
  stored: 3,
  ignored: 10,
  secret: 11,
  "too large": 12,
  "over budget": 13,
  special: 14,
  unreadable: 15,
  git: 16,
  dependencies: 17,
  denied: 18,
  "other mount": 19,
  "too many": 20,
} as const;

export type ContentPlace = keyof typeof contentPlaces;
export type NotCoveredWhy = Exclude<ContentPlace, "folder" | "git sha1" | "git sha256" | "stored">;

const placeNames = new Map<number, ContentPlace>(
  Object.entries(contentPlaces).map(([name, code]) => [code, name as ContentPlace]),
);

export const isCovered = (place: ContentPlace): boolean => contentPlaces[place] < contentPlaces.ignored;

export const isNotCovered = (place: ContentPlace): place is NotCoveredWhy => !isCovered(place);

/** The numbers of a stat, in the order of `statFields` of the disk. */
export type StatNumbers = readonly [mode: number, sizeBytes: number, mtimeMs: number, ctimeMs: number, inode: number];

export interface NotedEntry {
  readonly name: string;
  /** A ctime that is not a number is equal to none: the file may have changed after it was noted. */
  readonly stat: StatNumbers;
  readonly place: ContentPlace;
  /** In hex; empty if there is none. */
  readonly content: string;
}

/** Entries by folder, in the order of the columns of a `NotedTree`. */
export interface FolderChanges {
  /** New lists of entries, by folder. */
  readonly listed: ReadonlyMap<string, readonly NotedEntry[]>;
  /** Entries that replace those of the old tree, by their index. */
  readonly replaced: ReadonlyMap<number, NotedEntry>;
  /** The next scan lists every folder: another ignore file may bring names to light. */
  readonly listAgain: boolean;
}

export interface TreeFacts {
  readonly root: string;
  /** When the scan began. */
  readonly scannedMs: number;
  /** False if a name that is not in the tree may have existed all the same. */
  readonly complete: boolean;
  readonly rootStat: StatNumbers;
}

const contentBytes = 32;

export class NotedTree {
  readonly facts: TreeFacts;
  /** Relative to the root, with slashes; the root is the empty text. A folder comes before what is in it. */
  readonly folders: readonly string[];
  /** Of each folder the index of its first entry; one more at the end. */
  readonly starts: Uint32Array;
  readonly names: readonly string[];
  readonly modes: Float64Array;
  readonly sizes: Float64Array;
  readonly mtimes: Float64Array;
  readonly ctimes: Float64Array;
  readonly inodes: Float64Array;
  readonly places: Uint8Array;
  readonly #contents: Buffer;

  constructor(columns: Columns) {
    this.facts = columns.facts;
    this.folders = columns.folders;
    this.starts = columns.starts;
    this.names = columns.names;
    this.modes = columns.modes;
    this.sizes = columns.sizes;
    this.mtimes = columns.mtimes;
    this.ctimes = columns.ctimes;
    this.inodes = columns.inodes;
    this.places = columns.places;
    this.#contents = columns.contents;
  }

  get contents(): Buffer {
    return this.#contents;
  }

  placeAt(at: number): ContentPlace {
    return placeNames.get(this.places[at] ?? contentPlaces.unreadable) ?? "unreadable";
  }

  entryAt(at: number): NotedEntry {
    const place = this.placeAt(at);
    const stat: StatNumbers = [
      this.modes[at] ?? 0,
      this.sizes[at] ?? 0,
      this.mtimes[at] ?? 0,
      this.ctimes[at] ?? 0,
      this.inodes[at] ?? 0,
    ];
    return { name: this.names[at] ?? "", stat, place, content: this.contentAt(at, place) };
  }

  contentAt(at: number, place: ContentPlace): string {
    if (place === "folder" || isNotCovered(place)) return "";
    const from = at * contentBytes;
    return this.#contents.toString("hex", from, from + (place === "git sha1" ? 20 : contentBytes));
  }

  /** True if the stat is as it was noted. */
  isSame(at: number, stat: Float64Array): boolean {
    return (
      this.ctimes[at] === stat[3] &&
      this.mtimes[at] === stat[2] &&
      this.sizes[at] === stat[1] &&
      this.modes[at] === stat[0] &&
      this.inodes[at] === stat[4]
    );
  }

  /** Bytes of the contents that were copied. */
  copiedBytes(): number {
    let sum = 0;
    for (let at = 0; at < this.places.length; at += 1)
      if (this.places[at] === contentPlaces.stored) sum += this.sizes[at] ?? 0;
    return sum;
  }

  *storedContents(): Iterable<string> {
    for (let at = 0; at < this.places.length; at += 1)
      if (this.places[at] === contentPlaces.stored) yield this.contentAt(at, "stored");
  }
}

interface Columns {
  readonly facts: TreeFacts;
  readonly folders: readonly string[];
  readonly starts: Uint32Array;
  readonly names: readonly string[];
  readonly modes: Float64Array;
  readonly sizes: Float64Array;
  readonly mtimes: Float64Array;
  readonly ctimes: Float64Array;
  readonly inodes: Float64Array;
  readonly places: Uint8Array;
  readonly contents: Buffer;
}

export const below = (folder: string, name: string): string => (folder === "" ? name : `${folder}/${name}`);

/** The next tree: the old one with other lists and entries. Folders that are in no list any more are left out. */
export function nextTree(
  old: NotedTree | undefined,
  { listed, replaced, listAgain }: FolderChanges,
  facts: TreeFacts,
): NotedTree {
  const places = new Map(old?.folders.map((folder, at) => [folder, at]));
  const folders: string[] = [];
  const parts: { readonly from: number; readonly to: number; readonly list?: readonly NotedEntry[] }[] = [];
  let count = 0;
  const todo = [""];
  for (let folder = todo.pop(); folder !== undefined; folder = todo.pop()) {
    const list = listed.get(folder);
    const at = places.get(folder);
    if (list === undefined && at === undefined) continue;
    const [from, to] =
      list === undefined ? [old?.starts[at ?? 0] ?? 0, old?.starts[(at ?? 0) + 1] ?? 0] : [0, list.length];
    folders.push(folder);
    parts.push(list === undefined ? { from, to } : { from, to, list });
    count += to - from;
    // From the last to the first: the next one is taken from the end.
    for (let index = to - 1; index >= from; index -= 1) {
      const entry = list?.[index] ?? replaced.get(index);
      const isFolder = entry === undefined ? old?.places[index] === contentPlaces.folder : entry.place === "folder";
      if (isFolder) todo.push(below(folder, entry?.name ?? old?.names[index] ?? ""));
    }
  }
  const columns = emptyColumns(facts, folders, count);
  let next = 0;
  for (const [index, { from, to, list }] of parts.entries()) {
    columns.starts[index] = next;
    for (let at = from; at < to; at += 1) {
      const entry = list?.[at] ?? replaced.get(at) ?? old?.entryAt(at);
      if (entry !== undefined) setEntry(columns, next, entry);
      next += 1;
    }
  }
  columns.starts[folders.length] = next;
  if (listAgain) {
    for (let at = 0; at < next; at += 1)
      if (columns.places[at] === contentPlaces.folder) columns.ctimes[at] = Number.NaN;
  }
  return new NotedTree(columns);
}

function emptyColumns(facts: TreeFacts, folders: readonly string[], count: number) {
  return {
    facts,
    folders,
    starts: new Uint32Array(folders.length + 1),
    names: Array.from({ length: count }, () => ""),
    modes: new Float64Array(count),
    sizes: new Float64Array(count),
    mtimes: new Float64Array(count),
    ctimes: new Float64Array(count),
    inodes: new Float64Array(count),
    places: new Uint8Array(count),
    contents: Buffer.alloc(count * contentBytes),
  };
}

function setEntry(
  columns: ReturnType<typeof emptyColumns>,
  at: number,
  { name, stat, place, content }: NotedEntry,
): void {
  columns.names[at] = name;
  columns.modes[at] = stat[0];
  columns.sizes[at] = stat[1];
  columns.mtimes[at] = stat[2];
  columns.ctimes[at] = stat[3];
  columns.inodes[at] = stat[4];
  columns.places[at] = contentPlaces[place];
  if (content !== "") columns.contents.write(content, at * contentBytes, "hex");
}

// The file: a line of JSON with the sizes of the parts, the parts, and a checksum of everything before it.

const version = 1;
/** Of the line of JSON at the beginning. */
const headBytesMax = 65_536;

interface Head extends TreeFacts {
  readonly version: number;
  readonly folders: number;
  readonly entries: number;
  readonly textBytes: number;
}

export function encodeTree(tree: NotedTree): Buffer {
  // No name contains a slash or a zero, so both lists are one text.
  const text = Buffer.from([...tree.folders, ...tree.names].join("\0"));
  const { facts, folders, names } = tree;
  const head: Head = { version, ...facts, folders: folders.length, entries: names.length, textBytes: text.length };
  const line = Buffer.from(`${JSON.stringify(head)}\n`);
  // JSON has no word for a number that is none.
  const body = Buffer.concat([
    line,
    bytesOf(tree.starts),
    ...[tree.modes, tree.sizes, tree.mtimes, tree.ctimes, tree.inodes, tree.places].map(bytesOf),
    tree.contents,
    text,
  ]);
  const sum = Buffer.alloc(4);
  sum.writeUInt32LE(zlib.crc32(body));
  return Buffer.concat([body, sum]);
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Uint8Array | Uint32Array | Float64Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

/** Undefined if it is damaged or of another version: then the next scan notes everything anew. */
export function decodeTree(bytes: Buffer): NotedTree | undefined {
  const end = bytes.length - 4;
  const line = bytes.subarray(0, headBytesMax).indexOf(10);
  if (end < 0 || line < 0 || zlib.crc32(bytes.subarray(0, end)) !== bytes.readUInt32LE(end)) return undefined;
  const head = JSON.parse(bytes.toString("utf8", 0, line)) as Head; // the checksum proves that we wrote it
  if (head.version !== version) return undefined;
  let at = line + 1;
  /** Copied, so that the numbers are aligned. */
  const take = (length: number): Uint8Array<ArrayBuffer> => Uint8Array.from(bytes.subarray(at, (at += length)));
  const numbers = (): Float64Array => new Float64Array(take(head.entries * 8).buffer);
  const starts = new Uint32Array(take((head.folders + 1) * 4).buffer);
  const [modes, sizes, mtimes, ctimes, inodes] = [numbers(), numbers(), numbers(), numbers(), numbers()];
  const places = take(head.entries);
  const contents = bytes.subarray(at, (at += head.entries * contentBytes));
  const texts = bytes.toString("utf8", at, at + head.textBytes).split("\0");
  if (at + head.textBytes !== end || texts.length !== head.folders + head.entries) return undefined;
  const [mode, size, mtime, ctime, inode] = head.rootStat;
  const facts: TreeFacts = {
    root: head.root,
    scannedMs: head.scannedMs,
    complete: head.complete,
    rootStat: [mode, size, mtime, ctime ?? Number.NaN, inode],
  };
  return new NotedTree({
    facts,
    folders: texts.slice(0, head.folders),
    names: texts.slice(head.folders),
    starts,
    modes,
    sizes,
    mtimes,
    ctimes,
    inodes,
    places,
    contents,
  });
}
