/** Sessions, and the turns of one of them with their files. */

import { styleText } from "node:util";
import type { DiffStats, Snapshot, StoreFault } from "../../contract/history.ts";
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
import { coloured, printJson } from "./print.ts";
import { progressBar, type ProgressBar, sizeText } from "./progress.ts";

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
    printJson({ sessions: here.slice(0, limit).map(sessionData), session: shown }, host);
    return 0;
  }
  if (looked === undefined) {
    await chosenSession(past, given); // only damage may be left of it, which is reported
    host.stdout.write("Nothing was changed in this workspace yet\n");
    return 0;
  }
  const parts = [sessionLines(here.slice(0, limit), here.length, past, host), turnLines(looked, turns, past, host)];
  host.stdout.write(`${parts.flat().join("\n")}\n`);
  return 0;
}

interface Turn {
  readonly snapshot: Snapshot;
  readonly stats: DiffStats | undefined;
}

/** Newest first. */
async function turnsOf({ turns }: Looked, limit: number, given: Given, host: Host): Promise<readonly Turn[]> {
  const list: Turn[] = [];
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

function turnLines(looked: Looked, list: readonly Turn[], past: Past, host: Host): readonly string[] {
  const { turns, ids } = looked;
  const names = shortNames(ids);
  const rows = list.map(({ snapshot: { messageId, timestamp, rewinds, trackedFileBackups }, stats }) => [
    escapeName(names.get(messageId) ?? messageId),
    timeText(timestamp),
    stats === undefined ? "" : `+${stats.insertions} -${stats.deletions}${stats.uncounted > 0 ? " and more" : ""}`,
    `${filesText(Object.keys(trackedFileBackups), host)}${rewoundText(rewinds, names)}`,
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

function rewoundText(rewinds: Snapshot["rewinds"], names: ReadonlyMap<string, string>): string {
  if (rewinds === undefined) return "";
  const to = escapeName(names.get(rewinds.to) ?? rewinds.to);
  switch (rewinds.as) {
    case "undo":
      return ` (undo of ${to})`;
    case "redo":
      return ` (redo: took back ${to})`;
    case "rewind":
    case "partial":
      return ` (rewind to before ${to})`;
  }
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

const strong = (text: string, host: Host): string =>
  coloured(host, "stdout") ? styleText("bold", text, { validateStream: false }) : text;

/** In local time. */
function timeText(time: Date): string {
  const two = (value: number): string => String(value).padStart(2, "0");
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${day} ${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
}

// Maintenance of the store: verify, size, prune.

/** The state between two steps is consistent. */
const interruptible =
  ({ show }: ProgressBar, host: Host): ProgressBar["show"] =>
  (done, total) => {
    stopIfInterrupted(host);
    show(done, total);
  };

/** Faults on the screen; `--json` has them all. */
const faultsMax = 100;

export async function verifyStore({ history }: Past, given: Given, host: Host): Promise<ExitCode> {
  const bar = progressBar("Checking", given, host, "items");
  const verified = await history.verify(interruptible(bar, host)).finally(() => bar.clear());
  const { records, contents, faults } = verified;
  const code = faults.length === 0 ? 0 : 1;
  if (given.flag("json")) {
    printJson(verified, host);
    return code;
  }
  const checked = `Checked ${records} records and ${contents} contents`;
  if (faults.length === 0) host.stdout.write(`${checked}: all are as they were written\n`);
  else {
    const lines = faults.slice(0, faultsMax).map((fault) => `  ${faultText(fault)}`);
    const more = faults.length > faultsMax ? [`  and ${faults.length - faultsMax} more`] : [];
    host.stdout.write(
      `${[`${checked}: ${faults.length} are not as they were written`, ...lines, ...more].join("\n")}\n`,
    );
  }
  return code;
}

function faultText(fault: StoreFault): string {
  switch (fault.fault) {
    case "damaged line":
      return `damaged line: ${escapeName(fault.file)} at byte ${fault.atByte}, session ${escapeName(fault.session)}`;
    case "unreadable":
      return `cannot be read: ${escapeName(fault.file)}`;
    case "damaged content":
    case "missing content": {
      const whose = fault.session === undefined ? "no session needs it" : `session ${escapeName(fault.session)}`;
      return `${fault.fault}: ${fault.content}, ${whose}`;
    }
  }
}

export async function showUsage({ history }: Past, given: Given, host: Host): Promise<ExitCode> {
  const usage = history.usage();
  if (given.flag("json")) {
    const { oldestMs, ...rest } = usage;
    const oldest = oldestMs === undefined ? null : new Date(oldestMs).toISOString();
    printJson({ ...rest, oldest }, host);
    return 0;
  }
  const { bytes, contents, contentBytes, journalBytes, asideBytes, sessions, oldestMs } = usage;
  const lines = [
    `In all: ${sizeText(bytes)}`,
    `Contents: ${contents}, ${sizeText(contentBytes)}`,
    `Sessions: ${sessions}, ${sizeText(journalBytes)}`,
    ...(asideBytes === 0 ? [] : [`No longer needed, to be removed: ${sizeText(asideBytes)}`]),
    ...(oldestMs === undefined ? [] : [`The oldest session began: ${timeText(new Date(oldestMs))}`]),
  ];
  host.stdout.write(`${lines.join("\n")}\n`);
  return 0;
}

export async function collectStore({ history }: Past, given: Given, host: Host): Promise<ExitCode> {
  const bar = progressBar("Tidying", given, host, "items");
  const collected = await history
    .gc({ onProgress: interruptible(bar, host), ifDue: given.flag("if-due") })
    .finally(() => bar.clear());
  if (given.flag("json")) {
    printJson(collected, host);
    return 0;
  }
  if (collected === "not due") {
    host.stdout.write("Nothing to do yet\n");
    return 0;
  }
  const { sessionsRemoved, contentsRemoved, bytesRemoved, over } = collected;
  const still = over ? "; it is still over the limit, for sessions in use need more" : "";
  host.stdout.write(
    `Removed ${sessionsRemoved} sessions and ${contentsRemoved} contents, ${sizeText(bytesRemoved)}${still}\n`,
  );
  return 0;
}
