/** A diff with the old side left and the new one right. Both scroll together in both directions. */

import type { RefObject } from "preact";
import { useRef } from "preact/hooks";
import { lineHeight } from "../code/code-view.tsx";
import { useRange } from "../list/use-range.ts";
import type { DiffColours } from "./colours.ts";
import { DiffCode, rowClass } from "./diff-code.tsx";
import type { DiffLine, DiffRows, SplitRow } from "./rows.ts";

interface DiffProps {
  readonly rows: DiffRows;
  readonly colours: DiffColours;
  readonly label: string;
}

export function SplitDiff({ rows: { split, charsMax }, colours, label }: DiffProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const [left, right, bar] = [useRef<HTMLDivElement>(null), useRef<HTMLDivElement>(null), useRef<HTMLDivElement>(null)];
  const { range } = useRange(scroller, lineHeight, split.length);
  const shown = split.slice(range.from, range.to);
  const height = `${split.length * lineHeight}px`;
  const minWidth = `${Math.min(charsMax, 2_060) + 2}ch`;
  const together = (moved: RefObject<HTMLDivElement | null>) => () => {
    for (const other of [left, right, bar]) {
      if (other.current !== null && moved.current !== null && other.current.scrollLeft !== moved.current.scrollLeft) {
        other.current.scrollLeft = moved.current.scrollLeft;
      }
    }
  };
  const side = (of: "old" | "new", pane: RefObject<HTMLDivElement | null>) => (
    <div class={`diff-side diff-side-${of}`} style={{ height }}>
      <div class="diff-numbers" style={{ transform: `translateY(${range.from * lineHeight}px)` }} aria-hidden="true">
        {shown.map((row, index) => (
          <Number key={range.from + index} row={row} side={of} />
        ))}
      </div>
      <div ref={pane} class="diff-pane" onScroll={together(pane)}>
        <div style={{ minWidth, transform: `translateY(${range.from * lineHeight}px)` }}>
          {shown.map((row, index) => (
            <Side key={range.from + index} row={row} side={of} colours={colours} />
          ))}
        </div>
      </div>
    </div>
  );
  return (
    <div class="diff diff-split">
      <div ref={scroller} class="diff-scroller" tabIndex={0} role="region" aria-label={label}>
        <div class="diff-sides" style={{ height }}>
          {side("old", left)}
          {side("new", right)}
        </div>
      </div>
      {/* The bars of the two sides would stand below the last row, out of sight. */}
      <div ref={bar} class="diff-bar" onScroll={together(bar)} tabIndex={-1} aria-hidden="true">
        <div style={{ width: minWidth }} />
      </div>
    </div>
  );
}

const lineOf = (row: SplitRow, side: "old" | "new"): DiffLine | undefined =>
  row.kind === "hunk" ? undefined : row[side];

function Number({ row, side }: { readonly row: SplitRow; readonly side: "old" | "new" }) {
  if (row.kind === "hunk") return <div class="diff-number diff-hunk" />;
  const line = lineOf(row, side);
  return <div class={`diff-number ${rowClass(line)}`}>{line?.number}</div>;
}

interface SideProps {
  readonly row: SplitRow;
  readonly side: "old" | "new";
  readonly colours: DiffColours;
}

function Side({ row, side, colours }: SideProps) {
  if (row.kind === "hunk") return <div class="diff-row diff-hunk">{side === "old" ? row.title : ""}</div>;
  const line = lineOf(row, side);
  return (
    <div class={`diff-row ${rowClass(line)}`}>{line !== undefined && <DiffCode line={line} colours={colours} />}</div>
  );
}
