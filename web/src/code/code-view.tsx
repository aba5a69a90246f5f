/** A text of any length, line by line: only visible lines are in the DOM. */

import { useMemo, useRef } from "preact/hooks";
import { useRange } from "../list/use-range.ts";
import { CodeLine } from "./code-line.tsx";
import { languageOf } from "./languages.ts";
import { colouring } from "./tokens.ts";

export const lineHeight = 20;

interface CodeViewProps {
  readonly text: string;
  /** The file name, which decides the language; plain text without one. */
  readonly path?: string;
  readonly label: string;
}

export function CodeView({ text, path = "", label }: CodeViewProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const lines = useMemo(() => text.split("\n"), [text]);
  const colours = useMemo(() => colouring(lines, languageOf(path)), [lines, path]);
  const { range } = useRange(scroller, lineHeight, lines.length);
  const charsMax = useMemo(() => lines.reduce((max, line) => Math.max(max, line.length), 0), [lines]);
  return (
    // Can be scrolled by keys, so it must be focusable.
    <div ref={scroller} class="code" tabIndex={0} role="region" aria-label={label}>
      <div
        class="code-lines"
        style={{ height: `${lines.length * lineHeight}px`, minWidth: `${Math.min(charsMax, 2_060)}ch` }}
      >
        <div style={{ transform: `translateY(${range.from * lineHeight}px)` }}>
          {lines.slice(range.from, range.to).map((_, index) => (
            <div class="code-line" key={range.from + index}>
              <CodeLine tokens={colours.tokens(range.from + index)} />
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}
