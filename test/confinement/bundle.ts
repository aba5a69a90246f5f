/** Bundles a program of this folder, so that every Node can run it and the real packages are found. */

import * as fs from "node:fs";
import { join } from "node:path";
import { build } from "rolldown";
import { afterAll } from "vitest";
import { textFiles } from "../../scripts/text-files.js";
import { throughDoors } from "../../scripts/doors.js";
import { project } from "../ends/run.ts";

const made: string[] = [];
afterAll(() => {
  for (const folder of made.splice(0)) fs.rmSync(folder, { recursive: true, force: true });
});

/** The path of the bundle, in a folder among the packages. */
export async function bundled(name: string): Promise<string> {
  const folder = fs.mkdtempSync(join(project, "node_modules/.filehand-confinement-"));
  made.push(folder);
  await build({
    cwd: project,
    input: join(import.meta.dirname, `${name}.ts`),
    platform: "node",
    plugins: [textFiles(), throughDoors()],
    resolve: { mainFields: ["module", "main"] },
    transform: { target: "node20", define: { FILEHAND_VERSION: '"test"', FILEHAND_BUGS: '"test"' } },
    external: ["koffi", "sharp", "@embedpdf/pdfium", "libheif-js", "@vscode/ripgrep", "ripgrep", "web-tree-sitter"],
    output: { file: join(folder, `${name}.mjs`), format: "es", codeSplitting: false },
    logLevel: "silent",
  });
  return join(folder, `${name}.mjs`);
}
