/** Brace expansion: `{a,b}`, `{1..3}`, `{01..10..3}`, `{a..e}`, nested. Braces without a choice are literal. */

export function expandBraces(pattern: string, choicesMax: number): readonly string[] | { readonly fault: BraceFault } {
  const parsed = sequence({ text: pattern, bracketEnd: 0, choicesMax }, 0, 0);
  if (typeof parsed === "string") return { fault: parsed };
  if (parsed.count > choicesMax) return { fault: "too many choices" };
  return [...new Set(expand(parsed.parts))];
}

/** A text, or a choice between sequences. */
type Part = string | readonly (readonly Part[])[];

type BraceFault = "unclosed brace" | "too many choices";

interface Sequence {
  readonly parts: readonly Part[];
  readonly count: number;
  /** Where it ends: at a comma or brace of the enclosing choice. */
  readonly end: number;
}

interface Reading {
  readonly text: string;
  /** The next closing bracket or slash, as far as looked for: each is looked for once. */
  bracketEnd: number;
  readonly choicesMax: number;
}

/** More levels would exhaust the stack. */
const depthMax = 1_000;

/** `depth`: of the braces around it. */
function sequence(reading: Reading, from: number, depth: number): Sequence | BraceFault {
  if (depth > depthMax) return "too many choices";
  const { text } = reading;
  const parts: Part[] = [];
  let plain = "";
  let count = 1;
  let at = from;
  while (at < text.length) {
    const letter = text[at] ?? "";
    if (letter === "\\") {
      plain += text.slice(at, at + 2);
      at += 2;
    } else if (depth > 0 && (letter === "," || letter === "}")) break;
    else if (letter === "{") {
      const brace = choiceAt(reading, at, depth + 1);
      if (typeof brace === "string") return brace;
      parts.push(plain, ...brace.parts);
      count *= brace.count;
      plain = "";
      at = brace.end;
    } else {
      // Braces and commas inside brackets are literal.
      const end = letter === "[" ? bracketEndAt(reading, at) : at + 1;
      plain += text.slice(at, end);
      at = end;
    }
  }
  if (depth > 0 && at >= text.length) return "unclosed brace";
  return { parts: [...parts, plain], count, end: at };
}

/** The index after `[…]`; after the bracket if none closes it within the name. */
function bracketEndAt(reading: Reading, open: number): number {
  const { text } = reading;
  // A closing bracket in first place belongs to the set.
  const from = open + (/^\[(?:[!^]\]?|\])?/.exec(text.slice(open, open + 3))?.[0].length ?? 1);
  while (reading.bracketEnd < from || !/^[\]/]?$/.test(text[reading.bracketEnd] ?? "")) {
    reading.bracketEnd = Math.max(from, reading.bracketEnd + 1);
  }
  return text[reading.bracketEnd] === "]" ? reading.bracketEnd + 1 : open + 1;
}

function choiceAt(reading: Reading, open: number, depth: number): Sequence | BraceFault {
  const { text, choicesMax } = reading;
  const range = /^\{(-?\d{1,9}|[a-zA-Z])\.\.(-?\d{1,9}|[a-zA-Z])(?:\.\.(-?\d{1,9}))?\}/.exec(text.slice(open));
  const steps = range === null ? undefined : rangeOf(range[1] ?? "", range[2] ?? "", range[3], choicesMax);
  if (range !== null && steps !== undefined) {
    return { parts: [steps], count: steps.length, end: open + range[0].length };
  }
  const choices: (readonly Part[])[] = [];
  let count = 0;
  for (let at = open + 1; ; ) {
    const choice = sequence(reading, at, depth);
    if (typeof choice === "string") return choice;
    choices.push(choice.parts);
    count += choice.count;
    at = choice.end + 1;
    if (text[choice.end] === "}") {
      // Around a single choice the braces are literal.
      return { parts: choices.length > 1 ? [choices] : ["\\{", choices, "\\}"], count, end: at };
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

function expand(parts: readonly Part[]): readonly string[] {
  let texts: readonly string[] = [""];
  for (const part of joined(parts, [])) {
    const next = typeof part === "string" ? [part] : part.flatMap(expand);
    texts = texts.flatMap((text) => next.map((more) => text + more));
  }
  return texts;
}

/** Without choices of one, and with adjacent texts joined: deeply nested braces are then a single text. */
function joined(parts: readonly Part[], into: Part[]): readonly Part[] {
  for (const part of parts) {
    const last = into.at(-1);
    if (typeof part !== "string" && part.length === 1) joined(part[0] ?? [], into);
    else if (typeof part === "string" && typeof last === "string") into[into.length - 1] = last + part;
    else into.push(part);
  }
  return into;
}
