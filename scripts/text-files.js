/**
 * What the bundler and the test runner alike make of two kinds of imports: `import words from "./read.txt"` is the file's
 * text, and `import program from "./worker.ts?program"` is the text of a whole program, bundled with all that it imports,
 * for a worker thread. As a text it needs no file of its own, wherever the importer is bundled to.
 */

import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { build } from "rolldown";

const program = "?program";

export function textFiles() {
  return {
    name: "text-files",
    // Before the test runner's own idea of text files, which is to answer with their address.
    enforce: /** @type {const} */ ("pre"),
    resolveId(/** @type {string} */ id, /** @type {string | undefined} */ importer) {
      return id.endsWith(program) && importer !== undefined ? resolve(dirname(importer), id) : undefined;
    },
    async load(/** @type {string} */ id) {
      const isProgram = id.endsWith(program);
      if (!isProgram && !id.endsWith(".txt")) return undefined;
      const text = isProgram ? await bundled(id.slice(0, -program.length)) : readFileSync(id, "utf8").trimEnd();
      return { code: `export default ${JSON.stringify(text)};`, map: null, moduleType: /** @type {const} */ ("js") };
    },
  };
}

/** @returns {Promise<string>} */
async function bundled(/** @type {string} */ input) {
  const { output } = await build({
    input,
    platform: "node",
    transform: { target: "node20" },
    output: { format: "cjs", minify: true, codeSplitting: false },
    write: false,
    logLevel: "warn",
  });
  return output[0].code;
}
