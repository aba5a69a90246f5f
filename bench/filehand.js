/** The build under measurement: `FILEHAND_DIST`, or `dist`. A copy is safer while others build. */

import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";

export const dist = resolve(import.meta.dirname, process.env["FILEHAND_DIST"] ?? "../dist");
export const bin = resolve(dist, "filehand.cjs");
export const library = resolve(dist, "index.js");

/** Which build it is: the commit says nothing about a copy. Most of the code is in chunks, so they count too. */
export function buildHash() {
  const hash = createHash("sha256");
  const names = readdirSync(dist, { recursive: true, encoding: "utf8" }).filter((name) => /\.c?js$/.test(name));
  for (const name of names.sort()) hash.update(readFileSync(resolve(dist, name)));
  return hash.digest("hex").slice(0, 12);
}

export const isBuilt = () => existsSync(bin) && existsSync(library);
