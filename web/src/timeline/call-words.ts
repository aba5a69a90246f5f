/** What a call was about, in a few words. */

import type { CallInfo } from "../../../src/surfaces/inspector/wire.ts";
import type { Tone } from "../shell/parts.tsx";
import { count } from "../shell/words.ts";

/** A refused or cancelled call is a warning, not an error. */
export const toneOf = ({ outcome }: Pick<CallInfo, "outcome">): Tone =>
  outcome === "ok" ? "good" : outcome === "ACCESS_DENIED" || outcome === "CANCELLED" ? "warn" : "bad";

/** `lines 1–200 of 900` */
export function rangeWords({ range }: Pick<CallInfo, "range">): string {
  if (range === null) return "";
  const { of, from, to, total } = range;
  const one = to === null || to === from;
  const noun = one ? { lines: "line", pages: "page", cells: "cell", entries: "entry" }[of] : of;
  const where = one ? `${count(from)}${to === null ? "…" : ""}` : `${count(from)}–${count(to)}`;
  return `${noun} ${where}${total === null ? "" : ` of ${count(total)}`}`;
}

/** That a file is unchanged says more than `ok`. */
export function outcomeWords({ outcome, reason, dryRun }: CallInfo): string {
  const said = outcome === "ok" ? (reason === "unchanged" ? "unchanged" : "ok") : outcome;
  return dryRun ? `${said}, dry run` : said;
}

/** A hue for each session, the same everywhere; similar ids get different hues. */
export function hueOf(session: string): number {
  let sum = 7;
  for (const character of session) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 65_521;
  return Math.round(sum * 137.508) % 360;
}
