/** The files of a turn as they are told: a move is one of them, what rules hide is none. Pure. */

import type { FileChange, FileVersion, TurnChanges } from "../contract/history.ts";
import type { FileSeen } from "../contract/looking-back.ts";
import { isSameContent } from "../history/versions.ts";

/** A file of a turn; for one that was moved also what it was under its old name. */
export interface Touched {
  readonly change: FileChange;
  readonly from: FileChange | undefined;
}

export interface TurnFiles {
  readonly files: readonly Touched[];
  readonly withheld: number;
}

export function turnFiles({ files }: TurnChanges, mayName: (path: string) => boolean): TurnFiles {
  const named = new Map(files.filter(({ path }) => mayName(path)).map((change) => [change.path, change]));
  const sourceOf = (change: FileChange): FileChange | undefined => {
    const source = change.movedFrom === undefined ? undefined : named.get(change.movedFrom);
    return source?.movedTo === change.path && source.after.kind === "absent" ? source : undefined;
  };
  const moved = new Set([...named.values()].flatMap((change) => sourceOf(change)?.path ?? []));
  return {
    files: [...named.values()]
      .filter(({ path }) => !moved.has(path))
      .map((change) => ({ change, from: sourceOf(change) })),
    withheld: files.length - named.size,
  };
}

export const versionsOf = ({
  change,
  from,
}: Touched): { readonly before: FileVersion; readonly after: FileVersion } => ({
  before: from?.before ?? change.before,
  after: change.after,
});

export function didOf(touched: Touched): FileSeen["did"] {
  const { before, after } = versionsOf(touched);
  if (touched.from !== undefined) return "moved";
  if (before.kind === "absent") return after.kind === "absent" ? "nothing" : "created";
  if (after.kind === "absent") return "deleted";
  // What was not kept may have changed, however long it is.
  if (before.content === undefined || after.content === undefined || !isSameContent(before, after)) return "changed";
  return modesOf(touched) === undefined ? "nothing" : "mode";
}

/** The permissions before and after, if they differ. */
export function modesOf(touched: Touched): readonly [number, number] | undefined {
  const { before, after } = versionsOf(touched);
  if (before.kind === "absent" || after.kind === "absent") return undefined;
  if (before.mode === undefined || after.mode === undefined || before.mode === after.mode) return undefined;
  return [before.mode, after.mode];
}
