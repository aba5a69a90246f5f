/** The store of the history in words for a person: rewinds in a list of turns, its size, its faults, and what was removed. */

import type { Snapshot, StoreFault, TurnChanges, Usage } from "../../contract/history.ts";
import { escapeName, shownName } from "../../text/text.ts";

/** The client of the sessions that a person's own commands belong to. */
export const commandLineClient = "command line";

interface NamedSession {
  readonly id: string;
  readonly client?: string | undefined;
  readonly startedMs?: number | undefined;
}

/** Sessions of earlier versions have no client; their ids tell whose they are. */
export const typedByPerson = ({ id, client }: NamedSession): boolean =>
  client === undefined ? /^cli-[0-9a-f]{12}$/.test(id) : client === commandLineClient;

/** Local: a name or a command is one column of a list. */
const nameCharsMax = 60;

/** "Claude Code, 14:02": the client and when its session began; a day is named unless it is today's. */
export function sessionTitle(session: NamedSession, nowMs: number): string {
  const { id, client, startedMs } = session;
  if (typedByPerson(session)) return commandLineClient;
  const name = client ?? (/^mcp-[0-9a-f]{16}$/.test(id) ? "MCP client" : undefined);
  if (name === undefined) return escapeName(id);
  if (startedMs === undefined) return shownName(name, nameCharsMax);
  const [day, time = ""] = timeText(new Date(startedMs)).split(" ");
  const isToday = timeText(new Date(nowMs)).startsWith(`${day} `);
  const clock = time.slice(0, 5);
  return `${shownName(name, nameCharsMax)}, ${isToday ? clock : `${day} ${clock}`}`;
}

/** What made the changes of a turn: the shell command, the way back, or the tools. */
export function madeBy({ title, tools, rewinds }: Pick<TurnChanges, "title" | "tools" | "rewinds">): string {
  if (title !== undefined) return `$ ${shownName(title, nameCharsMax)}`;
  if (rewinds !== undefined) return { undo: "undo", redo: "redo", rewind: "rewind", partial: "rewind" }[rewinds.as];
  return tools.map((tool) => (tool === "observed" ? "another program" : shownName(tool, nameCharsMax))).join(", ");
}

/** `nameOf`: the short name of a turn. */
export function rewindNote(rewinds: Snapshot["rewinds"], nameOf: (id: string) => string): string {
  if (rewinds === undefined) return "";
  const to = escapeName(nameOf(rewinds.to));
  return {
    undo: ` (undo of ${to})`,
    redo: ` (redo: took back ${to})`,
    rewind: ` (rewind to before ${to})`,
    partial: ` (rewind to before ${to})`,
  }[rewinds.as];
}

/** Faults on the screen. */
const faultsMax = 100;

export function verifiedLines(verified: {
  readonly records: number;
  readonly contents: number;
  readonly faults: readonly StoreFault[];
}): readonly string[] {
  const { records, contents, faults } = verified;
  const checked = `Checked ${records} records and ${contents} contents`;
  if (faults.length === 0) return [`${checked}: all are as they were written`];
  return [
    `${checked}: ${faults.length} are not as they were written`,
    ...faults.slice(0, faultsMax).map((fault) => `  ${faultText(fault)}`),
    ...(faults.length > faultsMax ? [`  and ${faults.length - faultsMax} more`] : []),
  ];
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

export const usageLines = (usage: Usage): readonly string[] => [
  `In all: ${sizeText(usage.bytes)}`,
  `Contents: ${usage.contents}, ${sizeText(usage.contentBytes)}`,
  `Sessions: ${usage.sessions}, ${sizeText(usage.journalBytes)}`,
  ...(usage.asideBytes === 0 ? [] : [`No longer needed, to be removed: ${sizeText(usage.asideBytes)}`]),
  ...(usage.oldestMs === undefined ? [] : [`The oldest session began: ${timeText(new Date(usage.oldestMs))}`]),
];

export function collectedLine(collected: {
  readonly sessionsRemoved: number;
  readonly contentsRemoved: number;
  readonly bytesRemoved: number;
  readonly over: boolean;
}): string {
  const { sessionsRemoved, contentsRemoved, bytesRemoved, over } = collected;
  const still = over ? "; it is still over the limit, for sessions in use need more" : "";
  return `Removed ${sessionsRemoved} sessions and ${contentsRemoved} contents, ${sizeText(bytesRemoved)}${still}`;
}

export function sizeText(bytes: number): string {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1_000 && unit < units.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  return `${value < 10 && unit > 0 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** In local time. */
export function timeText(time: Date): string {
  const two = (value: number): string => String(value).padStart(2, "0");
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${day} ${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
}
