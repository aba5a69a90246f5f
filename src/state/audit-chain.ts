/**
 * The audit as a chain: the hash of an entry covers the hash of the entry before it, so that a flipped, missing or reordered entry is
 * found by reading the chain once. A signature besides proves who wrote it. Pure, but for reading the records.
 */

import { createHash, createPublicKey, createPrivateKey, sign, verify } from "node:crypto";
import { type AuditEntry } from "../contract/state.ts";
import { type Audit, type AuditRecord } from "./ports.ts";

/** Signs the hash of an entry. */
export type AuditSigner = (hash: Uint8Array) => Buffer;

/** One spelling, in a fixed order of the keys. */
export const bodyOf = ({ timeMs, principal, session, tool, path, before, after, allowedBy }: AuditEntry): string =>
  JSON.stringify({ timeMs, principal, session, tool, path, before, after, allowedBy });

/** `previous` and the result in hex; the first entry follows the empty hash. */
export const hashOfEntry = (previous: string, seq: number, body: string): string =>
  createHash("sha256").update(Buffer.from(previous, "hex")).update(String(seq)).update(body).digest("hex");

/** `key`: an Ed25519 key in PEM. Throws if it is none. */
export function signerWith(key: string): AuditSigner {
  const secret = createPrivateKey(key);
  if (secret.asymmetricKeyType !== "ed25519") throw new Error("it is no Ed25519 key");
  return (hash) => sign(null, hash, secret);
}

export type AuditFault =
  | { readonly fault: "changed"; readonly seq: number }
  | { readonly fault: "missing"; readonly seq: number }
  | { readonly fault: "not linked"; readonly seq: number }
  | { readonly fault: "end is missing"; readonly seq: number }
  | { readonly fault: "signature"; readonly seq: number }
  | { readonly fault: "not signed"; readonly seq: number };

export interface CheckedAudit {
  readonly entries: number;
  /** The hash of the last entry: kept elsewhere, it proves later that nothing before it was changed. */
  readonly hash: string;
  readonly faults: readonly AuditFault[];
}

/** Faults that are listed; a chain that was rewritten has one in every entry. */
const faultsMax = 100;

/** `publicKey`: in PEM; then every entry must be signed. `anchor`: the hash of an entry that was noted earlier. */
export async function checkAudit(
  audit: Pick<Audit, "records" | "head">,
  options: {
    readonly publicKey?: string | undefined;
    readonly anchor?: { readonly seq: number; readonly hash: string } | undefined;
  } = {},
): Promise<CheckedAudit> {
  const head = await audit.head();
  const faults: AuditFault[] = [];
  const add = (fault: AuditFault): void => {
    if (faults.length < faultsMax) faults.push(fault);
  };
  const key = options.publicKey === undefined ? undefined : createPublicKey(options.publicKey);
  let [entries, expected, previous] = [0, 1, ""];
  for await (const record of audit.records()) {
    const { seq, hash } = record;
    // Entries that were appended after the head was read are not part of this check.
    if (head !== undefined && seq > head.seq && expected > head.seq) break;
    entries += 1;
    if (seq !== expected) add({ fault: seq > expected ? "missing" : "not linked", seq: expected });
    if (record.previous !== previous && seq === expected) add({ fault: "not linked", seq });
    if (hashOfEntry(record.previous, seq, record.body) !== hash) add({ fault: "changed", seq });
    if (key !== undefined) checkSignature(record, key, add);
    if (options.anchor?.seq === seq && options.anchor.hash !== hash) add({ fault: "changed", seq });
    previous = hash;
    expected = seq + 1;
  }
  const last = Math.max(head?.seq ?? 0, options.anchor?.seq ?? 0);
  if (expected - 1 < last) add({ fault: "end is missing", seq: expected });
  else if (head === undefined ? entries > 0 : head.hash !== previous) add({ fault: "changed", seq: expected - 1 });
  return { entries, hash: previous, faults };
}

function checkSignature(
  { seq, hash, signature }: AuditRecord,
  key: ReturnType<typeof createPublicKey>,
  add: (fault: AuditFault) => void,
): void {
  if (signature === null) return add({ fault: "not signed", seq });
  if (!verify(null, Buffer.from(hash, "hex"), key, Buffer.from(signature, "base64"))) add({ fault: "signature", seq });
}
