/**
 * Pages of text that were just read, by the state of their file: agents read the same few files again and again. A page
 * is kept only for a file that had come to rest, and is found only under the very same state, so it is never stale.
 */

import type { Page, TextOutcome } from "../contract/read.ts";
import type { Recognition } from "./kind.ts";

export interface PageCache {
  /** What the first bytes of a file in this state said. */
  recognition(key: string): Recognition | undefined;
  keepRecognition(key: string, recognition: Recognition): void;
  find(key: string): TextOutcome | undefined;
  keep(key: string, outcome: TextOutcome): void;
}

/** Characters held over all pages, in all their forms: at most some 8 MB. */
const charsMax = 4_194_304;
const recognitionsMax = 1_000;
const seenMax = 500;

export function createPageCache(): PageCache {
  /** Oldest first. */
  const outcomes = new Map<string, { readonly outcome: TextOutcome; readonly chars: number }>();
  /** Pages that were read once. Only the second read of a page shows that it is worth keeping; most are never read again. */
  const seen = new Set<number>();
  let held = 0;
  const drop = (key: string): void => {
    held -= outcomes.get(key)?.chars ?? 0;
    outcomes.delete(key);
  };
  const recognitions = new Map<string, Recognition>();
  return {
    recognition: (key) => recognitions.get(key),
    keepRecognition(key, recognition) {
      recognitions.set(key, recognition);
      for (const oldest of recognitions.keys()) {
        if (recognitions.size <= recognitionsMax) return;
        recognitions.delete(oldest);
      }
    },
    find(key) {
      const known = outcomes.get(key);
      if (known === undefined) return undefined;
      outcomes.delete(key);
      outcomes.set(key, known);
      return known.outcome;
    },
    keep(key, outcome) {
      const mark = markOf(key);
      if (!seen.has(mark)) {
        seen.add(mark);
        if (seen.size > seenMax) seen.delete(seen.values().next().value ?? 0);
        return;
      }
      // Lines and what dialects make of them: about three times the text.
      const chars = 3 * outcome.pages.reduce((sum, page) => sum + charsOf(page), 0);
      if (chars > charsMax / 4) return;
      drop(key);
      outcomes.set(key, { outcome, chars });
      held += chars;
      for (const oldest of outcomes.keys()) {
        if (held <= charsMax) return;
        drop(oldest);
      }
    },
  };
}

/** With something for every line, which may be a string of its own. */
const charsOf = (page: Page): number =>
  16 * page.count + (page.joined?.length ?? page.lines.reduce((sum, line) => sum + line.length, 0));

/**
 * A number instead of the key, which is long: hundreds of them would grow old in memory for nothing. Two keys with one
 * number do no harm, one of the pages is only kept a read too early.
 */
function markOf(key: string): number {
  let mark = 0;
  for (let at = 0; at < key.length; at += 1) mark = (Math.imul(mark, 31) + key.charCodeAt(at)) & 0x3fffffff;
  return mark;
}
