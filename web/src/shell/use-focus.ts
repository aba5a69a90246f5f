/** A pane that opens takes the focus, and gives it back when it closes. */

import type { RefObject } from "preact";
import { useEffect } from "preact/hooks";

export function useFocusInside(element: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const before = document.activeElement;
    element.current?.focus({ preventScroll: true });
    return () => {
      // Later, since another pane may have opened in its place and taken the focus.
      requestAnimationFrame(() => {
        const lost = document.activeElement === null || document.activeElement === document.body;
        if (lost && before instanceof HTMLElement) before.focus({ preventScroll: true });
      });
    };
  }, [element]);
}
