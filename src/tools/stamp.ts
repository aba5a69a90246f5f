/** What a file's state is known by, in the session's ledger. */

import { limits } from "../contract/limits.ts";
import type { Page } from "../contract/read.ts";
import { hashOfText, isAtRest } from "../disk/line-index.ts";
import type { Identity } from "../disk/look.ts";
import type { OpenFile } from "../disk/open-file.ts";
import { contentHash, fullHash, hashOfContent } from "../disk/whole-file.ts";
import type { Stamp } from "../session/ledger.ts";

export const signOf = (identity: Identity): string =>
  `${identity.device}:${identity.inode}:${identity.sizeBytes}:${identity.mtimeNs}:${identity.ctimeNs}`;

let racySigns = 0;
const nothing = (): undefined => undefined;

/**
 * The content is hashed when it is asked for, and once. What changed a moment ago may change again under the same
 * sign, so such a sign is like no other and the hash decides; files too large for that have only the sign.
 * `atHand` answers with all bytes of the file once they were read, so that they are not read a second time.
 */
export function stampOf(
  file: OpenFile,
  sign: string = signOf(file.identity),
  atHand: () => Uint8Array | undefined = nothing,
): Stamp {
  let hash: Promise<string | undefined> | undefined;
  const hashed = async (): Promise<string | undefined> => {
    const bytes = isHashed(file) ? atHand() : undefined;
    return bytes === undefined ? contentHash(file, limits.hashedBytesMax) : hashOfContent(bytes);
  };
  const racy = isHashed(file) && !isAtRest(file.identity);
  return {
    sign: racy ? `${sign} racy ${(racySigns += 1)}` : sign,
    sizeBytes: file.sizeBytes,
    hash: () => (hash ??= hashed()),
    fullHash: () => fullHash(file),
  };
}

/** Is the whole content hashed, so that its parts need not be? */
export const isHashed = ({ sizeBytes }: Pick<Stamp, "sizeBytes">): boolean => sizeBytes <= limits.hashedBytesMax;

/** Of lines as they were shown. */
export const viewHash = (page: Pick<Page, "lines" | "joined" | "ascii">): string =>
  // Not taken apart: the lines are made when they are asked for.
  hashOfText(page.joined ?? page.lines.join("\n"), page.ascii).toString("base64");
