/** Fingerprints: how the session's ledger recognises the state of a file. */

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
  wholeFile,
} from "../disk/disk.ts";
import { recognise, type TextFile } from "../kinds/kinds.ts";
import type { FileFingerprint } from "../session/session.ts";
import type { ToolContext } from "./tool.ts";

export const statKeyOf = (identity: Identity): string =>
  `${identity.device}:${identity.inode}:${identity.sizeBytes}:${identity.mtimeNs}:${identity.ctimeNs}`;

let racyStatKeys = 0;
const nothing = (): undefined => undefined;

/** Equal to no other key, so that only the content hash can show that the file is unchanged. */
const racyStatKey = (statKey: string): string => `${statKey} racy ${(racyStatKeys += 1)}`;

/** The stat key of a file that the session has just written, whose content has this hash. */
export const statKeyAsLeft = (identity: Identity, hash: string | undefined): string =>
  hash === undefined || isAtRest(identity) ? statKeyOf(identity) : racyStatKey(statKeyOf(identity));

/** Are the file's times so coarse that it could still change unnoticed? Then even a large file is hashed. */
export const isInDoubt = (identity: Identity): boolean =>
  isCoarse(identity) && !isAtRest(identity) && identity.sizeBytes <= limits.coarseHashedBytesMax;

/**
 * The content is hashed on demand, and once. A file that changed a moment ago may change again with the same stat key, so it
 * gets a unique key and the hash decides. Large files have only the stat key, unless the file's times are coarse.
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
    content: async () => (isHashed(file) ? (atHand() ?? wholeFile(file, limits.hashedBytesMax)) : undefined),
  };
}

/** Is the whole content hashed? Otherwise the parts that were shown are. */
export const isHashed = ({ sizeBytes }: Pick<FileFingerprint, "sizeBytes">): boolean =>
  sizeBytes <= limits.hashedBytesMax;

/** The hash of lines as they were shown. */
export const viewHash = (page: Pick<Page, "lines" | "joined" | "ascii">): string =>
  // Not destructured: `lines` is a getter that splits the page.
  hashOfText(page.joined ?? page.lines.join("\n"), page.ascii).toString("base64");

const kinds = { directory: "refuse", image: "refuse", pdf: "refuse", office: "refuse", notebook: "skip" } as const;

/**
 * Opens a file as text, also a notebook that the dialect shows as cells. Throws for other kinds. `scratch` MUST NOT be given
 * back while the text is in use.
 */
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
