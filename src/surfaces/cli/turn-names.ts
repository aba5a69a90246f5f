/** How people name turns: by the beginning of an id, or counted from the newest. Pure. */

export { shortNames } from "../../text/turn-names.ts";

export type NotFound =
  | { readonly why: "unknown" | "counted too far" }
  | { readonly why: "several"; readonly among: readonly string[] };

/** `ids`: oldest first. */
export function findTurn(asked: string, ids: readonly string[]): string | NotFound {
  if (ids.includes(asked)) return asked;
  if (/^-\d+$/.test(asked)) {
    const back = Number(asked);
    return (back === 0 ? undefined : ids.at(back)) ?? { why: "counted too far" };
  }
  const among = asked === "" ? [] : ids.filter((id) => id.startsWith(asked));
  const [only, second] = among;
  if (only === undefined) return { why: "unknown" };
  return second === undefined ? only : { why: "several", among };
}

/** `<turn>` or `<turn>..<turn>`. An id may hold dots itself, so what names a turn as a whole is one. */
export function rangeOf(asked: string, isTurn: (name: string) => boolean): readonly [string, string] {
  const at = asked.indexOf("..");
  if (at === -1 || isTurn(asked)) return [asked, asked];
  return [asked.slice(0, at), asked.slice(at + 2)];
}
