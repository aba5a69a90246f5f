/** The calls as a grid; only visible rows are in the DOM. Arrow keys move, Enter opens. */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { CallInfo } from "../../../src/surfaces/inspector/wire.ts";
import { rowAfterKey, scrollTopFor } from "../list/range.ts";
import { useNarrow } from "../list/use-narrow.ts";
import { useRange } from "../list/use-range.ts";
import { CallRow, CallRowHead, columns } from "./call-row.tsx";

interface CallListProps {
  readonly calls: readonly CallInfo[];
  readonly prepended: number;
  readonly selected: number | undefined;
  readonly onOpen: (id: number) => void;
  readonly onEnd: () => Promise<void>;
}

const rowHeights = { wide: 30, narrow: 52 } as const;
const headHeight = 28;
/** Rows before the end at which the next page is loaded. */
const ahead = 100;

export function CallList({ calls, prepended, selected, onOpen, onEnd }: CallListProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const narrow = useNarrow();
  const rowHeight = narrow ? rowHeights.narrow : rowHeights.wide;
  const { range, viewport } = useRange(scroller, rowHeight, calls.length, narrow ? 0 : headHeight);
  const [active, setActive] = useState<number | undefined>(selected);
  useStaysPut(scroller, prepended, rowHeight);
  useEffect(() => {
    if (range.to + ahead > calls.length) void onEnd();
  }, [range.to, calls.length, onEnd]);
  useEffect(() => setActive((before) => selected ?? before), [selected]);

  const move = (event: KeyboardEvent): void => {
    const at = Math.max(
      0,
      calls.findIndex(({ id }) => id === active),
    );
    if (event.key === "Enter" || event.key === " ") {
      const call = calls[at];
      if (call !== undefined) onOpen(call.id);
      event.preventDefault();
      return;
    }
    const next = rowAfterKey(event.key, active === undefined ? -1 : at, viewport());
    if (next === undefined) return;
    event.preventDefault();
    setActive(calls[next]?.id);
    const top = scrollTopFor(next, viewport());
    if (top !== undefined) scroller.current?.scrollTo({ top });
  };

  const shown = calls.slice(range.from, range.to);
  const activeShown = shown.some(({ id }) => id === active);
  return (
    <div
      ref={scroller}
      class="calls"
      role="grid"
      tabIndex={0}
      aria-label="Calls, newest first"
      aria-rowcount={calls.length + 1}
      aria-colcount={columns}
      aria-activedescendant={activeShown ? `call-${active}` : undefined}
      onKeyDown={move}
    >
      <CallRowHead />
      <div class="calls-rows" role="rowgroup" style={{ height: `${calls.length * rowHeight}px` }}>
        <div role="presentation" style={{ transform: `translateY(${range.from * rowHeight}px)` }}>
          {shown.map((call, index) => (
            <CallRow
              key={call.id}
              call={call}
              index={range.from + index}
              active={call.id === active}
              selected={call.id === selected}
              onOpen={onOpen}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

/** Keeps the visible rows in place when new calls come in above them. */
function useStaysPut(scroller: { readonly current: HTMLElement | null }, prepended: number, rowHeight: number): void {
  const before = useRef(prepended);
  useLayoutEffect(() => {
    const added = prepended - before.current;
    before.current = prepended;
    const element = scroller.current;
    if (element !== null && added > 0 && element.scrollTop > 0) element.scrollTop += added * rowHeight;
  }, [scroller, prepended, rowHeight]);
}
