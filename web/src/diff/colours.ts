/** Tokens and marks of the lines of a diff, computed when a line becomes visible. */

import type { Language } from "../code/languages.ts";
import { type Colouring, colouring, type Token } from "../code/tokens.ts";
import type { DiffLine, DiffRows } from "./rows.ts";
import { changedWords, type Span } from "./words.ts";

export interface LineColours {
  readonly tokens: readonly Token[];
  readonly marks: readonly Span[];
}

export interface DiffColours {
  of(line: DiffLine): LineColours;
}

/** Each side of each hunk is coloured as a separate text, since the lines between hunks are unknown. */
export function diffColours({ split }: DiffRows, language: Language): DiffColours {
  const places = new Map<DiffLine, readonly [Colouring, number]>();
  let sides: { old: DiffLine[]; new: DiffLine[] } = { old: [], new: [] };
  const close = (): void => {
    for (const lines of [sides.old, sides.new]) {
      const colours = colouring(
        lines.map(({ text }) => text),
        language,
      );
      for (const [index, line] of lines.entries()) places.set(line, [colours, index]);
    }
    sides = { old: [], new: [] };
  };
  for (const row of split) {
    if (row.kind === "hunk") close();
    else {
      if (row.old !== undefined) sides.old.push(row.old);
      if (row.new !== undefined) sides.new.push(row.new);
    }
  }
  close();
  const known = new Map<DiffLine, LineColours>();
  return {
    of(line) {
      const before = known.get(line);
      if (before !== undefined) return before;
      const [colours, index] = places.get(line) ?? [];
      const found: LineColours = {
        tokens: colours?.tokens(index ?? 0) ?? [{ kind: "plain", text: line.text }],
        marks: line.partner === undefined ? [] : changedWords(line.text, line.partner),
      };
      known.set(line, found);
      return found;
    },
  };
}
