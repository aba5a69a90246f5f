/** Places as the protocol counts them (from 0, in units that were agreed on) and as we do (from 1, in UTF-16 units). */

import type { Position, TextRange } from "../contract/language.ts";

export type PositionEncoding = "utf-16" | "utf-8";

/** The lines of a text, without their ends. */
export interface Lines {
  /** Undefined behind the last line; counted from 1. */
  at(line: number): string | undefined;
  readonly count: number;
}

/** The protocol ends a line at a newline, a carriage return, or both. */
export function linesOf(text: string): Lines {
  let starts: number[] | undefined;
  const all = (): number[] => {
    if (starts !== undefined) return starts;
    starts = [0];
    for (const found of text.matchAll(/\r\n|\n|\r/g)) starts.push(found.index + found[0].length);
    return starts;
  };
  return {
    at: (line) => {
      const start = all()[line - 1];
      if (start === undefined) return undefined;
      const end = all()[line] ?? text.length;
      return text.slice(start, end).replace(/[\r\n]+$/, "");
    },
    get count() {
      return all().length;
    },
  };
}

export function positionIn(lines: Lines | undefined, value: unknown, encoding: PositionEncoding): Position | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { line, character } = value as Readonly<Record<string, unknown>>; // any object has such fields or lacks them
  if (!isCount(line) || !isCount(character)) return undefined;
  if (lines === undefined) return { line: line + 1, column: character + 1 };
  // Some servers name the end of a file as the start of a line behind it.
  const text = lines.at(line + 1);
  if (text === undefined) return { line: lines.count, column: (lines.at(lines.count)?.length ?? 0) + 1 };
  const units = encoding === "utf-8" ? unitsOfBytes(text, character) : Math.min(character, text.length);
  return { line: line + 1, column: units + 1 };
}

export function rangeIn(lines: Lines | undefined, value: unknown, encoding: PositionEncoding): TextRange | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { start, end } = value as Readonly<Record<string, unknown>>; // as above
  const from = positionIn(lines, start, encoding);
  const to = positionIn(lines, end, encoding);
  return from === undefined || to === undefined ? undefined : { start: from, end: to };
}

export function wirePosition(
  lines: Lines,
  { line, column }: Position,
  encoding: PositionEncoding,
): { readonly line: number; readonly character: number } {
  const before = (lines.at(line) ?? "").slice(0, column - 1);
  return { line: line - 1, character: encoding === "utf-8" ? Buffer.byteLength(before, "utf8") : column - 1 };
}

function unitsOfBytes(text: string, bytes: number): number {
  let units = 0;
  let left = bytes;
  for (const character of text) {
    const size = Buffer.byteLength(character, "utf8");
    if (left < size) break;
    left -= size;
    units += character.length;
  }
  return units;
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
