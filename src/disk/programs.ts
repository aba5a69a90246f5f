/** Programs on the PATH, looked for and not run, and whether one can be started. */

import * as nodePath from "node:path";
import { errnoName } from "./errno.ts";
import { nodeSystem } from "./system.ts";

export interface WhereToLook {
  readonly path: string | undefined;
  readonly platform: NodeJS.Platform;
  /** Only what can be run without a shell: a batch file of Windows cannot. */
  readonly runnable?: boolean;
  /** Others of that name, further down the path, may still be wanted. */
  readonly mayRun?: (program: string) => boolean;
}

/** Where a program of that name lies; undefined if there is none. */
export function programOnPath(name: string, where: WhereToLook): string | undefined {
  const { path, platform, mayRun = () => true } = where;
  const paths = platform === "win32" ? nodePath.win32 : nodePath.posix;
  for (const folder of new Set((path ?? "").split(paths.delimiter).filter((one) => paths.isAbsolute(one)))) {
    const found = programIn(folder, name, platform, where.runnable);
    if (found !== undefined && mayRun(found)) return found;
  }
  return undefined;
}

/** A program of that name in the folder; undefined if there is none. */
export function programIn(
  folder: string,
  name: string,
  platform: NodeJS.Platform,
  runnable = false,
): string | undefined {
  const paths = platform === "win32" ? nodePath.win32 : nodePath.posix;
  const endings = platform !== "win32" ? [""] : runnable ? [".exe"] : [".exe", ".cmd", ".bat"];
  return endings.map((ending) => paths.join(folder, name + ending)).find((one) => isProgram(one, platform));
}

/** Where a program really lies, its links resolved; undefined if it is gone. */
export function realProgram(path: string): string | undefined {
  try {
    return nodeSystem.realPath(path);
  } catch (error) {
    if (errnoName(error) === undefined) throw error;
    return undefined;
  }
}

function isProgram(path: string, platform: NodeJS.Platform): boolean {
  try {
    const stat = nodeSystem.statPath(path);
    return stat.isFile() && (platform === "win32" || (stat.mode & 0o111n) !== 0n);
  } catch {
    return false;
  }
}

/** Pipes of a child, both ends of each, and what starting it takes besides. */
const descriptorsToStart = 12;

/**
 * Why no program can be started now, as an errno's name: without free descriptors Node's `spawn` fails and keeps those that it
 * had opened by then, so that every further try makes things worse. Undefined if there are enough.
 */
export function whyNotStarted(): string | undefined {
  if (nodeSystem.platform === "win32") return undefined;
  const taken: number[] = [];
  try {
    while (taken.length < descriptorsToStart) taken.push(nodeSystem.open("/dev/null", 0));
    return undefined;
  } catch (error) {
    const errno = errnoName(error);
    return errno === "EMFILE" || errno === "ENFILE" ? errno : undefined;
  } finally {
    for (const fd of taken) nodeSystem.close(fd);
  }
}
