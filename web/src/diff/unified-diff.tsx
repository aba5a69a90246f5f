/** A diff with one line below the other. */

import { useRef } from "preact/hooks";
import { lineHeight } from "../code/code-view.tsx";
import { useRange } from "../list/use-range.ts";
import type { DiffColours } from "./colours.ts";
import { DiffCode, rowClass } from "./diff-code.tsx";
import type { DiffRows, UnifiedRow } from "./rows.ts";

interface DiffProps {
  readonly rows: DiffRows;
  readonly colours: DiffColours;
  readonly label: string;
}

export function UnifiedDiff({ rows: { unified, charsMax }, colours, label }: DiffProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const { range } = useRange(scroller, lineHeight, unified.length);
  const height = `${unified.length * lineHeight}px`;
  return (
    <div ref={scroller} class="diff diff-unified" tabIndex={0} role="region" aria-label={label}>
      <div class="diff-lines" style={{ height, minWidth: `${Math.min(charsMax, 2_060) + 14}ch` }}>
        <div style={{ transform: `translateY(${range.from * lineHeight}px)` }}>
          {unified.slice(range.from, range.to).map((row, index) => (
            <Row key={range.from + index} row={row} colours={colours} />
          ))}
        </div>
      </div>
    </div>
  );
}

function Row({ row, colours }: { readonly row: UnifiedRow; readonly colours: DiffColours }) {
  if (row.kind === "hunk") return <div class="diff-row diff-hunk">{row.title}</div>;
  return (
    <div class={`diff-row ${rowClass(row.line)}`}>
      <span class="diff-numbers">
        <span class="diff-number">{row.old}</span>
        <span class="diff-number">{row.new}</span>
        <span class="diff-sign" aria-hidden="true">
          {row.line.sign}
        </span>
      </span>
      <span class="diff-text">
        <DiffCode line={row.line} colours={colours} />
      </span>
    </div>
  );
}
