/** Caches pages of text by the fingerprint of their file, unless that was just changed, so a page is never stale. */

import type { Page, TextOutcome } from "../contract/read.ts";
import type { Recognition } from "./kind.ts";

export type PageCache = ReturnType<typeof createPageCache>;

/** Characters of all pages in all their forms: at most some 8 MB. */
const charsMax = 4_194_304;
/** Bounds memory: an entry is small, but its key has a path. */
const recognitionsMax = 1_000;
/** Hashes of pages that were read once: small numbers, and a page that is read again is mostly read again soon. */
const seenMax = 500;

export function createPageCache() {
  const outcomes = new Map<string, { readonly outcome: TextOutcome; readonly chars: number }>();
  /** Pages that were read once. Only a second read shows that a page is worth caching; most are never read again. */
  const seen = new Set<number>();
  let totalChars = 0;
  const drop = (key: string): void => {
    totalChars -= outcomes.get(key)?.chars ?? 0;
    outcomes.delete(key);
  };
  const recognitions = new Map<string, Recognition>();
  return {
    recognition: (key: string) => recognitions.get(key),
    keepRecognition(key: string, recognition: Recognition): void {
      recognitions.set(key, recognition);
      for (const oldest of recognitions.keys()) {
        if (recognitions.size <= recognitionsMax) return;
        recognitions.delete(oldest);
      }
    },
    find(key: string): TextOutcome | undefined {
      const known = outcomes.get(key);
      if (known === undefined) return undefined;
      outcomes.delete(key);
      outcomes.set(key, known);
      return known.outcome;
    },
    keep(key: string, outcome: TextOutcome): void {
      const hash = hashOf(key);
      if (!seen.has(hash)) {
        seen.add(hash);
        if (seen.size > seenMax) seen.delete(seen.values().next().value ?? 0);
        return;
      }
      // The lines and their rendered forms: about three times the text.
      const chars = 3 * outcome.pages.reduce((sum, page) => sum + charsOf(page), 0);
      if (chars > charsMax / 4) return;
      drop(key);
      outcomes.set(key, { outcome, chars });
      totalChars += chars;
      for (const oldest of outcomes.keys()) {
        if (totalChars <= charsMax) return;
        drop(oldest);
      }
    },
  };
}

/** With an allowance for every line, which may be a string of its own. */
const charsOf = (page: Page): number =>
  16 * page.count + (page.joined?.length ?? page.lines.reduce((sum, line) => sum + line.length, 0));

/** A number instead of the long key. If two keys share one, a page is cached a read too early, without harm. */
function hashOf(key: string): number {
  let hash = 0;
  for (let at = 0; at < key.length; at += 1) hash = (Math.imul(hash, 31) + key.charCodeAt(at)) & 0x3fffffff;
  return hash;
}
