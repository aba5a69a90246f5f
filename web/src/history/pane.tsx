/** The pane next to a list that shows the selected item. Escape closes it. */

import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { useFocusInside } from "../shell/use-focus.ts";
import { shownText } from "../text/shown.ts";

interface PaneProps {
  readonly title: ComponentChildren;
  readonly label: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

export function Pane({ title, label, onClose, children }: PaneProps) {
  const pane = useRef<HTMLElement>(null);
  useFocusInside(pane);
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
        <button type="button" class="button button-quiet pane-close" onClick={onClose} title="Close (Escape)">
          <span aria-hidden="true">✕</span>
          <span class="hidden">Close</span>
        </button>
      </div>
      {children}
    </section>
  );
}
