/** Language servers for tests: the real one of TypeScript, and one that says what it is told to. */

import * as fs from "node:fs";
import { createRequire } from "node:module";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import type { FilehandOptions } from "../../src/index.ts";

const { resolve } = createRequire(import.meta.url);
const tsc = path.join(path.dirname(resolve("typescript/package.json")), "bin", "tsc");
const scripted = fileURLToPath(new URL("scripted-server.js", import.meta.url));

/** None but these: what the machine has besides is not part of a test. */
const alone = Object.fromEntries(
  [
    "typescript-language-server",
    "pyright",
    "gopls",
    "rust-analyzer",
    "clangd",
    "json",
    "css",
    "html",
    "yaml",
    "bash",
  ].map((name) => [name, false]),
);

/** TypeScript's own server, of the package that the tests have anyway. */
export const typescriptServer: Pick<FilehandOptions, "languageServers"> = {
  languageServers: { servers: { ...alone, typescript: { command: [process.execPath, tsc, "--lsp", "--stdio"] } } },
};

/** Answers by method, as `scripted-server.js` knows them. */
export type Script = Readonly<Record<string, unknown>>;

/** For files `.scripted`. The script may be written anew at any time. */
export function scriptedServer(file: string): {
  readonly options: Pick<FilehandOptions, "languageServers">;
  readonly says: (script: Script) => void;
} {
  const command = [process.execPath, scripted, file];
  const extensions = { ".scripted": "scripted" };
  fs.writeFileSync(file, "{}");
  return {
    options: { languageServers: { servers: { ...alone, typescript: false, scripted: { command, extensions } } } },
    says: (script) => fs.writeFileSync(file, JSON.stringify(script)),
  };
}
