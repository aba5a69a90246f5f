/** Sessions, and the turns of one of them with their files. */

import type { DiffStats, Snapshot } from "../../contract/history.ts";
import { collectedLine, rewindNote, timeText, usageLines, verifiedLines } from "../../dialects/dialects.ts";
import { escapeName } from "../../text/text.ts";
import { nameFrom } from "./change.ts";
import type { ExitCode, Given, Host } from "./command.ts";
import {
  chosenSession,
  type Looked,
  type Past,
  sessionNamed,
  sessionsHere,
  type SessionSummary,
  shortNames,
  stopIfInterrupted,
} from "./past.ts";
import { coloured, print, printJson, styled } from "./print.ts";
import { progressBar, type ProgressBar } from "./progress.ts";

/** Files of a turn on the screen; `--json` has them all. */
const filesMax = 10;

export async function showHistory(past: Past, limit: number, given: Given, host: Host): Promise<ExitCode> {
  const here = given.flag("all") ? past.history.sessions() : sessionsHere(past);
  const newest = here[0];
  const looked =
    given.text("session") !== undefined
      ? await chosenSession(past, given)
      : newest === undefined
        ? undefined
        : await sessionNamed(past, newest.id);
  const turns = looked === undefined ? [] : await turnsOf(looked, limit, given, host);
  if (given.flag("json")) {
    const listed = turns.map(({ snapshot, stats }) => turnData(snapshot, stats));
    const shown = looked === undefined ? null : { id: looked.turns.id, turns: listed };
    return printJson({ sessions: here.slice(0, limit).map(sessionData), session: shown }, host);
  }
  if (looked === undefined) {
    await chosenSession(past, given); // only damage may be left of it, which is reported
    return print("Nothing was changed in this workspace yet", host);
  }
  const parts = [sessionLines(here.slice(0, limit), here.length, past, host), turnLines(looked, turns, past, host)];
  return print(parts.flat().join("\n"), host);
}

async function turnsOf({ turns }: Looked, limit: number, given: Given, host: Host) {
  const list: { readonly snapshot: Snapshot; readonly stats: DiffStats | undefined }[] = [];
  const newest = turns.snapshots().slice(-limit).toReversed();
  const bar = progressBar("Counting lines", given, host, "items");
  try {
    for (const [at, snapshot] of newest.entries()) {
      stopIfInterrupted(host);
      bar.show(at, newest.length);
      list.push({ snapshot, stats: await turns.diffStats(snapshot.messageId) });
    }
  } finally {
    bar.clear();
  }
  return list;
}

const sessionData = ({ id, roots, dialect, startedMs, lastMs, turns }: SessionSummary) => ({
  id,
  roots,
  dialect,
  started: startedMs === undefined ? null : new Date(startedMs).toISOString(),
  last: new Date(lastMs).toISOString(),
  turns,
});

const turnData = ({ messageId, timestamp, rewinds, trackedFileBackups }: Snapshot, stats: DiffStats | undefined) => ({
  id: messageId,
  time: timestamp.toISOString(),
  rewinds: rewinds ?? null,
  ...(stats ?? { insertions: 0, deletions: 0, filesChanged: 0, uncounted: 0 }),
  files: Object.entries(trackedFileBackups).map(([path, { kind }]) => ({ path, wasThere: kind === "file" })),
});

function sessionLines(some: readonly SessionSummary[], count: number, past: Past, host: Host): readonly string[] {
  const rows = some.map(({ id, lastMs, turns, roots }) => [
    id === past.ownId ? `${id} (commands typed here)` : escapeName(id),
    timeText(new Date(lastMs)),
    `${turns} ${turns === 1 ? "turn" : "turns"}`,
    escapeName(roots.join(", ")),
  ]);
  const more = count - some.length;
  return [
    strong("Sessions, newest first", host),
    ...table(rows),
    ...(more > 0 ? [`  (${more} more, see --limit)`] : []),
    "",
  ];
}

type Turns = Awaited<ReturnType<typeof turnsOf>>;

function turnLines(looked: Looked, list: Turns, past: Past, host: Host): readonly string[] {
  const { turns, ids } = looked;
  const names = shortNames(ids);
  const rows = list.map(({ snapshot: { messageId, timestamp, rewinds, trackedFileBackups }, stats }) => [
    escapeName(names.get(messageId) ?? messageId),
    timeText(timestamp),
    stats === undefined ? "" : `+${stats.insertions} -${stats.deletions}${stats.uncounted > 0 ? " and more" : ""}`,
    `${filesText(Object.keys(trackedFileBackups), host)}${rewindNote(rewinds, (id) => names.get(id) ?? id)}`,
  ]);
  const more = ids.length - list.length;
  const isOwn = turns.id === past.ownId;
  return [
    strong(`Turns of ${escapeName(turns.id)}, newest first`, host),
    ...table(rows),
    ...(more > 0 ? [`  (${more} more, see --limit)`] : []),
    ...(isOwn ? [] : [`To count (-1) or undo in this session: --session ${escapeName(turns.id)}`]),
  ];
}

function filesText(paths: readonly string[], host: Host): string {
  const some = paths.slice(0, filesMax).map((path) => escapeName(nameFrom(host.cwd, path)));
  return paths.length > filesMax ? `${some.join(", ")} and ${paths.length - filesMax} more` : some.join(", ");
}

/** The last column is not filled up: it may be long. */
function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map(
    (row) => `  ${row.map((cell, at) => cell.padEnd(at === row.length - 1 ? 0 : (widths[at] ?? 0))).join("  ")}`,
  );
}

const strong = (text: string, host: Host): string => (coloured(host, "stdout") ? styled("bold", text) : text);

// Maintenance of the store: verify, size, prune.

/** The state between two steps is consistent. */
const interruptible =
  ({ show }: ProgressBar, host: Host): ProgressBar["show"] =>
  (done, total) => {
    stopIfInterrupted(host);
    show(done, total);
  };

export async function verifyStore({ history }: Past, given: Given, host: Host): Promise<ExitCode> {
  const bar = progressBar("Checking", given, host, "items");
  const verified = await history.verify(interruptible(bar, host)).finally(() => bar.clear());
  if (given.flag("json")) printJson(verified, host);
  else print(verifiedLines(verified).join("\n"), host);
  return verified.faults.length === 0 ? 0 : 1;
}

export async function showUsage({ history }: Past, given: Given, host: Host): Promise<ExitCode> {
  const usage = history.usage();
  if (!given.flag("json")) return print(usageLines(usage).join("\n"), host);
  const { oldestMs, ...rest } = usage;
  return printJson({ ...rest, oldest: oldestMs === undefined ? null : new Date(oldestMs).toISOString() }, host);
}

export async function collectStore({ history }: Past, given: Given, host: Host): Promise<ExitCode> {
  const bar = progressBar("Tidying", given, host, "items");
  const collected = await history
    .gc({ onProgress: interruptible(bar, host), ifDue: given.flag("if-due") })
    .finally(() => bar.clear());
  if (given.flag("json")) return printJson(collected, host);
  return print(collected === "not due" ? "Nothing to do yet" : collectedLine(collected), host);
}
