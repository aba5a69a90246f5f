/**
 * The declarations that `tsc` emits, rolled up: one file for each entry, and `shared.d.ts` with what several entries need, so that
 * their types are the same types. Declarations that no entry needs are left out. CommonJS gets a copy (`.d.cts`), because a compiler
 * set to `node16` lets no CommonJS file import the types of an ES module.
 */

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { build } from "rolldown";
import { dts } from "rolldown-plugin-dts";

/**
 * @param {string} from  folder of the emitted declarations
 * @param {string} to  folder of the result
 * @param {Readonly<Record<string, string>>} entries  source by entry
 */
export async function rollUpTypes(from, to, entries) {
  const declarationsOf = (/** @type {string} */ source) => source.replace(/^src/, from).replace(/\.ts$/, ".d.ts");
  const input = Object.fromEntries(Object.entries(entries).map(([name, source]) => [name, declarationsOf(source)]));
  const sources = new Set(Object.values(input));
  await build({
    input,
    plugins: [dts({ dtsInput: true, emitDtsOnly: true, tsconfig: false })],
    external: /^(?![./])/,
    output: {
      dir: to,
      format: "es",
      minifyInternalExports: false,
      chunkFileNames: "[name].ts",
      // Each declaration that is not an entry's own.
      codeSplitting: {
        groups: [{ name: "shared.d", test: (id) => !sources.has(relative(".", id).replace(/\?.*$/, "")) }],
      },
    },
    logLevel: "warn",
  });
  for (const file of readdirSync(to, { recursive: true, encoding: "utf8" })) {
    if (!file.endsWith(".d.ts")) continue;
    const text = readFileSync(join(to, file), "utf8");
    // Only relative imports name our own files.
    const forCommonJs = text.replaceAll(/(from "\.{1,2}\/[^"]+)\.js"/g, '$1.cjs"');
    writeFileSync(join(to, file.replace(/\.d\.ts$/, ".d.cts")), forCommonJs);
  }
}
