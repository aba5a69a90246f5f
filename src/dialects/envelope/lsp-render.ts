/** Answers of language servers in the `envelope` dialect. */

import type { Reply } from "../../contract/call.ts";
import type { LspOutcome } from "../../contract/lsp.ts";
import type { Facts } from "../dialect.ts";
import { lspEntries, lspHead, lspLines, lspNotes } from "../lsp-text.ts";
import { type Context, contextOf, wholeMs } from "./context.ts";
import { lspNames } from "./problems.ts";

export interface LspEnvelope {
  readonly status: "success" | "partial";
  readonly data: {
    readonly operation: string;
    readonly server: string;
    /** What was asked about; null where no place was. */
    readonly position: { readonly line: number; readonly column: number; readonly symbol: string } | null;
    readonly results: readonly {
      readonly path: string;
      readonly line: number;
      readonly column: number;
      readonly end_line: number;
      readonly outside?: true;
      readonly text?: string;
      readonly name?: string;
      readonly kind?: string;
      readonly detail?: string;
      readonly container?: string;
      readonly depth?: number;
      readonly lines?: readonly number[];
    }[];
    readonly truncated: boolean;
    readonly next_offset: number | null;
    /** Results in files that rules hide. */
    readonly withheld: number;
    /** What a hover says. */
    readonly hover: string | null;
  };
  readonly text: string;
  readonly stats: { readonly time_ms: number; readonly total_results: number };
  readonly context: Context;
}

export function renderLsp(outcome: LspOutcome, facts: Facts): Reply<LspEnvelope> {
  const { operation, server, at, total, next, withheld, target } = outcome;
  const text = [
    `${lspHead(outcome)}.`,
    `(Took ${wholeMs(facts)}ms)`,
    ...lspNotes(outcome, lspNames).map((note) => `[${note.charAt(0).toUpperCase()}${note.slice(1)}.]`),
  ].join("\n");
  const body = [...lspLines(outcome, facts), ...(outcome.text === undefined ? [] : [outcome.text])].join("\n");
  const truncated = next !== undefined || outcome.textCut;
  const envelope: LspEnvelope = {
    status: truncated ? "partial" : "success",
    data: {
      operation,
      server,
      position: at === undefined ? null : { line: at.line, column: at.column, symbol: at.symbol },
      results: lspEntries(outcome, facts.spell).map(({ path, line, column, endLine, ...rest }) => ({
        path,
        line,
        column,
        end_line: endLine,
        ...rest,
      })),
      truncated,
      next_offset: next ?? null,
      withheld,
      hover: outcome.text ?? null,
    },
    text,
    stats: { time_ms: wholeMs(facts), total_results: total },
    context: contextOf(facts, target.realRelative),
  };
  return {
    content: [{ type: "text", text: body === "" ? text : `${text}\n\n${body}` }],
    structured: envelope,
    isError: false,
  };
}
