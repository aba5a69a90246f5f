/** `filehand lsp`: what language servers know about code. */

import { type LspOperation, lspOperations } from "../../../contract/lsp.ts";
import { nearest } from "../../../dialects/nearest.ts";
import { writtenPlace } from "../code-place.ts";
import { type Command, type Given, UsageError } from "../command.ts";
import { openSession } from "../open-session.ts";
import { type Paint, printReply } from "../print.ts";
import { styled } from "../style.ts";

/** What people call them; the protocol's own names will do too. */
const shortNames = { symbols: "documentSymbol", callers: "incomingCalls", callees: "outgoingCalls" } as const;

export const lsp: Command = {
  name: "lsp",
  summary: "Ask a language server: definition, references, hover, symbols and more",
  parameters: ["<question>", "<place>"],
  options: {
    symbol: { type: "text", value: "NAME", words: "The name that is meant, instead of a column" },
    query: { type: "text", value: "NAME", words: "With symbols: look in the whole project for names like this" },
    offset: { type: "integer", value: "N", words: "First result, counted from 1" },
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
    if (from < 1) throw new UsageError("--offset must be at least 1");
    const { path, line, column } = writtenPlace(given.parameters[1] ?? "");
    const at = { line, column, symbol: symbolOf(given) };
    const query = given.text("query");
    const { filehand, session, record } = await openSession(given, host, "people", { languages: "always" });
    try {
      const reply = await session.run((profile) => ({ verb: "lsp", operation, path, at, query, from, profile }), {
        signal: host.signal,
      });
      record();
      return printReply(reply, given, host, paintedResults);
    } finally {
      await filehand.close();
    }
  },
};

function operationOf(given: Given): LspOperation {
  const word = given.parameters[0] ?? "";
  const query = given.text("query");
  const named = Object.hasOwn(shortNames, word) ? shortNames[word as keyof typeof shortNames] : word; // checked by the line itself
  const operation = lspOperations.find((one) => one === named);
  if (operation === undefined) {
    const known = ["definition", "references", "implementation", "hover", "symbols", "callers", "callees"];
    const near = nearest(word, known);
    const hint = near === undefined ? `use one of ${known.join(", ")}` : `did you mean ${near}`;
    throw new UsageError(`There is no question "${word}", ${hint}`);
  }
  if (query === undefined) return operation;
  if (operation === "documentSymbol" || operation === "workspaceSymbol") return "workspaceSymbol";
  throw new UsageError("--query goes with symbols");
}

/** As `--symbol` has it. */
export function symbolOf(given: Given): string | undefined {
  const symbol = given.text("symbol");
  if (symbol === "") throw new UsageError("--symbol must not be empty");
  return symbol;
}

/** Where something is steps back, what it is stands out. */
const paintedResults: Paint = (text) =>
  text
    .split("\n")
    .map((line) => {
      if (/^\[.*\]$/.test(line)) return styled("yellow", line);
      const [, space = "", where = "", rest = ""] = /^(\s*)(\S.*?:\d+:\d+|\d+(?:-\d+)?)(:? .*)$/.exec(line) ?? [];
      return where === "" ? line : space + styled("dim", where) + rest;
    })
    .join("\n");
