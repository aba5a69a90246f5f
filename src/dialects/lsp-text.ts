/** Answers of language servers in words that dialects share, and why there are none. */

import type { ChangeOutcome } from "../contract/edit.ts";
import { limits } from "../contract/limits.ts";
import type { CodeResult, Diagnostic, DiagnosticsReport, LspOperation, LspOutcome } from "../contract/lsp.ts";
import type { CodePlaceFault, ProblemOf } from "../contract/problem.ts";
import { escapeName } from "../text/text.ts";
import type { Facts } from "./dialect.ts";
import { bracketed, counted, type Names, quoted, type SharedAnswer, type SpellPath } from "./words.ts";

/** `a definition`, `references`: what was looked for. */
const wanted = {
  definition: ["definition", "definitions"],
  references: ["reference", "references"],
  implementation: ["implementation", "implementations"],
  hover: ["description", "descriptions"],
  documentSymbol: ["symbol", "symbols"],
  workspaceSymbol: ["symbol", "symbols"],
  incomingCalls: ["caller", "callers"],
  outgoingCalls: ["function called", "functions called"],
} as const satisfies Readonly<Record<LspOperation, readonly [one: string, many: string]>>;

/** `3 references of "run" at line 12 of "src/a.ts" (typescript)`. */
export function lspHead(outcome: LspOutcome): string {
  const { operation, at, target, total, query, server } = outcome;
  const [one, many] = wanted[operation];
  const count = operation === "hover" ? "What is known" : `${total === 0 ? "No" : total} ${total === 1 ? one : many}`;
  const by = ` (${escapeName(server)})`;
  if (operation === "workspaceSymbol") return `${count} for ${quoted(query ?? "")}${by}`;
  if (at === undefined) return `${count} in ${quoted(target.asked)}${by}`;
  const what = at.symbol === "" ? `column ${at.column}` : quoted(at.symbol);
  const of = operation === "outgoingCalls" ? "by" : "of";
  return `${count} ${of} ${what} at line ${at.line} of ${quoted(target.asked)}${by}`;
}

export interface LspRow {
  readonly indent: string;
  readonly where: string;
  readonly what: string;
}

export const lspRows = ({ operation, results }: LspOutcome, facts: Facts): readonly LspRow[] =>
  results.map((result) => rowOf(result, operation, facts));

function rowOf(
  { place, name, kind, detail, container, depth, lines }: CodeResult,
  operation: LspOperation,
  { spell }: Facts,
): LspRow {
  const what = name === undefined ? "" : `${kind ?? "symbol"} ${escapeName(name)}`;
  if (operation === "documentSymbol") {
    const range = place.endLine === place.line ? `${place.line}` : `${place.line}-${place.endLine}`;
    return { indent: "  ".repeat(depth), where: range, what: ` ${what}` };
  }
  const where = `${escapeName(spell(place.absolute))}:${place.line}:${place.column}`;
  const outside = place.relative === undefined ? " (outside the workspace)" : "";
  const more = [
    ...(container === undefined ? [] : [`in ${escapeName(container)}`]),
    ...(detail === undefined || name === undefined ? [] : [escapeName(detail)]),
    ...(lines.length === 0 ? [] : [callLines(lines, operation)]),
  ].join(", ");
  const text = name === undefined ? (place.text === undefined ? "" : escapeName(place.text)) : what;
  return { indent: "", where, what: `${text === "" ? "" : `: ${text}`}${more === "" ? "" : ` (${more})`}${outside}` };
}

function callLines(lines: readonly number[], operation: LspOperation): string {
  const shown = lines.slice(0, callLinesMax).join(", ");
  const rest = lines.length > callLinesMax ? ` and ${lines.length - callLinesMax} more` : "";
  const verb = operation === "incomingCalls" ? "calls it at" : "called at";
  return `${verb} ${lines.length === 1 ? "line" : "lines"} ${shown}${rest}`;
}
/** Of one caller; the rest is counted. */
const callLinesMax = 10;

/** Notes on the results: clauses without a final period. */
export function lspNotes(outcome: LspOutcome, names: Names): readonly string[] {
  const { at, operation, total, hiddenByRules, next, from, results, text, textCut } = outcome;
  const notes: string[] = [];
  if (at?.elsewhere === true) notes.push(`${quoted(at.symbol)} was found on line ${at.line}, not on the line given`);
  const isEmpty = operation === "hover" ? text === undefined : total === 0;
  if (isEmpty) {
    notes.push(
      `the language server knows ${operation === "hover" ? "nothing to say about it" : "of none"}; if it has just started, ask again, or use ${names.search}`,
    );
  }
  if (next !== undefined) {
    notes.push(
      `results ${from} to ${from + results.length - 1} of ${total} are shown, go on with offset ${next - 1 + names.first}`,
    );
  }
  if (hiddenByRules > 0) {
    notes.push(
      `${hiddenByRules} more ${hiddenByRules === 1 ? "lies" : "lie"} in files that permission rules hide from you`,
    );
  }
  if (textCut) notes.push(`only the first ${limits.lspHoverCharsMax} characters are shown`);
  return notes;
}

export interface LspEntry {
  readonly path: string;
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  /** Present for a file outside the workspace, whose text is not shown. */
  readonly outside?: true;
  readonly text?: string;
  readonly name?: string;
  readonly kind?: string;
  readonly detail?: string;
  readonly container?: string;
  readonly depth?: number;
  /** Of a call hierarchy: the lines of the calls. */
  readonly lines?: readonly number[];
}

/** What `Lsp` answers for programs. */
export interface LspResult {
  readonly operation: string;
  readonly filePath: string;
  readonly server: string;
  /** What was asked about; null where no place was. */
  readonly position: { readonly line: number; readonly column: number; readonly symbol: string } | null;
  readonly results: readonly LspEntry[];
  readonly totalResults: number;
  readonly nextOffset: number | null;
  /** Results in files that rules hide. */
  readonly hiddenByRules: number;
  /** What a hover says. */
  readonly hover: string | null;
}

export function lspAnswer(
  outcome: LspOutcome,
  names: Names,
  facts: Facts,
  spell: SpellPath = (absolute) => absolute,
): SharedAnswer<LspResult> {
  const { operation, target, server, at, total, next, hiddenByRules, text, textCut } = outcome;
  const truncated = next !== undefined || textCut;
  return {
    text: [
      `[${lspHead(outcome)}]`,
      ...lspRows(outcome, facts).map(({ indent, where, what }) => indent + where + what),
      ...(text === undefined ? [] : [text]),
      ...lspNotes(outcome, names).map(bracketed),
    ].join("\n"),
    fields: {
      operation,
      filePath: spell(target.absolute),
      server,
      position: at === undefined ? null : { line: at.line, column: at.column, symbol: at.symbol },
      results: outcome.results.map((result) => entryOf(result, spell)),
      totalResults: total,
      nextOffset: next === undefined ? null : next - 1 + names.first,
      hiddenByRules,
      hover: text ?? null,
    },
    truncated,
    partial: truncated,
    title: escapeName(target.relative),
    resolved: target.realRelative,
  };
}

const entryOf = ({ place, name, kind, detail, container, depth, lines }: CodeResult, spell: SpellPath): LspEntry => ({
  path: spell(place.absolute),
  line: place.line,
  column: place.column,
  endLine: place.endLine,
  ...(place.relative === undefined ? { outside: true as const } : {}),
  ...(place.text === undefined ? {} : { text: place.text }),
  ...(name === undefined ? {} : { name }),
  ...(kind === undefined ? {} : { kind }),
  ...(detail === undefined ? {} : { detail }),
  ...(container === undefined ? {} : { container }),
  ...(depth === 0 ? {} : { depth }),
  ...(lines.length === 0 ? {} : { lines }),
});

/** Why no server has answered, and what to do: the part after `Cannot ask about "x": `. */
export function languageServerWords(problem: ProblemOf<"LANGUAGE_SERVER">, names: Names): string {
  const instead = `use ${names.search} and ${names.read} instead`;
  switch (problem.reason) {
    case "off":
      return `language servers are switched off, ask the user to switch them on or ${instead}`;
    case "unknown language":
      return `no language server is known for files of this name, ask the user to name one in the settings or ${instead}`;
    case "not shown":
      return `it is nothing for a language server (a secret, too large, or not UTF-8), ${instead}`;
    case "not installed": {
      const ways = problem.servers.map(({ server, install, command }) =>
        install === undefined ? `${server} (the program ${command})` : `${server} (${install})`,
      );
      return `none of the language servers for it is installed, ask the user to install ${ways.join(" or ")}, or ${instead}`;
    }
    case "failed":
      return `the language server ${escapeName(problem.server)} says: ${quoted(problem.why.slice(0, whyCharsMax))}, try another place or ${instead}`;
    case "not offered":
      return `the language server ${escapeName(problem.server)} does not offer this, ${instead}`;
    case "too slow":
      return `the language server ${escapeName(problem.server)} has not answered within ${problem.waitedMs / 1_000} seconds, it may still be loading the project: ask again later or ${instead}`;
  }
}
/** Of a server's own error message, which may be a whole stack trace. */
const whyCharsMax = 500;

/** Why a place in code cannot be used: the part after `Cannot ask about "x": `. */
export function codePlaceWords(fault: CodePlaceFault): string {
  switch (fault.why) {
    case "nothing named":
      return "no symbol is named, give the line and the symbol on it, or the line and its column";
    case "no query":
      return "no query is given, give query: a name or a part of one";
    case "line":
      return `there is no line ${fault.line}, it has ${fault.linesTotal} lines`;
    case "column":
      return `there is no column ${fault.column}, the line has columns 1 to ${fault.columnsMax}; give symbol instead of column`;
    case "symbol": {
      const near = fault.line === undefined ? "" : ` on line ${fault.line} or near it`;
      const others =
        fault.lines.length === 0
          ? "it is nowhere in the file, check its spelling"
          : `it stands on ${fault.lines.length === 1 ? "line" : "lines"} ${fault.lines.join(", ")}`;
      return `${quoted(fault.symbol)} does not stand${near}, ${others}`;
    }
  }
}

/** Why nothing is renamed: the part after `Cannot rename in "x": `. */
export function noRenameWords({ reason, count }: ProblemOf<"NO_RENAME">): string {
  const files = `${count} ${count === 1 ? "file" : "files"}`;
  switch (reason) {
    case "name":
      return `the new name must be one word of at most ${limits.nameCharsMax} characters, without blanks, brackets or signs`;
    case "same name":
      return "it is called so already";
    case "other name":
      return "the language server would rename something else than what stands there, name the symbol itself";
    case "nothing":
      return "the language server knows nothing there that could get another name, check the line and the symbol";
    case "files":
      return "the language server wants to move or make files as well, which is not done here; change the code with edits instead";
    case "outside":
      return `${files} outside the workspace would change, so nothing was changed`;
    case "hidden by rules":
      return `${files} that permission rules hide would change, so nothing was changed; ask the user to do it`;
    case "incomplete":
      return "not all edits of the language server can be understood, or there are too many, so nothing was changed; change the code with edits instead";
    case "overlap":
      return "the edits of the language server contradict each other, so nothing was changed; change the code with edits instead";
  }
}

// Diagnostics of a file, in words that dialects share and as fields for programs.

/** A report and the name of its file in the answer. */
export interface NamedReport {
  readonly name: string;
  readonly report: DiagnosticsReport;
}

export const reportsIn = (outcome: ChangeOutcome): readonly NamedReport[] =>
  (outcome.kind === "patch" ? outcome.files : [outcome.file]).flatMap(({ target, diagnostics }) =>
    diagnostics === undefined ? [] : [{ name: target.asked, report: diagnostics }],
  );

/** Lines after the answer to a change; none if there are no diagnostics. */
export const diagnosticLines = (outcome: ChangeOutcome, later = laterAnswer): readonly string[] =>
  reportsIn(outcome).flatMap(({ name, report }) => reportLines(name, report, later));

/** How a model gets the diagnostics of a server that has not answered yet. */
const laterAnswer = "what its language server finds comes with a later answer";

export function reportLines(name: string, report: DiagnosticsReport, later = laterAnswer): readonly string[] {
  const { newErrors, knownErrors, errorsLeftOut, warnings, warningsLeftOut, isFirstLook } = report;
  const errors = newErrors.length + knownErrors.length + errorsLeftOut;
  return [
    ...(errors > 0 ? [`${errorsWords(report)} in ${quoted(name)}:`] : []),
    ...newErrors.map((one) => `${isFirstLook ? "" : "new: "}${placed(one)}`),
    ...knownErrors.map((one) => `known before: ${placed(one)}`),
    ...(errorsLeftOut > 0 ? [`and ${counted(errorsLeftOut, "more error")}`] : []),
    ...(warnings.length > 0 ? [`${counted(warnings.length + warningsLeftOut, "warning")} in ${quoted(name)}:`] : []),
    ...warnings.map(placed),
    ...(warningsLeftOut > 0 ? [`and ${counted(warningsLeftOut, "more warning")}`] : []),
    ...unfinishedLines(name, report, later),
  ];
}

/** Which diagnostics are missing, and when they will come. */
export const unfinishedLines = (
  name: string,
  { pending, unavailable }: DiagnosticsReport,
  later = laterAnswer,
): readonly string[] => [
  ...(pending ? [`${quoted(name)} is not checked yet; ${later}.`] : []),
  ...unavailable.map(
    ({ server, why }) =>
      `The language server ${quoted(server)} did not check ${quoted(name)}: ${escapeName(why).slice(0, 300).replace(/\.+$/, "")}.`,
  ),
];

/** `2 errors, 1 of them new`. */
export function errorsWords({ newErrors, knownErrors, errorsLeftOut }: DiagnosticsReport): string {
  const errors = newErrors.length + knownErrors.length + errorsLeftOut;
  const all = counted(errors, "error");
  // If some are left out, the number of new ones is unknown.
  if (newErrors.length === 0 || knownErrors.length === 0 || errorsLeftOut > 0) return all;
  return `${all}, ${newErrors.length} of them new,`;
}

/** Diagnostics that arrived after the answer to the change. */
export function lateLines(reports: readonly DiagnosticsReport[]): readonly string[] {
  return reports.flatMap((report) => {
    const lines = reportLines(report.path, report);
    return lines.length > 0 ? lines : [`${quoted(report.path)} was checked meanwhile: no errors.`];
  });
}

/** `3:5 the message (ts 2322)` */
const placed = (one: Diagnostic): string =>
  `${one.range.start.line}:${one.range.start.column} ${diagnosticMessage(one)}`;

/** On one line, so that a server's message cannot pass for another part of the answer. */
export function diagnosticMessage({ message, source, code }: Diagnostic): string {
  const from = [source, code].filter((part) => part !== undefined && part !== "").join(" ");
  const words = message.trim().replace(/\s*\n\s*/g, " ");
  return escapeName(from === "" ? words : `${words} (${from})`);
}

export interface SaidOfCode {
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
  readonly message: string;
  readonly code: string | null;
  readonly source: string | null;
}

/** Diagnostics of one file for programs. Lines and columns count from 1. */
export interface CheckedFile {
  readonly filePath: string;
  /** Not checked yet; the diagnostics come with a later answer. */
  readonly pending: boolean;
  /** Diagnostics that the change introduced; null if the file was not checked before it. */
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

/** The field of a reply with the diagnostics, if a server covers the files. */
export function checkedIn(outcome: ChangeOutcome): { readonly diagnostics?: readonly CheckedFile[] } {
  const reports = reportsIn(outcome);
  return reports.length === 0 ? {} : { diagnostics: reports.map(({ report }) => checkedFile(report)) };
}
