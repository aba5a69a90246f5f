/** What a file's state is known by, in the session's ledger. */

import { limits } from "../contract/limits.ts";
import type { Page } from "../contract/read.ts";
import { hashOfText, isAtRest } from "../disk/line-index.ts";
import type { Identity } from "../disk/look.ts";
import type { OpenFile } from "../disk/open-file.ts";
import { contentHash, fullHash } from "../disk/whole-file.ts";
import type { Stamp } from "../session/ledger.ts";

export const signOf = (identity: Identity): string =>
  `${identity.device}:${identity.inode}:${identity.sizeBytes}:${identity.mtimeNs}:${identity.ctimeNs}`;

let racySigns = 0;

/**
 * The content is hashed when it is asked for, and once. What changed a moment ago may change again under the same
 * sign, so such a sign is like no other and the hash decides; files too large for that have only the sign.
 */
export function stampOf(file: OpenFile): Stamp {
  let hash: Promise<string | undefined> | undefined;
  const racy = isHashed(file) && !isAtRest(file.identity);
  return {
    sign: racy ? `${signOf(file.identity)} racy ${(racySigns += 1)}` : signOf(file.identity),
    sizeBytes: file.sizeBytes,
    hash: () => (hash ??= contentHash(file, limits.hashedBytesMax)),
    fullHash: () => fullHash(file),
  };
}

/** Is the whole content hashed, so that its parts need not be? */
export const isHashed = ({ sizeBytes }: Pick<Stamp, "sizeBytes">): boolean => sizeBytes <= limits.hashedBytesMax;

/** Of lines as they were shown. */
export const viewHash = (page: Pick<Page, "lines" | "joined" | "ascii">): string =>
  // Not taken apart: the lines are made when they are asked for.
  hashOfText(page.joined ?? page.lines.join("\n"), page.ascii).toString("base64");
