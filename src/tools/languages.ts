/**
 * Tells language servers which files are read and changed, and collects their diagnostics. A server can neither make a call fail
 * nor delay it beyond the operator's limit, and never gets the content of a secret or a denied file.
 */

import { isUtf8 } from "node:buffer";
import type { ChangedFile } from "../contract/edit.ts";
import type { FileChanged } from "../contract/event.ts";
import type { DiagnosticsReport, SourceFile, NotifiedChange } from "../contract/lsp.ts";
import { limits } from "../contract/limits.ts";
import type { Target } from "../contract/target.ts";
import { FileTruncated, ReadFailed, wholeFile } from "../disk/disk.ts";
import { statKeyOf } from "./fingerprint.ts";
import type { ToolContext } from "./tool.ts";

/**
 * The file as servers get it; undefined if it is gone, a secret, too large, or not UTF-8, which servers take for granted.
 * `path` MUST be a real path that the session may read.
 */
export async function sourceOf(
  path: string,
  { guard, disk }: Pick<ToolContext, "guard" | "disk">,
): Promise<SourceFile | undefined> {
  if (guard.isSecret(path)) return undefined;
  const lookup = disk.lookup(path);
  if (lookup.seen !== "node") return undefined;
  using _handle = lookup.handle;
  try {
    if (lookup.kind !== "file") return undefined;
    const opened = disk.open(lookup);
    if ("errno" in opened) return undefined;
    using file = opened;
    const bytes = await wholeFile(file, limits.languageFileBytesMax);
    if (bytes === undefined || !isUtf8(bytes)) return undefined;
    const text = bytes.toString("utf8");
    return { path, text: text.startsWith("\ufeff") ? text.slice(1) : text, fingerprint: statKeyOf(file.identity) };
  } catch (error) {
    if (error instanceof ReadFailed || error instanceof FileTruncated) return undefined;
    throw error;
  }
}

/** Called when a file was read, so that its servers are ready for a change. The call does not wait for this. */
export function prepareServers(target: Target, context: ToolContext): void {
  if (context.languages === undefined) return;
  void (async () => {
    const languages = await context.languages?.();
    if (languages?.serves(target.real) !== true) return;
    const source = await sourceOf(target.real, context);
    if (source !== undefined) languages.touched(source);
  })().catch(() => undefined);
}

/** Tells servers of files that were just changed. The caller still has the files locked, so servers hear of changes in order. */
export async function notifyServers(
  files: readonly ChangedFile[],
  context: ToolContext,
): Promise<NotifiedChange | undefined> {
  if (context.languages === undefined || context.dryRun) return undefined;
  const gone = files.flatMap(({ did, target, movedFrom }) => (did === "deleted" ? [target] : (movedFrom ?? [])));
  const there = files
    .filter(({ did, notes }) => did !== "deleted" && !notes.some(({ note }) => note === "same content"))
    .map(({ target, did }) => ({ path: target.real, did }));
  return orNothing(() =>
    sendChanges(
      there,
      gone.map(({ real }) => real),
      context,
    ),
  );
}

/** The change is already made, so a failure from here on must not make the call fail. */
async function orNothing<Value>(work: () => Promise<Value>): Promise<Value | undefined> {
  try {
    return await work();
  } catch {
    return undefined;
  }
}

interface ChangedPath {
  readonly path: string;
  readonly did: ChangedFile["did"];
}

async function sendChanges(
  there: readonly ChangedPath[],
  gone: readonly string[],
  context: ToolContext,
): Promise<NotifiedChange | undefined> {
  const languages = await context.languages?.();
  if (languages === undefined) return undefined;
  if (gone.length > 0) languages.removed(gone);
  const sources: SourceFile[] = [];
  for (const { path, did } of there) {
    const source = languages.serves(path) ? await sourceOf(path, context) : undefined;
    if (source !== undefined) sources.push({ ...source, created: did === "created" || did === "moved" });
  }
  return sources.length === 0 ? undefined : languages.changed(sources, context.session);
}

/** Tells the host and the servers of files that a rewind restored, by their real paths. The files are no longer locked. */
export async function notifyOfPaths(
  files: readonly ChangedPath[],
  context: ToolContext,
): Promise<readonly DiagnosticsReport[]> {
  if (!context.dryRun) for (const { path, did } of files) notifyHost({ path, did, session: context.session }, context);
  if (context.languages === undefined || context.dryRun || files.length === 0) return [];
  const there = files.filter(({ did }) => did !== "deleted");
  const gone = files.filter(({ did }) => did === "deleted").map(({ path }) => path);
  const reports = await orNothing(async () => {
    const notified = await sendChanges(there, gone, context);
    return notified && reportsOf(notified, context);
  });
  return reports ?? [];
}

/**
 * Adds the servers' diagnostics to the files, then tells the host of them. The caller has unlocked the files. The call leaves
 * the call queue first, so waiting for language servers blocks no other call.
 */
export async function withDiagnostics<Files extends readonly ChangedFile[]>(
  files: Files,
  notified: NotifiedChange | undefined,
  context: ToolContext,
): Promise<Files> {
  if (notified !== undefined) context.leaveQueue();
  const reports = notified === undefined ? [] : ((await orNothing(() => reportsOf(notified, context))) ?? []);
  const all = files.map((file) => {
    const diagnostics = reports.find(({ path }) => path === file.target.real);
    return diagnostics === undefined ? file : { ...file, diagnostics };
  }) as readonly ChangedFile[] as Files; // as many as there were, in their order
  if (!context.dryRun) for (const file of all) notifyHost(changeOf(file, context), context);
  return all;
}

const reportsOf = async (notified: NotifiedChange, context: ToolContext): Promise<readonly DiagnosticsReport[]> =>
  (await notified.report(context.signal)).map((report) => asWanted(report, context));

/** Diagnostics that came after the answer to the change, for files that the session may still read. */
export async function lateReports(context: ToolContext): Promise<readonly DiagnosticsReport[]> {
  if (context.languages === undefined) return [];
  const reports = await orNothing(async () => (await context.languages?.())?.late(context.session));
  const mayBeReported = ({ path }: DiagnosticsReport): boolean =>
    !context.guard.isSecret(path) && context.guard.denied("read", [path], "file") === undefined;
  return (reports ?? []).filter(mayBeReported).map((report) => asWanted(report, context));
}

const asWanted = (report: DiagnosticsReport, { warnings }: Pick<ToolContext, "warnings">): DiagnosticsReport =>
  warnings ? report : { ...report, warnings: [], warningsLeftOut: 0 };

const changeOf = ({ target, did, movedFrom, diagnostics }: ChangedFile, { session }: ToolContext): FileChanged => ({
  path: target.real,
  did,
  session,
  ...(movedFrom === undefined ? {} : { movedFrom: movedFrom.real }),
  ...(diagnostics === undefined ? {} : { diagnostics }),
});

function notifyHost(change: FileChanged, { onChanged }: ToolContext): void {
  try {
    onChanged?.(change);
  } catch {
    // The change is made; an error in the host's listener must not make the call fail.
  }
}
