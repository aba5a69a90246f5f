/** Hunks as rows of a diff, unified or side by side. */

import type { Hunk } from "../../../src/contract/edit.ts";
import { aligned, type Pair } from "./align.ts";

/** One line of one side. `partner`: the text of its counterpart, for marks on words. */
export interface DiffLine {
  readonly sign: " " | "-" | "+";
  readonly number: number;
  readonly text: string;
  readonly partner: string | undefined;
  /** The file ends here, without a newline. */
  readonly open: boolean;
}

export type UnifiedRow =
  | { readonly kind: "hunk"; readonly title: string }
  | {
      readonly kind: "line";
      readonly line: DiffLine;
      readonly old: number | undefined;
      readonly new: number | undefined;
    };

export type SplitRow =
  | { readonly kind: "hunk"; readonly title: string }
  | { readonly kind: "pair"; readonly old: DiffLine | undefined; readonly new: DiffLine | undefined };

export interface DiffRows {
  readonly unified: readonly UnifiedRow[];
  readonly split: readonly SplitRow[];
  readonly additions: number;
  readonly deletions: number;
  /** Length of the longest line, for the horizontal scroll width. */
  readonly charsMax: number;
}

export function diffRows(hunks: readonly Hunk[]): DiffRows {
  const unified: UnifiedRow[] = [];
  const split: SplitRow[] = [];
  let [additions, deletions, charsMax] = [0, 0, 0];
  for (const hunk of hunks) {
    const title = hunkTitle(hunk);
    unified.push({ kind: "hunk", title });
    split.push({ kind: "hunk", title });
    for (const block of blocksOf(hunk)) {
      for (const { text } of [...block.old, ...block.new]) charsMax = Math.max(charsMax, text.length);
      if (block.kind === "same") {
        for (const [index, line] of block.old.entries()) {
          const other = block.new[index];
          unified.push({ kind: "line", line, old: line.number, new: other?.number });
          split.push({ kind: "pair", old: line, new: other });
        }
        continue;
      }
      additions += block.new.length;
      deletions += block.old.length;
      for (const line of block.old) unified.push({ kind: "line", line, old: line.number, new: undefined });
      for (const line of block.new) unified.push({ kind: "line", line, old: undefined, new: line.number });
      for (const pair of block.pairs) {
        const old = pair.old === undefined ? undefined : block.old[pair.old];
        split.push({ kind: "pair", old, new: pair.new === undefined ? undefined : block.new[pair.new] });
      }
    }
  }
  return { unified, split, additions, deletions, charsMax };
}

function hunkTitle({ oldStart, oldLines, newStart, newLines }: Hunk): string {
  return `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`;
}

interface Block {
  readonly kind: "same" | "changed";
  readonly old: DiffLine[];
  readonly new: DiffLine[];
  /** For a changed block: the pairs of lines. */
  readonly pairs: readonly Pair[];
}

/** Runs of equal lines, and runs of removed lines with the added lines that replace them. */
function blocksOf(hunk: Hunk): readonly Block[] {
  const blocks: Block[] = [];
  // A side without lines has the number of the line before.
  let old = hunk.oldStart + (hunk.oldLines === 0 ? 1 : 0);
  let fresh = hunk.newStart + (hunk.newLines === 0 ? 1 : 0);
  const inBlock = (kind: Block["kind"]): Block => {
    const last = blocks.at(-1);
    if (last?.kind === kind) return last;
    const block: Block = { kind, old: [], new: [], pairs: [] };
    blocks.push(block);
    return block;
  };
  for (const [index, raw] of hunk.lines.entries()) {
    const text = raw.slice(1);
    const open = hunk.lines[index + 1]?.startsWith("\\") ?? false;
    const line = { text, partner: undefined, open };
    const sign: string = raw[0] ?? " ";
    switch (sign) {
      case "-":
        inBlock("changed").old.push({ ...line, sign: "-", number: old++ });
        break;
      case "+":
        inBlock("changed").new.push({ ...line, sign: "+", number: fresh++ });
        break;
      case "\\":
        break;
      default: {
        const block = inBlock("same");
        block.old.push({ ...line, sign: " ", number: old++ });
        block.new.push({ ...line, sign: " ", number: fresh++ });
      }
    }
  }
  return blocks.map((block) => (block.kind === "same" ? block : partnered(block)));
}

/** Pairs similar lines. */
function partnered({ kind, old, new: fresh }: Block): Block {
  const pairs = aligned(
    old.map(({ text }) => text),
    fresh.map(({ text }) => text),
  );
  const [left, right] = [[...old], [...fresh]];
  for (const pair of pairs) {
    const before = pair.old === undefined ? undefined : old[pair.old];
    const after = pair.new === undefined ? undefined : fresh[pair.new];
    if (!pair.alike || before === undefined || after === undefined) continue;
    left[pair.old ?? 0] = { ...before, partner: after.text };
    right[pair.new ?? 0] = { ...after, partner: before.text };
  }
  return { kind, old: left, new: right, pairs };
}
