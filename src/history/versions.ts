/** What makes two versions of a file the same. */

import type { FileVersion } from "../contract/history.ts";
import type { Identity } from "../disk/disk.ts";

/**
 * Which file it is and in which state, but for ctime, which a link moves. It names the content of files that are too
 * large to be hashed in passing.
 */
export const markOf = ({ device, inode, sizeBytes, mtimeNs }: Omit<Identity, "ctimeNs">): string =>
  ["inode", device, inode, sizeBytes, mtimeNs].map((part) => (part === "inode" ? part : part.toString(16))).join("-");

export const isHash = (content: string | undefined): boolean => content?.length === 64;

/** Is the time in a mark a whole second? */
export const isCoarseMark = (mark: string): boolean =>
  BigInt(`0x${mark.slice(mark.lastIndexOf("-") + 1)}`) % 1_000_000_000n === 0n;

/**
 * Is it the same content? Modes do not count. Where one is known by hash only and the other by mark only, nothing but the
 * size can be compared; to call that a change would make every large file a conflict.
 */
export function isSameContent(a: FileVersion, b: FileVersion): boolean {
  if (a.kind === "absent" || b.kind === "absent") return a.kind === b.kind;
  if (a.sizeBytes !== b.sizeBytes) return false;
  if (isHash(a.content) && isHash(b.content)) return a.content === b.content;
  const [aMark, bMark] = [inodeOf(a), inodeOf(b)];
  return aMark === undefined || bMark === undefined || aMark === bMark;
}

/** The same for all that is known: what was never stored may have changed. */
export function isSurelySame(a: FileVersion, b: FileVersion): boolean {
  const isKnown = (version: FileVersion): boolean =>
    version.kind === "absent" || version.content !== undefined || version.mark !== undefined;
  return isKnown(a) && isKnown(b) && isSameContent(a, b);
}

/** Contents that were not kept may differ, however long they are. */
export const isKnownSame = (a: FileVersion, b: FileVersion): boolean =>
  [a, b].every((version) => version.kind === "absent" || version.content !== undefined) && isSameContent(a, b);

type File = Extract<FileVersion, { readonly kind: "file" }>;

const inodeOf = ({ content, mark }: File): string | undefined => (isHash(content) ? mark : (content ?? mark));
