/** Outlines in words that dialects share: the lines, what they leave out, and how to go on. */

import type { OutlineItem, OutlineOutcome } from "../contract/outline.ts";
import type { ProblemOf } from "../contract/problem.ts";
import { escapeName } from "../text/text.ts";
import { bracketed, type Names, quoted } from "./words.ts";

/** An item for programs. Those inside of another one follow it, one deeper. */
export interface OutlineEntry {
  readonly name: string;
  readonly kind: string;
  readonly startLine: number;
  readonly endLine: number;
  /** 0 at the top level. */
  readonly depth: number;
  /** How many more are inside and not shown. */
  readonly hidden?: number;
}

export const outlineEntries = ({ items }: OutlineOutcome): readonly OutlineEntry[] =>
  items.map(({ name, kind, from, to, depth, hidden }) => ({
    name,
    kind,
    startLine: from,
    endLine: to,
    depth,
    ...(hidden === 0 ? {} : { hidden }),
  }));

/** The whole answer: a head, the lines, and notes below them. */
export function outlineText(outcome: OutlineOutcome, names: Names): string {
  const head = `[Outline of ${quoted(outcome.target.asked)}: ${outlineMeasure(outcome)}]`;
  const notes = outlineNotes(outcome, names).map(bracketed);
  const lines = outlineLines(outcome);
  return [head, ...lines, ...(notes.length > 0 && lines.length > 0 ? [""] : []), ...notes].join("\n");
}

/** Whether there is more than the lines show. */
export const isOutlineCut = ({ why, items, total, counted }: OutlineOutcome): boolean =>
  why === "over budget" || items.length < total || counted !== "all";

/** `22-400 class Bar`, indented by depth. */
export const outlineLines = (outcome: OutlineOutcome): readonly string[] =>
  outlineRows(outcome).map(({ indent, lines, kind, name, inside }) => `${indent}${lines} ${kind} ${name}${inside}`);

export interface OutlineRow {
  readonly indent: string;
  readonly lines: string;
  readonly kind: string;
  readonly name: string;
  readonly inside: string;
}

export const outlineRows = ({ items }: OutlineOutcome): readonly OutlineRow[] => items.map(rowOf);

const rowOf = ({ name, kind, from, to, depth, hidden }: OutlineItem): OutlineRow => ({
  indent: "  ".repeat(depth),
  lines: from === to ? `${from}` : `${from}-${to}`,
  kind,
  name: escapeName(name),
  inside: hidden === 0 ? "" : ` (${hidden} more inside)`,
});

/** Notes on the lines: clauses without a verb or a final period. */
export function outlineNotes(outcome: OutlineOutcome, names: Names): readonly string[] {
  const { items, total, counted, depthShown, linesRead, faultLine, language, sizeBytes } = outcome;
  const notes: string[] = [];
  const [first] = items;
  const reading = first === undefined ? names.reading(1, 100) : names.reading(first.from, first.to - first.from + 1);
  if (outcome.why === "over budget") {
    notes.push(
      `the file is too long for one answer (${outcome.linesTotal} lines), so this is what it declares and not its text: read the lines that you need, such as ${reading}`,
    );
  }
  if (outcome.linesTotal === 0) notes.push("the file is empty");
  else if (items.length === 0) notes.push(`nothing is declared in it that an outline shows, read it with ${reading}`);
  const listedTotal = items.reduce((sum, { hidden }) => sum + hidden, items.length);
  if (listedTotal < total) {
    const of = `${counted === "all" ? "" : "at least "}${total}`;
    notes.push(`${items.length} of ${of} declarations are shown, find the others with ${names.search}`);
  } else if (depthShown !== undefined) {
    notes.push(`only the first ${depthShown === 1 ? "level is" : `${depthShown} levels are`} shown`);
  }
  if (linesRead !== undefined) {
    notes.push(
      `only the first ${linesRead} lines were looked at, since the file has ${sizeBytes} bytes: search the rest with ${names.search}`,
    );
  }
  if (faultLine !== undefined) {
    notes.push(`line ${faultLine} is not understood as ${language}, so something may be missing or in the wrong place`);
  }
  return notes;
}

/** `142 declarations, typescript, 5200 lines`. */
export function outlineMeasure({ total, counted, language, linesTotal }: OutlineOutcome): string {
  const many = `${counted === "all" ? "" : "at least "}${total} ${total === 1 ? "declaration" : "declarations"}`;
  return `${many}, ${language}, ${linesTotal} ${linesTotal === 1 ? "line" : "lines"}`;
}

/** Why there is no outline, and what to do: the part after `Cannot outline "x": `. */
export function noOutlineWords(problem: ProblemOf<"NO_OUTLINE">, names: Names): string {
  const instead = `read it in parts with ${names.reading(1, 500)} or search it with ${names.search}`;
  switch (problem.reason) {
    case "language":
      return `files of this name have no outline, ${instead}`;
    case "not installed":
      return `that needs packages that are not installed, ask the user to run npm install ${problem.install}, or ${instead}`;
    case "time":
    case "memory":
      return `parsing it takes more ${problem.reason} than it may have, ${instead}`;
    case "crash":
      return `the parser cannot cope with it, ${instead}`;
  }
}
