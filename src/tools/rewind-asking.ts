/**
 * Permission for all files of a rewind, before the first of them is changed: who must be asked may have the call left and
 * made again with the answer, and that must find everything as it was.
 */

import type { RewindAction, RewindFile } from "../contract/history.ts";
import { Problem, type ProblemData } from "../contract/problem.ts";
import type { SessionHistory } from "../history/session-history.ts";
import { hunksOfTexts } from "../text/hunks.ts";
import { unified } from "../text/unified.ts";
import { moreLine } from "../text/unified-text.ts";
import { standingOf } from "./lsp-places.ts";
import { type Subject, subjectOf } from "./subject.ts";
import type { Bench } from "./tool.ts";
import { orFileUnreadable } from "./unreadable.ts";
import { textIn } from "./version-diff.ts";

export interface RewindTask {
  readonly file: RewindFile;
  /** Undefined where nothing is to be done. */
  readonly action: RewindAction | undefined;
}

/** By path: what stands against changing it. One file that may not be changed does not keep the others from it. */
export async function rewindRefusals(
  tasks: readonly RewindTask[],
  to: string,
  history: SessionHistory,
  bench: Bench,
): Promise<ReadonlyMap<string, ProblemData>> {
  const refused = new Map<string, ProblemData>();
  for (const { file, action } of tasks) {
    if (action === undefined) continue;
    try {
      await orFileUnreadable(file.path, () => permitted(file.path, action, to, history, bench));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      refused.set(file.path, error.data);
    }
  }
  return refused;
}

async function permitted(
  path: string,
  action: RewindAction,
  to: string,
  history: SessionHistory,
  bench: Bench,
): Promise<void> {
  const subject = await subjectOf(path, bench);
  try {
    const preview = async () => ({
      rewind: to,
      action: action.does,
      // A question shows nothing that the session may not read without one.
      diff: standingOf(path, bench) === "shown" ? await diffOf(subject, action, history, bench) : "",
    });
    await bench.guard.permit("edit", subject.target, bench.signal, { preview });
  } finally {
    release(subject);
  }
}

export const release = (subject: Subject): void => {
  if (subject.is === "there") subject.found.held.close();
};

const kinds = { restore: "update", create: "create", delete: "delete" } as const;

/** Empty where there is nothing that could be shown as lines: then the path must tell. */
async function diffOf(subject: Subject, action: RewindAction, history: SessionHistory, bench: Bench): Promise<string> {
  const [now, then] = [await textNow(subject, bench), await textThen(action, history)];
  if (now === undefined || then === undefined) return "";
  const { hunks, complete, additions, deletions } = hunksOfTexts(now, then);
  const text = unified(subject.target.relative, hunks, kinds[action.does]);
  return complete ? text : `${text}${moreLine(additions, deletions)}\n`;
}

async function textNow(subject: Subject, bench: Bench): Promise<string | undefined> {
  if (subject.is === "new") return "";
  const file = bench.disk.open(subject.found);
  if ("errno" in file) return undefined;
  try {
    return onlyText(await textIn(file));
  } finally {
    file.close();
  }
}

async function textThen(action: RewindAction, history: SessionHistory): Promise<string | undefined> {
  if (action.does === "delete") return "";
  const kept = await history.open(action.content);
  if (typeof kept === "string") return undefined;
  try {
    return onlyText(await textIn(kept));
  } finally {
    kept.close();
  }
}

const onlyText = (text: Awaited<ReturnType<typeof textIn>>): string | undefined =>
  typeof text === "string" ? text : undefined;
