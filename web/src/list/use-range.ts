/** Follows a scrolling element and returns the rows that must be in the DOM. */

import type { RefObject } from "preact";
import { useCallback, useLayoutEffect, useState } from "preact/hooks";
import { type Range, type Viewport, visibleRange } from "./range.ts";

export interface Rows {
  readonly range: Range;
  /** The visible part of the element. */
  readonly viewport: () => Viewport;
}

/** The height before the first layout. */
const heightGuess = 600;

export function useRange(
  scroller: RefObject<HTMLElement | null>,
  rowHeight: number,
  count: number,
  /** Height of a sticky header above the rows. */
  headHeight = 0,
): Rows {
  const viewport = useCallback(
    (): Viewport => ({
      scrollTop: scroller.current?.scrollTop ?? 0,
      height: (scroller.current?.clientHeight ?? heightGuess) - headHeight,
      rowHeight,
      count,
    }),
    [scroller, rowHeight, count, headHeight],
  );
  const [, setShown] = useState("");
  const range = visibleRange(viewport());
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return undefined;
    let frame = 0;
    const look = (): void => {
      frame = 0;
      const { from, to } = visibleRange(viewport());
      // Setting the same string causes no rendering.
      setShown(`${from}-${to}`);
    };
    const later = (): void => {
      frame ||= requestAnimationFrame(look);
    };
    const sizes = new ResizeObserver(later);
    sizes.observe(element);
    element.addEventListener("scroll", later, { passive: true });
    look();
    return () => {
      cancelAnimationFrame(frame);
      sizes.disconnect();
      element.removeEventListener("scroll", later);
    };
  }, [scroller, viewport]);
  return { range, viewport };
}
