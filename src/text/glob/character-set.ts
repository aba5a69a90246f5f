/** Bracket expressions: `[abc]`, `[a-z]`, `[!0-9]`, `[[:alpha:]_]`. */

/** `end`: the index after the closing bracket. */
export interface CharacterSet {
  readonly negated: boolean;
  readonly ranges: readonly (readonly [from: number, to: number])[];
  readonly classes: readonly RegExp[];
  readonly end: number;
}

/** `unicode` in globs; `ascii` in gitignore lines, as in git. */
export type ClassLetters = "unicode" | "ascii";

const classes: Readonly<Record<ClassLetters, Readonly<Record<string, RegExp>>>> = {
  unicode: {
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
  },
  ascii: {
    alnum: /[0-9A-Za-z]/,
    alpha: /[A-Za-z]/,
    blank: /[ \t]/,
    // oxlint-disable-next-line no-control-regex
    cntrl: /[\x00-\x1f\x7f]/,
    digit: /[0-9]/,
    graph: /[!-~]/,
    lower: /[a-z]/,
    print: /[ -~]/,
    punct: /[!-/:-@[-`{-~]/,
    space: /[ \t\n\r]/,
    upper: /[A-Z]/,
    xdigit: /[0-9A-Fa-f]/,
  },
};

/** `at`: the index after the opening bracket. */
export function parseCharacterSet(
  letters: readonly string[],
  at: number,
  classLetters: ClassLetters = "unicode",
): CharacterSet | "unclosed bracket" | "reversed range" | "unknown class" {
  const negated = letters[at] === "!" || letters[at] === "^";
  const start = negated ? at + 1 : at;
  const ranges: [number, number][] = [];
  const named: RegExp[] = [];
  for (let here = start; here < letters.length; ) {
    const letter = letters[here] ?? "";
    // A closing bracket in first place belongs to the set.
    if (letter === "]" && here > start) return { negated, ranges, classes: named, end: here + 1 };
    if (letter === "[" && letters[here + 1] === ":") {
      const found = classAt(letters, here, classLetters);
      if (typeof found === "string") return found;
      if (found !== undefined) {
        named.push(found.letters);
        here = found.end;
        continue;
      }
    }
    const first = characterAt(letters, here);
    here = first.next;
    if (letters[here] === "-" && here + 1 < letters.length && letters[here + 1] !== "]") {
      const last = characterAt(letters, here + 1);
      here = last.next;
      if (last.code >= first.code) ranges.push([first.code, last.code]);
      // git takes such a range for its first character.
      else if (classLetters === "ascii") ranges.push([first.code, first.code]);
      else return "reversed range";
    } else ranges.push([first.code, first.code]);
  }
  return "unclosed bracket";
}

interface NamedClass {
  readonly letters: RegExp;
  readonly end: number;
}

/** Parses `[:alpha:]`; undefined if the bracket is literal. */
function classAt(
  letters: readonly string[],
  at: number,
  classLetters: ClassLetters,
): NamedClass | "unclosed bracket" | "unknown class" | undefined {
  const end = letters.indexOf("]", at + 2);
  if (end === -1) return "unclosed bracket";
  if (letters[end - 1] !== ":" || end < at + 4) return undefined;
  const name = letters.slice(at + 2, end - 1).join("");
  if (classLetters === "unicode" && !/^[a-z]*$/.test(name)) return undefined;
  const found = Object.hasOwn(classes[classLetters], name) ? classes[classLetters][name] : undefined;
  return found === undefined ? "unknown class" : { letters: found, end: end + 1 };
}

function characterAt(letters: readonly string[], at: number): { readonly code: number; readonly next: number } {
  const escaped = letters[at] === "\\" && at + 1 < letters.length;
  const letter = letters[escaped ? at + 1 : at] ?? "";
  return { code: letter.codePointAt(0) ?? 0, next: escaped ? at + 2 : at + 1 };
}

/** `any`: a character matches if its lower or upper case does. */
export function hasCharacter(set: CharacterSet, code: number, letterCase: "exact" | "any" = "exact"): boolean {
  return (
    (isInside(set, code) || (letterCase === "any" && otherCases(code).some((other) => isInside(set, other)))) !==
    set.negated
  );
}

function isInside({ ranges, classes: named }: CharacterSet, code: number): boolean {
  for (const [from, to] of ranges) if (code >= from && code <= to) return true;
  if (named.length === 0) return false;
  const letter = String.fromCodePoint(code);
  return named.some((one) => one.test(letter));
}

function otherCases(code: number): readonly number[] {
  const letter = String.fromCodePoint(code);
  return [letter.toLowerCase(), letter.toUpperCase()].flatMap((other) => {
    const changed = other.codePointAt(0) ?? code;
    return other.length === String.fromCodePoint(changed).length && changed !== code ? [changed] : [];
  });
}
