/** Side by side or unified: the last choice, if there is room for it. */

import type { RefObject } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { createStore, useStore } from "../live/store.ts";
import type { DiffLayout } from "./diff-view.tsx";

const storageName = "filehand-diff";
const chosen = createStore<{ readonly layout: DiffLayout }>({
  layout: localStorage.getItem(storageName) === "unified" ? "unified" : "split",
});

export function chooseLayout(layout: DiffLayout): void {
  localStorage.setItem(storageName, layout);
  chosen.set({ layout });
}

/** Below this each side would have less than about forty characters. */
const splitPixelsMin = 680;

export function useLayout(element: RefObject<HTMLElement | null>): {
  readonly layout: DiffLayout;
  readonly room: boolean;
} {
  const { layout } = useStore(chosen);
  const [room, setRoom] = useState(true);
  useLayoutEffect(() => {
    if (element.current === null) return undefined;
    const sizes = new ResizeObserver(([entry]) => setRoom((entry?.contentRect.width ?? 0) >= splitPixelsMin));
    setRoom(element.current.clientWidth >= splitPixelsMin);
    sizes.observe(element.current);
    return () => sizes.disconnect();
  }, [element]);
  return { layout: room ? layout : "unified", room };
}
