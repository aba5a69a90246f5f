/**
 * Lines that a shell command showed to a model, from the hook that the client calls after its shell tool to the server that has the
 * conversation's ledger: two processes. Numbers of lines and hashes of files, no contents. A note that is lost costs the model a read.
 */

import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as nodePath from "node:path";
import { isRecord } from "../contract/common.ts";
import type { LineSpan } from "../contract/problem.ts";
import { Descriptor, makeFolders, noFollow } from "../disk/disk.ts";

export interface ShellNote {
  /** Of the file, real and absolute. */
  readonly path: string;
  /** Of all its bytes, in hex. */
  readonly sha256: string;
  readonly lines: readonly LineSpan[];
}

/** Bytes of one file; it then begins anew. A server reads it after each command, so little is lost. */
const bytesMax = 262_144;
/** Files; the oldest are removed first. */
const filesMax = 500;

const fileOf = (stateDir: string, conversation: string): string =>
  // Hashed, because clients name their conversations freely.
  nodePath.join(
    stateDir,
    "shell-notes",
    `${createHash("sha256").update(conversation).digest("hex").slice(0, 32)}.jsonl`,
  );

/** Never throws: a full or read-only state folder is no reason to disturb a client. */
export function appendShellNotes(stateDir: string, conversation: string, notes: readonly ShellNote[]): void {
  if (notes.length === 0) return;
  const path = fileOf(stateDir, conversation);
  const text = notes.map((note) => `${JSON.stringify(note)}\n`).join("");
  if (text.length > bytesMax) return;
  try {
    makeFolders(nodePath.dirname(path), 0o700);
    const sizeBytes = fs.statSync(path, { throwIfNoEntry: false })?.size;
    if (sizeBytes === undefined) prune(nodePath.dirname(path));
    const { O_WRONLY, O_APPEND, O_CREAT, O_TRUNC } = fs.constants;
    const anew = (sizeBytes ?? 0) + text.length > bytesMax ? O_TRUNC : 0;
    using file = new Descriptor(fs.openSync(path, O_WRONLY | O_APPEND | O_CREAT | anew | noFollow, 0o600));
    fs.writeSync(file.fd, text);
  } catch {
    // The model reads the file instead.
  }
}

/** Gives the notes that came since it was last called. One stat if there are none. */
export function followShellNotes(stateDir: string, conversation: string): () => readonly ShellNote[] {
  const path = fileOf(stateDir, conversation);
  let readBytes = 0;
  return () => {
    try {
      const sizeBytes = fs.statSync(path, { throwIfNoEntry: false })?.size ?? 0;
      if (sizeBytes === readBytes) return [];
      using file = new Descriptor(fs.openSync(path, fs.constants.O_RDONLY | noFollow));
      if (!fs.fstatSync(file.fd).isFile()) return [];
      // Shorter than before: it began anew.
      const from = sizeBytes < readBytes ? 0 : readBytes;
      const bytes = Buffer.alloc(Math.min(bytesMax, sizeBytes - from));
      const count = fs.readSync(file.fd, bytes, 0, bytes.length, from);
      // The last line may be half written.
      const end = bytes.subarray(0, count).lastIndexOf("\n") + 1;
      readBytes = from + end;
      const lines = bytes.toString("utf8", 0, end).split("\n");
      return lines.flatMap(noteIn);
    } catch {
      return [];
    }
  };
}

function noteIn(line: string): readonly ShellNote[] {
  try {
    const note: unknown = JSON.parse(line);
    if (!isRecord(note) || typeof note["path"] !== "string") return [];
    return [note as unknown as ShellNote]; // the ledger checks hash and lines, whatever they are
  } catch {
    return []; // cut short by a crash
  }
}

function prune(folder: string): void {
  const names = fs.readdirSync(folder);
  if (names.length < filesMax) return;
  const aged = names.map((name) => {
    const path = nodePath.join(folder, name);
    return { path, ms: fs.statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 };
  });
  aged.sort((a, b) => a.ms - b.ms);
  for (const { path } of aged.slice(0, names.length - filesMax + 1)) fs.rmSync(path, { force: true });
}
