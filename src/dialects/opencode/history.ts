/** Answers of history, rewind and lsp in the two opencode dialects. */

import type { Reply } from "../../contract/call.ts";
import type { Hunk } from "../../contract/edit.ts";
import type { HistoryOutcome, RewindOutcome } from "../../contract/history.ts";
import type { LspOutcome } from "../../contract/lsp.ts";
import type { ProblemData } from "../../contract/problem.ts";
import { escapeName } from "../../text/text.ts";
import type { Facts } from "../dialect.ts";
import { diffOf, historyText, nextOffset } from "../history-text.ts";
import { lspEntries, type LspEntry, lspHead, lspLines, lspNotes } from "../lsp-text.ts";
import { rewindAnswer, type Rewound } from "../rewind-text.ts";
import { successReply } from "../words.ts";
import type { ChangeResult } from "./changes.ts";
import type { HistoryInput, LspInput, RenameInput, RewindInput } from "./inputs.ts";
import { lspNames } from "./sentences.ts";

const names = { history: "history", rewind: "rewind" } as const;

/** What `history` answers for programs. */
export interface HistoryResult {
  readonly title: string;
  readonly output: string;
  readonly metadata: {
    readonly truncated: boolean;
    /** Of one turn, in the form of `diff -u`. */
    readonly diff: string;
    readonly turns: readonly {
      readonly turn: string;
      readonly time: string;
      /** Did a later rewind bring back its files: "all", "part" or "no". */
      readonly undone: string;
      readonly rewinds: { readonly to: string; readonly as: string } | null;
      readonly files: readonly {
        readonly file: string;
        readonly did: string;
        readonly undone: boolean;
        readonly movedFrom: string | null;
        readonly additions: number | null;
        readonly deletions: number | null;
        /** Why lines were not counted. */
        readonly why: string | null;
        readonly hunks?: readonly Hunk[];
        readonly cut?: boolean;
      }[];
      readonly totalFiles: number;
      readonly withheld: number;
    }[];
    readonly total: number;
    readonly nextOffset: number | null;
  };
}

/** What `rewind` answers for programs. */
export interface RewindResult {
  readonly title: string;
  readonly output: string;
  readonly metadata: {
    readonly to: string;
    /** To go back before the rewind itself; null where nothing was done. */
    readonly turn: string | null;
    readonly dryRun: boolean;
    /** Turns that an undo or a redo went past, since nothing of them can be brought back. */
    readonly passed: readonly string[];
    readonly files: readonly Rewound[];
    readonly totalFiles: number;
    readonly withheld: number;
    readonly unchanged: readonly string[];
  };
}

/** The tools with their types. */
export interface HistoryTools {
  readonly history: { readonly input: HistoryInput; readonly output: HistoryResult };
  readonly rewind: { readonly input: RewindInput; readonly output: RewindResult };
}

export function renderHistory(outcome: HistoryOutcome, first: 0 | 1): Reply<HistoryResult> {
  const telling = { names, first };
  const output = historyText(outcome, telling);
  const next = nextOffset(outcome, telling);
  const files = outcome.turns.flatMap((turn) => turn.files);
  const metadata = {
    truncated: next !== null || files.some(({ cut }) => cut),
    diff: files.map(diffOf).join(""),
    turns: outcome.turns.map(({ messageId, timestamp, undone, rewinds, files: some, filesTotal, withheld }) => ({
      turn: messageId,
      time: timestamp.toISOString(),
      undone,
      rewinds: rewinds ?? null,
      files: some.map(({ path, did, undone: back, movedFrom, lines, why, hunks, cut }) => ({
        file: path,
        did,
        undone: back,
        movedFrom: movedFrom?.path ?? null,
        additions: lines?.additions ?? null,
        deletions: lines?.deletions ?? null,
        why: why ?? null,
        ...(hunks === undefined ? {} : { hunks, cut }),
      })),
      totalFiles: filesTotal,
      withheld,
    })),
    total: outcome.total,
    nextOffset: next,
  };
  return successReply(output, { title: outcome.path ?? outcome.turns[0]?.name ?? "", output, metadata });
}

export function renderRewind(outcome: RewindOutcome, wording: (problem: ProblemData) => string): Reply<RewindResult> {
  const { text: output, files, filesTotal: totalFiles } = rewindAnswer(outcome, wording, names);
  const { to, turn = null, dryRun, passed, forModel = { withheld: 0, unchanged: [] } } = outcome;
  return successReply(output, {
    title: to,
    output,
    metadata: { to, turn, dryRun, passed, files, totalFiles, ...forModel },
  });
}

/** What `lsp` answers for programs. */
export interface LspResult {
  readonly title: string;
  readonly output: string;
  readonly metadata: {
    readonly operation: string;
    readonly server: string;
    readonly position: { readonly line: number; readonly column: number; readonly symbol: string } | null;
    readonly results: readonly LspEntry[];
    readonly total: number;
    readonly nextOffset: number | null;
    /** Results in files that rules hide. */
    readonly withheld: number;
    readonly hover: string | null;
    readonly truncated: boolean;
  };
}

/** The tools with their types. */
export interface LspTools {
  readonly lsp: { readonly input: LspInput; readonly output: LspResult };
  readonly rename: { readonly input: RenameInput; readonly output: ChangeResult };
}

export function renderLsp(outcome: LspOutcome, first: 0 | 1, facts: Facts): Reply<LspResult> {
  const { operation, server, at, total, next, withheld, target } = outcome;
  const notes = lspNotes({ ...outcome, next: next === undefined ? undefined : next - 1 + first }, lspNames).map(
    (note) => `(${note.charAt(0).toUpperCase()}${note.slice(1)})`,
  );
  const body = [...lspLines(outcome, facts), ...(outcome.text === undefined ? [] : [outcome.text])];
  const output = [lspHead(outcome), ...body, ...notes].join("\n");
  return successReply(output, {
    title: escapeName(target.relative),
    output,
    metadata: {
      operation,
      server,
      position: at === undefined ? null : { line: at.line, column: at.column, symbol: at.symbol },
      results: lspEntries(outcome),
      total,
      nextOffset: next === undefined ? null : next - 1 + first,
      withheld,
      hover: outcome.text ?? null,
      truncated: next !== undefined || outcome.textCut,
    },
  });
}
