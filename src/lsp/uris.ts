/** Paths and the addresses that the protocol has for them. */

import { fileURLToPath, pathToFileURL } from "node:url";

export const uriOf = (path: string): string => pathToFileURL(path).href;

/** Undefined for what is no file of this machine. */
export function pathOf(uri: unknown): string | undefined {
  if (typeof uri !== "string" || !/^file:/i.test(uri)) return undefined;
  try {
    const path = fileURLToPath(uri);
    if (path.includes("\0")) return undefined;
    // Servers spell the drive as they like.
    return path.replace(/^[a-z]:/, (drive) => drive.toUpperCase());
  } catch {
    return undefined;
  }
}
