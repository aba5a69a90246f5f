/** The last step of a change: the disk, then what the session knows. What the disk refuses becomes a Problem. */

import type { ChangeNote, Piece } from "../../contract/edit.ts";
import { Problem } from "../../contract/problem.ts";
import type { EncodingName } from "../../contract/read.ts";
import type { Target } from "../../contract/target.ts";
import {
  FileCut,
  fullHash,
  hashOfContent,
  type Identity,
  lengthOf,
  ReadFailed,
  released,
  type WriteStep,
} from "../../disk/disk.ts";
import { refusal } from "../../guard/guard.ts";
import type { Wrote } from "../../session/session.ts";
import { isHashed, isInDoubt, statKeyAsLeft, statKeyOf } from "../fingerprint.ts";
import type { ToolContext } from "../tool.ts";
import type { Prepared } from "./prepare.ts";
import type { HistoryRecorder, Moved } from "./history-recorder.ts";

type Existing<Extra> = Extract<Prepared<Extra>, { readonly is: "there" }>;
type New<Extra> = Extract<Prepared<Extra>, { readonly is: "new" }>;

/** `keeper` has the old content before it goes. */
export async function commit<Extra>(
  prepared: Existing<Extra>,
  recorder: HistoryRecorder,
  context: ToolContext,
): Promise<readonly ChangeNote[]> {
  const { target, file, planned, old, changeTarget, remember } = prepared;
  // The mode may have been switched while the call waited for its turn.
  context.guard.requireWriting(target);
  if (planned.notes.some(({ note }) => note === "same content")) {
    rememberAs(target, file.identity, hashIfSmall(old), planned.wrote, context, remember);
    return [];
  }
  const sizeBytes = planned.pieces.reduce((sum, piece) => sum + lengthOf(piece), 0);
  const { mode, source } = planned;
  const held = source === undefined ? old : undefined;
  const bytes = held !== undefined && isHashed({ sizeBytes }) ? joined(planned.pieces, held) : undefined;
  const after = bytes === undefined ? { sizeBytes, mode } : { bytes, mode };
  /** What is renamed into place is a file with one name; what is written in place keeps those it has. */
  const afterBy = (how: "renamed" | "in place") => (how === "renamed" ? after : { ...after, links: file.links });
  let hash: string | undefined;
  const keepOld = (how: "renamed" | "in place", at: string): Promise<void> => {
    const will = how === "renamed" ? "be renamed over" : "be written in place";
    return recorder.keep({ before: { file, bytes: old, will, at }, after: afterBy(how) });
  };
  const replaced = await orUndone(recorder, () =>
    context.disk.replace({
      node: changeTarget.node,
      file,
      pieces: held === undefined ? planned.pieces : inMemory(planned.pieces, held),
      source,
      readBytes: old,
      hardLinks: context.changes.hardLinks,
      mode,
      signal: context.signal,
      beforeSwap: recorder.keeps ? keepOld : undefined,
      // While the disk is busy there is time for what the answer will say, and for tidying up.
      meanwhile: () => {
        void prepared.diff.hunks;
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
      recorder.undone();
      if (replaced.why === "changed") throw new Problem({ code: "STALE", place: target, reason: "while changing it" });
      throw refused(target, replaced.errno, replaced.during);
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
      rememberAs(target, identity, hash, planned.wrote, context, remember);
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
  const { target, mode, like, remember, folder, wrote = "all" } = prepared;
  const { bytes, pieces, source, after } = contentOfNew(prepared);
  const { signal } = context;
  context.guard.requireWriting(target);
  const created = await orUndone(recorder, () =>
    context.disk.create({
      real: target.real,
      folder,
      pieces,
      source,
      mode,
      like,
      signal,
      beforeSwap: () => recorder.keep({ before: "absent", after, ...(moved && { moved }) }),
    }),
  );
  switch (created.did) {
    case "nothing":
      recorder.undone();
      if (created.why === "exists")
        throw new Problem({ code: "EXISTS", place: target, reason: whatIsThere(target, context) });
      if (created.why === "changed") throw new Problem({ code: "STALE", place: target, reason: "while changing it" });
      throw refused(target, created.errno, created.during);
    case "unconfirmed":
      return unconfirmed(target, created.errno, wrote, recorder, context, remember);
    case "created":
      rememberAs(
        target,
        created.identity,
        hashIfSmall(bytes) ?? (await hashInDoubt(target, created.identity, context)),
        wrote,
        context,
        remember,
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
  const removed = await orUndone(recorder, () =>
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
  if (removed.did === "nothing") {
    recorder.undone();
    if (removed.why === "changed") throw new Problem({ code: "STALE", place: target, reason: "while changing it" });
    throw refused(target, removed.errno, removed.during);
  }
  context.ledger.drop(target.real);
  return [
    ...recorder.done(file.identity),
    ...(removed.did === "unconfirmed" ? [{ note: "unconfirmed", errno: removed.errno } as const] : []),
  ];
}

/** What was announced to the history and then stopped did not happen. */
async function orUndone<Result>(recorder: HistoryRecorder, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    recorder.undone();
    throw error;
  }
}

/** What is held need not be read again, twice: once to write it and once to compare what was written. */
const inMemory = (pieces: readonly Piece[], old: Buffer): readonly Exclude<Piece, { readonly from: number }>[] =>
  pieces.map((piece) => ("from" in piece ? old.subarray(piece.from, piece.to) : piece));

/** A new file has the mode that the system gave it. */
function modeOf(target: Target, { disk }: ToolContext): number | undefined {
  const lookup = disk.lookup(target.real);
  if (lookup.seen !== "node") return undefined;
  using _held = lookup.handle;
  const opened = disk.open(lookup);
  if ("errno" in opened) return undefined;
  using file = opened;
  return file.mode;
}

/** The new content is there; only that it will outlast a power cut is not sure. */
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
    rememberAs(target, handle.identity, undefined, wrote, context, encoding);
  }
  return [{ note: "unconfirmed", errno }, ...kept];
}

/**
 * Throws what writing would be refused with, as far as it can be known before; answers with what else will be told. What it
 * finds may be another thing when it is written: it is asked again then.
 */
export function requireWritable<Extra>(prepared: Prepared<Extra>, context: ToolContext): readonly ChangeNote[] {
  const { target } = prepared;
  if (prepared.is === "new") return requireNothingAt(target, context);
  const { planned, changeTarget, file } = prepared;
  if (planned.notes.some(({ note }) => note === "same content")) return [];
  const fault = context.disk.refusesWriting(changeTarget.node, file);
  if (fault !== undefined) throw refused(target, fault.errno, fault.during);
  if (file.links < 2 || planned.removes === true) return [];
  return [{ note: context.changes.hardLinks === "separate" ? "links separated" : "in place" }];
}

/** A link that leads nowhere has the name all the same. */
export function requireNothingAt(target: Target, context: ToolContext): readonly [] {
  if (!context.disk.hasName(target.real)) return [];
  throw new Problem({ code: "EXISTS", place: target, reason: whatIsThere(target, context) });
}

/** What content is known by again; none of what is too much to be hashed in passing. */
export const hashIfSmall = (bytes: Uint8Array | undefined): string | undefined =>
  bytes !== undefined && isHashed({ sizeBytes: bytes.length }) ? hashOfContent(bytes) : undefined;

export function rememberAs(
  target: Target,
  identity: Identity,
  hash: string | undefined,
  wrote: Wrote,
  context: ToolContext,
  encoding?: EncodingName,
): void {
  const { sizeBytes } = identity;
  context.ledger.wrote(target.real, { statKey: statKeyAsLeft(identity, hash), sizeBytes, hash, encoding }, wrote);
}

/** Of a large file that was just written, where its times are too coarse to tell whether somebody else changes it right after. */
export async function hashInDoubt(
  target: Target,
  identity: Identity,
  context: ToolContext,
): Promise<string | undefined> {
  if (!isInDoubt(identity)) return undefined;
  const lookup = context.disk.lookup(target.real);
  if (lookup.seen !== "node") return undefined;
  using _held = lookup.handle;
  const opened = context.disk.open(lookup);
  if ("errno" in opened) return undefined;
  using file = opened;
  try {
    return statKeyOf(file.identity) === statKeyOf(identity) ? await fullHash(file) : undefined;
  } catch (error) {
    if (error instanceof ReadFailed || error instanceof FileCut) return undefined;
    throw error;
  }
}

/** Nobody may write into it: a piece that is all of it is not copied. */
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

export function refused(place: Target, errno: string, during: WriteStep): Problem {
  if (during === "writing: it is read-only") return new Problem({ code: "ACCESS_DENIED", place, reason: "read-only" });
  if (errno === "ESTALE" || errno === "ENOENT") {
    return new Problem({ code: "STALE", place, reason: "while changing it" });
  }
  // The system says the same of a file that somebody holds and of one that nobody may touch.
  if (during === "waiting for another program to let go of it") {
    return new Problem({ code: "IO_ERROR", place, errno, during });
  }
  return refusal(place, errno, during);
}

/** Something took the name: by now, or all the time, as a link that leads nowhere does. */
function whatIsThere(target: Target, context: ToolContext): "file" | "folder" | "link" {
  const lookup = released(context.disk.lookup(target.real));
  if (lookup.seen !== "node") return "link";
  return lookup.kind === "directory" ? "folder" : "file";
}
