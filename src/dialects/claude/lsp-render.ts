/** Answers of language servers in the `claude` dialect. */

import type { Reply } from "../../contract/call.ts";
import type { LspOutcome } from "../../contract/lsp.ts";
import type { Facts } from "../dialect.ts";
import { type LspEntry, lspEntries, lspHead, lspLines, lspNotes } from "../lsp-text.ts";
import { success } from "../replies.ts";
import { lspNames } from "./problems.ts";

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
  readonly withheld: number;
  /** What a hover says. */
  readonly hover: string | null;
}

export function renderLsp(outcome: LspOutcome, facts: Facts): Reply<LspResult> {
  const notes = lspNotes(outcome, lspNames).map((note) => `[${note.charAt(0).toUpperCase()}${note.slice(1)}]`);
  const body = [...lspLines(outcome, facts), ...(outcome.text === undefined ? [] : [outcome.text])];
  const text = [`[${lspHead(outcome)}]`, ...body, ...notes].join("\n");
  const { operation, target, server, at, total, next, withheld } = outcome;
  return success(text, {
    operation,
    filePath: target.absolute,
    server,
    position: at === undefined ? null : { line: at.line, column: at.column, symbol: at.symbol },
    results: lspEntries(outcome),
    totalResults: total,
    nextOffset: next ?? null,
    withheld,
    hover: outcome.text ?? null,
  });
}
