/** Something that opens beside what one was at takes the focus, and gives it back when it closes. */

import type { RefObject } from "preact";
import { useEffect } from "preact/hooks";

export function useFocusInside(element: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const before = document.activeElement;
    element.current?.focus({ preventScroll: true });
    return () => {
      // Later: another pane may have opened in its place and have the focus by then.
      requestAnimationFrame(() => {
        const lost = document.activeElement === null || document.activeElement === document.body;
        if (lost && before instanceof HTMLElement) before.focus({ preventScroll: true });
      });
    };
  }, [element]);
}
