/** What was kept, for the commands that look back: which sessions, which of them a command is about, and which turn. */

import * as nodePath from "node:path";
import type { History, Session, SessionHistory } from "../../api.ts";
import { FilehandError } from "../../contract/failure.ts";
import { escapeName } from "../../text/escape.ts";
import type { Given, Host, Option } from "./command.ts";
import { type Opened, openSession, ownSessionId } from "./open-session.ts";
import { findTurn, shortNames } from "./turn-names.ts";

export const sessionToLookAt: Option = {
  type: "text",
  value: "ID",
  words: "The session to look at (default: that of the commands typed in this workspace)",
};

export type SessionSummary = ReturnType<History["sessions"]>[number];

export interface Past extends Opened {
  readonly history: History;
  /** The session of commands that people type here. */
  readonly ownId: string;
  /** Says, once, that something of a session is damaged: what is not listed is not the same as what did not happen. */
  readonly tellOfDamage: (turns: SessionHistory) => void;
}

export async function openPast(given: Given, host: Host): Promise<Past> {
  const opened = await openSession(given, host, "people", { dialect: "claude" });
  const history = await opened.filehand.history();
  if (history === undefined) {
    throw noTurn(
      opened.stateDir === undefined
        ? "Cannot look back: no history is kept without a state folder, give one with --state-dir"
        : 'Cannot look back: the setting "history" is false, so nothing is kept',
    );
  }
  return { ...opened, history, ownId: ownSessionId(opened.filehand), tellOfDamage: damageTeller(host) };
}

function damageTeller(host: Host): Past["tellOfDamage"] {
  const told = new Set<string>();
  return (turns) => {
    const count = turns.faults().length;
    if (count === 0 || told.has(turns.id)) return;
    told.add(turns.id);
    const records = count === 1 ? "one record" : `${count} records`;
    const are = count === 1 ? "is" : "are";
    host.stderr.write(
      `filehand: ${records} of the session ${escapeName(turns.id)} cannot be read and ${are} left out, see filehand history verify\n`,
    );
  };
}

/** Of this workspace: one of their roots is one of ours, lies in it or holds it. Newest first. */
export function sessionsHere({ history, filehand }: Past): readonly SessionSummary[] {
  return history
    .sessions()
    .filter(({ roots }) => roots.some((theirs) => filehand.roots.some((ours) => overlap(theirs, ours))));
}

const overlap = (a: string, b: string): boolean => holds(a, b) || holds(b, a);

const holds = (outer: string, inner: string): boolean => {
  const rest = nodePath.relative(outer, inner);
  return rest !== ".." && !rest.startsWith(`..${nodePath.sep}`) && !nodePath.isAbsolute(rest);
};

/** A session with what it changed. */
export interface Looked {
  readonly past: Past;
  readonly session: Session;
  readonly turns: SessionHistory;
  /** Of turns that changed something, oldest first. */
  readonly ids: readonly string[];
}

/** The session that `--session` names, or the person's own. */
export async function chosenSession(past: Past, given: Given): Promise<Looked> {
  const asked = given.text("session");
  if (asked !== undefined && !past.history.sessions().some(({ id }) => id === asked)) {
    throw noTurn(
      `Cannot look at the session "${escapeName(asked)}": nothing is kept of it, see filehand history --all`,
    );
  }
  return looked(past.session, past);
}

export const sessionNamed = (past: Past, id: string): Promise<Looked> =>
  looked(past.filehand.session({ dialect: "claude", id }), past);

async function looked(session: Session, past: Past): Promise<Looked> {
  const turns = await session.history();
  if (turns === undefined) throw new Error("a session of a kept history has one");
  past.tellOfDamage(turns);
  return { past, session, turns, ids: turns.snapshots().map(({ messageId }) => messageId) };
}

export interface Named extends Looked {
  readonly turn: string;
}

/**
 * The turn that a person means. An id is looked for in their own session first and then in the others of the workspace,
 * for what `filehand history` shows can be one of those; what is counted is counted in one session.
 */
export async function namedTurn(asked: string, past: Past, given: Given): Promise<Named> {
  const first = await chosenSession(past, given);
  const found = findTurn(asked, first.ids);
  if (typeof found === "string") return { ...first, turn: found };
  if (found.why === "several") throw ambiguous(asked, found.among, first.ids);
  if (found.why === "counted too far") throw noTurn(countedTooFar(asked, first.ids.length));
  if (given.text("session") === undefined) {
    const others = sessionsHere(past).filter(({ id }) => id !== first.turns.id);
    const hits: Named[] = [];
    for (const { id } of others) {
      const other = await sessionNamed(past, id);
      const hit = findTurn(asked, other.ids);
      if (typeof hit === "string") hits.push({ ...other, turn: hit });
      else if (hit.why === "several") throw ambiguous(asked, hit.among, other.ids);
    }
    const [hit, second] = hits;
    if (hit !== undefined && second === undefined) return hit;
    if (hit !== undefined) {
      const ids = hits.map(({ turns }) => turns.id).join(" and ");
      throw noTurn(`Cannot tell which turn "${escapeName(asked)}" is: the sessions ${ids} have one, give --session`);
    }
  }
  throw await unknown(asked, first);
}

/** Ctrl-C, where nothing else would notice it. */
export function stopIfInterrupted({ signal }: Host): void {
  if (signal.aborted) throw new FilehandError("CANCELLED", "Interrupted before the end");
}

export const noTurn = (message: string): FilehandError => new FilehandError("NO_TURN", message);

function ambiguous(asked: string, among: readonly string[], ids: readonly string[]): FilehandError {
  const names = shortNames(ids);
  const some = among.slice(0, 5).map((id) => names.get(id) ?? id);
  const list = escapeName(some.join(", "));
  return noTurn(`Cannot tell which turn "${escapeName(asked)}" is: ${list} begin so, give more of its id`);
}

function countedTooFar(asked: string, count: number): string {
  const there = count === 0 ? "nothing was changed in this session" : `there are ${count}, the newest is -1`;
  return `Cannot find the turn "${escapeName(asked)}": ${there}; see filehand history`;
}

async function unknown(asked: string, { turns }: Looked): Promise<FilehandError> {
  // Without files nothing is looked at; it only tells what is known of the turn.
  const plan = await turns.plan(asked, { current: async () => ({ kind: "absent" }), files: [] });
  const why = plan.found === "pruned" ? "it is no longer kept" : "no turn begins so";
  return noTurn(`Cannot find the turn "${escapeName(asked)}": ${why}, see filehand history`);
}

/** The real path that a person means by a relative or absolute one, of those that were changed. */
export function pathAmong(asked: string, paths: readonly string[], past: Past, host: Host): string | undefined {
  const places = [host.cwd, ...past.filehand.roots].map((folder) => nodePath.resolve(folder, asked));
  return places.find((place) => paths.includes(place));
}
