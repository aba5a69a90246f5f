/** The call log on the page: calls of the past, and calls that wait for an answer. Names that a rule of this server denies are left out. */

import type { LoggedCall, LoggedQuestion, LogFilter } from "../../contract/call-log.ts";
import { limits } from "../../contract/limits.ts";
import { isLogPlace, openQuestions, readCallLog } from "../../state/state.ts";
import { localPrincipal } from "../mcp/names.ts";
import { bad, numberIn, RequestRefused } from "./input.ts";
import { type Inspected, mayName, relativeOf } from "./inspected.ts";
import type { LogCallInfo, LogView, WaitingCall } from "./wire.ts";

const filterCharsMax = 4_096; // the longest path

export async function logView(query: URLSearchParams, inspected: Inspected): Promise<LogView> {
  const { filehand, stateDir } = inspected.workspace;
  if (stateDir === undefined) {
    throw new RequestRefused(409, "NO_LOG", "This server has no state folder, so no calls are kept");
  }
  const { roots } = filehand;
  const before = query.get("before") ?? undefined;
  if (before !== undefined && !isLogPlace(before)) throw bad('"before" must be the "next" of another page');
  const max = numberIn(query, "max", 1, 500) ?? 100;
  const filter = { roots, ...filterOf(query) };
  const part = filter.pathPart?.toLowerCase();
  const page = await readCallLog(stateDir, { filter, max, before, bytesMax: limits.callLogPageBytesMax });
  const waiting = before === undefined ? await openQuestions(stateDir, roots) : [];
  const isNamed = mayName(inspected);
  return {
    // Again by what the page shows: a filter must not reveal a name that a rule hides.
    calls: page.calls
      .map((call) => callInfo(call, inspected, isNamed))
      .filter((call) => part === undefined || namesOf(call).some((name) => name.toLowerCase().includes(part))),
    next: page.next,
    damaged: page.damaged,
    lost: page.lost,
    waiting: waiting.map((question) => waitingCall(question, inspected, isNamed)),
  };
}

function filterOf(query: URLSearchParams): LogFilter {
  const text = (name: string): string | undefined => {
    const value = query.get(name) ?? "";
    if (value.length > filterCharsMax) throw bad(`"${name}" must have at most ${filterCharsMax} characters`);
    return value === "" ? undefined : value;
  };
  const [session, client, tool, pathPart] = [text("session"), text("client"), text("tool"), text("path")];
  return {
    ...(session !== undefined && { session }),
    ...(client !== undefined && { client }),
    ...(tool !== undefined && { tool }),
    ...(pathPart !== undefined && { pathPart }),
    ...(query.get("errors") === "1" && { failed: true }),
  };
}

function callInfo(call: LoggedCall, inspected: Inspected, isNamed: (path: string) => boolean): LogCallInfo {
  const { type: _type, roots: _roots, path, changes, hidden, ...rest } = call;
  const isPathNamed = path === null || isNamed(path);
  const named = changes.filter((change) => [change.path, change.movedFrom ?? change.path].every(isNamed));
  return {
    ...rest,
    principal: shownPrincipal(rest.principal),
    path: isPathNamed && path !== null ? relativeOf(inspected, path) : null,
    hidden: hidden || !isPathNamed || named.length < changes.length,
    changes: named.map(({ path: changed, movedFrom, ...counts }) => ({
      ...counts,
      path: relativeOf(inspected, changed),
      movedFrom: movedFrom === null ? null : relativeOf(inspected, movedFrom),
    })),
  };
}

const namesOf = ({ path, changes }: LogCallInfo): readonly string[] =>
  [path, ...changes.flatMap((change) => [change.path, change.movedFrom])].filter((name) => name !== null);

/** Over stdio every caller is the person who started the server. */
const shownPrincipal = (principal: string | null): string | null => (principal === localPrincipal ? null : principal);

function waitingCall(question: LoggedQuestion, inspected: Inspected, isNamed: (path: string) => boolean): WaitingCall {
  const { type: _type, roots: _roots, path, hidden, untilMs: _untilMs, ...rest } = question;
  const isPathNamed = path === null || isNamed(path);
  return {
    ...rest,
    principal: shownPrincipal(rest.principal),
    path: isPathNamed && path !== null ? relativeOf(inspected, path) : null,
    hidden: hidden || !isPathNamed,
  };
}
