/** Diagnostics as servers send them, made into ours: bounded, and without those that are malformed. */

import type { Diagnostic, Severity } from "../contract/language.ts";
import { limits } from "../contract/limits.ts";
import { type Lines, type PositionEncoding, rangeIn } from "./positions.ts";

const severities: readonly Severity[] = ["error", "warning", "information", "hint"];

/** What was said at once: as much of it as is kept, and how many more there were. */
export interface Heard {
  readonly list: readonly Diagnostic[];
  readonly errorsMore: number;
  readonly warningsMore: number;
}

export const nothingHeard: Heard = { list: [], errorsMore: 0, warningsMore: 0 };

/** Errors go before all others when there are too many. */
export function diagnosticsIn(value: unknown, path: string, lines: Lines, encoding: PositionEncoding): Heard {
  if (!Array.isArray(value)) return nothingHeard;
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
  return { list: [...errors, ...kept].toSorted(byPlace), errorsMore, warningsMore };
}

function diagnosticOf(value: unknown, path: string, lines: Lines, encoding: PositionEncoding): Diagnostic | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { range, message, code, source } = value as Readonly<Record<string, unknown>>; // any object has such fields or lacks them
  const place = rangeIn(lines, range, encoding);
  const words = typeof message === "string" ? message : markupOf(message);
  if (place === undefined || words === undefined) return undefined;
  return {
    path,
    range: place,
    severity: severityOf(value),
    message: words.slice(0, limits.languageMessageCharsMax),
    code: typeof code === "string" || typeof code === "number" ? String(code).slice(0, 100) : undefined,
    source: typeof source === "string" ? source.slice(0, 100) : undefined,
  };
}

/** Who does not say how bad it is means an error. */
function severityOf(value: unknown): Severity {
  if (typeof value !== "object" || value === null || !("severity" in value)) return "error";
  return (typeof value.severity === "number" ? severities[value.severity - 1] : undefined) ?? "error";
}

function markupOf(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null || !("value" in value)) return undefined;
  return typeof value.value === "string" ? value.value : undefined;
}

const byPlace = (one: Diagnostic, other: Diagnostic): number =>
  one.range.start.line - other.range.start.line || one.range.start.column - other.range.start.column;

/** What was known of a file: how often each thing was said, with the line it was said of and without. */
export interface Known {
  readonly atLine: ReadonlyMap<string, number>;
  readonly anywhere: ReadonlyMap<string, number>;
}

/** Of a file that nobody has looked at. */
export const nothingKnown: Known = { atLine: new Map(), anywhere: new Map() };
/** Of a file that was not there: all that is wrong with it now is new. */
export const noErrors: Known = { atLine: new Map(), anywhere: new Map() };

export function knownOf(diagnostics: readonly Diagnostic[], lines: Lines): Known {
  const atLine = new Map<string, number>();
  const anywhere = new Map<string, number>();
  for (const one of diagnostics) {
    add(atLine, atLineKey(one, lines), 1);
    add(anywhere, saying(one), 1);
  }
  return { atLine, anywhere };
}

/**
 * Which errors were there before? Lines move with a change, so they are known again by what they say, and by the text of their
 * line where something is said more than once.
 */
export function divided(
  errors: readonly Diagnostic[],
  known: Known,
  lines: Lines,
): { readonly fresh: readonly Diagnostic[]; readonly known: readonly Diagnostic[] } {
  const atLine = new Map(known.atLine);
  const anywhere = new Map(known.anywhere);
  const old = new Set<Diagnostic>();
  const take = (one: Diagnostic): void => {
    old.add(one);
    add(anywhere, saying(one), -1);
  };
  for (const one of errors) {
    const key = atLineKey(one, lines);
    if ((atLine.get(key) ?? 0) <= 0 || (anywhere.get(saying(one)) ?? 0) <= 0) continue;
    add(atLine, key, -1);
    take(one);
  }
  for (const one of errors) if (!old.has(one) && (anywhere.get(saying(one)) ?? 0) > 0) take(one);
  return { fresh: errors.filter((one) => !old.has(one)), known: errors.filter((one) => old.has(one)) };
}

const saying = ({ severity, code, source, message }: Diagnostic): string =>
  JSON.stringify([severity, code, source, message]);
const atLineKey = (one: Diagnostic, lines: Lines): string =>
  saying(one) + (lines.at(one.range.start.line) ?? "").trim().slice(0, 500);
const add = (counts: Map<string, number>, key: string, by: number): void =>
  void counts.set(key, (counts.get(key) ?? 0) + by);
