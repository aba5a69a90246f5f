/**
 * Suite `permissions`: what rules cost. Small files are read by sessions that differ only in their rules, in turns; none
 * of the rules speaks of the files, so every answer must be the same. Every file has its turn once in a pass, and there
 * are more passes than one, as agents read the same few files again and again.
 */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { folder as files } from "../corpus.js";
import { library } from "../filehand.js";
import { addGate, addRatios, addSample, rowOf, startTable } from "../results.js";

/** @typedef {import("../results.js").Table} Table */
/** @typedef {{ readonly allow?: string[], readonly ask?: string[], readonly deny?: string[] }} Rules */

const roundsDefault = 15;
const rules = 10_000;
const count = 400;
/** What 10,000 rules may cost on top of a small read: nothing that anybody notices. */
const ofNone = 1.15;

const numbered = (/** @type {(n: number) => string} */ make) => Array.from({ length: rules }, (_, n) => make(n));

/** @type {Readonly<Record<string, Rules>>} */
const kinds = {
  "no rules": {},
  "10,000 that name a file": { deny: numbered((n) => `Read(/secrets/s${n}.txt)`) },
  "10,000 that name a folder": { deny: numbered((n) => `Read(packages/p${n}/private/**)`) },
  "10,000 with wildcards": { deny: numbered((n) => `Read(/data/**/set-${n}*.key)`) },
  "10,000 of all three kinds": {
    deny: numbered((n) => `Read(secret-${n}.*)`).slice(0, 3_334),
    ask: numbered((n) => `Edit(/docs/d${n}/**)`).slice(0, 3_333),
    allow: numbered((n) => `Edit(src/s${n}/*.ts)`).slice(0, 3_333),
  },
};

/**
 * @param {import("../run.js").Setting} setting
 * @returns {Promise<Table[]>}
 */
export async function permissions({ rounds = roundsDefault, progress }) {
  mkdirSync(files, { recursive: true });
  const folder = mkdtempSync(join(files, "..", "permissions-"));
  const { createFilehand } = await import(pathToFileURL(library).href);
  const names = Array.from({ length: count }, (_, n) => `src/module-${n % 20}/part-${n}.ts`);
  try {
    for (const [n, name] of names.entries()) {
      mkdirSync(join(folder, name, ".."), { recursive: true });
      writeFileSync(join(folder, name), `export const part = ${n};\n`);
    }
    const reads = startTable(
      "permissions",
      `permissions: a small read, ${rounds} rounds of ${count} files, per call`,
      "no rules",
    );
    const starts = startTable("permissions", "permissions: a toolkit with its rules, and its first read", "no rules");
    const sessions = Object.entries(kinds).map(([name, permissions]) => {
      const open = () =>
        createFilehand({ roots: [folder], dedup: false, reminder: false, permissions }).session({ dialect: "claude" });
      return { name, open, session: open() };
    });
    const read = (/** @type {any} */ session, /** @type {string} */ name) => session.call("Read", { file_path: name });
    for (let round = 0; round <= rounds; round += 1) {
      for (const { name: kind, open, session } of sessions) {
        progress(`permissions, round ${round} of ${rounds}, ${kind}`);
        const started = performance.now();
        let right = true;
        for (const [n, name] of names.entries()) {
          const reply = await read(session, name);
          right &&= reply.content[0].text.includes(`part = ${n};`);
        }
        const ms = (performance.now() - started) / count;
        if (round > 0) addSample(rowOf(reads, kind), { ms }, { counts: right, words: right ? "yes" : "wrong" });
        if (round > 3) continue;
        const opened = performance.now();
        const reply = await read(open(), names[0] ?? "");
        const startMs = performance.now() - opened;
        if (round > 0) addSample(rowOf(starts, kind), { ms: startMs }, { counts: !reply.isError, words: "yes" });
      }
    }
    addRatios(reads);
    for (const row of reads.rows.slice(1)) addGate(row, "of no rules", row.ratio?.value, ofNone);
    return [reads, starts];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
