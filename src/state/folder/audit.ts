/**
 * The audit of a workspace in the state folder: a line for each entry, and beside them the number and the hash of the last one, so that
 * an end that was cut off is noticed.
 */

import { createHash } from "node:crypto";
import { openStoreFolder } from "../../disk/disk.ts";
import { type AuditSigner, bodyOf, hashOfEntry } from "../audit-chain.ts";
import { StateFailed } from "../../contract/state.ts";
import { type Audit, type AuditRecord } from "../ports.ts";
import { exclusivelyIn } from "./exclusive.ts";

type Head = NonNullable<Awaited<ReturnType<Audit["head"]>>>;

export function openFolderAudit(path: string, workspace: string, signer?: AuditSigner, lockFolder?: string): Audit {
  const folder = openStoreFolder(path, { durable: true });
  const exclusively = exclusivelyIn(path, lockFolder);
  const place = createHash("sha256").update(workspace).digest("hex").slice(0, 16);
  const [lines, end] = [`${place}/entries.jsonl`, `${place}/head`];

  const headNow = (): Head | undefined => {
    const text = folder.read(end)?.toString("utf8");
    const [, seq, hash] = /^(\d{1,15}) ([0-9a-f]{64})\n$/.exec(text ?? "") ?? [];
    if (text !== undefined && hash === undefined) throw new StateFailed(`the end of the audit in "${path}" is damaged`);
    return seq === undefined || hash === undefined ? undefined : { seq: Number(seq), hash };
  };

  return {
    append: (entries) =>
      exclusively(place, async () => {
        if (entries.length === 0) return;
        let { seq, hash } = headNow() ?? { seq: 0, hash: "" };
        const text = entries.map((entry) => {
          const body = bodyOf(entry);
          const previous = hash;
          seq += 1;
          hash = hashOfEntry(previous, seq, body);
          const signature = signer?.(Buffer.from(hash, "hex")).toString("base64") ?? null;
          return `${JSON.stringify({ seq, body, previous, hash, signature } satisfies AuditRecord)}\n`;
        });
        folder.append(lines, Buffer.from(text.join("")));
        folder.put(end, Buffer.from(`${seq} ${hash}\n`));
      }),
    async *records() {
      const text = folder.read(lines)?.toString("utf8") ?? "";
      for (const line of text.split("\n")) {
        const record = recordIn(line);
        if (record !== undefined) yield record;
      }
    },
    head: async () => headNow(),
  };
}

/** A line that cannot be read is left out, and so found as missing. */
function recordIn(line: string): AuditRecord | undefined {
  try {
    const { seq, body, previous, hash, signature } = JSON.parse(line) as Partial<Record<keyof AuditRecord, unknown>>;
    if (typeof seq !== "number" || typeof body !== "string" || typeof previous !== "string") return undefined;
    if (typeof hash !== "string" || (signature !== null && typeof signature !== "string")) return undefined;
    return { seq, body, previous, hash, signature };
  } catch {
    return undefined;
  }
}
