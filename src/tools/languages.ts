/**
 * Language servers hear of what is read and of what is changed. They can neither fail nor hold up a call beyond the operator's
 * limit, and never get to see a secret or what a rule denies. Without any server nothing of this is done.
 */

import { isUtf8 } from "node:buffer";
import type { ChangedFile } from "../contract/edit.ts";
import type { FileChanged } from "../contract/event.ts";
import type { DiagnosticsReport, Languages, SourceFile, ToldChange } from "../contract/lsp.ts";
import { limits } from "../contract/limits.ts";
import type { Target } from "../contract/target.ts";
import { ReadFailed, wholeFile } from "../disk/lookup/open-file.ts";
import { FileCut } from "../disk/lines/scan.ts";
import { signOf } from "./stamp.ts";
import type { Bench } from "./tool.ts";

/**
 * The file as servers shall know it; undefined for what is gone, a secret, too large for them, or not in UTF-8, which is what
 * they take files for. `path`: a real one that the session may read.
 */
export async function sourceOf(
  path: string,
  { guard, disk }: Pick<Bench, "guard" | "disk">,
): Promise<SourceFile | undefined> {
  if (guard.isSecret(path)) return undefined;
  const look = disk.look(path);
  if (look.seen !== "node") return undefined;
  using _held = look.held;
  try {
    if (look.kind !== "file") return undefined;
    const opened = disk.open(look);
    if ("errno" in opened) return undefined;
    using file = opened;
    const bytes = await wholeFile(file, limits.languageFileBytesMax);
    if (bytes === undefined || !isUtf8(bytes)) return undefined;
    const text = bytes.toString("utf8");
    return { path, text: text.startsWith("\ufeff") ? text.slice(1) : text, stamp: signOf(file.identity) };
  } catch (error) {
    if (error instanceof ReadFailed || error instanceof FileCut) return undefined;
    throw error;
  }
}

/** A file was read: servers get ready for it. Nobody waits for that. */
export function touch(target: Target, bench: Bench): void {
  if (bench.languages === undefined) return;
  void (async () => {
    const languages = await bench.languages?.();
    if (languages?.serves(target.real) !== true) return;
    const source = await sourceOf(target.real, bench);
    if (source !== undefined) languages.touched(source);
  })().catch(() => undefined); // reading went well, whatever became of this
}

/** Tells servers of files that were just changed; the caller still holds their locks, so that servers hear it in order. */
export async function tell(files: readonly ChangedFile[], bench: Bench): Promise<ToldChange | undefined> {
  if (bench.languages === undefined || bench.dryRun) return undefined;
  return orNothing(() => tellServers(files, bench));
}

/** The change is made: whatever goes wrong from here on must not make it look as if it were not. */
async function orNothing<Value>(work: () => Promise<Value>): Promise<Value | undefined> {
  try {
    return await work();
  } catch {
    return undefined;
  }
}

async function tellServers(files: readonly ChangedFile[], bench: Bench): Promise<ToldChange | undefined> {
  const languages = await bench.languages?.();
  if (languages === undefined) return undefined;
  const gone = files.flatMap(({ did, target, movedFrom }) => (did === "deleted" ? [target] : (movedFrom ?? [])));
  if (gone.length > 0) languages.removed(gone.map(({ real }) => real));
  const there = files.filter(
    ({ did, notes }) => did !== "deleted" && !notes.some(({ note }) => note === "same content"),
  );
  const sources = await sourcesOf(there, languages, bench);
  return sources.length === 0 ? undefined : languages.changed(sources, bench.session);
}

async function sourcesOf(
  files: readonly ChangedFile[],
  languages: Languages,
  bench: Bench,
): Promise<readonly SourceFile[]> {
  const sources: SourceFile[] = [];
  for (const { target, did } of files) {
    if (!languages.serves(target.real)) continue;
    const source = await sourceOf(target.real, bench);
    if (source !== undefined) sources.push({ ...source, created: did === "created" || did === "moved" });
  }
  return sources;
}

/** The same for files that were brought back, by their real paths; their locks are free by now. */
export async function tellOfPaths(
  files: readonly { readonly path: string; readonly did: ChangedFile["did"] }[],
  bench: Bench,
): Promise<readonly DiagnosticsReport[]> {
  if (!bench.dryRun) for (const { path, did } of files) notify({ path, did, session: bench.session }, bench);
  if (bench.languages === undefined || bench.dryRun || files.length === 0) return [];
  return (await orNothing(() => reportsOfPaths(files, bench))) ?? [];
}

async function reportsOfPaths(
  files: readonly { readonly path: string; readonly did: ChangedFile["did"] }[],
  bench: Bench,
): Promise<readonly DiagnosticsReport[]> {
  const languages = await bench.languages?.();
  if (languages === undefined) return [];
  const gone = files.filter(({ did }) => did === "deleted").map(({ path }) => path);
  if (gone.length > 0) languages.removed(gone);
  const sources: SourceFile[] = [];
  for (const { path, did } of files) {
    const source = did !== "deleted" && languages.serves(path) ? await sourceOf(path, bench) : undefined;
    if (source !== undefined) sources.push({ ...source, created: did === "created" });
  }
  return sources.length === 0 ? [] : reportsOf(languages.changed(sources, bench.session), bench);
}

/**
 * The files with what servers say of them; the caller holds no lock any more. No other call waits while servers think: the
 * place in the call queue is given up before. Then the host hears of the files.
 */
export async function reported<Files extends readonly ChangedFile[]>(
  files: Files,
  told: ToldChange | undefined,
  bench: Bench,
): Promise<Files> {
  if (told !== undefined) bench.leaveQueue();
  const reports = told === undefined ? [] : ((await orNothing(() => reportsOf(told, bench))) ?? []);
  const all = files.map((file) => {
    const diagnostics = reports.find(({ path }) => path === file.target.real);
    return diagnostics === undefined ? file : { ...file, diagnostics };
  }) as readonly ChangedFile[] as Files; // as many as there were, in their order
  if (!bench.dryRun) for (const file of all) notify(changeOf(file, bench), bench);
  return all;
}

const reportsOf = async (told: ToldChange, bench: Bench): Promise<readonly DiagnosticsReport[]> =>
  (await told.report(bench.signal)).map((report) => asWanted(report, bench));

/** What servers said of files after the answers that it belongs to, if the session may still see them. */
export async function lateReports(bench: Bench): Promise<readonly DiagnosticsReport[]> {
  if (bench.languages === undefined) return [];
  const reports = await orNothing(async () => (await bench.languages?.())?.late(bench.session));
  const mayBeTold = ({ path }: DiagnosticsReport): boolean =>
    !bench.guard.isSecret(path) && bench.guard.denied("read", [path], "file") === undefined;
  return (reports ?? []).filter(mayBeTold).map((report) => asWanted(report, bench));
}

/** Warnings only for those who want them. */
const asWanted = (report: DiagnosticsReport, { warnings }: Pick<Bench, "warnings">): DiagnosticsReport =>
  warnings ? report : { ...report, warnings: [], warningsLeftOut: 0 };

const changeOf = ({ target, did, movedFrom, diagnostics }: ChangedFile, { session }: Bench): FileChanged => ({
  path: target.real,
  did,
  session,
  ...(movedFrom === undefined ? {} : { movedFrom: movedFrom.real }),
  ...(diagnostics === undefined ? {} : { diagnostics }),
});

function notify(change: FileChanged, { onChanged }: Bench): void {
  try {
    onChanged?.(change);
  } catch {
    // The change is made and stays so; what the host does with the news is its own affair.
  }
}
