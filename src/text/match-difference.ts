/** What a line that was asked for and the file's line differ in, by the first test that explains it. */

import type { DifferenceKind } from "../contract/edit.ts";
import { foldCharacters, foldQuotes } from "./match-fold.ts";
import { contentLength, indentationOf, trimBlanks } from "./match-source.ts";
import { wellFormed } from "./well-formed.ts";

/** Whether a line is another one but for what the ladder forgives and the indentation, which is judged over all lines. */
export function isSameLine(asked: string, actual: string): boolean {
  return forgiving(asked) === forgiving(actual);
}

/** The kind of difference of two lines that are not equal. */
export function differenceOf(asked: string, actual: string): DifferenceKind {
  for (const [kind, explains] of tests) if (explains(asked, actual)) return kind;
  return "text";
}

const tests: readonly (readonly [DifferenceKind, (asked: string, actual: string) => boolean])[] = [
  ["undecoded byte", (asked, actual) => asked !== actual && wellFormed(asked) === wellFormed(actual)],
  ["trailing blank", (asked, actual) => withoutEnd(asked) === withoutEnd(actual)],
  ["line end", (asked, actual) => asked.replaceAll("\r", "") === actual.replaceAll("\r", "")],
  ["tab or space", (asked, actual) => trimBlanks(asked) === trimBlanks(actual) && mixesBlanks(asked, actual)],
  ["indentation", (asked, actual) => trimBlanks(asked) === trimBlanks(actual)],
  ["quote", (asked, actual) => foldQuotes(trimBlanks(asked)) === foldQuotes(trimBlanks(actual))],
  ["look-alike", (asked, actual) => forgiving(asked) === forgiving(actual)],
  ["escape", (asked, actual) => unescaped(asked) === unescaped(actual)],
  ["tab or space", (asked, actual) => spaced(asked) === spaced(actual)],
  ["blank inside the line", (asked, actual) => asked.replace(/\s/g, "") === actual.replace(/\s/g, "")],
  ["case", (asked, actual) => forgiving(asked).toLowerCase() === forgiving(actual).toLowerCase()],
  ["number", (asked, actual) => unnumbered(asked) === unnumbered(actual)],
];

function forgiving(line: string): string {
  return trimBlanks(foldCharacters(line, "look-alikes"));
}

function withoutEnd(line: string): string {
  return line.slice(0, contentLength(line));
}

/** Tabs on one side where the other has spaces, rather than more or fewer of the same. */
function mixesBlanks(asked: string, actual: string): boolean {
  const [one, other] = [indentationOf(asked), indentationOf(actual)];
  return (one + other).includes(" ") && (one + other).includes("\t") && !one.endsWith(other) && !other.endsWith(one);
}

/** Tabs as single spaces. */
function spaced(line: string): string {
  return trimBlanks(line).replaceAll("\t", " ");
}

const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r" };

/** Escapes of any sort as what they stand for, HTML entities among them. */
function unescaped(line: string): string {
  return trimBlanks(line)
    .replace(/\\u\{?([0-9a-fA-F]{4,6})\}?|\\x([0-9a-fA-F]{2})/g, (whole, long?: string, short?: string) => {
      const point = Number.parseInt(long ?? short ?? "", 16);
      return point <= 0x10ffff ? String.fromCodePoint(point) : whole;
    })
    .replace(/\\(.)/g, (_, character: string) => escapes[character] ?? character)
    .replace(/&(lt|gt|quot|#39|apos|amp);/g, (_, name: string) => entities[name] ?? "");
}

const entities: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', "#39": "'", apos: "'", amp: "&" };

/** Without a pasted line number. */
export function withoutNumber(line: string): string {
  return line.replace(/^ *\d+(?:\u2192|[:|\t]| \|) ?/, "");
}

/** Without a pasted line number, and with every number alike. */
function unnumbered(line: string): string {
  return forgiving(withoutNumber(forgiving(line))).replace(/\d+/g, "0");
}
