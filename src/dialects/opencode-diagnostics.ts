/** What language servers say of a file, as the two opencode dialects have it: a block of its own behind the answer. */

import type { ChangeOutcome } from "../contract/edit.ts";
import type { Diagnostic, DiagnosticsReport, Severity } from "../contract/language.ts";
import { escapeName } from "../text/escape.ts";
import { errorsWords, messageOf, reportsIn, unfinishedLines } from "./diagnostics-text.ts";
import { quoted } from "./words.ts";

/** As the protocol of language servers has it: lines and characters count from 0, an error is 1. */
export interface WireDiagnostic {
  readonly range: { readonly start: WirePosition; readonly end: WirePosition };
  readonly severity: number;
  readonly message: string;
  readonly code?: string;
  readonly source?: string;
}

interface WirePosition {
  readonly line: number;
  readonly character: number;
}

/** By absolute path. */
export type DiagnosticsByFile = Readonly<Record<string, readonly WireDiagnostic[]>>;

export const diagnosticsFor = (outcome: ChangeOutcome): DiagnosticsByFile =>
  Object.fromEntries(
    reportsIn(outcome).map(({ report }) => [
      report.path,
      [...report.newErrors, ...report.knownErrors, ...report.warnings].map(wireOf),
    ]),
  );

const severities = { error: 1, warning: 2, information: 3, hint: 4 } satisfies Record<Severity, number>;

const wireOf = ({ range: { start, end }, severity, message, code, source }: Diagnostic): WireDiagnostic => ({
  range: {
    start: { line: start.line - 1, character: start.column - 1 },
    end: { line: end.line - 1, character: end.column - 1 },
  },
  severity: severities[severity],
  message,
  ...(code === undefined ? {} : { code }),
  ...(source === undefined ? {} : { source }),
});

/** Blocks behind the answer to a change; none where all is well. */
export const diagnosticBlocks = (outcome: ChangeOutcome): readonly string[] =>
  reportsIn(outcome).flatMap(({ name, report }) => blocksOf(name, report));

function blocksOf(name: string, report: DiagnosticsReport): readonly string[] {
  const { newErrors, knownErrors, warnings, errorsLeftOut, warningsLeftOut } = report;
  const lines = [
    ...newErrors.map((one) => `ERROR ${placed(one)}`),
    ...knownErrors.map((one) => `ERROR (known before) ${placed(one)}`),
    ...warnings.map((one) => `WARN ${placed(one)}`),
    ...(errorsLeftOut + warningsLeftOut > 0 ? [`... and ${errorsLeftOut + warningsLeftOut} more`] : []),
  ];
  const head = newErrors.length > 0 ? `${errorsWords(report)} in this file, please fix:` : "Diagnostics of this file:";
  return [
    ...(lines.length === 0
      ? []
      : ["", head, `<diagnostics file="${escapeName(report.path)}">`, ...lines, "</diagnostics>"]),
    ...unfinishedLines(name, report).flatMap((line) => ["", line]),
  ];
}

/** What came after its answer had been given. */
export const lateBlocks = (reports: readonly DiagnosticsReport[]): readonly string[] =>
  reports.flatMap((report) => {
    const blocks = blocksOf(report.path, report);
    return blocks.length > 0 ? blocks.slice(1) : [`${quoted(report.path)} was checked meanwhile: no errors.`];
  });

/** What a server says must not end its own block. */
const placed = (one: Diagnostic): string =>
  `[${one.range.start.line}:${one.range.start.column}] ${messageOf(one).replaceAll("</", "<\\/")}`;
