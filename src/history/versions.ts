/** When two versions of a file are the same. */

import type { FileVersion } from "../contract/history.ts";
import type { Identity } from "../disk/disk.ts";

/**
 * Which file it is and in which state, without ctime, which linking changes. Identifies the content of files too large
 * to hash in passing.
 */
export const inodeFingerprint = ({ device, inode, sizeBytes, mtimeNs }: Omit<Identity, "ctimeNs">): string =>
  ["inode", device, inode, sizeBytes, mtimeNs].map((part) => (part === "inode" ? part : part.toString(16))).join("-");

export const isHash = (content: string | undefined): boolean => content?.length === 64;

/** Whether the time in a fingerprint is a whole second. */
export const hasCoarseTime = (fingerprint: string): boolean =>
  BigInt(`0x${fingerprint.slice(fingerprint.lastIndexOf("-") + 1)}`) % 1_000_000_000n === 0n;

/**
 * Whether the content is the same; modes do not count. If one is known only by hash and the other only by fingerprint, only
 * the sizes can be compared; calling that a change would make every large file a conflict.
 */
export function isSameContent(a: FileVersion, b: FileVersion): boolean {
  if (a.kind === "absent" || b.kind === "absent") return a.kind === b.kind;
  if (a.is !== b.is || a.sizeBytes !== b.sizeBytes) return false;
  if (isHash(a.content) && isHash(b.content)) return a.content === b.content;
  const [aInode, bInode] = [inodeOf(a), inodeOf(b)];
  return aInode === undefined || bInode === undefined || aInode === bInode;
}

/** The same with certainty: a content that was never stored may have changed. */
export function isSurelySame(a: FileVersion, b: FileVersion): boolean {
  const isKnown = (version: FileVersion): boolean =>
    version.kind === "absent" || version.content !== undefined || version.mark !== undefined;
  return isKnown(a) && isKnown(b) && isSameContent(a, b);
}

/** Contents that were not stored may differ even if their sizes are equal. */
export const isKnownSame = (a: FileVersion, b: FileVersion): boolean =>
  [a, b].every((version) => version.kind === "absent" || version.content !== undefined) && isSameContent(a, b);

type File = Extract<FileVersion, { readonly kind: "file" }>;

const inodeOf = ({ content, mark }: File): string | undefined => (isHash(content) ? mark : (content ?? mark));
