/** The last steps of a change: record the old content, write, update the ledger. A refusal of the disk becomes a Problem. */

import type { ChangeNote, Piece } from "../../contract/edit.ts";
import { Problem } from "../../contract/problem.ts";
import type { EncodingName } from "../../contract/read.ts";
import type { Target } from "../../contract/target.ts";
import {
  FileTruncated,
  fullHash,
  hashOfContent,
  type Identity,
  lengthOf,
  type OpenFile,
  ReadFailed,
  withHandleClosed,
  type WriteStep,
} from "../../disk/disk.ts";
import { refusal } from "../../guard/guard.ts";
import type { LinesMoved, Wrote } from "../../session/session.ts";
import { isHashed, isInDoubt, statKeyAsLeft, statKeyOf } from "../fingerprint.ts";
import type { ToolContext } from "../tool.ts";
import type { Prepared } from "./prepare.ts";
import type { HistoryRecorder, Moved } from "./history-recorder.ts";

type Existing<Extra> = Extract<Prepared<Extra>, { readonly is: "there" }>;
type New<Extra> = Extract<Prepared<Extra>, { readonly is: "new" }>;

/** `recorder` has the old content before the file is replaced. */
export async function commit<Extra>(
  prepared: Existing<Extra>,
  recorder: HistoryRecorder,
  context: ToolContext,
): Promise<readonly ChangeNote[]> {
  const { target, file, planned, old, changeTarget, remember } = prepared;
  // Writing may have been switched off while the call waited in the queue.
  context.guard.requireWriting(target);
  if (planned.notes.some(({ note }) => note === "same content")) {
    rememberWrite(target, file.identity, hashIfSmall(old), planned.wrote, context, remember, old, planned.lines);
    return [];
  }
  const sizeBytes = planned.pieces.reduce((sum, piece) => sum + lengthOf(piece), 0);
  const { mode, source } = planned;
  const copied = source === undefined ? old : undefined;
  const bytes = copied !== undefined && isHashed({ sizeBytes }) ? joined(planned.pieces, copied) : undefined;
  const after = bytes === undefined ? { sizeBytes, mode } : { bytes, mode };
  /** A file that is renamed into place has one name; a file that is written in place keeps its hard links. */
  const afterBy = (how: "renamed" | "in place") => (how === "renamed" ? after : { ...after, links: file.links });
  let hash: string | undefined;
  const keepOld = (how: "renamed" | "in place", at: string): Promise<void> => {
    const will = how === "renamed" ? "be renamed over" : "be written in place";
    return recorder.keep({ before: { file, bytes: old, will, at }, after: afterBy(how) });
  };
  const replaced = await orRecordUndone(recorder, () =>
    context.disk.replace({
      node: changeTarget.node,
      file,
      pieces: copied === undefined ? planned.pieces : inMemory(planned.pieces, copied),
      source,
      readBytes: old,
      hardLinks: context.changes.hardLinks,
      mode,
      signal: context.signal,
      beforeSwap: recorder.keeps ? keepOld : undefined,
      meanwhile: () => {
        hash = hashIfSmall(bytes);
      },
      letGo: () => {
        file.close();
        return changeTarget.node.letGo?.();
      },
    }),
  );
  switch (replaced.did) {
    case "nothing":
      throw refusedWrite(target, replaced, recorder);
    case "damaged": {
      context.ledger.drop(target.real);
      const during = `${replaced.during}; its old content is kept and is put back at the next start`;
      throw new Problem({ code: "IO_ERROR", place: target, errno: replaced.errno, during });
    }
    case "unconfirmed":
      return unconfirmed(target, replaced.errno, planned.wrote, recorder, context, remember);
    case "replaced": {
      const { identity } = replaced;
      hash ??= hashIfSmall(bytes) ?? (await hashInDoubt(target, identity, context));
      rememberWrite(target, identity, hash, planned.wrote, context, remember, bytes, planned.lines);
      return [
        ...recorder.done(identity, mode ?? file.mode),
        ...(replaced.separated ? [{ note: "links separated" } as const] : []),
        ...(replaced.how === "in place" ? [{ note: "in place" } as const] : []),
        ...replaced.notes.map((detail) => ({ note: "metadata", detail }) as const),
      ];
    }
  }
}

export async function commitNew<Extra>(
  prepared: New<Extra>,
  recorder: HistoryRecorder,
  context: ToolContext,
  moved?: Moved,
): Promise<readonly ChangeNote[]> {
  const { target, mode, executable, like, remember, folder, wrote = "all" } = prepared;
  const { bytes, pieces, source, after } = contentOfNew(prepared);
  const { signal } = context;
  context.guard.requireWriting(target);
  const created = await orRecordUndone(recorder, () =>
    context.disk.create({
      real: target.real,
      folder,
      pieces,
      source,
      mode,
      executable,
      like,
      signal,
      beforeSwap: () => recorder.keep({ before: "absent", after, ...(moved && { moved }) }),
    }),
  );
  switch (created.did) {
    case "nothing":
      if (created.why !== "exists") throw refusedWrite(target, created, recorder);
      recorder.undone();
      throw new Problem({ code: "EXISTS", place: target, reason: kindAt(target, context) });
    case "unconfirmed":
      return unconfirmed(target, created.errno, wrote, recorder, context, remember);
    case "created":
      rememberWrite(
        target,
        created.identity,
        hashIfSmall(bytes) ?? (await hashInDoubt(target, created.identity, context)),
        wrote,
        context,
        remember,
        bytes,
      );
      return [
        ...recorder.done(created.identity, recorder.keeps ? modeOf(target, context) : undefined),
        ...created.notes.map((detail) => ({ note: "metadata", detail }) as const),
      ];
  }
}

function contentOfNew<Extra>({ bytes, mode }: New<Extra>) {
  if (!(bytes instanceof Uint8Array)) {
    const { sizeBytes } = bytes;
    return { bytes: undefined, pieces: [{ from: 0, to: sizeBytes }], source: bytes, after: { sizeBytes, mode } };
  }
  return { bytes, pieces: bytes.length === 0 ? [] : [bytes], source: undefined, after: { bytes, mode } };
}

export async function commitRemoval<Extra>(
  prepared: Existing<Extra>,
  recorder: HistoryRecorder,
  context: ToolContext,
  moved?: Moved,
): Promise<readonly ChangeNote[]> {
  const { target, file, changeTarget, old } = prepared;
  context.guard.requireWriting(target);
  const removed = await orRecordUndone(recorder, () =>
    context.disk.remove({
      node: changeTarget.node,
      identity: file.identity,
      signal: context.signal,
      beforeSwap: (at) =>
        recorder.keep({
          before: { file, bytes: old, will: "be renamed over", at },
          after: "absent",
          ...(moved && { moved }),
        }),
    }),
  );
  if (removed.did === "nothing") throw refusedWrite(target, removed, recorder);
  context.ledger.drop(target.real);
  return [
    ...recorder.done(file.identity),
    ...(removed.did === "unconfirmed" ? [{ note: "unconfirmed", errno: removed.errno } as const] : []),
  ];
}

function refusedWrite(
  place: Target,
  refused:
    | { readonly why: "changed" }
    | { readonly why: "refused"; readonly errno: string; readonly during: WriteStep },
  recorder: HistoryRecorder,
): Problem {
  recorder.undone();
  if (refused.why === "changed") return new Problem({ code: "STALE", place, reason: "while changing it" });
  return writeProblem(place, refused.errno, refused.during);
}

/** If writing throws, the history drops the change that it recorded. */
async function orRecordUndone<Result>(recorder: HistoryRecorder, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    recorder.undone();
    throw error;
  }
}

/** Copies come from memory instead of being read twice: once to write them and once to compare what was written. */
const inMemory = (pieces: readonly Piece[], old: Buffer): readonly Exclude<Piece, { readonly from: number }>[] =>
  pieces.map((piece) => ("from" in piece ? old.subarray(piece.from, piece.to) : piece));

function modeOf(target: Target, context: ToolContext): number | undefined {
  using file = openedAt(target, context);
  return file?.mode;
}

/** The new content was written, but may not survive a power cut. */
function unconfirmed(
  target: Target,
  errno: string,
  wrote: Wrote,
  recorder: HistoryRecorder,
  context: ToolContext,
  encoding?: EncodingName,
): readonly ChangeNote[] {
  const lookup = context.disk.lookup(target.real);
  let kept: readonly ChangeNote[] = [];
  if (lookup.seen === "node") {
    using handle = lookup.handle;
    kept = recorder.done(handle.identity);
    rememberWrite(target, handle.identity, undefined, wrote, context, encoding);
  }
  return [{ note: "unconfirmed", errno }, ...kept];
}

/** Throws if writing is bound to fail; answers with the notes that writing will add. Writing itself checks again. */
export function requireWritable<Extra>(prepared: Prepared<Extra>, context: ToolContext): readonly ChangeNote[] {
  const { target } = prepared;
  if (prepared.is === "new") return requireNothingAt(target, context);
  const { planned, changeTarget, file } = prepared;
  if (planned.notes.some(({ note }) => note === "same content")) return [];
  const fault = context.disk.refusesWriting(changeTarget.node, file);
  if (fault !== undefined) throw writeProblem(target, fault.errno, fault.during);
  if (file.links < 2 || planned.removes === true) return [];
  return [{ note: context.changes.hardLinks === "separate" ? "links separated" : "in place" }];
}

/** A dangling symlink occupies the name as well. */
export function requireNothingAt(target: Target, context: ToolContext): readonly [] {
  if (!context.disk.hasName(target.real)) return [];
  throw new Problem({ code: "EXISTS", place: target, reason: kindAt(target, context) });
}

/** Undefined for content that is too large to be hashed in one go. */
export const hashIfSmall = (bytes: Uint8Array | undefined): string | undefined =>
  bytes !== undefined && isHashed({ sizeBytes: bytes.length }) ? hashOfContent(bytes) : undefined;

export function rememberWrite(
  target: Target,
  identity: Identity,
  hash: string | undefined,
  wrote: Wrote,
  context: ToolContext,
  encoding?: EncodingName,
  bytes?: Uint8Array,
  lines?: LinesMoved,
): void {
  const { sizeBytes } = identity;
  const content = bytes !== undefined && isHashed({ sizeBytes: bytes.length }) ? bytes : undefined;
  const statKey = statKeyAsLeft(identity, hash);
  context.ledger.wrote(target.real, { statKey, sizeBytes, hash, encoding, content, lines }, wrote);
}

/** The hash of a large file that was just written, where its mtime is too coarse to show that another program changes it next. */
async function hashInDoubt(target: Target, identity: Identity, context: ToolContext): Promise<string | undefined> {
  if (!isInDoubt(identity)) return undefined;
  using file = openedAt(target, context);
  try {
    return file !== undefined && statKeyOf(file.identity) === statKeyOf(identity) ? await fullHash(file) : undefined;
  } catch (error) {
    if (error instanceof ReadFailed || error instanceof FileTruncated) return undefined;
    throw error;
  }
}

function openedAt(target: Target, { disk }: ToolContext): OpenFile | undefined {
  const lookup = disk.lookup(target.real);
  if (lookup.seen !== "node") return undefined;
  using _handle = lookup.handle;
  const opened = disk.open(lookup);
  return "errno" in opened ? undefined : opened;
}

/** MUST NOT be written into: a single piece is returned without a copy. */
export function joined(pieces: readonly Piece[], old: Buffer): Buffer {
  const parts = inMemory(pieces, old).map((piece) => {
    const bytes = "make" in piece ? piece.make() : piece;
    if (bytes instanceof Promise) throw new Error("pieces of a file in memory are made at once");
    return bytes;
  });
  const [only, ...others] = parts;
  if (only === undefined || others.length > 0) return Buffer.concat(parts);
  return Buffer.from(only.buffer, only.byteOffset, only.length);
}

export function writeProblem(place: Target, errno: string, during: WriteStep): Problem {
  if (during === "writing: it is read-only") return new Problem({ code: "ACCESS_DENIED", place, reason: "read-only" });
  if (errno === "ESTALE" || errno === "ENOENT") {
    return new Problem({ code: "STALE", place, reason: "while changing it" });
  }
  // Windows has one errno for a file that another program has open and for one without permission; `refusal` assumes the latter.
  if (during === "waiting for another program to let go of it") {
    return new Problem({ code: "IO_ERROR", place, errno, during });
  }
  return refusal(place, errno, during);
}

/** What occupies the name: a file that was created meanwhile, or a dangling symlink. */
function kindAt(target: Target, context: ToolContext): "file" | "folder" | "link" {
  const lookup = withHandleClosed(context.disk.lookup(target.real));
  if (lookup.seen !== "node") return "link";
  return lookup.kind === "directory" ? "folder" : "file";
}
