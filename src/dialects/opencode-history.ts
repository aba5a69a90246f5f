/** The tools of the two opencode dialects that look back and go back: how they are called, and what they answer. */

import * as z from "zod/mini";
import type { Reply } from "../contract/call.ts";
import type { Hunk } from "../contract/edit.ts";
import { limits } from "../contract/limits.ts";
import type { HistoryOutcome } from "../contract/looking-back.ts";
import type { ProblemData } from "../contract/problem.ts";
import type { RewindOutcome } from "../contract/rewind.ts";
import type { Card } from "./dialect.ts";
import { diffOf, historyText, nextOffset, turnsDefault } from "./history-text.ts";
import { integer, jsonSchemaOf, parseArguments } from "./parameters.ts";
import { success } from "./replies.ts";
import { type Rewound, rewindAnswer } from "./rewind-answer.ts";

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
