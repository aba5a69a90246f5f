/** A file for another program to read, in the system's folder for such: nobody else can read it or have made it. */

import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import * as nodePath from "node:path";
import { errnoName } from "./errno.ts";

export interface ScratchFile {
  readonly path: string;
  remove(): void;
}

export const scratchPrefix = ".filehand-scratch-";

/** Undefined where there is no such folder, or no room in it. */
export function scratchFile(text: string): ScratchFile | undefined {
  const path = nodePath.join(tmpdir(), scratchPrefix + randomBytes(12).toString("hex"));
  try {
    fs.writeFileSync(path, text, { flag: "wx", mode: 0o600 });
  } catch (error) {
    if (errnoName(error) === undefined) throw error;
    return undefined;
  }
  return { path, remove: () => fs.rmSync(path, { force: true }) };
}
