/** `filehand lsp`, `rename`, `outline` and `diagnostics`. */

import { setFlagsFromString } from "node:v8";
import { limits } from "../../../contract/limits.ts";
import { type Diagnostic, type DiagnosticsReport, type LspOperation, lspOperations } from "../../../contract/lsp.ts";
import { checkedFile, diagnosticMessage } from "../../../dialects/dialects.ts";
import { escapeName } from "../../../text/text.ts";
import { runChange, showRequest } from "../change.ts";
import { type Command, type ExitCode, type Given, type Host, notEmpty, option, UsageError } from "../command.ts";
import { openSession } from "../open-session.ts";
import { oneOf, shared } from "../parse.ts";
import { coloured, orJsonFailure, printJson, styled } from "../print.ts";

export interface WrittenPlace {
  readonly path: string;
  readonly line: number | undefined;
  readonly column: number | undefined;
}

/** `src/a.ts:12:5`, `src/a.ts:12`, `src/a.ts`. A number that is none of a place (0, or too large) stays part of the path. */
export function writtenPlace(place: string): WrittenPlace {
  const [, path = place, line, column] = /^(.+?):([1-9]\d{0,8})(?::([1-9]\d{0,8}))?$/.exec(place) ?? [];
  return { path, line: numberOf(line), column: numberOf(column) };
}

const numberOf = (digits: string | undefined): number | undefined =>
  digits === undefined ? undefined : Number(digits);

/** The short names of questions; the protocol's own names are accepted too. */
const questions = {
  definition: "definition",
  references: "references",
  implementation: "implementation",
  hover: "hover",
  symbols: "documentSymbol",
  callers: "incomingCalls",
  callees: "outgoingCalls",
} as const satisfies Record<string, LspOperation>;
const questionNames = Object.keys(questions) as readonly (keyof typeof questions)[]; // the literal has no other keys

const symbol = option.text("NAME", "The name that is meant, instead of a column", notEmpty);

export const lsp: Command = {
  name: "lsp",
  summary: "Ask a language server: definition, references, hover, symbols and more",
  parameters: ["<question>", "<place>"],
  options: {
    symbol,
    query: option.text("NAME", "With symbols: look in the whole project for names like this"),
    offset: option.integer("First result, counted from 1", { min: 1 }),
  },
  details: [
    "Questions: definition, references, implementation, hover, symbols, callers, callees.",
    "A place is a path, a line and a column: src/a.ts:12:5. With --symbol the column, or the line too, may be left out.",
    "Servers are those that are installed, changed by languageServers in the user's settings. Nothing is downloaded.",
  ].join("\n"),
  examples: [
    "filehand lsp definition src/index.ts:12:5",
    "filehand lsp references src/index.ts:12 --symbol createFilehand",
    "filehand lsp symbols src/index.ts",
    "filehand lsp symbols src/index.ts --query Session --json",
    "filehand lsp callers src/index.ts --symbol main",
  ],
  async run(given, host) {
    const operation = operationOf(given);
    const from = given.integer("offset") ?? 1;
    const { path, line, column } = writtenPlace(given.parameters[1] ?? "");
    const at = { line, column, symbol: given.text("symbol") };
    const query = given.text("query");
    return showRequest((profile) => ({ verb: "lsp", operation, path, at, query, from, profile }), given, host, {
      needs: { languages: "always" },
    });
  },
};

function operationOf(given: Given): LspOperation {
  const word = given.parameters[0] ?? "";
  const query = given.text("query");
  const operation = lspOperations.find((one) => one === word) ?? questions[oneOf("question", word, questionNames)];
  if (query === undefined) return operation;
  if (operation === "documentSymbol" || operation === "workspaceSymbol") return "workspaceSymbol";
  throw new UsageError("--query goes with symbols");
}

export const rename: Command = {
  name: "rename",
  summary: "Rename a symbol in all files that use it, as a language server finds them",
  parameters: ["<place>", "<new-name>"],
  options: { symbol, ...shared("dry-run") },
  details: [
    "A place is a path, a line and a column: src/a.ts:12:5. With --symbol the column, or the line too, may be left out.",
    "All files are changed or none, and filehand undo takes the change back. Files are not renamed.",
    "Servers are those that are installed, changed by languageServers in the user's settings. Nothing is downloaded.",
  ].join("\n"),
  examples: [
    "filehand rename src/index.ts:12:17 createToolkit --dry-run",
    "filehand rename src/index.ts:12 createToolkit --symbol createFilehand",
  ],
  async run(given, host) {
    const [place = "", newName = ""] = given.parameters;
    const { path, line, column } = writtenPlace(place);
    const at = { line, column, symbol: given.text("symbol") };
    if (column === undefined && at.symbol === undefined) {
      throw new UsageError("Say what is to be renamed: src/a.ts:LINE:COLUMN, or --symbol NAME");
    }
    return runChange((profile) => ({ verb: "rename", path, at, newName, profile }), given, host, "free", "always");
  },
};

export const outline: Command = {
  name: "outline",
  summary: "Show what a code file declares, and on which lines",
  parameters: ["<path>"],
  options: {
    depth: option.integer("How many levels to show: 1 is what stands by itself", {
      min: 1,
      max: limits.outlineDepthMax,
    }),
    "language-servers": option.flag("Ask a language server where there is no grammar"),
  },
  details: [
    "Classes, functions, types and the like, one a line, with their first and last line. As many levels are shown as have room.",
    "Languages: TypeScript, JavaScript, Python, Go, Rust, Java, C, C++, C#, Ruby, PHP, shell scripts, CSS, INI.",
    "Others where a language server is used for them: with --language-servers, or languageServers in the user's settings.",
  ].join("\n"),
  examples: [
    "filehand outline src/index.ts",
    "filehand outline src/index.ts --depth 1",
    "filehand outline main.py --json",
  ],
  async run(given, host) {
    const depth = given.integer("depth") ?? limits.outlineDepthMax;
    // A process that parses one file and ends would wait at its end for V8 to optimise the parser, for up to two seconds.
    setFlagsFromString("--wasm-tiering-budget=2000000000");
    const [path = ""] = given.parameters;
    const needs = { languages: "if wanted" } as const;
    return showRequest((profile) => ({ verb: "outline", path, depth, profile }), given, host, { needs });
  },
};

export const diagnostics: Command = {
  name: "diagnostics",
  summary: "Say what language servers find wrong in a file",
  parameters: ["<path>"],
  options: {
    warnings: option.flag("Warnings as well"),
    wait: option.integer("Milliseconds to wait for a server (default: 10000)", { value: "MS", min: 1 }),
  },
  details: [
    "Ends with 0 if there are no errors, with 1 if there are some or if the file could not be checked.",
    "Servers are those that are installed, changed by languageServers in the user's settings. Nothing is downloaded, and a",
    "program in the project's node_modules is run only if the project is among your trustedProjects.",
  ].join("\n"),
  examples: ["filehand diagnostics src/index.ts", "filehand diagnostics main.py --warnings --json"],
  run: (given, host) =>
    orJsonFailure(given, host, async () => {
      const path = given.parameters[0] ?? "";
      const waitMsMax = given.integer("wait");
      const { filehand, session } = await openSession(given, host, "people", { languages: "always" });
      try {
        const waiting = waitMsMax === undefined ? {} : { waitMsMax };
        const report = await session.diagnostics(path, { signal: host.signal, ...waiting });
        return printReport(path, report, given, host);
      } finally {
        await filehand.close();
      }
    }),
};

/** A reply never says whether a file is a secret. */
const whyNot =
  "no language server for it was found on the PATH (one in node_modules is run for your trustedProjects only; the one for bash " +
  "finds errors only with shellcheck), install one or " +
  "name it in languageServers of your settings; secrets and files that are over 4 MiB or not in UTF-8 are never shown to one";

function printReport(path: string, report: DiagnosticsReport | undefined, given: Given, host: Host): ExitCode {
  const name = escapeName(path);
  if (given.flag("json")) {
    const shown = report === undefined ? { filePath: path, checked: false } : jsonOf(report, given);
    printJson(shown, host);
    return isClean(report) ? 0 : 1;
  }
  if (report === undefined) {
    host.stderr.write(`Cannot check "${name}": ${whyNot}\n`);
    return 1;
  }
  const errors = [...report.newErrors, ...report.knownErrors];
  const warnings = given.flag("warnings") ? report.warnings : [];
  const colour = coloured(host, "stdout");
  const line = (one: Diagnostic): string => {
    const { start } = one.range;
    const what = colour ? styled(one.severity === "error" ? "red" : "yellow", one.severity) : one.severity;
    return `${name}:${start.line}:${start.column}: ${what}: ${diagnosticMessage(one)}\n`;
  };
  host.stdout.write([...errors, ...warnings].map(line).join(""));
  for (const { server, why } of report.unavailable) {
    host.stderr.write(`The language server "${escapeName(server)}" did not check "${name}": ${escapeName(why)}\n`);
  }
  if (report.pending) host.stderr.write(`"${name}" is not checked yet: give it more time with --wait\n`);
  else if (isChecked(report)) host.stdout.write(`${summaryOf(report, given)}\n`);
  return isClean(report) ? 0 : 1;
}

const isChecked = ({ pending, unavailable }: DiagnosticsReport): boolean => !pending && unavailable.length === 0;

const isClean = (report: DiagnosticsReport | undefined): boolean =>
  report !== undefined && isChecked(report) && report.newErrors.length + report.knownErrors.length === 0;

function jsonOf(report: DiagnosticsReport, given: Given): object {
  const { warnings, warningsLeftOut, ...shown } = checkedFile(report);
  const errors = shown.errors.map(({ isNew: _isNew, ...error }) => error);
  const all = { ...shown, errors, checked: isChecked(report) };
  return given.flag("warnings") ? { ...all, warnings, warningsLeftOut } : all;
}

function summaryOf(
  { newErrors, knownErrors, errorsLeftOut, warnings, warningsLeftOut }: DiagnosticsReport,
  given: Given,
) {
  const errors = newErrors.length + knownErrors.length + errorsLeftOut;
  const words = [counted(errors, "error")];
  if (given.flag("warnings")) words.push(counted(warnings.length + warningsLeftOut, "warning"));
  const more = errorsLeftOut > 0 ? ` (${errorsLeftOut} not shown)` : "";
  return words.join(", ") + more;
}

const counted = (count: number, what: string): string =>
  `${count === 0 ? "no" : count} ${what}${count === 1 ? "" : "s"}`;
