/** Announcements for screen readers: a live region that always exists and is rarely used. */

import { createStore, useStore } from "../live/store.ts";

const said = createStore({ text: "", times: 0 });

export const announce = (text: string): void => said.set(({ times }) => ({ text, times: times + 1 }));

export function Announcer() {
  const { text, times } = useStore(said);
  return (
    <div class="hidden" role="status" aria-live="polite" data-announcer>
      {/* The same words twice are said twice. */}
      <span key={times}>{text}</span>
    </div>
  );
}
