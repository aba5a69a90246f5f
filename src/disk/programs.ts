/** Programs on the PATH, looked for and not run. */

import * as nodePath from "node:path";
import { nodeSystem } from "./system.ts";

/** Where a program of that name lies; undefined if there is none. */
export function programOnPath(
  name: string,
  { path, platform }: { readonly path: string | undefined; readonly platform: NodeJS.Platform },
): string | undefined {
  const paths = platform === "win32" ? nodePath.win32 : nodePath.posix;
  const endings = platform === "win32" ? [".exe", ".cmd", ".bat"] : [""];
  for (const folder of new Set((path ?? "").split(paths.delimiter).filter((one) => paths.isAbsolute(one)))) {
    const found = endings.map((ending) => paths.join(folder, name + ending)).find((one) => isProgram(one, platform));
    if (found !== undefined) return found;
  }
  return undefined;
}

function isProgram(path: string, platform: NodeJS.Platform): boolean {
  try {
    const stat = nodeSystem.statPath(path);
    return stat.isFile() && (platform === "win32" || (stat.mode & 0o111n) !== 0n);
  } catch {
    return false;
  }
}
