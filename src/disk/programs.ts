/**
 * Programs on the PATH, looked for and not run, and whether one can be started. The one place that says which program a name means: what lies below a root is never
 * it, whatever links lead there, since whoever works in a root could have put it there.
 */

import { isUtf8 } from "node:buffer";
import * as fs from "node:fs";
import * as nodePath from "node:path";
import { errnoName } from "./errno.ts";
import { requireDescriptors } from "./loading.ts";
import { nodeSystem } from "./system.ts";

export interface WhereToLook {
  readonly path: string | undefined;
  readonly platform: NodeJS.Platform;
  /** Only what can be run without a shell: a batch file of Windows cannot. */
  readonly runnable?: boolean;
  /** Roots whose programs are not trusted. */
  readonly notBeneath: readonly string[];
}

/** Where a program of that name lies; undefined if there is none. */
export function programOnPath(name: string, where: WhereToLook): string | undefined {
  for (const program of programsOnPath(name, where)) return program;
  return undefined;
}

/** All of that name, in the order of the path: the first may be another program of the same name. */
export function* programsOnPath(name: string, where: WhereToLook): Generator<string> {
  const isTrusted = outsideOf(where.notBeneath);
  for (const folder of trustedFolders(where)) {
    const found = programIn(folder, name, where.platform, where.runnable);
    if (found !== undefined && isTrusted(found)) yield found;
  }
}

/** A PATH for programs that look for others themselves. */
export const trustedPath = (where: WhereToLook): string =>
  trustedFolders(where).join(where.platform === "win32" ? nodePath.win32.delimiter : nodePath.posix.delimiter);

/** Folders that the system keeps for its own programs; no variable of the environment adds to them. */
export const systemPath = "/usr/bin:/bin:/run/current-system/sw/bin:/usr/local/bin";

function trustedFolders({ path, platform, notBeneath }: WhereToLook): readonly string[] {
  const paths = platform === "win32" ? nodePath.win32 : nodePath.posix;
  const folders = (path ?? "").split(paths.delimiter).filter((one) => paths.isAbsolute(one));
  return [...new Set(folders.map((one) => paths.resolve(one)))].filter(outsideOf(notBeneath));
}

/** Is a path outside these folders, both as it is written and with its links resolved? */
function outsideOf(roots: readonly string[]): (path: string) => boolean {
  const all = new Set(roots.flatMap((root) => [nodePath.resolve(root), realProgram(root) ?? root]));
  return (path) => {
    const real = realProgram(path);
    return real !== undefined && ![...all].some((root) => isBeneath(path, root) || isBeneath(real, root));
  };
}

function isBeneath(path: string, root: string): boolean {
  const rest = nodePath.relative(root, path);
  return rest === "" || (rest !== ".." && !rest.startsWith(`..${nodePath.sep}`) && !nodePath.isAbsolute(rest));
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
  try {
    requireDescriptors(descriptorsToStart);
    return undefined;
  } catch (error) {
    const errno = errnoName(error);
    return errno === "EMFILE" || errno === "ENFILE" ? errno : undefined;
  }
}

// The arguments of this process as the system has them. Node decodes them, and what is no UTF-8 becomes another character.

/** True where the system does not tell. */
export function argumentsAreUtf8(): boolean {
  try {
    return isUtf8(fs.readFileSync("/proc/self/cmdline"));
  } catch {
    return true;
  }
}
