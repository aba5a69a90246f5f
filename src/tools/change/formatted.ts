/** Runs the host's formatter after a change. What it changes is reported and recorded with the change, and counts as seen. */

import type { ChangedFile, ChangeNote } from "../../contract/edit.ts";
import { limits } from "../../contract/limits.ts";
import { Problem } from "../../contract/problem.ts";
import type { Profile } from "../../contract/profile.ts";
import type { Target } from "../../contract/target.ts";
import { FileTruncated, type Identity, runInSlices, ReadFailed } from "../../disk/disk.ts";
import { storedFile } from "../../history/history.ts";
import { nothingShown, type Seen, type Wrote } from "../../session/session.ts";
import { hunksBetween, wellFormed } from "../../text/text.ts";
import { movedAlong } from "../edit/edit-text.ts";
import type { ToolContext } from "../tool.ts";
import type { Diff } from "./change.ts";
import { hashIfSmall, rememberWrite } from "./commit.ts";
import { readCurrentFile } from "./current-file.ts";
import { createRecorder } from "./history-recorder.ts";

/** Shared by the files of one call: a formatter that hung on one file is not called for the next. */
export interface Formatting {
  hangs: boolean;
}

/** The caller has the file locked. Never throws for a failure of the formatter: that becomes a note. */
export async function runFormatter(
  file: ChangedFile,
  profile: Profile,
  context: ToolContext,
  formatting: Formatting = { hangs: false },
): Promise<ChangedFile> {
  const { formatter } = context;
  const { target } = file;
  const untouched = context.dryRun || file.did === "deleted" || file.notes.some(({ note }) => note === "same content");
  if (formatter === undefined || untouched) return file;
  const written = await contentOf(target, profile, context);
  const failed = formatting.hangs
    ? "it did not end with an earlier file, so it was not called"
    : await failureOf(formatter, target.real, formatting, context);
  const now = await contentOf(target, profile, context);
  const notes: ChangeNote[] = failed === undefined ? [] : [{ note: "formatter failed", why: failed }];
  const withNotes = { ...file, notes: [...file.notes, ...notes] };
  if (written === undefined) return withNotes;
  if (now === undefined) {
    context.ledger.drop(target.real);
    return {
      ...withNotes,
      notes: [...withNotes.notes, { note: "formatter failed", why: "the file is gone or no text now" }],
    };
  }
  const remember = (shown: Diff | undefined): void =>
    rememberWrite(
      target,
      now.identity,
      hashIfSmall(now.bytes),
      knownAfter(written.seen, shown),
      context,
      now.remember,
      now.bytes,
    );
  if (Buffer.compare(written.bytes, now.bytes) === 0) {
    // The formatter may have written the same bytes again, which changes the mtime that large files are recognised by.
    remember({ hunks: [], additions: 0, deletions: 0, complete: true });
    return withNotes;
  }
  // Not cancelled: the file has been changed, and the answer says how.
  const diff = await runInSlices(hunksBetween(written.text, now.text));
  const shown = diff.complete && linesOf(diff) <= limits.changeLinesMax ? diff : undefined;
  remember(shown);
  const kept = await keep(target, written, now, context);
  const { additions, deletions } = diff;
  const note = { note: "reformatted", additions, deletions, hunks: shown?.hunks ?? [] } as const;
  return { ...withNotes, ...(await wholeDiff(file, now.text)), notes: [...withNotes.notes, note, ...kept] };
}

interface Content {
  readonly bytes: Buffer;
  readonly text: string;
  readonly identity: Identity;
  readonly mode: number;
  readonly seen: Seen;
  readonly remember: Parameters<typeof rememberWrite>[5];
}

/** Undefined if the file is gone, is not text, or is too large to be compared. */
async function contentOf(target: Target, profile: Profile, context: ToolContext): Promise<Content | undefined> {
  const lookup = context.disk.lookup(target.real);
  if (lookup.seen !== "node") return undefined;
  using _handle = lookup.handle;
  try {
    if (lookup.kind !== "file") return undefined;
    const opened = context.disk.open(lookup);
    if ("errno" in opened) return undefined;
    using file = opened;
    const { bytes, source, fingerprint, remember } = await readCurrentFile(file, target, profile, "notebook", context);
    if (bytes === undefined) return undefined;
    const seen = await context.ledger.seen(target.real, fingerprint, async () => undefined);
    const { identity, mode } = file;
    return { bytes, text: wellFormed(source().text), identity, mode, seen, remember };
  } catch (error) {
    if (error instanceof ReadFailed || error instanceof FileTruncated || error instanceof Problem) return undefined;
    throw error;
  }
}

/** Why the formatter failed, if it did. The wait is bounded, because the file is locked meanwhile. */
async function failureOf(
  formatter: NonNullable<ToolContext["formatter"]>,
  path: string,
  formatting: Formatting,
  { signal, formatterMsMax }: ToolContext,
): Promise<string | undefined> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), formatterMsMax);
  const stop = AbortSignal.any([signal, late.signal]);
  const stopped = new Promise<string>((resolve) => {
    const stopWaiting = (): void =>
      resolve(late.signal.aborted ? `it took longer than ${formatterMsMax} ms` : "it was cancelled");
    if (stop.aborted) stopWaiting();
    else stop.addEventListener("abort", stopWaiting, { once: true });
  });
  const done = async (): Promise<undefined> => {
    await formatter({ path, signal: stop });
  };
  try {
    const why = await Promise.race([done(), stopped]);
    if (why !== undefined) formatting.hangs = true;
    return why;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    clearTimeout(timer);
  }
}

const linesOf = ({ hunks }: Diff): number => hunks.reduce((sum, { lines }) => sum + lines.length, 0);

/** What the session had seen, moved to the new line numbers; nothing if the formatter's changes are too long to be shown. */
function knownAfter(seen: Seen, shown: Diff | undefined): Wrote {
  if (seen.state !== "fresh" || shown === undefined) return nothingShown;
  if (seen.whole) return "all";
  return movedAlong(
    seen,
    shown.hunks.map(({ oldStart, oldLines, newLines }) => ({
      line: oldStart,
      linesBefore: oldLines,
      linesAfter: newLines,
    })),
  );
}

async function keep(
  target: Target,
  before: Content,
  now: Content,
  context: ToolContext,
): Promise<readonly ChangeNote[]> {
  const recorder = createRecorder(await context.turn(), target);
  await recorder.keep({
    before: { file: storedFile(before), bytes: before.bytes, will: "be written in place" },
    after: { bytes: now.bytes, mode: now.mode },
  });
  return recorder.done(now.identity, now.mode);
}

async function wholeDiff(file: ChangedFile, now: string): Promise<Partial<ChangedFile>> {
  if (file.before === undefined && file.did !== "created") return {};
  const { hunks, additions, deletions, complete } = await runInSlices(hunksBetween(file.before ?? "", now));
  return { hunks, additions, deletions, diffComplete: complete };
}
