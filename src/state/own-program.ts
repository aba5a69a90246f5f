/** The files of this program, for a machine that has none of them. */

import * as fs from "node:fs";
import * as nodePath from "node:path";

/** What the command line loads, beside the program. Optional packages have parts for one system and are not carried. */
const files = ["filehand.cjs", "node-version.cjs", "main.cjs"];
const folders = ["cli", "parts"];

/** By their paths beside the program, in base64; undefined if this is not the built program. */
export function programFiles(program: string): Readonly<Record<string, string>> | undefined {
  const folder = nodePath.dirname(fs.realpathSync(program));
  if (!fs.existsSync(nodePath.join(folder, "filehand.cjs"))) return undefined;
  const below = folders.flatMap((name) => filesBelow(nodePath.join(folder, name)).map((file) => `${name}/${file}`));
  return Object.fromEntries(
    [...files, ...below].map((file) => [file, fs.readFileSync(nodePath.join(folder, file)).toString("base64")]),
  );
}

const filesBelow = (folder: string): readonly string[] =>
  fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => nodePath.relative(folder, nodePath.join(entry.parentPath, entry.name)).replaceAll("\\", "/"))
    .toSorted();
