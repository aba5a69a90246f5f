/**
 * Suite `languages`: what language servers cost an edit. A small file is changed back and forth by toolkits that differ only in
 * their servers, in turns. With `FILEHAND_BEFORE` another build of the library, such as an older one, is the row to compare
 * with: an edit without servers must cost what it cost before there were any.
 */

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { folder as files } from "../corpus.js";
import { library } from "../filehand.js";
import { addGate, addRatios, addSample, rowOf, startTable } from "../results.js";

/** @typedef {import("../results.js").Table} Table */

const roundsDefault = 15;
const count = 40;
const ofBefore = 1.1;
const tsc = fileURLToPath(new URL("../../node_modules/.bin/tsc", import.meta.url));

/**
 * @param {import("../run.js").Setting} setting
 * @returns {Promise<Table[]>}
 */
export async function languages({ rounds = roundsDefault, progress }) {
  mkdirSync(files, { recursive: true });
  const folder = mkdtempSync(join(files, "..", "languages-"));
  const { FILEHAND_BEFORE: before } = process.env;
  const now = await import(pathToFileURL(library).href);
  const servers = { typescript: { command: [tsc, "--lsp", "--stdio"] } };
  const kinds = [
    ...(before === undefined
      ? []
      : [{ name: "before", build: await import(pathToFileURL(before).href), file: "a.txt", options: {} }]),
    { name: "no servers", build: now, file: "b.txt", options: {} },
    { name: "servers, none in charge", build: now, file: "c.txt", options: { languageServers: { servers } } },
    { name: "TypeScript, with diagnostics", build: now, file: "d.ts", options: { languageServers: { servers } } },
  ];
  const table = startTable(
    "languages",
    `languages: a small edit, ${rounds} rounds of ${count}, per call`,
    kinds[0]?.name ?? "",
  );
  const toolkits = kinds.map(({ name, build, file, options }) => {
    writeFileSync(join(folder, file), "export const n: number = 0;\n");
    const filehand = build.createFilehand({ roots: [folder], ask: "yes", reminder: false, ...options });
    return { name, file, filehand, session: filehand.session({ dialect: "claude" }) };
  });
  try {
    writeFileSync(join(folder, "tsconfig.json"), '{ "compilerOptions": { "strict": true } }\n');
    for (const { session, file } of toolkits) await session.call("Read", { file_path: file });
    for (let round = 0; round <= rounds; round += 1) {
      for (const { name, file, session } of toolkits) {
        progress(`languages, round ${round} of ${rounds}, ${name}`);
        const started = performance.now();
        let right = true;
        for (let n = 0; n < count; n += 1) {
          // Every second state is wrong, and a server in charge of it has to say so.
          const [from, to] = n % 2 === 0 ? ["= 0;", '= "x";'] : ['= "x";', "= 0;"];
          const reply = await session.call("Edit", { file_path: file, old_string: from, new_string: to });
          right &&= !reply.isError;
          if (file.endsWith(".ts")) right &&= reply.content[0].text.includes("2322") === (n % 2 === 0);
        }
        const ms = (performance.now() - started) / count;
        right &&= readFileSync(join(folder, file), "utf8") === "export const n: number = 0;\n";
        // The first round is the servers' start.
        if (round > 0) addSample(rowOf(table, name), { ms }, { counts: right, words: right ? "yes" : "wrong" });
      }
    }
    addRatios(table);
    for (const row of table.rows.slice(1)) {
      if (row.method === "no servers") addGate(row, "of before", row.ratio?.value, ofBefore);
    }
    return [table];
  } finally {
    for (const { filehand } of toolkits) await filehand.close?.();
    rmSync(folder, { recursive: true, force: true });
  }
}
