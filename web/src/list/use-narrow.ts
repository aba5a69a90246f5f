/** Is the window too narrow for two columns? */

import { useEffect, useState } from "preact/hooks";

const narrowQuery = "(max-width: 760px)";
/** Below this width the pane covers the list. */
export const aloneQuery = "(max-width: 1000px)";

export function useMedia(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const media = matchMedia(query);
    const look = (): void => setMatches(media.matches);
    look();
    media.addEventListener("change", look);
    return () => media.removeEventListener("change", look);
  }, [query]);
  return matches;
}

export const useNarrow = (): boolean => useMedia(narrowQuery);
