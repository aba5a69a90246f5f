/** One line of code: colours, marks, and a note about text that was cut. */

import { Shown } from "../text/shown-text.tsx";
import { segmentsOf } from "./segments.ts";
import type { Token } from "./tokens.ts";

interface CodeLineProps {
  readonly tokens: readonly Token[];
  readonly marks?: readonly { readonly from: number; readonly to: number }[];
}

export function CodeLine({ tokens, marks = [] }: CodeLineProps) {
  const { segments, left } = segmentsOf(tokens, marks);
  return (
    <>
      {segments.map(({ kind, marked, text }) => {
        const shown = <Shown text={text} />;
        const coloured = kind === "plain" ? shown : <span class={`token-${kind}`}>{shown}</span>;
        return marked ? <mark>{coloured}</mark> : coloured;
      })}
      {left > 0 && <span class="left-out"> … {left.toLocaleString("en")} more characters</span>}
    </>
  );
}
