/** What the inspector knows of one workspace. It reaches files only through the toolkit and its rules. */

import * as nodePath from "node:path";
import type { Filehand, Timeline, Session } from "../../options.ts";
import type { ToolDefinition } from "../../contract/call.ts";
import type { CallEvent } from "../../contract/event.ts";
import type { ProcessInfo } from "./wire.ts";
import type { DialectName } from "../../dialects/dialects.ts";
import { contains } from "../../contract/common.ts";

export interface InspectedWorkspace {
  readonly name: string;
  readonly filehand: Filehand;
  /** Where the calls of all processes are kept. */
  readonly stateDir?: string | undefined;
  readonly dialect: DialectName;
  readonly definitions: readonly ToolDefinition[];
  readonly sessions: { named(id: string): Session | undefined };
}

export interface Inspected {
  readonly workspace: InspectedWorkspace;
  readonly timeline: Timeline;
  /** For what the page itself reads. */
  readonly own: Session;
  readonly hasHistory: boolean;
  /** The process of a call, for calls of other processes. */
  readonly origins: WeakMap<CallEvent, ProcessInfo>;
  processes: readonly ProcessInfo[];
}

/** The session in memory, or a new one that continues its history. */
export const inspectedSession = ({ workspace }: Inspected, id: string): Session =>
  workspace.sessions.named(id) ?? workspace.filehand.session({ dialect: workspace.dialect, id });

/** Relative to its root, with forward slashes; absolute if it is in no root. */
export function relativeOf({ workspace }: Pick<Inspected, "workspace">, path: string): string {
  for (const root of workspace.filehand.roots) {
    if (contains(root, path)) return nodePath.relative(root, path).replaceAll(nodePath.sep, "/");
  }
  return path;
}

/** May the page show its content? Only if it may be read without asking. */
export const mayShow = ({ workspace }: Inspected, path: string): boolean =>
  workspace.filehand.permissions.explain("Read", path).verdict === "allow";

export function mayName({ workspace }: Inspected): (path: string) => boolean {
  const known = new Map<string, boolean>();
  return (path) => {
    const isNamed = known.get(path) ?? workspace.filehand.permissions.explain("Read", path).verdict !== "deny";
    known.set(path, isNamed);
    return isNamed;
  };
}
