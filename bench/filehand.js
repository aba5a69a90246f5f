/** The build under measurement: `FILEHAND_DIST`, or `dist`. A copy is safer while others build. */

import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";

export const dist = resolve(import.meta.dirname, process.env["FILEHAND_DIST"] ?? "../dist");
export const bin = resolve(dist, "filehand.cjs");
export const library = resolve(dist, "index.js");

/** Which build it is: the commit says nothing about a copy. */
export const buildHash = () =>
  createHash("sha256").update(readFileSync(bin)).update(readFileSync(library)).digest("hex").slice(0, 12);

export const isBuilt = () => existsSync(bin) && existsSync(library);
