/** Sessions, and the turns of all of them with their files. */

import type { DiffStats, TurnChanges } from "../../contract/history.ts";
import {
  collectedLine,
  madeBy,
  rewindNote,
  sessionTitle,
  timeText,
  usageLines,
  verifiedLines,
} from "../../dialects/dialects.ts";
import { escapeName, undoneIn } from "../../text/text.ts";
import { nameFrom } from "./change.ts";
import type { ExitCode, Given, Host } from "./command.ts";
import { chosenTurns, type Looked, type Past, shortNames, stopIfInterrupted } from "./past.ts";
import { coloured, print, printJson, styled } from "./print.ts";
import { progressBar, type ProgressBar } from "./progress.ts";
import { namedSessions, type SessionSummary } from "./whose.ts";

/** Files of a turn on the screen; `--json` has them all. */
const filesMax = 10;

export async function showHistory(past: Past, limit: number, given: Given, host: Host): Promise<ExitCode> {
  const looked = await chosenTurns(past, given);
  const { sessions } = looked;
  const turns = await turnsOf(looked, limit, given, host);
  if (given.flag("json")) {
    const clients = new Map(sessions.map(({ id, client }) => [id, client]));
    const listed = turns.map(({ turn, stats }) => turnData(turn, stats, clients.get(turn.session) ?? null));
    return printJson({ sessions: sessions.slice(0, limit).map(sessionData), turns: listed }, host);
  }
  if (looked.ids.length === 0) return print(nothingHere(looked), host);
  const parts = [sessionLines(sessions.slice(0, limit), sessions.length, past, host), turnLines(looked, turns, host)];
  return print(parts.flat().join("\n"), host);
}

/** Names the sessions of other workspaces that have something. */
function nothingHere({ past }: Looked): string {
  const elsewhere = past.history.sessions().filter(({ turns }) => turns > 0);
  const others = elsewhere.length === 0 ? "" : `; in others: ${namedSessions(elsewhere, past.nowMs)}, see --all`;
  return `Nothing was changed in this workspace yet${others}`;
}

async function turnsOf({ turns }: Looked, limit: number, given: Given, host: Host) {
  const list: { readonly turn: TurnChanges; readonly stats: DiffStats | undefined }[] = [];
  const newest = turns.turns().slice(-limit).toReversed();
  const bar = progressBar("Counting lines", given, host, "items");
  try {
    for (const [at, turn] of newest.entries()) {
      stopIfInterrupted(host);
      bar.show(at, newest.length);
      list.push({ turn, stats: await turns.diffStats(turn.messageId) });
    }
  } finally {
    bar.clear();
  }
  return list;
}

const sessionData = ({ id, client, roots, dialect, startedMs, lastMs, turns }: SessionSummary) => ({
  id,
  client: client ?? null,
  roots,
  dialect,
  started: startedMs === undefined ? null : new Date(startedMs).toISOString(),
  last: new Date(lastMs).toISOString(),
  turns,
});

function turnData(turn: TurnChanges, stats: DiffStats | undefined, client: string | null) {
  const { messageId, session, tools, title = null, timestamp, rewinds = null, files } = turn;
  return {
    id: messageId,
    session,
    client,
    tools,
    title,
    time: timestamp.toISOString(),
    rewinds,
    undone: undoneIn(turn),
    ...(stats ?? { insertions: 0, deletions: 0, filesChanged: 0, uncounted: 0 }),
    files: files.map(({ path, before }) => ({ path, wasThere: before.kind === "file" })),
  };
}

function sessionLines(some: readonly SessionSummary[], count: number, past: Past, host: Host): readonly string[] {
  const rows = some.map((session) => [
    sessionTitle(session, past.nowMs),
    escapeName(session.id),
    timeText(new Date(session.lastMs)),
    `${session.turns} ${session.turns === 1 ? "turn" : "turns"}`,
    escapeName(session.roots.join(", ")),
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

function turnLines({ ids, sessions, past }: Looked, list: Turns, host: Host): readonly string[] {
  const names = shortNames(ids);
  const titles = new Map(sessions.map((session) => [session.id, sessionTitle(session, past.nowMs)]));
  const rows = list.map(({ turn, stats }) => [
    escapeName(names.get(turn.messageId) ?? turn.messageId),
    timeText(turn.timestamp),
    titles.get(turn.session) ?? escapeName(turn.session),
    madeBy(turn),
    stats === undefined ? "" : `+${stats.insertions} -${stats.deletions}${stats.uncounted > 0 ? " and more" : ""}`,
    `${filesText(
      turn.files.map(({ path }) => path),
      host,
    )}${rewindNote(turn.rewinds, (id) => names.get(id) ?? id)}${undoneNotes[undoneIn(turn)]}`,
  ]);
  const more = ids.length - list.length;
  return [strong("Turns, newest first", host), ...table(rows), ...(more > 0 ? [`  (${more} more, see --limit)`] : [])];
}

const undoneNotes = { all: " (undone)", part: " (undone in part)", no: "" } as const;

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
  const usage = await history.usage();
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
