/** A diff from hunks, side by side or unified. Only visible rows are in the DOM, so ten thousand lines are as fast as ten. */

import { useMemo } from "preact/hooks";
import type { Hunk } from "../../../src/contract/edit.ts";
import { languageOf } from "../code/languages.ts";
import { plural } from "../shell/words.ts";
import { diffColours } from "./colours.ts";
import { diffRows } from "./rows.ts";
import { SplitDiff } from "./split-diff.tsx";
import { UnifiedDiff } from "./unified-diff.tsx";

export type DiffLayout = "split" | "unified";

interface DiffViewProps {
  readonly path: string;
  readonly hunks: readonly Hunk[];
  readonly layout: DiffLayout;
}

export function DiffView({ path, hunks, layout }: DiffViewProps) {
  const rows = useMemo(() => diffRows(hunks), [hunks]);
  const colours = useMemo(() => diffColours(rows, languageOf(path)), [rows, path]);
  const label = `Changes of ${path}: ${plural(rows.additions, "line")} added, ${rows.deletions} removed`;
  return layout === "split" ? (
    <SplitDiff rows={rows} colours={colours} label={label} />
  ) : (
    <UnifiedDiff rows={rows} colours={colours} label={label} />
  );
}
