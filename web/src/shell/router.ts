/** The current view: the part of the address after `#`, so that links, reloads and the back button work. */

import { useEffect, useState } from "preact/hooks";

export const views = ["timeline", "approvals", "log", "history", "usage", "files", "replay"] as const;
export type ViewName = (typeof views)[number];

export interface Route {
  readonly view: ViewName;
  /** The selected item of that view, such as the id of a call. */
  readonly item: string | undefined;
}

export function routeOf(hash: string): Route {
  const [, name = "", item] = /^#\/(\w+)(?:\/(.+))?$/.exec(hash) ?? [];
  return { view: views.find((view) => view === name) ?? "timeline", item };
}

export const addressOf = (view: ViewName, item?: string | number): string =>
  item === undefined ? `#/${view}` : `#/${view}/${item}`;

export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const look = (): void => setHash(location.hash);
    addEventListener("hashchange", look);
    return () => removeEventListener("hashchange", look);
  }, []);
  return routeOf(hash);
}
