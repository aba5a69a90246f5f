/** Loads a diff from the server page by page; the first page is shown while the others load. */

import { useEffect, useState } from "preact/hooks";
import type { DiffAsked, DiffPage, HunkPart } from "../../../src/surfaces/inspector/wire.ts";
import type { Hunk } from "../../../src/contract/edit.ts";
import { messageOf, post } from "../live/request.ts";

export interface LoadedDiff {
  readonly page: DiffPage | undefined;
  readonly hunks: readonly Hunk[];
  /** Rows that are not loaded yet. */
  readonly left: number;
  readonly message: string;
}

const firstRows = 500;
const nextRows = 2_000;
const nothing: LoadedDiff = { page: undefined, hunks: [], left: 0, message: "" };

/** Appends a page, which may continue the last hunk. */
export function withParts(hunks: readonly Hunk[], parts: readonly HunkPart[]): readonly Hunk[] {
  const all = [...hunks];
  for (const part of parts) {
    const last = all.at(-1);
    if (part.continued && last !== undefined) {
      all[all.length - 1] = {
        // A side without lines so far has the number of the line before.
        oldStart: last.oldLines === 0 ? part.oldStart : last.oldStart,
        newStart: last.newLines === 0 ? part.newStart : last.newStart,
        oldLines: last.oldLines + part.oldLines,
        newLines: last.newLines + part.newLines,
        lines: [...last.lines, ...part.lines],
      };
    } else all.push(part);
  }
  return all;
}

export function useDiff(address: string, of: DiffAsked["of"], context?: number): LoadedDiff {
  const [loaded, setLoaded] = useState(nothing);
  const key = JSON.stringify([address, of, context]);
  useEffect(() => {
    const leaving = new AbortController();
    setLoaded(nothing);
    void load(address, context === undefined ? { of } : { of, context }, leaving.signal, setLoaded);
    return () => leaving.abort();
    // The key identifies the other inputs.
  }, [key]);
  return loaded;
}

async function load(
  address: string,
  asked: DiffAsked,
  signal: AbortSignal,
  tell: (loaded: LoadedDiff) => void,
): Promise<void> {
  let hunks: readonly Hunk[] = [];
  let page: DiffPage | undefined;
  try {
    for (let from: number | null = 0; from !== null; from = page.next) {
      const rows: number = from === 0 ? firstRows : nextRows;
      page = await post<DiffPage>(address, { ...asked, from, rows }, signal);
      if (signal.aborted) return;
      hunks = withParts(hunks, page.hunks);
      tell({ page, hunks, left: page.next === null ? 0 : page.rowsTotal - page.next, message: "" });
    }
  } catch (error) {
    if (!signal.aborted) tell({ page, hunks, left: 0, message: messageOf(error) });
  }
}
