/** The tools of the two opencode dialects that look back and go back: how they are called, and what they answer. */

import * as z from "zod/mini";
import type { Reply } from "../../contract/call.ts";
import type { Hunk } from "../../contract/edit.ts";
import type { HistoryOutcome, RewindOutcome } from "../../contract/history.ts";
import { limits } from "../../contract/limits.ts";
import { type LspOperation, lspOperations, type LspOutcome } from "../../contract/lsp.ts";
import type { ProblemData } from "../../contract/problem.ts";
import { escapeName } from "../../text/encoding/escape.ts";
import type { Card, Facts } from "../dialect.ts";
import { diffOf, historyText, nextOffset, turnsDefault } from "../history-text.ts";
import { lspEntries, type LspEntry, lspHead, lspLines, lspNotes } from "../lsp-text.ts";
import { integer, jsonSchemaOf, parseArguments } from "../parameters.ts";
import { rewindAnswer, type Rewound } from "../rewind-text.ts";
import { type CodePlaceInput, placeIn, placeShape, placeWords } from "../search-cards.ts";
import { success } from "../words.ts";
import type { ChangeResult } from "./changes.ts";
import { lspNames } from "./sentences.ts";

const names = { history: "history", rewind: "rewind" } as const;

/** What a call of `history` may hold. */
export interface HistoryInput {
  /** One turn, with its diffs. */
  readonly turn?: string;
  /** Only what happened to this file, or below this folder. */
  readonly path?: string;
  /** First turn to list, or first file of the turn; in `opencode-legacy` how many to skip. */
  readonly offset?: number;
  /** How many of them, at most 100; 20 by default. */
  readonly limit?: number;
}

/** What a call of `rewind` may hold. */
export interface RewindInput {
  /** Files become what they were before this turn. */
  readonly turn: string;
  /** Only these files, or what is below these folders. */
  readonly paths?: readonly string[];
  readonly dryRun?: boolean;
  /** Also over what somebody else changed since. */
  readonly force?: boolean;
}

/** What `history` answers for programs. */
export interface HistoryResult {
  readonly title: string;
  readonly output: string;
  readonly metadata: {
    readonly truncated: boolean;
    /** Of one turn, as `diff -u` has it. */
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

const rewindInput = z.strictObject({
  turn: z.string(),
  paths: z.optional(z.array(z.string()).check(z.minLength(1))),
  dryRun: z.optional(z.boolean()),
  force: z.optional(z.boolean()),
});

/** `first`: what the first turn is called in a call. */
export function historyCards(
  descriptions: { readonly history: string; readonly rewind: string },
  first: 0 | 1,
): readonly Card[] {
  const historyInput = z.strictObject({
    turn: z.optional(z.string()),
    path: z.optional(z.string()),
    offset: z.optional(integer({ min: first })),
    limit: z.optional(integer({ min: 1, max: limits.historyItemsMax })),
  });
  const counted =
    first === 1
      ? "First turn to list, or first file of the turn; counted from 1"
      : "How many turns, or files of the turn, to skip; 0 is the newest";
  return [
    {
      name: "history",
      verb: "history",
      description: descriptions.history,
      readOnly: true,
      optIn: "history",
      get inputSchema() {
        return jsonSchemaOf(historyInput, {
          turn: { description: "One turn, with its diffs; all turns are listed without it" },
          path: { description: "Only what happened to this file, or below this folder" },
          offset: { description: counted, default: first },
          limit: { description: "How many turns or files", default: turnsDefault },
        });
      },
      toRequest(input, profile) {
        const { turn, path, offset, limit } = parseArguments(historyInput, "history", input);
        const page = { from: (offset ?? first) - first + 1, itemsMax: limit ?? turnsDefault };
        return { verb: "history", turn: turn ?? undefined, path: path ?? undefined, ...page, profile };
      },
    },
    {
      name: "rewind",
      verb: "rewind",
      description: descriptions.rewind,
      readOnly: false,
      optIn: "history",
      get inputSchema() {
        return jsonSchemaOf(rewindInput, {
          turn: { description: 'The turn to go back before, as history names it; "start" is the beginning' },
          paths: { description: "Only these files, or what is below these folders", items: { type: "string" } },
          dryRun: { description: "Tell what would be done and write nothing", default: false },
          force: { description: "Also overwrite what somebody else changed since", default: false },
        });
      },
      toRequest(input) {
        const { turn, paths, dryRun, force } = parseArguments(rewindInput, "rewind", input);
        const files = paths ?? undefined;
        const as = files === undefined ? "rewind" : "partial";
        return { verb: "rewind", to: turn, files, force: force ?? false, as, byModel: { dryRun: dryRun ?? false } };
      },
    },
  ];
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
  return success(output, { title: outcome.path ?? outcome.turns[0]?.name ?? "", output, metadata });
}

export function renderRewind(outcome: RewindOutcome, wording: (problem: ProblemData) => string): Reply<RewindResult> {
  const { text: output, files, filesTotal: totalFiles } = rewindAnswer(outcome, wording, names);
  const { to, turn = null, dryRun, passed, forModel = { withheld: 0, unchanged: [] } } = outcome;
  return success(output, { title: to, output, metadata: { to, turn, dryRun, passed, files, totalFiles, ...forModel } });
}

// The tools of the two opencode dialects that ask language servers: how they are called, and what they answer.

/** What a call of `lsp` may hold. */
export interface LspInput extends CodePlaceInput {
  readonly operation: LspOperation;
  readonly filePath: string;
  /** For workspaceSymbol: a name or a part of one. */
  readonly query?: string;
  /** First result to show; in `opencode-legacy` how many to skip. */
  readonly offset?: number;
}

/** What a call of `rename` may hold. */
export interface RenameInput extends CodePlaceInput {
  readonly filePath: string;
  readonly newName: string;
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

const place = { filePath: z.string(), ...placeShape };
const renameInput = z.strictObject({ ...place, newName: z.string() });

/** `first`: what the first result is called in a call. */
export function lspCards(
  descriptions: { readonly lsp: string; readonly rename: string },
  first: 0 | 1,
): readonly Card[] {
  const lspInput = z.strictObject({
    operation: z.enum(lspOperations),
    ...place,
    query: z.optional(z.string()),
    offset: z.optional(integer({ min: first })),
  });
  const counted = first === 1 ? "First result to show, counted from 1" : "How many results to skip";
  return [
    {
      name: "lsp",
      verb: "lsp",
      description: descriptions.lsp,
      readOnly: true,
      optIn: "lsp",
      get inputSchema() {
        return jsonSchemaOf(lspInput, {
          operation: { description: "What to find out" },
          filePath: { description: "Path of the file; for workspaceSymbol any file of the language" },
          ...placeWords,
          query: { description: "For workspaceSymbol: a name or a part of one" },
          offset: { description: counted, default: first },
        });
      },
      toRequest(input, profile) {
        const { operation, filePath, query, offset, ...at } = parseArguments(lspInput, "lsp", input);
        const from = (offset ?? first) - first + 1;
        return { verb: "lsp", operation, path: filePath, at: placeIn(at), query: query ?? undefined, from, profile };
      },
    },
    {
      name: "rename",
      verb: "rename",
      description: descriptions.rename,
      readOnly: false,
      optIn: "rename",
      get inputSchema() {
        return jsonSchemaOf(renameInput, {
          filePath: { description: "Path of a file that the symbol stands in" },
          ...placeWords,
          newName: { description: "What it shall be called" },
        });
      },
      toRequest(input, profile) {
        const { filePath, newName, ...at } = parseArguments(renameInput, "rename", input);
        return { verb: "rename", path: filePath, at: placeIn(at), newName, profile };
      },
    },
  ];
}

export function renderLsp(outcome: LspOutcome, first: 0 | 1, facts: Facts): Reply<LspResult> {
  const { operation, server, at, total, next, withheld, target } = outcome;
  const notes = lspNotes({ ...outcome, next: next === undefined ? undefined : next - 1 + first }, lspNames).map(
    (note) => `(${note.charAt(0).toUpperCase()}${note.slice(1)})`,
  );
  const body = [...lspLines(outcome, facts), ...(outcome.text === undefined ? [] : [outcome.text])];
  const output = [lspHead(outcome), ...body, ...notes].join("\n");
  return success(output, {
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
