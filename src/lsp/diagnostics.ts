/** Parses diagnostics of servers: bounded, and without malformed ones. */

import { fileURLToPath, pathToFileURL } from "node:url";
import { limits } from "../contract/limits.ts";
import type { Diagnostic, Position, Severity, TextRange } from "../contract/lsp.ts";

const severities: readonly Severity[] = ["error", "warning", "information", "hint"];

/** One set of diagnostics: those that are kept, and how many more there were. */
export interface Published {
  readonly list: readonly Diagnostic[];
  readonly errorsMore: number;
  readonly warningsMore: number;
}

export const nothingPublished: Published = { list: [], errorsMore: 0, warningsMore: 0 };

/** If there are too many, errors are kept before all others. */
export function diagnosticsIn(value: unknown, path: string, lines: Lines, encoding: PositionEncoding): Published {
  if (!Array.isArray(value)) return nothingPublished;
  const errors: Diagnostic[] = [];
  const others: Diagnostic[] = [];
  const seen = new Set<string>();
  let errorsMore = 0;
  let warningsMore = 0;
  for (const each of value as readonly unknown[]) {
    const severity = severityOf(each);
    const list = severity === "error" ? errors : others;
    if (list.length >= limits.languageDiagnosticsMax) {
      if (severity === "error") errorsMore += 1;
      if (severity === "warning") warningsMore += 1;
      continue;
    }
    const diagnostic = diagnosticOf(each, path, lines, encoding);
    if (diagnostic === undefined) continue;
    const key = JSON.stringify(diagnostic);
    if (seen.has(key)) continue;
    seen.add(key);
    list.push(diagnostic);
  }
  const kept = others.slice(0, limits.languageDiagnosticsMax - errors.length);
  warningsMore += others.slice(kept.length).filter(({ severity }) => severity === "warning").length;
  return { list: [...errors, ...kept].toSorted(byPosition), errorsMore, warningsMore };
}

function diagnosticOf(value: unknown, path: string, lines: Lines, encoding: PositionEncoding): Diagnostic | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { range, message, code, source } = value as Readonly<Record<string, unknown>>; // any object has such fields or lacks them
  const place = rangeIn(lines, range, encoding);
  const text = typeof message === "string" ? message : markupOf(message);
  if (place === undefined || text === undefined) return undefined;
  return {
    path,
    range: place,
    severity: severityOf(value),
    message: text.slice(0, limits.languageMessageCharsMax),
    code: typeof code === "string" || typeof code === "number" ? String(code).slice(0, 100) : undefined,
    source: typeof source === "string" ? source.slice(0, 100) : undefined,
  };
}

function severityOf(value: unknown): Severity {
  if (typeof value !== "object" || value === null || !("severity" in value)) return "error";
  return (typeof value.severity === "number" ? severities[value.severity - 1] : undefined) ?? "error";
}

function markupOf(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null || !("value" in value)) return undefined;
  return typeof value.value === "string" ? value.value : undefined;
}

const byPosition = (one: Diagnostic, other: Diagnostic): number =>
  one.range.start.line - other.range.start.line || one.range.start.column - other.range.start.column;

/** The diagnostics that were known for a file: how often each message occurred, with the text of its line and without. */
export interface KnownDiagnostics {
  readonly atLine: ReadonlyMap<string, number>;
  readonly anywhere: ReadonlyMap<string, number>;
}

export const nothingKnown: KnownDiagnostics = { atLine: new Map(), anywhere: new Map() };
export const noErrors: KnownDiagnostics = { atLine: new Map(), anywhere: new Map() };

export function knownOf(diagnostics: readonly Diagnostic[], lines: Lines): KnownDiagnostics {
  const atLine = new Map<string, number>();
  const anywhere = new Map<string, number>();
  for (const one of diagnostics) {
    add(atLine, atLineKey(one, lines), 1);
    add(anywhere, messageKey(one), 1);
  }
  return { atLine, anywhere };
}

/** Lines move with a change, so an error is known by its message, and if that occurs twice, by its line's text. */
export function splitByKnown(
  errors: readonly Diagnostic[],
  known: KnownDiagnostics,
  lines: Lines,
): { readonly fresh: readonly Diagnostic[]; readonly known: readonly Diagnostic[] } {
  const atLine = new Map(known.atLine);
  const anywhere = new Map(known.anywhere);
  const old = new Set<Diagnostic>();
  const markKnown = (one: Diagnostic): void => {
    old.add(one);
    add(anywhere, messageKey(one), -1);
  };
  for (const one of errors) {
    const key = atLineKey(one, lines);
    if ((atLine.get(key) ?? 0) <= 0 || (anywhere.get(messageKey(one)) ?? 0) <= 0) continue;
    add(atLine, key, -1);
    markKnown(one);
  }
  for (const one of errors) if (!old.has(one) && (anywhere.get(messageKey(one)) ?? 0) > 0) markKnown(one);
  return { fresh: errors.filter((one) => !old.has(one)), known: errors.filter((one) => old.has(one)) };
}

const messageKey = ({ severity, code, source, message }: Diagnostic): string =>
  JSON.stringify([severity, code, source, message]);
const atLineKey = (one: Diagnostic, lines: Lines): string =>
  messageKey(one) + (lines.at(one.range.start.line) ?? "").trim().slice(0, 500);
const add = (counts: Map<string, number>, key: string, by: number): void =>
  void counts.set(key, (counts.get(key) ?? 0) + by);

// Converts positions between the protocol's (from 0, in the negotiated encoding) and ours (from 1, in UTF-16 units).

export type PositionEncoding = "utf-16" | "utf-8";

export interface Lines {
  at(line: number): string | undefined;
  readonly count: number;
}

/** The protocol ends a line at LF, CR or CRLF. */
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
  // Some servers give the end of a file as the start of the line after it.
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

export const uriOf = (path: string): string => pathToFileURL(path).href;

export function pathOf(uri: unknown): string | undefined {
  if (typeof uri !== "string" || !/^file:/i.test(uri)) return undefined;
  try {
    const path = fileURLToPath(uri);
    if (path.includes("\0")) return undefined;
    // Servers differ in the case of the drive letter.
    return path.replace(/^[a-z]:/, (drive) => drive.toUpperCase());
  } catch {
    return undefined;
  }
}
