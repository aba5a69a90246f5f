/**
 * Pages of text that were just read, by the state of their file: agents read the same few files again and again. A page
 * is kept only for a file that had come to rest, and is found only under the very same state, so it is never stale.
 */

import type { TextOutcome } from "../contract/read.ts";
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
  const seen = new Set<string>();
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
      if (!seen.has(key)) {
        seen.add(key);
        if (seen.size > seenMax) seen.delete(seen.values().next().value ?? "");
        return;
      }
      // Lines and what dialects make of them: about three times the text.
      const chars =
        3 * outcome.pages.reduce((sum, page) => sum + page.lines.reduce((all, line) => all + line.length + 16, 0), 0);
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
