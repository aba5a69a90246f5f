/** The processes whose calls are shown. */

import type { ProcessInfo, WorkspaceInfo } from "../../../src/surfaces/inspector/wire.ts";
import { plural } from "../shell/words.ts";

/** `mcp 4711` */
export const processWords = ({ program, pid }: ProcessInfo): string => `${program} ${pid}`;

const namedMax = 3;

export function watchedWords(workspace: Pick<WorkspaceInfo, "acceptsReports" | "processes"> | undefined): string {
  if (workspace === undefined) return "";
  const { acceptsReports, processes } = workspace;
  if (!acceptsReports)
    return "Watching this server only: without a state folder of the user's own, other processes cannot find it";
  if (processes.length === 0) return "Watching this server; agents that run filehand mcp here join by themselves";
  const named = processes.slice(0, namedMax).map(processWords).join(", ");
  const rest = processes.length > namedMax ? ", …" : "";
  return `Watching this server and ${plural(processes.length, "other process", "es")}: ${named}${rest}`;
}
