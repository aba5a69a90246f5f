/** Lines with their numbers in front. Pages are kept between calls, so what was made of one is kept with it. */

import type { Page } from "../contract/read.ts";

const made = new WeakMap<Page, Map<Style, string>>();

/** How a number and its line look; a constant of its dialect, by which the result is known again. */
export type Style = (number: number) => string;

export function numbered(page: Page, style: Style): string {
  const known = made.get(page);
  const before = known?.get(style);
  if (before !== undefined) return before;
  const { lines, from } = page;
  const text = lines.map((line, index) => style(from + index) + line).join("\n");
  if (known === undefined) made.set(page, new Map([[style, text]]));
  else known.set(style, text);
  return text;
}

/** The lines alone, joined by newlines. */
export function joinedLines(page: Page): string {
  return page.joined ?? numbered(page, none);
}

const none: Style = () => "";
