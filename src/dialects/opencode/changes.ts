/** Answers to changes in the two opencode dialects. */

import type { Reply } from "../../contract/call.ts";
import type { ChangedFile, ChangeOutcome, MatchedBy, PartAccepted } from "../../contract/edit.ts";
import type { Diagnostic, DiagnosticsReport, Severity } from "../../contract/lsp.ts";
import type { NumberStyle } from "../../contract/profile.ts";
import { escapeName } from "../../text/text.ts";
import { changeLines, isInPart, partOf, patchesFor } from "../change-text.ts";
import type { Facts } from "../dialect.ts";
import { errorsWords, diagnosticMessage, reportsIn, unfinishedLines } from "../lsp-text.ts";
import { quoted, successReply } from "../words.ts";
import type { EditInput, PatchInput, WriteInput } from "./inputs.ts";
import type { Titled } from "./read.ts";

interface FileDiff {
  readonly file: string;
  readonly patch: string;
  readonly additions: number;
  readonly deletions: number;
  /** Of a change that the user accepted only in part. */
  readonly partial?: PartAccepted;
}

export type ChangeResult = Titled<{
  readonly diff: string;
  readonly diagnostics: DiagnosticsByFile;
  /** Of one file; of a patch there is one for each in `files`. */
  readonly filediff?: FileDiff;
  readonly files?: readonly FileDiff[];
  /** Files of a patch whose change the user refused. */
  readonly refused?: readonly string[];
  /** Of `write`: whether the file existed before. */
  readonly exists?: boolean;
  readonly filepath?: string;
  /** How the text of an edit was found; of several the first that was not found exactly. */
  readonly matchedBy?: MatchedBy;
}>;

export interface ChangeTools {
  readonly edit: { readonly input: EditInput; readonly output: ChangeResult };
  readonly write: { readonly input: WriteInput; readonly output: ChangeResult };
  readonly patch: { readonly input: PatchInput; readonly output: ChangeResult };
}

const done = {
  edit: "Edit applied successfully.",
  write: "Wrote file successfully.",
  "notebook-edit": "Edit applied successfully.",
  patch: "Patch applied successfully.",
} satisfies Readonly<Record<ChangeOutcome["kind"], string>>;

export function renderChange(outcome: ChangeOutcome, numbers: NumberStyle, facts: Facts): Reply<ChangeResult> {
  const [headline = "", ...notes] = changeLines(outcome, numbers);
  const inPart = isInPart(outcome);
  // Several files have a line each; a dry run has not been applied; and what was not written was not.
  const plain = outcome.kind !== "patch" && !outcome.dryRun && !isSame(outcome.file) && !inPart;
  const lines =
    outcome.kind === "patch" && !outcome.dryRun && outcome.renamed === undefined && !inPart
      ? [done.patch, headline]
      : [plain ? done[outcome.kind] : headline];
  const output = [...lines, ...placesLine(outcome), ...notes, ...diagnosticBlocks(outcome)].join("\n");
  return successReply(output, {
    title: escapeName(outcome.target.relative),
    output,
    metadata: metadataOf(outcome, facts),
  });
}

/** Only a call that replaces every occurrence gets the count. */
function placesLine(outcome: ChangeOutcome): readonly string[] {
  if (outcome.kind !== "edit" || outcome.dryRun || isInPart(outcome) || !outcome.edits.some(({ all }) => all))
    return [];
  const count = outcome.found.reduce((sum, { replacements }) => sum + replacements, 0);
  return [`(${count} ${count === 1 ? "replacement" : "replacements"})`];
}

const isSame = (file: ChangedFile): boolean => file.notes.some(({ note }) => note === "same content");

function metadataOf(outcome: ChangeOutcome, facts: Facts): ChangeResult["metadata"] {
  const diagnostics = diagnosticsFor(outcome);
  if (outcome.kind === "patch") {
    const patches = patchesFor(outcome.files, facts);
    const files = outcome.files.map((file, at) => fileDiff(file, patches[at] ?? ""));
    const refused = outcome.refused?.map(({ absolute }) => absolute);
    return { diff: patches.join(""), diagnostics, files, ...(refused && { refused }) };
  }
  const filediff = fileDiff(outcome.file, patchesFor([outcome.file], facts).join(""));
  const { patch: diff, file: filepath } = filediff;
  if (outcome.kind === "write") {
    return { diff, diagnostics, filediff, exists: outcome.file.did !== "created", filepath };
  }
  const steps = outcome.kind === "edit" ? outcome.found.map((found) => found.matchedBy) : [];
  const matchedBy = steps.find((step) => step !== "exact") ?? steps[0];
  return { diff, diagnostics, filediff, ...(matchedBy === undefined ? {} : { matchedBy }) };
}

function fileDiff(file: ChangedFile, patch: string): FileDiff {
  const { additions, deletions, target } = file;
  const partial = partOf(file);
  return { file: target.absolute, patch, additions, deletions, ...(partial && { partial }) };
}

// Diagnostics in the two opencode dialects: a block after the answer.

/** As in LSP: lines and characters count from 0, an error is 1. */
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

type DiagnosticsByFile = Readonly<Record<string, readonly WireDiagnostic[]>>;

const diagnosticsFor = (outcome: ChangeOutcome): DiagnosticsByFile =>
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

/** Blocks after the answer to a change; none if there are no diagnostics. */
const diagnosticBlocks = (outcome: ChangeOutcome): readonly string[] =>
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

/** Diagnostics that arrived after the answer to the change. */
export const lateBlocks = (reports: readonly DiagnosticsReport[]): readonly string[] =>
  reports.flatMap((report) => {
    const blocks = blocksOf(report.path, report);
    return blocks.length > 0 ? blocks.slice(1) : [`${quoted(report.path)} was checked meanwhile: no errors.`];
  });

/** A server's message must not end its block. */
const placed = (one: Diagnostic): string =>
  `[${one.range.start.line}:${one.range.start.column}] ${diagnosticMessage(one).replaceAll("</", "<\\/")}`;
