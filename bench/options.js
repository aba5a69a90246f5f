/** The words behind `npm run bench`: which suites, how many rounds, how large, where the results go. */

import { parseArgs } from "node:util";
import { parseSize } from "./units.js";

export const suiteNames = /** @type {const} */ ([
  "start",
  "warm",
  "large",
  "kinds",
  "edit",
  "edits",
  "bytes",
  "history",
  "observe",
  "glob",
  "grep",
  "permissions",
  "languages",
  "mcp",
  "install",
  "growth",
]);
/** @typedef {(typeof suiteNames)[number]} SuiteName */

/**
 * @typedef {object} Options
 * @property {readonly SuiteName[]} suites
 * @property {number | undefined} rounds  each suite has its own default
 * @property {number} sizeMax  bytes of the largest file
 * @property {string | undefined} json
 * @property {string | undefined} svg
 * @property {number | undefined} seed  of the calls of "edits"
 * @property {boolean} peers
 * @property {boolean} gate  leave with exit code 1 if a gate is over
 * @property {boolean} quick  of "growth": small sizes, and only slopes are judged, with looser bounds
 * @property {string | undefined} row  of "growth": this one only
 */

export const usage = `Usage: node bench/run.js [suite...] [options]

Suites: ${suiteNames.join(", ")} (all but growth by default)

Options:
  --rounds N         Rounds of every suite; each round runs every method once ("edits": calls of each kind)
  --max-size SIZE    Largest file of "large" and "edit", such as 100MB, 1GB, 5GB (default: 100MB)
  --seed N           Other calls of the suite "edits"
  --json FILE        Write every sample and the machine as JSON
  --svg FILE         Draw file size against time (suite "large")
  --no-peers         Leave other tools out
  --quick            Suite "growth" in five minutes: small sizes, looser bounds, on slopes only; writes no files
  --row NAME         Only this row of "growth", or those whose names begin so
  --gate             Repeat once with twice the rounds if a gate is over, then exit with 1 if it still is

Environment: FILEHAND_DIST  the build to measure (default: dist)

Examples:
  npm run bench -- start
  npm run bench -- large --max-size 1GB --rounds 5 --svg large.svg
  npm run bench -- growth --row edit
`;

/**
 * @param {readonly string[]} words
 * @returns {Options | { readonly wrong: string }}
 */
export function parseOptions(words) {
  try {
    const { values, positionals } = parseArgs({
      args: [...words],
      allowPositionals: true,
      options: {
        rounds: { type: "string" },
        "max-size": { type: "string", default: "100MB" },
        seed: { type: "string" },
        json: { type: "string" },
        svg: { type: "string" },
        "no-peers": { type: "boolean", default: false },
        gate: { type: "boolean", default: false },
        quick: { type: "boolean", default: false },
        row: { type: "string" },
      },
    });
    const suites = suiteNames.filter((name) =>
      positionals.length === 0 ? name !== "growth" : positionals.includes(name),
    );
    const unknown = positionals.find((name) => !suiteNames.some((known) => known === name));
    if (unknown !== undefined) return { wrong: `there is no suite "${unknown}", use ${suiteNames.join(", ")}` };
    const rounds = values.rounds === undefined ? undefined : Number(values.rounds);
    if (rounds !== undefined && !(Number.isInteger(rounds) && rounds > 0)) {
      return { wrong: `--rounds "${values.rounds}" is not a whole number from 1 on` };
    }
    const seed = values.seed === undefined ? undefined : Number(values.seed);
    if (seed !== undefined && !Number.isSafeInteger(seed))
      return { wrong: `--seed "${values.seed}" is no whole number` };
    const sizeMax = parseSize(values["max-size"]);
    if (sizeMax === undefined) return { wrong: `--max-size "${values["max-size"]}" is no size, write it as 100MB` };
    const { json, svg, gate, quick, row } = values;
    return { suites, rounds, sizeMax, seed, json, svg, peers: !values["no-peers"], gate, quick, row };
  } catch (error) {
    return { wrong: error instanceof Error ? error.message : String(error) };
  }
}
