/** Calls of other processes, as this server shows them: its own roots, and its own rules. */

import type { CallDetail, CallEvent } from "../../contract/event.ts";
import type { CallView } from "../../contract/inspector.ts";
import { type Inspected, relativeOf } from "./desk.ts";

/** Why a call has no detail. */
export type Missing = NonNullable<CallView["missing"]>;

/** That process may have another root, further down: then its paths begin there. */
export function seenFrom(inspected: Inspected, event: CallEvent, roots: readonly string[]): CallEvent {
  const own = inspected.desk.filehand.roots;
  if (roots.length === own.length && roots.every((root) => own.includes(root))) return event;
  return {
    ...event,
    path: event.real === null ? event.path : relativeOf(inspected, event.real),
    changes: event.changes.map((change) => ({ ...change, relative: relativeOf(inspected, change.path) })),
  };
}

/** What a rule of this server denies is not shown here, though another process was allowed to read it. */
export function shownOf(
  { desk }: Inspected,
  { real, changes }: CallEvent,
  detail: CallDetail | Missing,
): CallDetail | Missing {
  const paths = [...(real === null ? [] : [real]), ...changes.map(({ path }) => path)];
  const isDenied = (path: string): boolean => desk.filehand.permissions.explain("Read", path).verdict === "deny";
  return paths.some(isDenied) ? "withheld" : detail;
}
