/** Results of a rewind in words that dialects share. */

import type { Hunk } from "../contract/edit.ts";
import {
  beginning,
  type ConflictReason,
  type ConflictSides,
  type Loss,
  type RewindOutcome,
  type RewoundFile,
} from "../contract/history.ts";
import { limits } from "../contract/limits.ts";
import type { ProblemData, ProblemOf } from "../contract/problem.ts";
import { escapeName, hunkHeader } from "../text/text.ts";
import { counted, type Names, quoted, type SharedAnswer, spelled, type SpellPath } from "./words.ts";

export interface RewoundWords {
  readonly did: string;
  /** Why it was left as it is; null where it was not. */
  readonly why: string | null;
  /** Of a file that was changed: that this cannot be undone. */
  readonly note?: string;
}

/** The beginning is no turn, so nothing is before it. */
export const rewindPointWords = (to: string): string => (to === beginning ? "to the start" : `before ${quoted(to)}`);

const passedWords = (passed: readonly string[]): readonly string[] =>
  passed.length === 0
    ? []
    : [`Passed over ${passed.map(quoted).join(", ")}: its changes are undone already, or cannot be restored.`];

const damagedWords = (damaged = 0): readonly string[] =>
  damaged === 0
    ? []
    : [
        `${counted(damaged, "record")} of the history cannot be read: a change may be missing here, look at the files; the user can run filehand history verify.`,
      ];

/** `force`: what the reader calls the option that restores the file nevertheless. */
const conflicts = {
  "changed since": (force: string) => `somebody else changed it since; ${force} overwrites that`,
  "changed in between": (force: string) =>
    `somebody else changed it between two changes of this session; ${force} takes that back as well`,
  "never stored": (force: string) =>
    `what is there holds secrets and is never stored, so it would be lost; ${force} removes it for good`,
  "too large to keep": (force: string) =>
    `what is there is too large to be kept, so it would be lost; ${force} removes it for good`,
  "cannot be kept": (force: string) =>
    `what is there cannot be kept, so it would be lost; ${force} removes it for good`,
  "linked since": (force: string) =>
    `it has got another name (hard link) since, which is not to be changed with it; ${force} restores it all the same`,
} as const satisfies Record<ConflictReason, (force: string) => string>;

const deeds = { restore: "restored", create: "made again", delete: "deleted" } as const;

const unavailable = {
  secret: "it could not be brought back: it holds secrets and is never stored",
  "too large": "it was too large to be kept",
  failed: "it could not be kept",
  pruned: "it is no longer kept",
  damaged: "what was kept of it is damaged",
  "damaged record": "a record of the history is damaged, so it is not known whether this is what it was",
  file: "there is a file now",
  "not empty": "there is something in it, which is left",
  folder: "there is a folder now",
  link: "there is a link now",
  special: "it is no regular file now",
  outside: "it is outside the workspace now",
  refused: "the system denies access to it",
  unreadable: "what is in it now cannot be read, the disk reports an error, try again",
} as const;

export function rewoundWords(
  { step, came, action, lost }: RewoundFile,
  wording: (problem: ProblemData) => string,
  force = "force",
): RewoundWords {
  if (typeof came === "object") {
    return came.problem.code === "CANCELLED"
      ? { did: "left as it is", why: "the rewind was cancelled before it came to this file" }
      : { did: "failed", why: wording(came.problem) };
  }
  if (came !== "left" && action !== undefined) {
    const did = came === "done" ? deeds[action.does] : `would be ${deeds[action.does]}`;
    return { did, why: null, ...(lost === undefined ? {} : { note: lossWords(lost, came) }) };
  }
  switch (step.does) {
    case "conflict":
      return { did: "left as it is", why: conflicts[step.why](force) + detailOf(step.loses) };
    case "unavailable":
      return { did: "left as it is", why: unavailable[step.why] };
    case "restore":
    case "create":
    case "delete":
    case "nothing":
      return { did: "as it was", why: null };
  }
}

export const parenthesized = (words: string | null | undefined): string =>
  words === null || words === undefined ? "" : ` (${words})`;

const losses = {
  secret: "holds secrets and is never stored",
  "too large": "is too large to be kept",
  failed: "cannot be kept",
} as const satisfies Record<Loss["why"], string>;

const lossWords = (loss: Loss, came: "done" | "planned"): string =>
  `what ${came === "done" ? "was" : "is"} there ${losses[loss.why]}, so this ${came === "done" ? "cannot" : "could not"} be taken back${detailOf(loss)}`;

const detailOf = (loss: Loss | undefined): string => (loss?.detail === undefined ? "" : `: ${escapeName(loss.detail)}`);

const noTurnWords = {
  unknown: "there is no such turn in this session, list the turns to see which there are",
  pruned: "that turn is no longer kept",
  "no history": "no history is kept, a state folder is needed for it",
  unreadable: "what was kept cannot be read, ask the user to run filehand history verify",
  "content gone": "the content that it had is missing or damaged in the store",
  "nothing to undo": "there is nothing to undo",
  "undo forgotten":
    'all turns that are kept are undone, older ones are forgotten one by one; rewind to "start" goes back before all of them',
  "nothing to redo": "there is nothing to redo",
} as const;

// The answer to a rewind: the state of each file, and what to do next.

/** One file of a rewind for programs. */
export interface Rewound extends RewoundWords {
  readonly path: string;
  /** Whether it was left because another author changed it. */
  readonly conflict: boolean;
  /** For a conflict, if the rules allow it: the changes of the session, and those of other authors since. */
  readonly sides?: ConflictSides;
}

/** What `Rewind` answers for programs. */
export interface RewindResult {
  readonly to: string;
  /** To go back before the rewind itself; null where nothing was done. */
  readonly turn: string | null;
  readonly dryRun: boolean;
  /** Turns that an undo or a redo went past, since nothing of them can be brought back. */
  readonly passed: readonly string[];
  /** If there are too many to list, those that were left as they are come first. */
  readonly files: readonly Rewound[];
  readonly totalFiles: number;
  readonly hiddenByRules: number;
  /** Of the paths that were asked for: what was not changed since. */
  readonly unchanged: readonly string[];
}

export function rewindAnswer(
  outcome: RewindOutcome,
  wording: (problem: ProblemData, about: "rewind") => string,
  names: Names,
  spell: SpellPath = (absolute) => absolute,
): SharedAnswer<RewindResult> {
  const { to, turn = null, dryRun, passed, forModel = { hiddenByRules: 0, unchanged: [] } } = outcome;
  const worded = outcome.files.map((file) => ({ file, ...wordsOf(file, dryRun, (one) => wording(one, "rewind")) }));
  const total = worded.length;
  const changed = outcome.files.filter(({ came }) => came === "done" || came === "planned");
  const left = worded.filter(({ why }) => why !== null);
  const shown = (total > limits.rewindFilesMax ? [...left, ...worded.filter(({ why }) => why === null)] : worded).slice(
    0,
    limits.rewindFilesMax,
  );
  const head = dryRun
    ? `Dry run, nothing was written. Going back ${rewindPointWords(to)} would change ${changed.length} of ${fileCount(total)}.`
    : `Went back ${rewindPointWords(to)}: ${changed.length} of ${fileCount(total)} changed.`;
  const lines = shown.flatMap(({ file, did, why, note }) => [
    `${did}: ${quoted(file.relative)}${parenthesized(why ?? note)}`,
    ...sideLines(file),
  ]);
  const text = [
    head,
    ...passedWords(passed),
    ...damagedWords(outcome.damaged),
    ...lines,
    ...(total > shown.length ? [`and ${fileCount(total - shown.length)} more`] : []),
    ...forModel.unchanged.map((path) => `not changed since then, so left as it is: ${quoted(path)}`),
    ...hiddenByRulesLine(forModel.hiddenByRules),
    ...adviceLines(
      outcome,
      worded.filter(({ conflict }) => conflict).map(({ file }) => file),
      names,
    ),
  ].join("\n");
  const files = shown.map(({ file: { path, sides }, did, why, note, conflict }) => ({
    path: spell(path),
    did,
    why,
    ...(note === undefined ? {} : { note }),
    conflict,
    ...(sides === undefined ? {} : { sides }),
  }));
  return {
    text,
    fields: { to, turn, dryRun, passed, files, totalFiles: total, ...forModel },
    truncated: total > shown.length,
    partial: left.length > 0 || forModel.hiddenByRules > 0,
    title: to,
    resolved: undefined,
  };
}

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

export const fileCount = (count: number): string => `${count} ${count === 1 ? "file" : "files"}`;

export const hiddenByRulesLine = (hiddenByRules: number): readonly string[] =>
  hiddenByRules === 0
    ? []
    : [
        `(${fileCount(hiddenByRules)} withheld: rules do not let this session read ${hiddenByRules === 1 ? "it" : "them"})`,
      ];

/** What to do next; mentions the tools only to a model that has them. */
function adviceLines(outcome: RewindOutcome, conflicts: readonly RewoundFile[], { rewind }: Names): readonly string[] {
  if (outcome.forModel === undefined) return [];
  const anyRestored = outcome.files.some(({ came, action }) => came === "done" && action?.does !== "delete");
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
    ...(anyRestored ? ["You have not seen the restored content: read it before you change it."] : []),
    ...(outcome.turn === undefined || !mayTakeBack
      ? []
      : [`To take this back, call ${rewind} with turn ${quoted(outcome.turn)}.`]),
  ];
}

function wordsOf(file: RewoundFile, dryRun: boolean, wording: (problem: ProblemData) => string): Omit<Rewound, "path"> {
  const { did, ...words } = rewoundWords(file, wording);
  const later = typeof file.came === "object" ? "would fail" : `would be ${did}`;
  const isLeft = words.why !== null && dryRun;
  return { did: isLeft ? later : did, ...words, conflict: file.came === "left" && file.step.does === "conflict" };
}

/** What the call was about to do. */
export const noTurnDoing = ({ asked, reason }: ProblemOf<"NO_TURN">): string => {
  if (asked === "" && reason === "no history") return "look back";
  if (reason === "nothing to undo" || reason === "undo forgotten") return "undo";
  if (reason === "nothing to redo") return "redo";
  return reason === "unknown" || reason === "pruned" ? `find the turn ${quoted(asked)}` : `go back to ${quoted(asked)}`;
};

/** Why there is no such turn, and which there are. */
export function noTurnClause({ reason, known }: ProblemOf<"NO_TURN">): string {
  if (known === undefined) return noTurnWords[reason];
  const why = reason === "unknown" ? "there is no such turn in this session" : noTurnWords[reason];
  if (known.length === 0) return `${why}, it has changed nothing yet`;
  return `${why}, the latest are ${known.map(spelled).join(", ")} (newest first)`;
}
