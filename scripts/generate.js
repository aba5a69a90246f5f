/**
 * Writes the files that are made from the code: the settings' JSON schema, docs/tools, docs/clients, docs/reference,
 * plots in docs/bench, server.json,
 * the addresses in package.json and the bundle's manifest. With --check it writes
 * nothing and says which are stale.
 */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "rolldown";
import { textFiles } from "./text-files.js";

const check = process.argv.includes("--check");
const out = join("node_modules", ".cache", "filehand-generate");

await build({
  input: { generated: "scripts/generated.ts" },
  platform: "node",
  transform: { target: "node20" },
  plugins: [textFiles()],
  external: [/^(rolldown|ignore|fastest-levenshtein|jsonc-parser|smol-toml|jschardet)(\/|$)/],
  output: { dir: out, format: "es", entryFileNames: "[name].mjs" },
  // Here all is one program, and what the command line loads late may be loaded at once.
  checks: { ineffectiveDynamicImport: false },
  logLevel: "warn",
});

/** @type {{ generatedFiles: () => Readonly<Record<string, string>> }} */
const { generatedFiles } = await import(`${pathToFileURL(join(out, "generated.mjs")).href}?${Date.now()}`);
let stale = 0;
for (const [path, text] of Object.entries(generatedFiles())) {
  if (current(path) === text) continue;
  stale += 1;
  if (check) {
    process.stderr.write(`${path} is stale: run npm run generate\n`);
  } else {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    process.stdout.write(`wrote ${path}\n`);
  }
}
process.exitCode = check && stale > 0 ? 1 : 0;

function current(/** @type {string} */ path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
