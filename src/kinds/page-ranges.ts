/** The parameter `pages` of a paged document: "3" or "1-5", counted from 1, both ends included. */

export interface Pages {
  readonly pages: readonly number[];
}

/** Why a text names no pages, with what is legal: up to `pagesMax` pages from 1 to `pagesTotal`. */
export interface PagesFault {
  /** "form": neither "3" nor "1-5", or a page 0. "order": "5-3". */
  readonly fault: "form" | "order" | "past the end" | "too many";
  readonly pagesTotal: number | undefined;
  readonly pagesMax: number;
}

/**
 * A range that begins inside the document ends with it at the latest, as a range of lines does; only one that begins
 * behind it is a fault. Without a total nothing is past the end.
 */
export function parsePages(text: string, pagesTotal: number | undefined, pagesMax: number): Pages | PagesFault {
  const fault = (what: PagesFault["fault"]): PagesFault => ({ fault: what, pagesTotal, pagesMax });

  // More digits would lose precision as a number.
  const match = /^\s*(\d{1,15})(?:\s*-\s*(\d{1,15}))?\s*$/.exec(text);
  if (match === null) return fault("form");
  const first = Number(match[1]);
  const last = Number(match[2] ?? match[1]);
  if (first < 1) return fault("form");
  if (last < first) return fault("order");
  if (pagesTotal !== undefined && first > pagesTotal) return fault("past the end");
  const asked = Math.min(last, pagesTotal ?? last) - first + 1;
  if (asked > pagesMax) return fault("too many");
  return { pages: Array.from({ length: asked }, (_, index) => first + index) };
}
