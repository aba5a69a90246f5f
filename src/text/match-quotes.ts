/** Quotes of a replacement in the style of the lines it replaces. */

/** How the quotes of one kind are to be written; undefined: as they were sent. */
export interface QuoteStyle {
  readonly double: "straight" | Marks | undefined;
  readonly single: "straight" | Marks | undefined;
}

export interface Marks {
  readonly open: string;
  readonly close: string;
}

/** A line as the call has it and as the file has it. */
export interface LinePair {
  readonly asked: string;
  readonly actual: string;
}

const kinds = {
  double: { straight: '"', curly: /[\u201c-\u201f]/ },
  single: { straight: "'", curly: /[\u2018-\u201b]/ },
} as const;

/** The style the file has where the call has the other one. Lines that mix both styles of a kind tell nothing. */
export function quoteStyleOf(pairs: readonly LinePair[]): QuoteStyle {
  const actual = pairs.map((pair) => pair.actual).join("\n");
  const asked = quotesIn(pairs.map((pair) => pair.asked).join("\n"));
  const there = quotesIn(actual);
  const style = (kind: keyof QuoteStyle) => {
    const known = kindStyle(kind, asked, there);
    return known === "curly" ? marksOf(kind, actual) : known;
  };
  return { double: style("double"), single: style("single") };
}

/** For each kind, whether a text has it straight and whether it has it curly. */
export type QuotesThere = Readonly<Record<keyof QuoteStyle, { readonly straight: boolean; readonly curly: boolean }>>;

export function quotesIn(text: string): QuotesThere {
  const there = (kind: keyof QuoteStyle) => ({
    straight: text.includes(kinds[kind].straight),
    curly: kinds[kind].curly.test(text),
  });
  return { double: there("double"), single: there("single") };
}

/** What holds for lines that replace none: the style around them, if the file has no other. */
export function styleOfInserted(style: QuoteStyle, there: () => QuotesThere): QuoteStyle {
  const onlyOne = (kind: keyof QuoteStyle) => {
    if (style[kind] === undefined) return undefined;
    const otherStands = style[kind] === "straight" ? there()[kind].curly : there()[kind].straight;
    return otherStands ? undefined : style[kind];
  };
  return { double: onlyOne("double"), single: onlyOne("single") };
}

/** The style of a line, and of the lines around it for the kinds of quotes that it does not have itself. */
export function firstKnown(own: LinePair, style: QuoteStyle, around: QuoteStyle): QuoteStyle {
  const both = own.asked + own.actual;
  const known = (kind: keyof QuoteStyle) =>
    both.includes(kinds[kind].straight) || kinds[kind].curly.test(both) ? style[kind] : around[kind];
  return { double: known("double"), single: known("single") };
}

/** `line` from `from` up to `to` with its quotes in the style; what stands around decides which open and which close. */
export function styledPart(line: string, from: number, to: number, style: QuoteStyle): string {
  if (style.double === undefined && style.single === undefined) return line.slice(from, to);
  let styled = "";
  for (let at = from; at < to; at += 1) {
    const character = line.charAt(at);
    if (character === '"' && typeof style.double === "object") {
      styled += opens(line, at) ? style.double.open : style.double.close;
    } else if (character === "'" && typeof style.single === "object") {
      styled += opens(line, at) && !isElision(line, at) ? style.single.open : apostropheOr(style.single, line, at);
    } else if (style.double === "straight" && kinds.double.curly.test(character)) {
      styled += '"';
    } else if (style.single === "straight" && kinds.single.curly.test(character)) {
      styled += "'";
    } else {
      styled += character;
    }
  }
  return styled;
}

function kindStyle(kind: keyof QuoteStyle, asked: QuotesThere, actual: QuotesThere): "straight" | undefined | "curly" {
  const [call, file] = [asked[kind], actual[kind]];
  if (call.straight && !call.curly && file.curly && !file.straight) return "curly";
  if (call.curly && !call.straight && file.straight && !file.curly) return "straight";
  return undefined;
}

/** German and Polish open below the line; German closes with what opens in English. */
function marksOf(kind: keyof QuoteStyle, actual: string): Marks {
  const [low, left, right] = kind === "double" ? ["\u201e", "\u201c", "\u201d"] : ["\u201a", "\u2018", "\u2019"];
  if (!actual.includes(low)) return { open: left, close: right };
  return { open: low, close: actual.includes(left) ? left : right };
}

function opens(line: string, at: number): boolean {
  return (
    at === 0 ||
    (/[\s([{<=/\u2010-\u2015\u2018\u201a\u201c\u201e"'-]/.test(line.charAt(at - 1)) && !closesAfterQuote(line, at))
  );
}

/** A quote after another quote opens only if a word follows. */
function closesAfterQuote(line: string, at: number): boolean {
  return /["']/.test(line.charAt(at - 1)) && !/[\p{L}\p{N}]/u.test(line.charAt(at + 1));
}

/** `'90s`: letters or digits were left out in front. */
function isElision(line: string, at: number): boolean {
  return /^'\d\ds?\b/.test(line.slice(at, at + 5));
}

/** Between letters it is an apostrophe, which is the English closing mark in every style. */
function apostropheOr(marks: Marks, line: string, at: number): string {
  const insideWord = /[\p{L}\p{N}]/u.test(line.charAt(at - 1)) && /\p{L}/u.test(line.charAt(at + 1));
  return insideWord || isElision(line, at) ? "\u2019" : marks.close;
}
