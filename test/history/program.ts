/** The child program as one file that plain Node can run. */

import * as fs from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";

const project = fileURLToPath(new URL("../..", import.meta.url));

export interface Child {
  readonly path: string;
  remove(): void;
}

export async function buildChild(): Promise<Child> {
  const folder = fs.mkdtempSync(`${project}node_modules/.filehand-history-`);
  const path = `${folder}/child.mjs`;
  await build({
    input: `${project}test/history/child.ts`,
    platform: "node",
    external: ["koffi"],
    output: { file: path, format: "es", codeSplitting: false },
    logLevel: "warn",
  });
  return { path, remove: () => fs.rmSync(folder, { recursive: true }) };
}
