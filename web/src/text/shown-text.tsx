/** Untrusted text as elements. Content, names and messages enter the page only this way: as text nodes. */

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

/** A path or a name, isolated from the text around it, whatever its writing direction. */
export const Name = ({ text, class: extra = "" }: { readonly text: string; readonly class?: string }) => (
  <bdi class={`name ${extra}`}>
    <Shown text={text} />
  </bdi>
);

/** A path whose end matters most: with little room, the folders are shortened first. */
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
