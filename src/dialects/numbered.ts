/** Lines with their numbers in front. Pages are kept between calls, so what was made of one is kept with it. */

import type { NumberStyle } from "../contract/profile.ts";
import type { CutLine, Page } from "../contract/read.ts";
import { numberLines } from "../text/page-kernel.ts";

/**
 * The numbered lines between what the dialect puts around them: made as one text, since putting it around them afterwards
 * would copy them all. `style` is a constant of its dialect, by which the result is known again.
 */
export const numbered = (page: Page, style: NumberStyle, before: string, after: string): string =>
  page.count === 0
    ? before + after
    : kept(page, style, before, after, () =>
        numberLines(joinedLines(page), page.from, style, page.ascii, before, after),
      );

/** The lines alone, joined by newlines. */
export const joinedLines = (page: Page): string =>
  page.joined ?? kept(page, joinedLines, "", "", () => page.lines.join("\n"));

/**
 * With the page itself and not in a WeakMap: what hangs on one outlives the page by many rounds of the garbage collector,
 * which then copies all of these texts around.
 */
function kept(page: Page, as: object, before: string, after: string, make: () => string): string {
  const known = page.forms.get(as);
  if (known !== undefined && known.before === before && known.after === after) return known.text;
  const text = make();
  page.forms.set(as, { before, after, text });
  return text;
}

/** The column, counted from 1, from which on a call shows the rest of a cut line. */
export const restOf = ({ from, column = 1 }: Page, { line, charsShown }: CutLine): number =>
  (line === from ? column : 1) + charsShown;

/** The first lines, at most `linesMax`; the others are not made for it. */
export function firstLines(page: Page, linesMax: number): readonly string[] {
  const { joined } = page;
  if (joined === undefined || page.count <= linesMax) return page.lines.slice(0, linesMax);
  let end = -1;
  for (let line = 0; line < linesMax; line += 1) end = joined.indexOf("\n", end + 1);
  return joined.slice(0, end).split("\n");
}
