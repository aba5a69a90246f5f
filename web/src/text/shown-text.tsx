/** Text of strangers as elements. The only way in which content, names and messages enter the page: text nodes. */

import { shownPieces } from "./shown.ts";

export const Shown = ({ text }: { readonly text: string }) => (
  <>
    {shownPieces(text).map((piece) =>
      piece.kind === "text" ? (
        piece.text
      ) : (
        <span class="mark" title={piece.name}>
          {piece.label}
        </span>
      ),
    )}
  </>
);

/** A path or a name: kept apart from what stands around it, whatever direction it is written in. */
export const Name = ({ text, class: extra = "" }: { readonly text: string; readonly class?: string }) => (
  <bdi class={`name ${extra}`}>
    <Shown text={text} />
  </bdi>
);

/** A path of which the end is what one looks for: folders give way first where there is little room. */
export function Path({ path }: { readonly path: string }) {
  const cut = path.lastIndexOf("/") + 1;
  return (
    <bdi class="path">
      {cut > 0 && (
        <span class="path-folder">
          <Shown text={path.slice(0, cut)} />
        </span>
      )}
      <span class="path-name">
        <Shown text={path.slice(cut)} />
      </span>
    </bdi>
  );
}
