/** What stands between brackets in a pattern: `[abc]`, `[a-z]`, `[!0-9]`, `[[:alpha:]_]`. */

/** A set of characters, and where its text ends (behind the bracket). */
export interface CharacterSet {
  readonly negated: boolean;
  readonly ranges: readonly (readonly [from: number, to: number])[];
  readonly classes: readonly RegExp[];
  readonly end: number;
}

const classes: Readonly<Record<string, RegExp>> = {
  alnum: /[\p{L}\p{Nd}]/u,
  alpha: /\p{L}/u,
  blank: /[ \t]/,
  cntrl: /\p{Cc}/u,
  digit: /[0-9]/,
  graph: /[^\s\p{Cc}\p{Cs}\p{Cn}]/u,
  lower: /\p{Ll}/u,
  print: /[^\p{Cc}\p{Cs}\p{Cn}]/u,
  punct: /[\p{P}\p{S}]/u,
  space: /\s/,
  upper: /\p{Lu}/u,
  word: /[\p{L}\p{Nd}_]/u,
  xdigit: /[0-9A-Fa-f]/,
};

/** `at` is behind the opening bracket. */
export function charactersOf(
  letters: readonly string[],
  at: number,
): CharacterSet | "unclosed bracket" | "reversed range" | "unknown class" {
  const negated = letters[at] === "!" || letters[at] === "^";
  const start = negated ? at + 1 : at;
  const ranges: [number, number][] = [];
  const named: RegExp[] = [];
  for (let here = start; here < letters.length; ) {
    const letter = letters[here] ?? "";
    // A closing bracket that stands first is one of the set.
    if (letter === "]" && here > start) return { negated, ranges, classes: named, end: here + 1 };
    if (letter === "[" && letters[here + 1] === ":") {
      const end = letters.indexOf("]", here);
      const name = letters.slice(here + 2, end - 1).join("");
      if (end !== -1 && letters[end - 1] === ":" && /^[a-z]*$/.test(name)) {
        const found = Object.hasOwn(classes, name) ? classes[name] : undefined;
        if (found === undefined) return "unknown class";
        named.push(found);
        here = end + 1;
        continue;
      }
    }
    const first = oneOf(letters, here);
    here = first.next;
    if (letters[here] === "-" && here + 1 < letters.length && letters[here + 1] !== "]") {
      const last = oneOf(letters, here + 1);
      if (last.code < first.code) return "reversed range";
      ranges.push([first.code, last.code]);
      here = last.next;
    } else ranges.push([first.code, first.code]);
  }
  return "unclosed bracket";
}

function oneOf(letters: readonly string[], at: number): { readonly code: number; readonly next: number } {
  const escaped = letters[at] === "\\" && at + 1 < letters.length;
  const letter = letters[escaped ? at + 1 : at] ?? "";
  return { code: letter.codePointAt(0) ?? 0, next: escaped ? at + 2 : at + 1 };
}

export function hasCharacter({ negated, ranges, classes: named }: CharacterSet, letter: string): boolean {
  const code = letter.codePointAt(0) ?? 0;
  const inside = ranges.some(([from, to]) => code >= from && code <= to) || named.some((one) => one.test(letter));
  return inside !== negated;
}
