/** Answers of History and Rewind in the `claude` dialect. */

import type { Reply } from "../../contract/call.ts";
import type { Hunk } from "../../contract/edit.ts";
import type { HistoryOutcome, RewindOutcome } from "../../contract/history.ts";
import type { LspOutcome } from "../../contract/lsp.ts";
import { withoutLineEnds } from "../change-text.ts";
import type { Facts } from "../dialect.ts";
import { historyText, nextOffset } from "../history-text.ts";
import { lspEntries, type LspEntry, lspHead, lspLines, lspNotes } from "../lsp-text.ts";
import { rewindAnswer, type Rewound } from "../rewind-text.ts";
import { successReply } from "../words.ts";
import { lspNames, sentenceOf } from "./problems.ts";

const names = { history: "History", rewind: "Rewind" } as const;
const telling = { names, first: 1 } as const;

/** What `History` answers for programs. */
export interface HistoryResult {
  readonly turns: readonly {
    readonly turn: string;
    readonly time: string;
    /** Did a later rewind bring back its files: "all", "part" or "no". */
    readonly undone: string;
    readonly rewinds: { readonly to: string; readonly as: string } | null;
    readonly files: readonly {
      readonly filePath: string;
      readonly did: string;
      readonly undone: boolean;
      readonly movedFrom: string | null;
      readonly additions: number | null;
      readonly deletions: number | null;
      /** Why lines were not counted. */
      readonly why: string | null;
      /** Of one turn in detail. */
      readonly structuredPatch?: readonly Hunk[];
      readonly patchCut?: boolean;
    }[];
    readonly totalFiles: number;
    /** Files that rules hide. */
    readonly withheld: number;
  }[];
  /** Turns, or files of the one turn. */
  readonly total: number;
  readonly nextOffset: number | null;
}

/** What `Rewind` answers for programs. */
export interface RewindResult {
  readonly to: string;
  /** To go back before the rewind itself; null where nothing was done. */
  readonly turn: string | null;
  readonly dryRun: boolean;
  /** Turns that an undo or a redo went past, since nothing of them can be brought back. */
  readonly passed: readonly string[];
  readonly files: readonly Rewound[];
  readonly totalFiles: number;
  readonly withheld: number;
  /** Of the paths that were asked for: what was not changed since. */
  readonly unchanged: readonly string[];
}

export function renderHistory(outcome: HistoryOutcome): Reply<HistoryResult> {
  const turns = outcome.turns.map(({ messageId, timestamp, undone, rewinds, files, filesTotal, withheld }) => ({
    turn: messageId,
    time: timestamp.toISOString(),
    undone,
    rewinds: rewinds ?? null,
    files: files.map(({ path, did, undone: back, movedFrom, lines, why, hunks, cut }) => ({
      filePath: path,
      did,
      undone: back,
      movedFrom: movedFrom?.path ?? null,
      additions: lines?.additions ?? null,
      deletions: lines?.deletions ?? null,
      why: why ?? null,
      ...(hunks === undefined ? {} : { structuredPatch: withoutLineEnds(hunks), patchCut: cut }),
    })),
    totalFiles: filesTotal,
    withheld,
  }));
  const result = { turns, total: outcome.total, nextOffset: nextOffset(outcome, telling) };
  return successReply(historyText(outcome, telling), result);
}

export function renderRewind(outcome: RewindOutcome): Reply<RewindResult> {
  const wording = (problem: Parameters<typeof sentenceOf>[0]): string => sentenceOf(problem, "rewind");
  const { text, files, filesTotal: totalFiles } = rewindAnswer(outcome, wording, names);
  const { to, turn = null, dryRun, passed, forModel = { withheld: 0, unchanged: [] } } = outcome;
  return successReply(text, { to, turn, dryRun, passed, files, totalFiles, ...forModel });
}

// Answers of language servers in the `claude` dialect.

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
  return successReply(text, {
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
