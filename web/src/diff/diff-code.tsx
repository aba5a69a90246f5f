/** The text of one line of a diff. The meaning of the colours is also given in words, for screen readers. */

import { CodeLine } from "../code/code-line.tsx";
import type { DiffColours } from "./colours.ts";
import type { DiffLine } from "./rows.ts";

const spoken = { " ": "", "-": "removed: ", "+": "added: " } as const;

export function DiffCode({ line, colours }: { readonly line: DiffLine; readonly colours: DiffColours }) {
  const { tokens, marks } = colours.of(line);
  return (
    <>
      <span class="hidden">{spoken[line.sign]}</span>
      <CodeLine tokens={tokens} marks={marks} />
      {line.open && <span class="left-out"> no line end at the end of the file</span>}
    </>
  );
}

export const rowClass = (line: DiffLine | undefined): string =>
  line === undefined ? "diff-none" : line.sign === "-" ? "diff-old" : line.sign === "+" ? "diff-new" : "diff-same";
