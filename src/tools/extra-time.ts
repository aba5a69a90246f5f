/** How long a search that found nothing may go on to look whether ignored files match. */

import type { Tally } from "../contract/grep.ts";
import { limits } from "../contract/limits.ts";

/**
 * What comes on top must not be felt: of a search that took long it gets a tenth. A folder of which every entry was
 * listed meanwhile is none that takes long. There it was the machine that was slow, starting ripgrep above all, and it
 * will be again: the answer must not depend on that.
 */
export function extraMs(tookMs: number, listed: Tally["counted"]): number {
  if (listed === "all") return Math.max(limits.searchExtraMsMax, Math.ceil(tookMs));
  return tookMs < limits.searchQuickMsMax ? limits.searchExtraMsMax : Math.ceil(tookMs / 10);
}
