/**
 * After a change the host may send a formatter over the file. What that makes of it is told with the change, goes into
 * the same turn of the history, and counts as seen: otherwise the session's next edit would be refused as somebody else's.
 */

import type { ChangedFile, ChangeNote } from "../../contract/edit.ts";
import { limits } from "../../contract/limits.ts";
import { Problem } from "../../contract/problem.ts";
import type { Profile } from "../../contract/profile.ts";
import type { Target } from "../../contract/target.ts";
import { FileCut, type Identity, ReadFailed } from "../../disk/disk.ts";
import { storedFile } from "../../history/history.ts";
import { nothingShown, type Seen, type Wrote } from "../../session/session.ts";
import { hunksOfTexts, wellFormed } from "../../text/text.ts";
import { movedAlong } from "../edit/edit-text.ts";
import type { ToolContext } from "../tool.ts";
import type { Diff } from "./change.ts";
import { hashIfSmall, rememberAs } from "./commit.ts";
import { readBefore } from "./current-file.ts";
import { createRecorder } from "./history-recorder.ts";

/** Of one call: a formatter that did not end with one file is not called with the next. */
export interface Formatting {
  hangs: boolean;
}

/** The file as the formatter left it; the caller still holds its lock. Never throws for what the formatter did. */
export async function formatted(
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
  if (Buffer.compare(written.bytes, now.bytes) === 0) {
    // They may have been written anew, and large files are known by more than their bytes.
    rememberAs(
      target,
      now.identity,
      hashIfSmall(now.bytes),
      knownAfter(written.seen, hunksOfTexts("", "")),
      context,
      now.remember,
    );
    return withNotes;
  }
  const diff = hunksOfTexts(written.text, now.text);
  const shown = diff.complete && linesOf(diff) <= limits.changeLinesMax ? diff : undefined;
  rememberAs(target, now.identity, hashIfSmall(now.bytes), knownAfter(written.seen, shown), context, now.remember);
  const kept = await keep(target, written, now, context);
  const { additions, deletions } = diff;
  const note = { note: "reformatted", additions, deletions, hunks: shown?.hunks ?? [] } as const;
  return { ...withNotes, ...wholeDiff(file, now.text), notes: [...withNotes.notes, note, ...kept] };
}

interface Content {
  readonly bytes: Buffer;
  readonly text: string;
  readonly identity: Identity;
  readonly mode: number;
  readonly seen: Seen;
  readonly remember: Parameters<typeof rememberAs>[5];
}

/** Undefined for what is gone, no text, or too large to be compared. */
async function contentOf(target: Target, profile: Profile, context: ToolContext): Promise<Content | undefined> {
  const lookup = context.disk.lookup(target.real);
  if (lookup.seen !== "node") return undefined;
  using _held = lookup.handle;
  try {
    if (lookup.kind !== "file") return undefined;
    const opened = context.disk.open(lookup);
    if ("errno" in opened) return undefined;
    using file = opened;
    const { bytes, source, fingerprint, remember } = await readBefore(file, target, profile, "notebook", context);
    if (bytes === undefined) return undefined;
    const seen = await context.ledger.seen(target.real, fingerprint, async () => undefined);
    const { identity, mode } = file;
    return { bytes, text: wellFormed(source().text), identity, mode, seen, remember };
  } catch (error) {
    if (error instanceof ReadFailed || error instanceof FileCut || error instanceof Problem) return undefined;
    throw error;
  }
}

/** In words. A formatter that does not end is not waited for: its lock keeps others from the file. */
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
    const tell = (): void =>
      resolve(late.signal.aborted ? `it took longer than ${formatterMsMax} ms` : "it was cancelled");
    if (stop.aborted) tell();
    else stop.addEventListener("abort", tell, { once: true });
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

/** What was known before, moved along, if what changed is shown; nothing of a file that was turned over unseen. */
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

/** Two steps of one turn: the session's own, then the formatter's. */
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

/** From the old content to the one that is there now. */
function wholeDiff(file: ChangedFile, now: string): Partial<ChangedFile> {
  if (file.before === undefined && file.did !== "created") return {};
  const { hunks, additions, deletions, complete } = hunksOfTexts(file.before ?? "", now);
  return { hunks, additions, deletions, diffComplete: complete };
}
