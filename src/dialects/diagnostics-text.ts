/** What language servers say of a file, in words that dialects share, and as fields for programs. */

import type { ChangeOutcome } from "../contract/edit.ts";
import type { Diagnostic, DiagnosticsReport } from "../contract/language.ts";
import { escapeName } from "../text/escape.ts";
import { quoted } from "./words.ts";

/** A report and what its file is called in the answer. */
export interface Named {
  readonly name: string;
  readonly report: DiagnosticsReport;
}

export const reportsIn = (outcome: ChangeOutcome): readonly Named[] =>
  (outcome.kind === "patch" ? outcome.files : [outcome.file]).flatMap(({ target, diagnostics }) =>
    diagnostics === undefined ? [] : [{ name: target.asked, report: diagnostics }],
  );

/** Lines behind the answer to a change; none where all is well. */
export const diagnosticLines = (outcome: ChangeOutcome): readonly string[] =>
  reportsIn(outcome).flatMap(({ name, report }) => reportLines(name, report));

export function reportLines(name: string, report: DiagnosticsReport): readonly string[] {
  const { newErrors, knownErrors, errorsLeftOut, warnings, warningsLeftOut, isFirstLook } = report;
  const errors = newErrors.length + knownErrors.length + errorsLeftOut;
  return [
    ...(errors > 0 ? [`${errorsWords(report)} in ${quoted(name)}:`] : []),
    ...newErrors.map((one) => `${isFirstLook ? "" : "new: "}${placed(one)}`),
    ...knownErrors.map((one) => `known before: ${placed(one)}`),
    ...(errorsLeftOut > 0 ? [`and ${counted(errorsLeftOut, "more error", "more errors")}`] : []),
    ...(warnings.length > 0
      ? [`${counted(warnings.length + warningsLeftOut, "warning", "warnings")} in ${quoted(name)}:`]
      : []),
    ...warnings.map(placed),
    ...(warningsLeftOut > 0 ? [`and ${counted(warningsLeftOut, "more warning", "more warnings")}`] : []),
    ...unfinishedLines(name, report),
  ];
}

/** What is not known, and when it will be. */
export const unfinishedLines = (name: string, { pending, unavailable }: DiagnosticsReport): readonly string[] => [
  ...(pending ? [`${quoted(name)} is not checked yet; what its language server finds comes with a later answer.`] : []),
  ...unavailable.map(
    ({ server, why }) =>
      `The language server ${quoted(server)} did not check ${quoted(name)}: ${escapeName(why).slice(0, 300).replace(/\.+$/, "")}.`,
  ),
];

/** `2 errors, 1 of them new`. */
export function errorsWords({ newErrors, knownErrors, errorsLeftOut }: DiagnosticsReport): string {
  const errors = newErrors.length + knownErrors.length + errorsLeftOut;
  const all = counted(errors, "error", "errors");
  // With some left out nobody can tell how many of those are new.
  if (newErrors.length === 0 || knownErrors.length === 0 || errorsLeftOut > 0) return all;
  return `${all}, ${newErrors.length} of them new,`;
}

/** What came after its answer had been given. */
export function lateLines(reports: readonly DiagnosticsReport[]): readonly string[] {
  return reports.flatMap((report) => {
    const lines = reportLines(report.path, report);
    return lines.length > 0 ? lines : [`${quoted(report.path)} was checked meanwhile: no errors.`];
  });
}

const counted = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`;

/** `3:5 the message (ts 2322)` */
const placed = (one: Diagnostic): string => `${one.range.start.line}:${one.range.start.column} ${messageOf(one)}`;

/** On one line: servers are free to say anything, and it must not look like something else. */
export function messageOf({ message, source, code }: Diagnostic): string {
  const from = [source, code].filter((part) => part !== undefined && part !== "").join(" ");
  const words = message.trim().replace(/\s*\n\s*/g, " ");
  return escapeName(from === "" ? words : `${words} (${from})`);
}

/** One thing that a server says, for programs. */
export interface SaidOfCode {
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
  readonly message: string;
  readonly code: string | null;
  readonly source: string | null;
}

/** What is said of one file, for programs. Lines and columns count from 1. */
export interface CheckedFile {
  readonly filePath: string;
  /** It is not checked yet; what is found comes with a later answer. */
  readonly pending: boolean;
  /** New are those that were not there before the change; null where nobody had looked before. */
  readonly errors: readonly (SaidOfCode & { readonly isNew: boolean | null })[];
  readonly warnings: readonly SaidOfCode[];
  readonly errorsLeftOut: number;
  readonly warningsLeftOut: number;
  readonly unavailable: DiagnosticsReport["unavailable"];
}

export const checkedFile = (report: DiagnosticsReport): CheckedFile => ({
  filePath: report.path,
  pending: report.pending,
  errors: [
    ...report.newErrors.map((one) => ({ ...saidOf(one), isNew: report.isFirstLook ? null : true })),
    ...report.knownErrors.map((one) => ({ ...saidOf(one), isNew: false })),
  ],
  warnings: report.warnings.map(saidOf),
  errorsLeftOut: report.errorsLeftOut,
  warningsLeftOut: report.warningsLeftOut,
  unavailable: report.unavailable,
});

const saidOf = ({ range, message, code, source }: Diagnostic): SaidOfCode => ({
  line: range.start.line,
  column: range.start.column,
  endLine: range.end.line,
  endColumn: range.end.column,
  message,
  code: code ?? null,
  source: source ?? null,
});

/** The field of a reply that carries them, where a server is in charge. */
export function checkedIn(outcome: ChangeOutcome): { readonly diagnostics?: readonly CheckedFile[] } {
  const reports = reportsIn(outcome);
  return reports.length === 0 ? {} : { diagnostics: reports.map(({ report }) => checkedFile(report)) };
}
