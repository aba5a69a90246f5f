/**
 * Whether a change is in the file already. Only asked where the old text was not found: an old text that stands inside
 * the new one, as where lines are inserted beside it, can be meant a second time.
 */

import { firstPlace } from "./find-text.ts";
import { foldText } from "./match-fold.ts";
import { shiftedPlaces } from "./match-places.ts";
import { numberOf, type Source } from "./match-source.ts";

const wordCharsMin = 3;
const linesMin = 2;
const visibleCharsMin = 25;

/** The line (from 1) where the new text stands although the old one does not; undefined if it does not, or is too short to tell. */
export function alreadyAt(source: Source, newText: string): number | undefined {
  if (!hasSubstance(newText)) return undefined;
  const exact = firstPlace(source.text, newText);
  if (exact >= 0) return numberOf(source.lines().at(exact), source);
  const folded = foldText(newText, "trailing blanks", source.loneReturns);
  const view = source.folded("trailing blanks");
  const seen = firstPlace(view.text, folded);
  if (seen >= 0) return numberOf(view.lines.at(seen), source);
  // A single line at another depth is too often another line.
  if (substantialLines(newText) < linesMin) return undefined;
  const place = shiftedPlaces(source, newText).places[0];
  return place === undefined ? undefined : numberOf(place.line, source);
}

/** Short texts stand somewhere by chance. */
function hasSubstance(text: string): boolean {
  const lines = substantialLines(text);
  return lines >= linesMin || (lines > 0 && text.replace(/\s/g, "").length >= visibleCharsMin);
}

function substantialLines(text: string): number {
  return text.split("\n").filter((line) => (line.match(/[\p{L}\p{N}]/gu)?.length ?? 0) >= wordCharsMin).length;
}
