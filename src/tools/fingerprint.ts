/** What a file's state is known by, in the session's ledger. */

import { limits } from "../contract/limits.ts";
import type { Profile } from "../contract/profile.ts";
import type { EncodingName, Page } from "../contract/read.ts";
import type { Target } from "../contract/target.ts";
import {
  contentHash,
  fullHash,
  hashOfContent,
  hashOfText,
  type Identity,
  isAtRest,
  isCoarse,
  type OpenFile,
} from "../disk/disk.ts";
import { recognise, type TextFile } from "../kinds/kinds.ts";
import type { FileFingerprint } from "../session/session.ts";
import type { ToolContext } from "./tool.ts";

export const statKeyOf = (identity: Identity): string =>
  `${identity.device}:${identity.inode}:${identity.sizeBytes}:${identity.mtimeNs}:${identity.ctimeNs}`;

let racyStatKeys = 0;
const nothing = (): undefined => undefined;

/** Like no other: what has it is known by its content alone. */
const racyStatKey = (statKey: string): string => `${statKey} racy ${(racyStatKeys += 1)}`;

/** The sign of a file that the session has just written, whose content has this hash. */
export const statKeyAsLeft = (identity: Identity, hash: string | undefined): string =>
  hash === undefined || isAtRest(identity) ? statKeyOf(identity) : racyStatKey(statKeyOf(identity));

/** Are its times so coarse that a large file has to be hashed too, for as long as it may change unnoticed? */
export const isInDoubt = (identity: Identity): boolean =>
  isCoarse(identity) && !isAtRest(identity) && identity.sizeBytes <= limits.coarseHashedBytesMax;

/**
 * The content is hashed when it is asked for, and once. What changed a moment ago may change again under the same
 * sign, so such a sign is like no other and the hash decides. Large files have only the sign, unless times are coarse.
 * `atHand` answers with all bytes of the file once they were read, so that they are not read a second time.
 */
export function fingerprintOf(
  file: OpenFile,
  statKey: string = statKeyOf(file.identity),
  atHand: () => Uint8Array | undefined = nothing,
): FileFingerprint {
  let hash: Promise<string | undefined> | undefined;
  const hashed = async (): Promise<string | undefined> => {
    if (!isHashed(file)) return doubt ? fullHash(file) : undefined;
    const bytes = atHand();
    return bytes === undefined ? contentHash(file, limits.hashedBytesMax) : hashOfContent(bytes);
  };
  const doubt = !isHashed(file) && isInDoubt(file.identity);
  const racy = doubt || (isHashed(file) && !isAtRest(file.identity));
  return {
    statKey: racy ? racyStatKey(statKey) : statKey,
    sizeBytes: file.sizeBytes,
    hash: () => (hash ??= hashed()),
    fullHash: () => fullHash(file),
  };
}

/** Is the whole content hashed, so that its parts need not be? */
export const isHashed = ({ sizeBytes }: Pick<FileFingerprint, "sizeBytes">): boolean =>
  sizeBytes <= limits.hashedBytesMax;

/** Of lines as they were shown. */
export const viewHash = (page: Pick<Page, "lines" | "joined" | "ascii">): string =>
  // Not taken apart: the lines are made when they are asked for.
  hashOfText(page.joined ?? page.lines.join("\n"), page.ascii).toString("base64");

// A file as the text that it is, also where its dialect shows it as something else.

const kinds = { directory: "refuse", image: "refuse", pdf: "refuse", office: "refuse", notebook: "skip" } as const;

/** Throws the Problem that a file of another kind is. `scratch` MUST NOT be given back while the text is in use. */
export async function asTextFile(
  file: OpenFile,
  target: Target,
  profile: Profile,
  scratch: Buffer,
  { restricted }: ToolContext,
  encoding?: EncodingName,
): Promise<TextFile> {
  const forgetful = { known: undefined, keep: () => undefined, encoding };
  const { nulSampleBytes } = profile;
  const found = await recognise(file, target, { kinds, nulSampleBytes }, restricted, scratch, forgetful);
  if (found.as !== "text") throw new Error("nothing but text is read as something here");
  return found;
}
