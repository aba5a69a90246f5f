/** Answers of History and Rewind in the `envelope` dialect. */

import type { Reply } from "../../contract/call.ts";
import type { HistoryOutcome, RewindOutcome } from "../../contract/history.ts";
import type { LspOutcome } from "../../contract/lsp.ts";
import type { Facts } from "../dialect.ts";
import { diffOf, historyText, nextOffset } from "../history-text.ts";
import { lspEntries, lspHead, lspLines, lspNotes } from "../lsp-text.ts";
import { rewindAnswer, type Rewound } from "../rewind-text.ts";
import { type Context, contextOf, roundedElapsed } from "./context.ts";
import { lspNames, sentenceOf } from "./problems.ts";

const names = { history: "History", rewind: "Rewind" } as const;
const telling = { names, first: 1 } as const;

export interface HistoryEnvelope {
  readonly status: "success" | "partial";
  readonly data: {
    readonly turns: readonly {
      readonly turn: string;
      readonly time: string;
      /** Did a later rewind bring back its files: "all", "part" or "no". */
      readonly undone: string;
      readonly rewinds: { readonly to: string; readonly as: string } | null;
      readonly files: readonly {
        readonly path: string;
        readonly did: string;
        readonly undone: boolean;
        readonly moved_from: string | null;
        readonly additions: number | null;
        readonly deletions: number | null;
        /** Why lines were not counted. */
        readonly why: string | null;
        /** Of one turn in detail, as `diff -u` has it. */
        readonly diff?: string;
        readonly diff_cut?: boolean;
      }[];
      readonly total_files: number;
      readonly withheld: number;
    }[];
    readonly truncated: boolean;
    readonly next_offset: number | null;
  };
  readonly text: string;
  readonly stats: { readonly time_ms: number; readonly total_turns?: number; readonly total_files?: number };
  readonly context: Context;
}

export interface RewindEnvelope {
  readonly status: "success" | "partial";
  readonly data: {
    readonly to: string;
    /** To go back before the rewind itself; null where nothing was done. */
    readonly turn: string | null;
    readonly dry_run: boolean;
    /** Turns that an undo or a redo went past, since nothing of them can be brought back. */
    readonly passed: readonly string[];
    readonly files: readonly Rewound[];
    readonly withheld: number;
    readonly unchanged: readonly string[];
  };
  readonly text: string;
  readonly stats: { readonly time_ms: number; readonly total_files: number };
  readonly context: Context;
}

export function renderHistory(outcome: HistoryOutcome, facts: Facts): Reply<HistoryEnvelope> {
  const text = `${historyText(outcome, telling)}\n(Took ${roundedElapsed(facts)}ms)`;
  const next = nextOffset(outcome, telling);
  const truncated = next !== null || outcome.turns.some(({ files }) => files.some(({ cut }) => cut));
  const turns = outcome.turns.map(({ messageId, timestamp, undone, rewinds, files, filesTotal, withheld }) => ({
    turn: messageId,
    time: timestamp.toISOString(),
    undone,
    rewinds: rewinds ?? null,
    files: files.map((file) => ({
      path: file.relative,
      did: file.did,
      undone: file.undone,
      moved_from: file.movedFrom?.relative ?? null,
      additions: file.lines?.additions ?? null,
      deletions: file.lines?.deletions ?? null,
      why: file.why ?? null,
      ...(file.hunks === undefined ? {} : { diff: diffOf(file), diff_cut: file.cut }),
    })),
    total_files: filesTotal,
    withheld,
  }));
  const total = outcome.of === "turns" ? { total_turns: outcome.total } : { total_files: outcome.total };
  const envelope: HistoryEnvelope = {
    status: truncated ? "partial" : "success",
    data: { turns, truncated, next_offset: next },
    text,
    stats: { time_ms: roundedElapsed(facts), ...total },
    context: contextOf(facts, outcome.path),
  };
  return { content: [{ type: "text", text }], structured: envelope, isError: false };
}

export function renderRewind(outcome: RewindOutcome, facts: Facts): Reply<RewindEnvelope> {
  const wording = (problem: Parameters<typeof sentenceOf>[0]): string => sentenceOf(problem, "rewind", facts);
  const { text: words, files, filesTotal, partial } = rewindAnswer(outcome, wording, names);
  const { to, turn = null, dryRun, passed, forModel = { withheld: 0, unchanged: [] } } = outcome;
  const text = `${words}\n(Took ${roundedElapsed(facts)}ms)`;
  const relative = new Map(outcome.files.map((file) => [file.path, file.relative]));
  const envelope: RewindEnvelope = {
    status: partial ? "partial" : "success",
    data: {
      to,
      turn,
      dry_run: dryRun,
      passed,
      files: files.map((file) => ({ ...file, path: relative.get(file.path) ?? file.path })),
      ...forModel,
    },
    text,
    stats: { time_ms: roundedElapsed(facts), total_files: filesTotal },
    context: contextOf(facts, undefined),
  };
  return { content: [{ type: "text", text }], structured: envelope, isError: false };
}

// Answers of language servers in the `envelope` dialect.

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
    `(Took ${roundedElapsed(facts)}ms)`,
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
    stats: { time_ms: roundedElapsed(facts), total_results: total },
    context: contextOf(facts, target.realRelative),
  };
  return {
    content: [{ type: "text", text: body === "" ? text : `${text}\n\n${body}` }],
    structured: envelope,
    isError: false,
  };
}
