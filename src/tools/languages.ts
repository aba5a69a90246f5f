/**
 * Language servers hear of what is read and of what is changed. They can neither fail nor hold up a call beyond the operator's
 * limit, and never get to see a secret or what a rule denies. Without any server nothing of this is done.
 */

import { isUtf8 } from "node:buffer";
import type { ChangedFile } from "../contract/edit.ts";
import type { FileChanged } from "../contract/event.ts";
import type { DiagnosticsReport, Languages, SourceFile, NotifiedChange } from "../contract/lsp.ts";
import { limits } from "../contract/limits.ts";
import type { Target } from "../contract/target.ts";
import { FileCut, ReadFailed, wholeFile } from "../disk/disk.ts";
import { statKeyOf } from "./fingerprint.ts";
import type { ToolContext } from "./tool.ts";

/**
 * The file as servers shall know it; undefined for what is gone, a secret, too large for them, or not in UTF-8, which is what
 * they take files for. `path`: a real one that the session may read.
 */
export async function sourceOf(
  path: string,
  { guard, disk }: Pick<ToolContext, "guard" | "disk">,
): Promise<SourceFile | undefined> {
  if (guard.isSecret(path)) return undefined;
  const lookup = disk.lookup(path);
  if (lookup.seen !== "node") return undefined;
  using _held = lookup.handle;
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
    if (error instanceof ReadFailed || error instanceof FileCut) return undefined;
    throw error;
  }
}

/** A file was read: servers get ready for it. Nobody waits for that. */
export function prepareServers(target: Target, context: ToolContext): void {
  if (context.languages === undefined) return;
  void (async () => {
    const languages = await context.languages?.();
    if (languages?.serves(target.real) !== true) return;
    const source = await sourceOf(target.real, context);
    if (source !== undefined) languages.touched(source);
  })().catch(() => undefined); // reading went well, whatever became of this
}

/** Tells servers of files that were just changed; the caller still holds their locks, so that servers hear it in order. */
export async function notifyServers(files: readonly ChangedFile[], context: ToolContext): Promise<NotifiedChange | undefined> {
  if (context.languages === undefined || context.dryRun) return undefined;
  return orNothing(() => sendChanges(files, context));
}

/** The change is made: whatever goes wrong from here on must not make it look as if it were not. */
async function orNothing<Value>(work: () => Promise<Value>): Promise<Value | undefined> {
  try {
    return await work();
  } catch {
    return undefined;
  }
}

async function sendChanges(files: readonly ChangedFile[], context: ToolContext): Promise<NotifiedChange | undefined> {
  const languages = await context.languages?.();
  if (languages === undefined) return undefined;
  const gone = files.flatMap(({ did, target, movedFrom }) => (did === "deleted" ? [target] : (movedFrom ?? [])));
  if (gone.length > 0) languages.removed(gone.map(({ real }) => real));
  const there = files.filter(
    ({ did, notes }) => did !== "deleted" && !notes.some(({ note }) => note === "same content"),
  );
  const sources = await sourcesOf(there, languages, context);
  return sources.length === 0 ? undefined : languages.changed(sources, context.session);
}

async function sourcesOf(
  files: readonly ChangedFile[],
  languages: Languages,
  context: ToolContext,
): Promise<readonly SourceFile[]> {
  const sources: SourceFile[] = [];
  for (const { target, did } of files) {
    if (!languages.serves(target.real)) continue;
    const source = await sourceOf(target.real, context);
    if (source !== undefined) sources.push({ ...source, created: did === "created" || did === "moved" });
  }
  return sources;
}

/** The same for files that were brought back, by their real paths; their locks are free by now. */
export async function notifyOfPaths(
  files: readonly { readonly path: string; readonly did: ChangedFile["did"] }[],
  context: ToolContext,
): Promise<readonly DiagnosticsReport[]> {
  if (!context.dryRun) for (const { path, did } of files) notifyHost({ path, did, session: context.session }, context);
  if (context.languages === undefined || context.dryRun || files.length === 0) return [];
  return (await orNothing(() => reportsOfPaths(files, context))) ?? [];
}

async function reportsOfPaths(
  files: readonly { readonly path: string; readonly did: ChangedFile["did"] }[],
  context: ToolContext,
): Promise<readonly DiagnosticsReport[]> {
  const languages = await context.languages?.();
  if (languages === undefined) return [];
  const gone = files.filter(({ did }) => did === "deleted").map(({ path }) => path);
  if (gone.length > 0) languages.removed(gone);
  const sources: SourceFile[] = [];
  for (const { path, did } of files) {
    const source = did !== "deleted" && languages.serves(path) ? await sourceOf(path, context) : undefined;
    if (source !== undefined) sources.push({ ...source, created: did === "created" });
  }
  return sources.length === 0 ? [] : reportsOf(languages.changed(sources, context.session), context);
}

/**
 * The files with what servers say of them; the caller holds no lock any more. No other call waits while servers think: the
 * place in the call queue is given up before. Then the host hears of the files.
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

/** What servers said of files after the answers that it belongs to, if the session may still see them. */
export async function lateReports(context: ToolContext): Promise<readonly DiagnosticsReport[]> {
  if (context.languages === undefined) return [];
  const reports = await orNothing(async () => (await context.languages?.())?.late(context.session));
  const mayBeReported = ({ path }: DiagnosticsReport): boolean =>
    !context.guard.isSecret(path) && context.guard.denied("read", [path], "file") === undefined;
  return (reports ?? []).filter(mayBeReported).map((report) => asWanted(report, context));
}

/** Warnings only for those who want them. */
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
    // The change is made and stays so; what the host does with the news is its own affair.
  }
}
