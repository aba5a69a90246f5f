/** The child program as one file that plain Node can run. */

import * as fs from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";
import manifest from "../../package.json" with { type: "json" };
import { textFiles } from "../../scripts/text-files.js";

const project = fileURLToPath(new URL("../..", import.meta.url));

export interface Child {
  readonly path: string;
  remove(): void;
}

export async function buildChild(program: "child" | "child-session" = "child"): Promise<Child> {
  const folder = fs.mkdtempSync(`${project}node_modules/.filehand-history-`);
  const path = `${folder}/child.mjs`;
  await build({
    input: `${project}test/history/${program}.ts`,
    platform: "node",
    plugins: [textFiles()],
    resolve: { mainFields: ["module", "main"] },
    transform: { target: "node20", define: { FILEHAND_VERSION: '"0.0.0"' } },
    external: Object.keys(manifest.optionalDependencies).map((name) => new RegExp(`^${name}(/|$)`)),
    output: { file: path, format: "es", codeSplitting: false },
    logLevel: "warn",
  });
  return { path, remove: () => fs.rmSync(folder, { recursive: true }) };
}
