/**
 * The parts of other packages that Filehand loads only for some files, compressed into `dist/parts`: the token table, the detector
 * of encodings, the parser for outlines with its grammars, and ripgrep in WebAssembly. As packages they take 66 MB on disk, here 3 MB.
 * `partFile` in `src/disk/loading.ts` finds them, and the worker (`src/kinds/worker/worker.ts`) decompresses them.
 */

import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";
import { build } from "rolldown";

/** Packages of which `dist/parts` contains something. */
export const partPackages = ["gpt-tokenizer", "jschardet", "web-tree-sitter", "@vscode/tree-sitter-wasm", "ripgrep"];

/** CommonJS modules, each bundled into one file. */
const modules = ["gpt-tokenizer/encoding/o200k_base", "jschardet", "web-tree-sitter"];

/** The grammars that outlines use, by the text of their table: Node 20 cannot import it. */
const grammars = [...readFileSync("src/kinds/outline/languages.ts", "utf8").matchAll(/\bwasm: "([\w-]+)"/g)];
const binaries = [
  "web-tree-sitter/web-tree-sitter.wasm",
  ...grammars.map(([, name]) => `@vscode/tree-sitter-wasm/wasm/tree-sitter-${name}.wasm`),
];

export async function buildParts(/** @type {string} */ folder) {
  const { resolve } = createRequire(import.meta.url);
  mkdirSync(folder, { recursive: true });
  for (const name of modules) {
    const code = await bundled(resolve(name), "cjs");
    writeFileSync(join(folder, `${basename(name)}.br`), compressed(Buffer.from(code)));
  }
  for (const name of binaries) {
    writeFileSync(join(folder, `${basename(name)}.br`), compressed(readFileSync(resolve(name))));
  }
  // A program of its own, which another Node process runs.
  writeFileSync(join(folder, "rg.mjs"), await bundled(join(resolve("ripgrep"), "..", "rg.mjs"), "es"));
}

async function bundled(/** @type {string} */ input, /** @type {"cjs" | "es"} */ format) {
  const { output } = await build({
    input,
    platform: "node",
    transform: { target: "node20" },
    output: { format, minify: true, codeSplitting: false },
    write: false,
    logLevel: "silent",
  });
  return output[0].code;
}

/** The best compression takes seconds, so results are kept by the hash of their input. */
function compressed(/** @type {Buffer} */ bytes) {
  const cache = "node_modules/.cache/filehand-parts";
  const kept = join(cache, createHash("sha256").update(bytes).digest("hex"));
  try {
    return readFileSync(kept);
  } catch {
    const params = {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    };
    const small = brotliCompressSync(bytes, { params });
    mkdirSync(cache, { recursive: true });
    writeFileSync(kept, small);
    return small;
  }
}
