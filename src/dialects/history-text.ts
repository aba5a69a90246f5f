/** The history of a session, in the words and fields that dialects share. */

import type { Hunk } from "../contract/edit.ts";
import type { FileSeen, HistoryOutcome, TurnSeen, Uncounted } from "../contract/history.ts";
import { unified } from "../text/text.ts";
import { withoutLineEnds } from "./change-text.ts";
import { rewindPointWords, fileCount, hiddenByRulesLine } from "./rewind-text.ts";
import { type Names, quoted, type SharedAnswer, spelled, type SpellPath } from "./words.ts";

/** Turns or files in an answer if the call sets no limit. */
export const turnsDefault = 20;

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
    readonly hiddenByRules: number;
  }[];
  /** Turns, or files of the one turn. */
  readonly total: number;
  readonly nextOffset: number | null;
}

export function historyAnswer(
  outcome: HistoryOutcome,
  names: Names,
  spell: SpellPath = (absolute) => absolute,
): SharedAnswer<HistoryResult> {
  const turns = outcome.turns.map(({ messageId, timestamp, undone, rewinds, files, filesTotal, hiddenByRules }) => ({
    turn: messageId,
    time: timestamp.toISOString(),
    undone,
    rewinds: rewinds ?? null,
    files: files.map(({ path, did, undone: back, movedFrom, lines, why, hunks, cut }) => ({
      filePath: spell(path),
      did,
      undone: back,
      movedFrom: movedFrom === undefined ? null : spell(movedFrom.path),
      additions: lines?.additions ?? null,
      deletions: lines?.deletions ?? null,
      why: why ?? null,
      ...(hunks === undefined ? {} : { structuredPatch: withoutLineEnds(hunks), patchCut: cut }),
    })),
    totalFiles: filesTotal,
    hiddenByRules,
  }));
  const next = nextOffset(outcome, names);
  const truncated = next !== null || outcome.turns.some(({ files }) => files.some(({ cut }) => cut));
  return {
    text: historyText(outcome, names),
    fields: { turns, total: outcome.total, nextOffset: next },
    truncated,
    partial: truncated,
    title: outcome.path ?? outcome.turns[0]?.name ?? "",
    resolved: outcome.path,
  };
}

export function historyText(outcome: HistoryOutcome, names: Names): string {
  const lines = outcome.of === "turns" ? listLines(outcome, names) : detailLines(outcome);
  return [...lines, ...pageLine(outcome, names)].join("\n");
}

/** The offset of the next page; null at the end. */
const nextOffset = ({ next }: HistoryOutcome, { first }: Names): number | null =>
  next === undefined ? null : next - 1 + first;

function listLines({ turns, total, from, path }: HistoryOutcome, names: Names): readonly string[] {
  const about = path === undefined ? "" : ` that changed ${quoted(path || ".")}`;
  if (total === 0) {
    return [path === undefined ? "This session has changed nothing yet." : `This session has no turn${about}.`];
  }
  const head = `${total} ${total === 1 ? "turn" : "turns"} of this session${about}, newest first:`;
  if (turns.length === 0) return [`${head.slice(0, -1)}, but none from number ${from} on.`];
  return [head, ...turns.flatMap((turn) => turnLines(turn, names))];
}

function turnLines(turn: TurnSeen, { history }: Names): readonly string[] {
  const more = turn.filesTotal - turn.files.length;
  return [
    headOf(turn),
    ...turn.files.map((file) => `  ${fileLine(file, turn)}`),
    ...(more > 0 ? [`  and ${more} more; ${history} with turn ${quoted(turn.name)} tells of all`] : []),
    ...hiddenByRulesLine(turn.hiddenByRules).map((line) => `  ${line}`),
  ];
}

function headOf({ name, timestamp, rewinds, undone }: TurnSeen): string {
  const notes = [
    timestamp.toISOString(),
    ...(rewinds === undefined ? [] : [rewindWords[rewinds.as](rewinds.to)]),
    ...(undone === "no" ? [] : [undone === "all" ? "undone by a later rewind" : "undone in part by a later rewind"]),
  ];
  return `turn ${spelled(name)} (${notes.join(", ")})`;
}

const rewindWords = {
  rewind: (to: string) => `went back ${rewindPointWords(to)}`,
  partial: (to: string) => `went back with some files ${rewindPointWords(to)}`,
  undo: (to: string) => `undid ${quoted(to)}`,
  redo: (to: string) => `took back ${quoted(to)}`,
} as const;

function detailLines({ turns: [turn], from, total, path }: HistoryOutcome): readonly string[] {
  if (turn === undefined) return ["That turn changed nothing."];
  const { files, hiddenByRules } = turn;
  const none = total === 0 ? [`That turn did not change ${quoted(path || ".")}.`] : [];
  return [
    headOf(turn),
    ...(total === 0 && path !== undefined ? none : []),
    ...(total > 0 && files.length === 0
      ? [`It changed ${fileCount(total)}, but there is none from number ${from} on.`]
      : []),
    ...files.flatMap((file) => [fileLine(file, turn), ...diffLines(file)]),
    ...hiddenByRulesLine(hiddenByRules),
  ];
}

const deeds = {
  created: "created",
  changed: "changed",
  deleted: "deleted",
  moved: "moved",
  mode: "changed the mode of",
  nothing: "left as before",
} as const satisfies Record<FileSeen["did"], string>;

const uncounted = {
  secret: "it holds secrets, so its content was not kept",
  "too large": "it was too large to be kept",
  failed: "its content could not be kept",
  pruned: "its content is no longer kept",
  damaged: "what was kept of it is damaged",
  "not text": "it is not text",
  "over the limit": "too large to be compared here",
  refused: "its content may not be read",
} as const satisfies Record<Uncounted, string>;

function fileLine(file: FileSeen, turn: TurnSeen): string {
  const { relative, did, movedFrom, modes, observed, lines, why } = file;
  const name = movedFrom === undefined ? quoted(relative) : `${quoted(movedFrom.relative)} to ${quoted(relative)}`;
  const notes = [
    ...(lines === undefined || did === "mode" || did === "nothing" ? [] : [`+${lines.additions} -${lines.deletions}`]),
    ...(why === undefined ? [] : [uncounted[why]]),
    ...(modes === undefined ? [] : [`mode ${modes[0].toString(8)}, then ${modes[1].toString(8)}`]),
    ...(turn.undone === "part" && !file.undone ? ["not undone"] : []),
    ...(observed ? ["not by these tools"] : []),
  ];
  return `${deeds[did]} ${name}${notes.length === 0 ? "" : ` (${notes.join("; ")})`}`;
}

function diffLines(file: FileSeen): readonly string[] {
  const diff = diffOf(file);
  return [
    ...(diff === "" ? [] : [diff.slice(0, -1)]),
    ...(file.cut ? ["(diff cut: it is too long to be shown whole)"] : []),
  ];
}

/** In the form of `diff -u`; empty if there is none. */
function diffOf({ relative, did, hunks, movedFrom }: FileSeen): string {
  const kind = did === "created" ? "create" : did === "deleted" ? "delete" : "update";
  return unified(relative, hunks ?? [], kind, { oldPath: movedFrom?.relative });
}

function pageLine(outcome: HistoryOutcome, names: Names): readonly string[] {
  const next = nextOffset(outcome, names);
  if (next === null || outcome.next === undefined) return [];
  const { of, from, total } = outcome;
  return [`(Showing ${of} ${from} to ${outcome.next - 1} of ${total}. Use offset ${next} to go on.)`];
}
