/** Which rows of a long list are in the DOM: the visible ones and a few around them. All rows have the same height. */

export interface Range {
  /** Half-open. */
  readonly from: number;
  readonly to: number;
}

export interface Viewport {
  readonly scrollTop: number;
  readonly height: number;
  readonly rowHeight: number;
  readonly count: number;
}

/** Extra rows above and below, so that a short scroll shows no gap. */
const around = 12;

export function visibleRange({ scrollTop, height, rowHeight, count }: Viewport): Range {
  if (count === 0 || rowHeight <= 0) return { from: 0, to: 0 };
  const first = Math.floor(Math.max(0, scrollTop) / rowHeight);
  const last = Math.ceil((Math.max(0, scrollTop) + height) / rowHeight);
  const from = Math.min(Math.max(0, first - around), Math.max(0, count - 1));
  return { from, to: Math.max(from, Math.min(count, last + around)) };
}

/** The scroll position that makes a row visible; undefined if it is visible. */
export function scrollTopFor(row: number, { scrollTop, height, rowHeight }: Viewport): number | undefined {
  const top = row * rowHeight;
  if (top < scrollTop) return top;
  if (top + rowHeight > scrollTop + height) return top + rowHeight - height;
  return undefined;
}

/** The row that a key moves to from `row`; undefined for other keys. */
export function rowAfterKey(key: string, row: number, { height, rowHeight, count }: Viewport): number | undefined {
  const page = Math.max(1, Math.floor(height / rowHeight) - 1);
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: row + 1,
    ArrowUp: row - 1,
    PageDown: row + page,
    PageUp: row - page,
    Home: 0,
    End: count - 1,
  };
  const next = steps[key];
  return next === undefined || count === 0 ? undefined : Math.min(Math.max(0, next), count - 1);
}
