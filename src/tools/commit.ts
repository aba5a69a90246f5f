/** The last step of a change: the disk, then what the session knows. What the disk refuses becomes a Problem. */

import type { ChangeNote, Piece } from "../contract/edit.ts";
import { Problem } from "../contract/problem.ts";
import type { Target } from "../contract/target.ts";
import { hashOf } from "../disk/line-index.ts";
import type { Identity } from "../disk/look.ts";
import { isRacy } from "../disk/same-file.ts";
import type { WriteStep } from "../disk/write-failed.ts";
import { refusal } from "../guard/guard.ts";
import type { Wrote } from "../session/ledger.ts";
import type { Prepared } from "./change.ts";
import { isHashed, signOf } from "./stamp.ts";
import type { Bench } from "./tool.ts";

type Existing<Extra> = Extract<Prepared<Extra>, { readonly is: "there" }>;
type New<Extra> = Extract<Prepared<Extra>, { readonly is: "new" }>;

export async function commit<Extra>(prepared: Existing<Extra>, bench: Bench): Promise<readonly ChangeNote[]> {
  const { target, file, planned, old, subject } = prepared;
  if (planned.notes.some(({ note }) => note === "same content")) {
    known(target, file.identity, old, planned.wrote, bench);
    return [];
  }
  const replaced = await bench.disk.replace({
    found: subject.found,
    file,
    pieces: planned.pieces,
    readHash: old !== undefined && isRacy(file.identity) ? hashOf(old) : undefined,
    hardLinks: bench.changes.hardLinks,
    signal: bench.signal,
  });
  switch (replaced.did) {
    case "nothing":
      if (replaced.why === "changed") throw new Problem({ code: "STALE", place: target, reason: "while changing it" });
      throw refused(target, replaced.errno, replaced.during);
    case "damaged": {
      bench.ledger.drop(target.real);
      const during = `${replaced.during}; its old content is kept and is put back at the next start`;
      throw new Problem({ code: "IO_ERROR", place: target, errno: replaced.errno, during });
    }
    case "unconfirmed":
      return unconfirmed(target, replaced.errno, planned.wrote, bench);
    case "replaced": {
      const { identity } = replaced;
      const hashed = old !== undefined && isHashed(identity);
      known(target, identity, hashed ? joined(planned.pieces, old) : undefined, planned.wrote, bench);
      return [
        ...(replaced.separated ? [{ note: "links separated" } as const] : []),
        ...(replaced.how === "in place" ? [{ note: "in place" } as const] : []),
        ...replaced.notes.map((detail) => ({ note: "metadata", detail }) as const),
      ];
    }
  }
}

export async function commitNew<Extra>(prepared: New<Extra>, bench: Bench): Promise<readonly ChangeNote[]> {
  const { target, bytes, mode } = prepared;
  const { signal } = bench;
  const created = await bench.disk.create({
    real: target.real,
    pieces: bytes.length === 0 ? [] : [bytes],
    mode,
    signal,
  });
  switch (created.did) {
    case "nothing":
      if (created.why === "exists")
        throw new Problem({ code: "EXISTS", place: target, reason: whatIsThere(target, bench) });
      if (created.why === "changed") throw new Problem({ code: "STALE", place: target, reason: "while changing it" });
      throw refused(target, created.errno, created.during);
    case "unconfirmed":
      return unconfirmed(target, created.errno, "all", bench);
    case "created":
      known(target, created.identity, bytes, "all", bench);
      return created.notes.map((detail) => ({ note: "metadata", detail }) as const);
  }
}

export async function commitRemoval<Extra>(prepared: Existing<Extra>, bench: Bench): Promise<readonly ChangeNote[]> {
  const { target, file, subject } = prepared;
  const removed = await bench.disk.remove({ found: subject.found, identity: file.identity, signal: bench.signal });
  if (removed.did === "nothing") {
    if (removed.why === "changed") throw new Problem({ code: "STALE", place: target, reason: "while changing it" });
    throw refused(target, removed.errno, removed.during);
  }
  bench.ledger.drop(target.real);
  return removed.did === "unconfirmed" ? [{ note: "unconfirmed", errno: removed.errno }] : [];
}

/** The new content is there; only that it will outlast a power cut is not sure. */
function unconfirmed(target: Target, errno: string, wrote: Wrote, bench: Bench): readonly ChangeNote[] {
  const look = bench.disk.look(target.real);
  if (look.seen === "node") {
    look.held.close();
    known(target, look.held.identity, undefined, wrote, bench);
  }
  return [{ note: "unconfirmed", errno }];
}

function known(target: Target, identity: Identity, bytes: Uint8Array | undefined, wrote: Wrote, bench: Bench): void {
  const { sizeBytes } = identity;
  const hash = bytes !== undefined && isHashed({ sizeBytes }) ? hashOf(bytes).toString("base64") : undefined;
  bench.ledger.wrote(target.real, { sign: signOf(identity), sizeBytes, hash }, wrote);
}

export const joined = (pieces: readonly Piece[], old: Buffer): Buffer =>
  Buffer.concat(pieces.map((piece) => ("from" in piece ? old.subarray(piece.from, piece.to) : piece)));

function refused(place: Target, errno: string, during: WriteStep): Problem {
  if (during === "writing: it is read-only") return new Problem({ code: "ACCESS_DENIED", place, reason: "read-only" });
  if (errno === "ESTALE" || errno === "ENOENT") {
    return new Problem({ code: "STALE", place, reason: "while changing it" });
  }
  return refusal(place, errno, during);
}

/** Something took the name: by now, or all the time, as a link that leads nowhere does. */
function whatIsThere(target: Target, bench: Bench): "file" | "folder" | "link" {
  const look = bench.disk.look(target.real);
  if (look.seen !== "node") return "link";
  look.held.close();
  return look.kind === "directory" ? "folder" : "file";
}
