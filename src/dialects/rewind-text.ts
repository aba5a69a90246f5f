/** What a rewind came to, in words that dialects share. */

import type { Reply } from "../contract/call.ts";
import type { ProblemData } from "../contract/problem.ts";
import type { RewindOutcome, RewoundFile } from "../contract/rewind.ts";
import { success } from "./replies.ts";
import { quoted } from "./words.ts";

/** What a rewind answers for programs. */
export interface RewindResult {
  readonly to: string;
  /** To go back before the rewind itself; null where nothing was done. */
  readonly turn: string | null;
  readonly dryRun: boolean;
  readonly files: readonly { readonly path: string; readonly did: string; readonly why: string | null }[];
}

export function renderRewind(outcome: RewindOutcome, wording: (problem: ProblemData) => string): Reply<RewindResult> {
  const files = outcome.files.map((file) => ({ path: file.path, ...wordsOf(file, wording) }));
  const { to, turn, dryRun } = outcome;
  const changed = outcome.files.filter(({ came }) => came === "done" || came === "planned").length;
  const head = dryRun
    ? `Dry run, nothing was written. Going back before ${quoted(to)} would change ${changed} of ${files.length} files.`
    : `Went back before ${quoted(to)}: ${changed} of ${files.length} files changed.`;
  const lines = outcome.files.map((file, index) => {
    const { did, why } = files[index] ?? { did: "", why: null };
    return `${did}: ${quoted(file.relative)}${why === null ? "" : ` (${why})`}`;
  });
  return success([head, ...lines].join("\n"), { to, turn: turn ?? null, dryRun, files });
}

const deeds = { restore: "restored", create: "made again", delete: "deleted" } as const;

const unavailable = {
  secret: "it holds secrets and was not kept",
  "too large": "it was too large to be kept",
  failed: "it could not be kept",
  pruned: "it is no longer kept",
  damaged: "what was kept of it is damaged",
  folder: "there is a folder now",
  link: "there is a link now",
  special: "it is no regular file now",
  outside: "it lies outside the workspace now",
  refused: "the system does not let it be looked at",
} as const;

function wordsOf(
  { step, came, action }: RewoundFile,
  wording: (problem: ProblemData) => string,
): { readonly did: string; readonly why: string | null } {
  if (typeof came === "object") return { did: "failed", why: wording(came.problem) };
  if (came !== "left" && action !== undefined) {
    return { did: came === "done" ? deeds[action.does] : `would be ${deeds[action.does]}`, why: null };
  }
  switch (step.does) {
    case "conflict":
      return { did: "left as it is", why: "somebody else changed it since; force overwrites that" };
    case "unavailable":
      return { did: "left as it is", why: unavailable[step.why] };
    default:
      return { did: "as it was", why: null };
  }
}

export const noTurnWords = {
  unknown: "there is no such turn in this session, list the turns to see which there are",
  pruned: "that turn is no longer kept",
  "no history": "no history is kept, a state folder is needed for it",
  "content gone": "the content that it had is missing or damaged in the store",
  "nothing to undo": "there is nothing to undo",
  "nothing to redo": "there is nothing to redo",
} as const;
