/** Brace expansion: `{a,b}`, `{1..3}`, `{01..10..3}`, `{a..e}`, nested. Braces without a choice are literal. */

/** All expansions of a pattern, at most `choicesMax`. */
export function expandBraces(
  pattern: string,
  choicesMax: number,
): readonly string[] | { readonly fault: "unclosed brace" | "too many choices" } {
  const parsed = sequence(pattern, 0, "top", choicesMax);
  if (parsed === "unclosed") return { fault: "unclosed brace" };
  if (count(parsed.parts) > choicesMax) return { fault: "too many choices" };
  return [...new Set(expand(parsed.parts))];
}

/** A text, or a choice between sequences. */
type Part = string | readonly (readonly Part[])[];

interface Sequence {
  readonly parts: readonly Part[];
  /** Where it ends: at a comma or brace of the enclosing choice. */
  readonly end: number;
}

function sequence(text: string, from: number, inside: "top" | "brace", choicesMax: number): Sequence | "unclosed" {
  const parts: Part[] = [];
  let plain = "";
  let at = from;
  while (at < text.length) {
    const letter = text[at] ?? "";
    if (letter === "\\") {
      plain += text.slice(at, at + 2);
      at += 2;
    } else if (inside === "brace" && (letter === "," || letter === "}")) break;
    else if (letter === "{") {
      const brace = choiceAt(text, at, choicesMax);
      if (brace === "unclosed") return brace;
      parts.push(plain, ...brace.parts);
      plain = "";
      at = brace.end;
    } else {
      // Braces and commas inside brackets are literal.
      const bracket = letter === "[" ? /^\[[!^]?\]?[^\]/]*\]/.exec(text.slice(at))?.[0] : undefined;
      plain += bracket ?? letter;
      at += bracket?.length ?? 1;
    }
  }
  if (inside === "brace" && at >= text.length) return "unclosed";
  return { parts: [...parts, plain], end: at };
}

function choiceAt(text: string, open: number, choicesMax: number): Sequence | "unclosed" {
  const range = /^\{(-?\d{1,9}|[a-zA-Z])\.\.(-?\d{1,9}|[a-zA-Z])(?:\.\.(-?\d{1,9}))?\}/.exec(text.slice(open));
  const steps = range === null ? undefined : rangeOf(range[1] ?? "", range[2] ?? "", range[3], choicesMax);
  if (range !== null && steps !== undefined) {
    return { parts: [steps], end: open + range[0].length };
  }
  const choices: (readonly Part[])[] = [];
  for (let at = open + 1; ; ) {
    const choice = sequence(text, at, "brace", choicesMax);
    if (choice === "unclosed") return choice;
    choices.push(choice.parts);
    at = choice.end + 1;
    if (text[choice.end] === "}") {
      const [only] = choices;
      if (choices.length > 1 || only === undefined) return { parts: [choices], end: at };
      // A single choice: the braces are literal.
      return { parts: ["\\{", ...only, "\\}"], end: at };
    }
  }
}

/** Undefined if the ends are not of one kind. Stops one over `choicesMax`, which the caller then reports. */
function rangeOf(
  from: string,
  to: string,
  by: string | undefined,
  choicesMax: number,
): readonly (readonly Part[])[] | undefined {
  const numeric = /\d/.test(from);
  if (numeric !== /\d/.test(to)) return undefined;
  const first = numeric ? Number(from) : from.charCodeAt(0);
  const last = numeric ? Number(to) : to.charCodeAt(0);
  const step = Math.abs(Number(by ?? 1)) || 1;
  const padded = numeric && [from, to].some((end) => /^-?0\d/.test(end));
  const digits = padded ? Math.max(from.length, to.length) : 0;
  const texts: string[][] = [];
  const total = Math.floor(Math.abs(last - first) / step) + 1;
  for (let index = 0; index < Math.min(total, choicesMax + 1); index += 1) {
    const value = first + index * step * Math.sign(last - first);
    texts.push([numeric ? padTo(value, digits) : escaped(String.fromCharCode(value))]);
  }
  return texts;
}

const padTo = (value: number, digits: number): string =>
  value < 0 ? `-${String(-value).padStart(digits - 1, "0")}` : String(value).padStart(digits, "0");

/** Between `Z` and `a` there are brackets and a backslash. */
const escaped = (letter: string): string => (/[[\]\\^`_]/.test(letter) ? `\\${letter}` : letter);

/** The number of expansions, without making them. */
function count(parts: readonly Part[]): number {
  return parts.reduce(
    (product, part) =>
      typeof part === "string" ? product : product * part.reduce((sum, choice) => sum + count(choice), 0),
    1,
  );
}

function expand(parts: readonly Part[]): readonly string[] {
  let texts: readonly string[] = [""];
  for (const part of parts) {
    const next = typeof part === "string" ? [part] : part.flatMap(expand);
    texts = texts.flatMap((text) => next.map((more) => text + more));
  }
  return texts;
}
