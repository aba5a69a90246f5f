/**
 * Assembles `scripts/newlines.wat` into `src/text/lines/newlines.ts`, and `pages.wat` likewise. Run by hand after a change
 * to a .wat, not at build: the assembler is no dependency of ours. It looks for `wat2wasm` on the PATH, where `npx` puts it:
 *
 *     npx -y -p wabt@1.0.39 node scripts/kernel.js
 */

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

for (const name of ["newlines", "pages"]) {
  const source = fileURLToPath(new URL(`${name}.wat`, import.meta.url));
  const generated = fileURLToPath(new URL(`../src/text/${name}-wasm.ts`, import.meta.url));
  const wasm = assemble(source);
  const sha256 = createHash("sha256").update(readFileSync(source)).digest("hex");
  writeFileSync(
    generated,
    `/** Made by \`scripts/kernel.js\` from \`scripts/${name}.wat\`: change that and run it again. */

/** What it was made from; a test compares. */
export const ${name}SourceSha256 = "${sha256}";

export const kernelBase64 =
  "${wasm.toString("base64")}";
`,
  );
  process.stdout.write(`${wasm.length} bytes of WebAssembly are now in ${generated}\n`);
}

/** @param {string} source */
function assemble(source) {
  const folder = mkdtempSync(join(tmpdir(), "filehand-kernel-"));
  try {
    const output = join(folder, "kernel.wasm");
    execFileSync("wat2wasm", [source, "-o", output], { stdio: "inherit" });
    return readFileSync(output);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
    throw new Error(
      `Cannot assemble "${source}": there is no wat2wasm on the PATH, run npx -y -p wabt@1.0.39 node scripts/kernel.js`,
      { cause: error },
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}
