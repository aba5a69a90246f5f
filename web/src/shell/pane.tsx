/** The pane next to a list that shows the selected item. It takes the focus, and gives it back when it closes. Escape closes it. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { shownText } from "../text/shown.ts";

interface PaneProps {
  readonly title: ComponentChildren;
  /** After the title. */
  readonly badge?: ComponentChildren;
  readonly label: string;
  readonly closeLabel?: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

export function Pane({ title, badge, label, closeLabel = "Close", onClose, children }: PaneProps) {
  const pane = useRef<HTMLElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    pane.current?.focus({ preventScroll: true });
    return () => {
      // Later, since another pane may have opened in its place and taken the focus.
      requestAnimationFrame(() => {
        const lost = document.activeElement === null || document.activeElement === document.body;
        if (lost && before instanceof HTMLElement) before.focus({ preventScroll: true });
      });
    };
  }, []);
  return (
    <section
      ref={pane}
      class="pane"
      aria-label={shownText(label)}
      tabIndex={-1}
      onKeyDown={(event) => event.key === "Escape" && onClose()}
    >
      <div class="pane-head">
        <h2>{title}</h2>
        {badge}
        <button type="button" class="button button-quiet pane-close" onClick={onClose} title="Close (Escape)">
          <span aria-hidden="true">✕</span>
          <span class="hidden">{closeLabel}</span>
        </button>
      </div>
      {children}
    </section>
  );
}
