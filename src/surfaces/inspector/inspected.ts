/** What the inspector knows of one workspace. It has no way of its own to a file: all goes through the toolkit and its rules. */

import * as nodePath from "node:path";
import type { Filehand, Timeline, Session } from "../../options.ts";
import type { ToolDefinition } from "../../contract/call.ts";
import type { CallEvent } from "../../contract/event.ts";
import type { ProcessInfo } from "./wire.ts";
import type { DialectName } from "../../dialects/dialects.ts";

export interface InspectedWorkspace {
  readonly name: string;
  readonly filehand: Filehand;
  readonly dialect: DialectName;
  readonly definitions: readonly ToolDefinition[];
  readonly sessions: { named(id: string): Session | undefined };
}

export interface Inspected {
  readonly workspace: InspectedWorkspace;
  readonly timeline: Timeline;
  /** For what the page itself looks at. */
  readonly own: Session;
  /** Is the past of files kept? */
  readonly hasHistory: boolean;
  /** The other process that a call was made in; those of this one are not in it. */
  readonly origins: WeakMap<CallEvent, ProcessInfo>;
  /** Other processes that report now. */
  processes: readonly ProcessInfo[];
}

/** The conversation that is under way, or one that goes on with what was kept of it. */
export const inspectedSession = ({ workspace }: Inspected, id: string): Session =>
  workspace.sessions.named(id) ?? workspace.filehand.session({ dialect: workspace.dialect, id });

/** Below its root with forward slashes; whole if it lies in none. */
export function relativeOf({ workspace }: Pick<Inspected, "workspace">, path: string): string {
  for (const root of workspace.filehand.roots) {
    const rest = nodePath.relative(root, path);
    const isInside = rest !== ".." && !rest.startsWith(`..${nodePath.sep}`) && !nodePath.isAbsolute(rest);
    if (isInside) return nodePath.sep === "\\" ? rest.replaceAll("\\", "/") : rest;
  }
  return path;
}

/** May a person be shown what is in it? Only what anybody may read without being asked. */
export const mayShow = ({ workspace }: Inspected, path: string): boolean =>
  workspace.filehand.permissions.explain("Read", path).verdict === "allow";

/** May it be named among others? */
export function mayName({ workspace }: Inspected): (path: string) => boolean {
  const known = new Map<string, boolean>();
  return (path) => {
    const told = known.get(path) ?? workspace.filehand.permissions.explain("Read", path).verdict !== "deny";
    known.set(path, told);
    return told;
  };
}
