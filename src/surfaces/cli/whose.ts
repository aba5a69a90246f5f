/** Whose changes a command is about: the workspace around the current folder, its sessions, and what people call them. */

import * as nodePath from "node:path";
import { FilehandError } from "../../contract/problem.ts";
import { sessionTitle, typedByPerson } from "../../dialects/dialects.ts";
import { createFilehand, realPrefixes } from "../../filehand.ts";
import type { History } from "../../options.ts";
import { readNamedFile } from "../../settings/settings.ts";
import { overlap } from "../../state/state.ts";
import { escapeName } from "../../text/text.ts";
import { type Given, type Host, notEmpty, option, UsageError } from "./command.ts";

export type SessionSummary = ReturnType<History["sessions"]>[number];

/** The options that narrow a command to some sessions. */
export const whoseOptions = {
  session: option.text("ID", "Only what this session changed"),
  mine: option.flag("Only what commands changed that a person typed"),
  agent: option.text("NAME", 'Only what this program changed, such as "Claude Code"', notEmpty),
};

export type Whose =
  | { readonly of: "all" | "mine" }
  | { readonly of: "session"; readonly id: string }
  | { readonly of: "agent"; readonly name: string };

export function whoseIn(given: Given): Whose {
  const [session, agent] = [given.text("session"), given.text("agent")];
  const named = [session !== undefined, agent !== undefined, given.flag("mine")].filter(Boolean).length;
  if (named > 1) throw new UsageError("--session, --mine and --agent exclude each other, give one of them");
  if (session?.trim() === "") throw new UsageError("--session must not be empty");
  if (session !== undefined) return { of: "session", id: session };
  if (agent !== undefined) return { of: "agent", name: agent };
  return { of: given.flag("mine") ? "mine" : "all" };
}

/** Case, spaces and hyphens do not matter: `claude-code` is "Claude Code", and so is `claude` if no other begins so. */
export function sessionsOfAgent(asked: string, here: readonly SessionSummary[]): readonly SessionSummary[] {
  const plain = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");
  const wanted = plain(asked);
  const named = here.filter(({ client }) => client !== undefined);
  const exact = named.filter(({ client = "" }) => plain(client) === wanted);
  const found =
    exact.length > 0 || wanted === "" ? exact : named.filter(({ client = "" }) => plain(client).startsWith(wanted));
  const clients = [...new Set(found.map(({ client = "" }) => client))];
  if (clients.length === 1) return found;
  const known = [...new Set(named.map(({ client = "" }) => client))].slice(0, namedMax);
  const list = (names: readonly string[]): string => names.map((name) => `"${escapeName(name)}"`).join(", ");
  const why =
    clients.length > 1
      ? `${list(clients.slice(0, namedMax))} begin so, give more of the name`
      : known.length === 0
        ? "nothing is kept here of any program that gave its name"
        : `here are changes of ${list(known)}`;
  throw noTurn(`Cannot find changes of "${escapeName(asked)}": ${why}, see filehand history`);
}

export const noTurn = (message: string): FilehandError => new FilehandError("NO_TURN", message);

/** Sessions that a message names. */
const namedMax = 5;

/** "Claude Code, 14:02 (mcp-72485e)": with the id, for `--session`. */
export function namedSessions(sessions: readonly SessionSummary[], nowMs: number): string {
  const some = sessions.slice(0, namedMax).map((one) => {
    const title = sessionTitle(one, nowMs);
    return title === escapeName(one.id) ? title : `${title} (${escapeName(one.id)})`;
  });
  const more = sessions.length - some.length;
  return `${some.join("; ")}${more > 0 ? `; and ${more} more` : ""}`;
}

/**
 * The folder that a command in `cwd` is about. From `cwd` upwards, the first folder that a program worked in or that is the
 * top of a git checkout; if there is none, the nearest folder above in which a person typed commands; else `cwd`. So
 * commands that a person typed in a subfolder do not cut it off from its workspace. Pure.
 */
export function workspaceAround(
  cwd: string,
  sessions: readonly Pick<SessionSummary, "id" | "client" | "roots">[],
  isGitTop: (folder: string) => boolean,
): string {
  const ofPrograms = new Set(sessions.filter((one) => !typedByPerson(one)).flatMap(({ roots }) => roots));
  const typedIn = new Set(sessions.filter(typedByPerson).flatMap(({ roots }) => roots));
  const above = foldersFrom(cwd);
  const isTop = (folder: string): boolean => ofPrograms.has(folder) || isGitTop(folder);
  const found = above.find(isTop) ?? above.find((folder) => typedIn.has(folder));
  const hasPast = found !== undefined && sessions.some(({ roots }) => overlap(roots, [found]));
  return hasPast ? found : cwd;
}

function foldersFrom(folder: string): readonly string[] {
  const above = nodePath.dirname(folder);
  return above === folder ? [folder] : [folder, ...foldersFrom(above)];
}

/** Undefined where there is nothing to look for. */
export async function findWorkspace(stateDir: string | undefined, host: Host): Promise<string | undefined> {
  if (stateDir === undefined) return undefined;
  const cwd = realPrefixes()(host.cwd);
  const history = await createFilehand({ roots: [cwd], stateDir, unclearRules: "report" }).history();
  const sessions = history?.sessions();
  return sessions === undefined ? undefined : workspaceAround(cwd, sessions, isGitTop);
}

/** `.git` is a folder, or a file in worktrees and submodules. */
function isGitTop(folder: string): boolean {
  const head = readNamedFile(nodePath.join(folder, ".git", "HEAD"), 4_096);
  if (!("why" in head)) return true;
  const link = readNamedFile(nodePath.join(folder, ".git"), 4_096);
  return !("why" in link) && Buffer.from(link).toString("utf8").startsWith("gitdir:");
}
