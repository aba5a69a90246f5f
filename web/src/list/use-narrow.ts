/** Is the window too narrow for things to stand side by side? */

import { useEffect, useState } from "preact/hooks";

const narrowQuery = "(max-width: 760px)";
/** Below this a list and what is looked at of it do not stand side by side: the one covers the other. */
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
