/** Turns of the history as lists show them: short ids, the files of a turn, and what happened to each. */

import type { FileChange, FileSeen, FileVersion, TurnChanges, TurnSeen } from "../contract/history.ts";

/** Local: shorter prefixes soon become ambiguous. */
export const shortCharsMin = 8;

/** The shortest unique prefixes. In sorted order it is enough to compare neighbours. */
export function shortNames(ids: readonly string[]): ReadonlyMap<string, string> {
  const sorted = [...new Set(ids)].toSorted();
  return new Map(
    sorted.map((id, at) => {
      const common = Math.max(commonChars(id, sorted[at - 1]), commonChars(id, sorted[at + 1]));
      return [id, id.slice(0, Math.max(shortCharsMin, common + 1))] as const;
    }),
  );
}

function commonChars(a: string, b = ""): number {
  let chars = 0;
  while (chars < a.length && a.charCodeAt(chars) === b.charCodeAt(chars)) chars += 1;
  return chars;
}

/** A file of a turn; a moved file is one of them, with the change of its old name. */
export interface TouchedFile {
  readonly change: FileChange;
  readonly from: FileChange | undefined;
  readonly before: FileVersion;
  readonly after: FileVersion;
}

/** The files that may be named, and how many may not. */
export function turnFiles({ files }: TurnChanges, mayName: (path: string) => boolean) {
  const named = new Map(files.filter(({ path }) => mayName(path)).map((change) => [change.path, change]));
  const sourceOf = (change: FileChange): FileChange | undefined => {
    const source = change.movedFrom === undefined ? undefined : named.get(change.movedFrom);
    return source?.movedTo === change.path && source.after.kind === "absent" ? source : undefined;
  };
  const moved = new Set([...named.values()].flatMap((change) => sourceOf(change)?.path ?? []));
  const touched = [...named.values()]
    .filter(({ path }) => !moved.has(path))
    .map((change): TouchedFile => {
      const from = sourceOf(change);
      return { change, from, before: from?.before ?? change.before, after: change.after };
    });
  return { files: touched, hiddenByRules: files.length - named.size };
}

export function undoneIn({ files }: TurnChanges): TurnSeen["undone"] {
  const count = files.filter((file) => file.undone).length;
  return count === 0 ? "no" : count === files.length ? "all" : "part";
}

export function didTo({ from, before, after }: TouchedFile): FileSeen["did"] {
  if (from !== undefined) return "moved";
  if (before.kind === "absent") return after.kind === "absent" ? "nothing" : "created";
  if (after.kind === "absent") return "deleted";
  // A content that was not kept cannot be compared, so it counts as changed.
  if (before.content === undefined || after.content === undefined || !isSameContent(before, after)) return "changed";
  return modesOf(before, after) === undefined ? "nothing" : "mode";
}

/** Undefined if the mode is the same, or not known. */
export function modesOf(before: FileVersion, after: FileVersion): readonly [number, number] | undefined {
  if (before.kind === "absent" || after.kind === "absent") return undefined;
  if (before.mode === undefined || after.mode === undefined || before.mode === after.mode) return undefined;
  return [before.mode, after.mode];
}

export const isHash = (content: string | undefined): boolean => content?.length === 64;

/** Ignores modes. A hash and a fingerprint are compared by size, or every large file would be a conflict. */
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
