/** Short ids of turns: prefixes that are still unique. */

/** Local: shorter prefixes soon become ambiguous. */
export const shortCharsMin = 8;

/** The shortest unique prefixes. In sorted order it is enough to compare neighbours. */
export function shortNames(ids: readonly string[]): ReadonlyMap<string, string> {
  const sorted = [...new Set(ids)].toSorted();
  return new Map(
    sorted.map((id, at) => {
      const common = Math.max(commonChars(id, sorted[at - 1]), commonChars(id, sorted[at + 1]));
      return [id, id.slice(0, Math.max(shortCharsMin, common + 1))] as const;
    }),
  );
}

function commonChars(a: string, b = ""): number {
  let chars = 0;
  while (chars < a.length && a.charCodeAt(chars) === b.charCodeAt(chars)) chars += 1;
  return chars;
}
