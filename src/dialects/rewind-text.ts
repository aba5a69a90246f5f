/** What a rewind came to, in words that dialects share. */

import type { Reply } from "../contract/call.ts";
import type { ProblemData } from "../contract/problem.ts";
import type { ConflictReason, Loss } from "../contract/history.ts";
import { beginning, type RewindOutcome, type RewoundFile } from "../contract/rewind.ts";
import { escapeName } from "../text/escape.ts";
import { success } from "./replies.ts";
import { counted, quoted } from "./words.ts";

/** What a rewind answers for programs. */
export interface RewindResult {
  readonly to: string;
  /** To go back before the rewind itself; null where nothing was done. */
  readonly turn: string | null;
  readonly dryRun: boolean;
  /** Turns that an undo or a redo went past, since nothing of them can be brought back. */
  readonly passed: readonly string[];
  readonly files: readonly ({ readonly path: string } & RewoundWords)[];
}

/** Of one file. */
export interface RewoundWords {
  readonly did: string;
  /** Why it was left as it is; null where it was not. */
  readonly why: string | null;
  /** What else is to be known of one that was not left: that it cannot be taken back. */
  readonly note?: string;
}

export function renderRewind(outcome: RewindOutcome, wording: (problem: ProblemData) => string): Reply<RewindResult> {
  const files = outcome.files.map((file) => ({ path: file.path, ...rewoundWords(file, wording) }));
  const { to, turn, dryRun, passed } = outcome;
  const changed = outcome.files.filter(({ came }) => came === "done" || came === "planned").length;
  const head = dryRun
    ? `Dry run, nothing was written. Going back ${backTo(to)} would change ${changed} of ${counted(files.length, "file")}.`
    : `Went back ${backTo(to)}: ${changed} of ${counted(files.length, "file")} changed.`;
  const lines = outcome.files.map((file, index) => {
    const { did, why, note } = files[index] ?? { did: "", why: null };
    return `${did}: ${quoted(file.relative)}${inBrackets(why ?? note)}`;
  });
  return success([head, ...passedWords(passed), ...damagedWords(outcome.damaged), ...lines].join("\n"), {
    to,
    turn: turn ?? null,
    dryRun,
    passed,
    files,
  });
}

/** Before a turn; the beginning is none, and nothing was before it. */
export const backTo = (to: string): string => (to === beginning ? "to the start" : `before ${quoted(to)}`);

export const passedWords = (passed: readonly string[]): readonly string[] =>
  passed.length === 0
    ? []
    : [`Passed over ${passed.map(quoted).join(", ")}: what was changed there is as it was, or cannot be brought back.`];

export const damagedWords = (damaged = 0): readonly string[] =>
  damaged === 0
    ? []
    : [
        `${counted(damaged, "record")} of the history cannot be read: a change may be missing here, look at the files; the user can run filehand history verify.`,
      ];

const conflicts = {
  "changed since": "somebody else changed it since; force overwrites that",
  "changed in between": "somebody else changed it between two changes of this session; force takes that back as well",
  "never stored": "what is there holds secrets and is never stored, so it would be lost; force removes it for good",
  "too large to keep": "what is there is too large to be kept, so it would be lost; force removes it for good",
  "cannot be kept": "what is there cannot be kept, so it would be lost; force removes it for good",
  "linked since":
    "it has got another name (hard link) since, which is not to be changed with it; force restores it all the same",
} as const satisfies Record<ConflictReason, string>;

const deeds = { restore: "restored", create: "made again", delete: "deleted" } as const;

const unavailable = {
  secret: "it could not be brought back: it holds secrets and is never stored",
  "too large": "it was too large to be kept",
  failed: "it could not be kept",
  pruned: "it is no longer kept",
  damaged: "what was kept of it is damaged",
  "damaged record": "a record of the history is damaged, so it is not known whether this is what it was",
  folder: "there is a folder now",
  link: "there is a link now",
  special: "it is no regular file now",
  outside: "it lies outside the workspace now",
  refused: "the system does not let it be looked at",
  unreadable: "what is in it now cannot be read, the disk reports an error, try again",
} as const;

export function rewoundWords(
  { step, came, action, lost }: RewoundFile,
  wording: (problem: ProblemData) => string,
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
      return { did: "left as it is", why: conflicts[step.why] + detailOf(step.loses) };
    case "unavailable":
      return { did: "left as it is", why: unavailable[step.why] };
    default:
      return { did: "as it was", why: null };
  }
}

export const inBrackets = (words: string | null | undefined): string =>
  words === null || words === undefined ? "" : ` (${words})`;

const losses = {
  secret: "holds secrets and is never stored",
  "too large": "is too large to be kept",
  failed: "cannot be kept",
} as const satisfies Record<Loss["why"], string>;

const lossWords = (loss: Loss, came: "done" | "planned"): string =>
  `what ${came === "done" ? "was" : "is"} there ${losses[loss.why]}, so this ${came === "done" ? "cannot" : "could not"} be taken back${detailOf(loss)}`;

const detailOf = (loss: Loss | undefined): string => (loss?.detail === undefined ? "" : `: ${escapeName(loss.detail)}`);

export const noTurnWords = {
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
