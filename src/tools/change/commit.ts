/** The last step of a change: the disk, then what the session knows. What the disk refuses becomes a Problem. */

import type { ChangeNote, Piece } from "../../contract/edit.ts";
import { Problem } from "../../contract/problem.ts";
import type { EncodingName } from "../../contract/read.ts";
import type { Target } from "../../contract/target.ts";
import { FileCut } from "../../disk/lines/scan.ts";
import { type Identity, released } from "../../disk/lookup/look.ts";
import { fullHash, hashOfContent, ReadFailed } from "../../disk/lookup/open-file.ts";
import { lengthOf } from "../../disk/write/content.ts";
import type { WriteStep } from "../../disk/write/write-failed.ts";
import { refusal } from "../../guard/guard.ts";
import type { Wrote } from "../../session/ledger.ts";
import { isHashed, isInDoubt, signAsLeft, signOf } from "../stamp.ts";
import type { Bench } from "../tool.ts";
import type { Prepared } from "./prepare.ts";
import type { Keeper, Moved } from "./turn.ts";

type Existing<Extra> = Extract<Prepared<Extra>, { readonly is: "there" }>;
type New<Extra> = Extract<Prepared<Extra>, { readonly is: "new" }>;

/** `keeper` has the old content before it goes. */
export async function commit<Extra>(
  prepared: Existing<Extra>,
  keeper: Keeper,
  bench: Bench,
): Promise<readonly ChangeNote[]> {
  const { target, file, planned, old, subject, remember } = prepared;
  // The mode may have been switched while the call waited for its turn.
  bench.guard.requireWriting(target);
  if (planned.notes.some(({ note }) => note === "same content")) {
    rememberAs(target, file.identity, hashIfSmall(old), planned.wrote, bench, remember);
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
    return keeper.keep({ before: { file, bytes: old, will, at }, after: afterBy(how) });
  };
  const replaced = await orUndone(keeper, () =>
    bench.disk.replace({
      found: subject.found,
      file,
      pieces: held === undefined ? planned.pieces : inMemory(planned.pieces, held),
      source,
      readBytes: old,
      hardLinks: bench.changes.hardLinks,
      mode,
      signal: bench.signal,
      beforeSwap: keeper.keeps ? keepOld : undefined,
      // While the disk is busy there is time for what the answer will say, and for tidying up.
      meanwhile: () => {
        void prepared.diff.hunks;
        hash = hashIfSmall(bytes);
      },
      letGo: () => {
        file.close();
        return subject.found.letGo?.();
      },
    }),
  );
  switch (replaced.did) {
    case "nothing":
      keeper.undone();
      if (replaced.why === "changed") throw new Problem({ code: "STALE", place: target, reason: "while changing it" });
      throw refused(target, replaced.errno, replaced.during);
    case "damaged": {
      bench.ledger.drop(target.real);
      const during = `${replaced.during}; its old content is kept and is put back at the next start`;
      throw new Problem({ code: "IO_ERROR", place: target, errno: replaced.errno, during });
    }
    case "unconfirmed":
      return unconfirmed(target, replaced.errno, planned.wrote, keeper, bench, remember);
    case "replaced": {
      const { identity } = replaced;
      hash ??= hashIfSmall(bytes) ?? (await hashInDoubt(target, identity, bench));
      rememberAs(target, identity, hash, planned.wrote, bench, remember);
      return [
        ...keeper.done(identity, mode ?? file.mode),
        ...(replaced.separated ? [{ note: "links separated" } as const] : []),
        ...(replaced.how === "in place" ? [{ note: "in place" } as const] : []),
        ...replaced.notes.map((detail) => ({ note: "metadata", detail }) as const),
      ];
    }
  }
}

export async function commitNew<Extra>(
  prepared: New<Extra>,
  keeper: Keeper,
  bench: Bench,
  moved?: Moved,
): Promise<readonly ChangeNote[]> {
  const { target, mode, like, remember, folder, wrote = "all" } = prepared;
  const { bytes, pieces, source, after } = contentOfNew(prepared);
  const { signal } = bench;
  bench.guard.requireWriting(target);
  const created = await orUndone(keeper, () =>
    bench.disk.create({
      real: target.real,
      folder,
      pieces,
      source,
      mode,
      like,
      signal,
      beforeSwap: () => keeper.keep({ before: "absent", after, ...(moved && { moved }) }),
    }),
  );
  switch (created.did) {
    case "nothing":
      keeper.undone();
      if (created.why === "exists")
        throw new Problem({ code: "EXISTS", place: target, reason: whatIsThere(target, bench) });
      if (created.why === "changed") throw new Problem({ code: "STALE", place: target, reason: "while changing it" });
      throw refused(target, created.errno, created.during);
    case "unconfirmed":
      return unconfirmed(target, created.errno, wrote, keeper, bench, remember);
    case "created":
      rememberAs(
        target,
        created.identity,
        hashIfSmall(bytes) ?? (await hashInDoubt(target, created.identity, bench)),
        wrote,
        bench,
        remember,
      );
      return [
        ...keeper.done(created.identity, keeper.keeps ? modeOf(target, bench) : undefined),
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
  keeper: Keeper,
  bench: Bench,
  moved?: Moved,
): Promise<readonly ChangeNote[]> {
  const { target, file, subject, old } = prepared;
  bench.guard.requireWriting(target);
  const removed = await orUndone(keeper, () =>
    bench.disk.remove({
      found: subject.found,
      identity: file.identity,
      signal: bench.signal,
      beforeSwap: (at) =>
        keeper.keep({
          before: { file, bytes: old, will: "be renamed over", at },
          after: "absent",
          ...(moved && { moved }),
        }),
    }),
  );
  if (removed.did === "nothing") {
    keeper.undone();
    if (removed.why === "changed") throw new Problem({ code: "STALE", place: target, reason: "while changing it" });
    throw refused(target, removed.errno, removed.during);
  }
  bench.ledger.drop(target.real);
  return [
    ...keeper.done(file.identity),
    ...(removed.did === "unconfirmed" ? [{ note: "unconfirmed", errno: removed.errno } as const] : []),
  ];
}

/** What was announced to the history and then stopped did not happen. */
async function orUndone<Result>(keeper: Keeper, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    keeper.undone();
    throw error;
  }
}

/** What is held need not be read again, twice: once to write it and once to compare what was written. */
const inMemory = (pieces: readonly Piece[], old: Buffer): readonly Exclude<Piece, { readonly from: number }>[] =>
  pieces.map((piece) => ("from" in piece ? old.subarray(piece.from, piece.to) : piece));

/** A new file has the mode that the system gave it. */
function modeOf(target: Target, { disk }: Bench): number | undefined {
  const look = disk.look(target.real);
  if (look.seen !== "node") return undefined;
  using _held = look.held;
  const opened = disk.open(look);
  if ("errno" in opened) return undefined;
  using file = opened;
  return file.mode;
}

/** The new content is there; only that it will outlast a power cut is not sure. */
function unconfirmed(
  target: Target,
  errno: string,
  wrote: Wrote,
  keeper: Keeper,
  bench: Bench,
  encoding?: EncodingName,
): readonly ChangeNote[] {
  const look = bench.disk.look(target.real);
  let kept: readonly ChangeNote[] = [];
  if (look.seen === "node") {
    using held = look.held;
    kept = keeper.done(held.identity);
    rememberAs(target, held.identity, undefined, wrote, bench, encoding);
  }
  return [{ note: "unconfirmed", errno }, ...kept];
}

/**
 * Throws what writing would be refused with, as far as it can be known before; answers with what else will be told. What it
 * finds may be another thing when it is written: it is asked again then.
 */
export function requireWritable<Extra>(prepared: Prepared<Extra>, bench: Bench): readonly ChangeNote[] {
  const { target } = prepared;
  if (prepared.is === "new") return requireNothingAt(target, bench);
  const { planned, subject, file } = prepared;
  if (planned.notes.some(({ note }) => note === "same content")) return [];
  const fault = bench.disk.refusesWriting(subject.found, file);
  if (fault !== undefined) throw refused(target, fault.errno, fault.during);
  if (file.links < 2 || planned.removes === true) return [];
  return [{ note: bench.changes.hardLinks === "separate" ? "links separated" : "in place" }];
}

/** A link that leads nowhere has the name all the same. */
export function requireNothingAt(target: Target, bench: Bench): readonly [] {
  if (!bench.disk.hasName(target.real)) return [];
  throw new Problem({ code: "EXISTS", place: target, reason: whatIsThere(target, bench) });
}

/** What content is known by again; none of what is too much to be hashed in passing. */
export const hashIfSmall = (bytes: Uint8Array | undefined): string | undefined =>
  bytes !== undefined && isHashed({ sizeBytes: bytes.length }) ? hashOfContent(bytes) : undefined;

export function rememberAs(
  target: Target,
  identity: Identity,
  hash: string | undefined,
  wrote: Wrote,
  bench: Bench,
  encoding?: EncodingName,
): void {
  const { sizeBytes } = identity;
  bench.ledger.wrote(target.real, { sign: signAsLeft(identity, hash), sizeBytes, hash, encoding }, wrote);
}

/** Of a large file that was just written, where its times are too coarse to tell whether somebody else changes it right after. */
export async function hashInDoubt(target: Target, identity: Identity, bench: Bench): Promise<string | undefined> {
  if (!isInDoubt(identity)) return undefined;
  const look = bench.disk.look(target.real);
  if (look.seen !== "node") return undefined;
  using _held = look.held;
  const opened = bench.disk.open(look);
  if ("errno" in opened) return undefined;
  using file = opened;
  try {
    return signOf(file.identity) === signOf(identity) ? await fullHash(file) : undefined;
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
function whatIsThere(target: Target, bench: Bench): "file" | "folder" | "link" {
  const look = released(bench.disk.look(target.real));
  if (look.seen !== "node") return "link";
  return look.kind === "directory" ? "folder" : "file";
}
