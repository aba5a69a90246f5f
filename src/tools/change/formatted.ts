/** Runs the formatter after a change. What it changes is reported and recorded with the change, and counts as seen. */

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
import { statKeyOf } from "../fingerprint.ts";
import type { ToolContext } from "../tool.ts";
import type { Diff } from "./change.ts";
import { commit, hashIfSmall, rememberWrite } from "./commit.ts";
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
  const ended = formatting.hangs
    ? { failed: "it did not end with an earlier file, so it was not called" }
    : await formattedBy(formatter, target.real, written?.bytes, formatting, context);
  const { failed, put } = await putContent(ended, target, written, context);
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
  const kept =
    put?.filter(({ note }) => !file.notes.some((one) => one.note === note)) ??
    (await keep(target, written, now, context));
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

/** `content`: what the formatter returned, if it did not write the file itself. */
interface FormatterEnd {
  readonly failed?: string;
  readonly content?: Buffer;
}

/** The wait is bounded, because the file is locked meanwhile. */
async function formattedBy(
  formatter: NonNullable<ToolContext["formatter"]>,
  path: string,
  content: Buffer | undefined,
  formatting: Formatting,
  { signal, formatterMsMax }: ToolContext,
): Promise<FormatterEnd> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), formatterMsMax);
  const stop = AbortSignal.any([signal, late.signal]);
  const stopped = new Promise<{ readonly stoppedWhy: string }>((resolve) => {
    const stopWaiting = (): void =>
      resolve({ stoppedWhy: late.signal.aborted ? `it took longer than ${formatterMsMax} ms` : "it was cancelled" });
    if (stop.aborted) stopWaiting();
    else stop.addEventListener("abort", stopWaiting, { once: true });
  });
  const done = async (): Promise<Uint8Array | string | undefined> =>
    (await formatter({ path, content: content === undefined ? undefined : Buffer.from(content), signal: stop })) ??
    undefined;
  try {
    const result = await Promise.race([done(), stopped]);
    if (result === undefined) return {};
    if (typeof result === "object" && "stoppedWhy" in result) {
      formatting.hangs = true;
      return { failed: result.stoppedWhy };
    }
    return { content: Buffer.from(result) };
  } catch (error) {
    return { failed: error instanceof Error ? error.message : String(error) };
  } finally {
    clearTimeout(timer);
  }
}

/** Writes what the formatter returned, in the same turn and with the same checks as any change. `put`: the notes of that. */
async function putContent(
  { failed, content }: FormatterEnd,
  target: Target,
  written: Content | undefined,
  context: ToolContext,
): Promise<{ readonly failed?: string | undefined; readonly put?: readonly ChangeNote[] }> {
  if (content === undefined || failed !== undefined) return { failed };
  if (written === undefined) return { failed: "the file is no text, or too large" };
  if (content.equals(written.bytes)) return {};
  const node = context.disk.lookup(target.real);
  if (node.seen !== "node") return { failed: "the file is gone" };
  using _handle = node.handle;
  const opened = context.disk.open(node);
  if ("errno" in opened) return { failed: `the file cannot be opened (${opened.errno})` };
  using file = opened;
  if (statKeyOf(file.identity) !== statKeyOf(written.identity))
    return { failed: "another program changed the file meanwhile" };
  const planned = {
    pieces: content.length === 0 ? [] : [content],
    diff: { hunks: [], additions: 0, deletions: 0, complete: true },
    before: undefined,
    notes: [],
    wrote: nothingShown,
    extra: undefined,
  };
  const { bytes: old, remember } = written;
  const changeTarget = { is: "there", target, node } as const;
  // The change itself has been made, so a cancelled call still gets its formatted file or the whole old one.
  const uncancelled = { ...context, signal: new AbortController().signal };
  try {
    const recorder = createRecorder(await context.turn(), target);
    const diff = planned.diff;
    const prepared = {
      is: "there",
      target,
      changeTarget,
      file,
      old,
      remember,
      planned,
      extra: undefined,
      diff,
    } as const;
    return { put: await commit(prepared, recorder, uncancelled) };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { failed: `the formatted content could not be written (${error.data.code})` };
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
