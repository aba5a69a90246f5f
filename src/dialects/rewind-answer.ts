/** The answer to a rewind, in words that dialects share: what became of each file, and what to do next. */

import type { Hunk } from "../contract/edit.ts";
import { limits } from "../contract/limits.ts";
import type { ProblemData } from "../contract/problem.ts";
import type { ConflictSides, RewindOutcome, RewoundFile } from "../contract/rewind.ts";
import { hunkHeader } from "../text/unified.ts";
import { backTo, damagedWords, inBrackets, passedWords, type RewoundWords, rewoundWords } from "./rewind-text.ts";
import { quoted } from "./words.ts";

/** What a dialect calls the tools that an answer speaks of. */
export interface HistoryNames {
  readonly history: string;
  readonly rewind: string;
}

/** One file of a rewind for programs. */
export interface Rewound extends RewoundWords {
  readonly path: string;
  /** Was it left because somebody else changed it? */
  readonly conflict: boolean;
  /** Then, if it may be shown: what the session changed, and what somebody else changed since. */
  readonly sides?: ConflictSides;
}

export interface RewindAnswer {
  readonly text: string;
  /** Those that were left as they are first, if there are too many to name them all. */
  readonly files: readonly Rewound[];
  readonly filesTotal: number;
  /** Could something not be brought back? */
  readonly partial: boolean;
}

export function rewindAnswer(
  outcome: RewindOutcome,
  wording: (problem: ProblemData) => string,
  names: HistoryNames,
): RewindAnswer {
  const { to, dryRun, forModel = { withheld: 0, unchanged: [] } } = outcome;
  const told = outcome.files.map((file) => ({ file, ...wordsOf(file, dryRun, wording) }));
  const total = told.length;
  const changed = outcome.files.filter(({ came }) => came === "done" || came === "planned");
  const left = told.filter(({ why }) => why !== null);
  const shown = (total > limits.rewindFilesMax ? [...left, ...told.filter(({ why }) => why === null)] : told).slice(
    0,
    limits.rewindFilesMax,
  );
  const head = dryRun
    ? `Dry run, nothing was written. Going back ${backTo(to)} would change ${changed.length} of ${inFiles(total)}.`
    : `Went back ${backTo(to)}: ${changed.length} of ${inFiles(total)} changed.`;
  const lines = shown.flatMap(({ file, did, why, note }) => [
    `${did}: ${quoted(file.relative)}${inBrackets(why ?? note)}`,
    ...sideLines(file),
  ]);
  const text = [
    head,
    ...passedWords(outcome.passed),
    ...damagedWords(outcome.damaged),
    ...lines,
    ...(total > shown.length ? [`and ${inFiles(total - shown.length)} more`] : []),
    ...forModel.unchanged.map((path) => `not changed since then, so left as it is: ${quoted(path)}`),
    ...withheldLine(forModel.withheld),
    ...adviceLines(
      outcome,
      told.filter(({ conflict }) => conflict).map(({ file }) => file),
      names,
    ),
  ].join("\n");
  return {
    text,
    files: shown.map(({ file: { path, sides }, did, why, note, conflict }) => ({
      path,
      did,
      why,
      ...(note === undefined ? {} : { note }),
      conflict,
      ...(sides === undefined ? {} : { sides }),
    })),
    filesTotal: total,
    partial: left.length > 0 || forModel.withheld > 0,
  };
}

/** Both sides of a conflict, below the line of its file. */
function sideLines({ sides, step }: RewoundFile): readonly string[] {
  if (sides === undefined || step.does !== "conflict") return [];
  const { ours, theirs, removed, cut } = sides;
  const whose = step.why === "changed in between" ? "this session and somebody else in between" : "this session";
  const diff = (head: string, hunks: readonly Hunk[]): readonly string[] =>
    hunks.length === 0 ? [] : [head, ...hunks.flatMap((hunk) => [hunkHeader(hunk), ...hunk.lines])];
  return [
    ...diff(`What ${whose} changed:`, ours),
    ...diff("What somebody else changed since:", theirs),
    ...(removed ? ["Somebody else removed it since."] : []),
    ...(cut ? ["(cut: it is too long to be shown whole)"] : []),
  ];
}

export const inFiles = (count: number): string => `${count} ${count === 1 ? "file" : "files"}`;

export const withheldLine = (withheld: number): readonly string[] =>
  withheld === 0
    ? []
    : [`(${inFiles(withheld)} withheld: rules do not let this session read ${withheld === 1 ? "it" : "them"})`];

/** What to do next. Only a model that has the tools is told about them. */
function adviceLines(
  outcome: RewindOutcome,
  conflicts: readonly RewoundFile[],
  { rewind }: HistoryNames,
): readonly string[] {
  if (outcome.forModel === undefined) return [];
  const there = outcome.files.some(({ came, action }) => came === "done" && action?.does !== "delete");
  const isLoss = ({ step }: RewoundFile): boolean => step.does === "conflict" && step.loses !== undefined;
  const mayTakeBack = outcome.files.some(({ came, lost }) => came === "done" && lost === undefined);
  return [
    ...(conflicts.some((file) => !isLoss(file))
      ? [
          `A file in conflict is left to you: look at it and change it by hand, or call ${rewind} again with force to overwrite what others did.`,
        ]
      : []),
    ...(conflicts.some(isLoss)
      ? ["What cannot be kept is left: with force it is lost for good, so ask the user before you do that."]
      : []),
    ...(there ? ["What was brought back was not shown to you: read it before you change it."] : []),
    ...(outcome.turn === undefined || !mayTakeBack
      ? []
      : [`To take this back, call ${rewind} with turn ${quoted(outcome.turn)}.`]),
  ];
}

/** A dry run speaks of what would be. */
function wordsOf(file: RewoundFile, dryRun: boolean, wording: (problem: ProblemData) => string): Omit<Rewound, "path"> {
  const { did, ...words } = rewoundWords(file, wording);
  const later = typeof file.came === "object" ? "would fail" : `would be ${did}`;
  const isLeft = words.why !== null && dryRun;
  return { did: isLeft ? later : did, ...words, conflict: file.came === "left" && file.step.does === "conflict" };
}
