/**
 * `npm run test:hostile`: shapes that freeze, fill or end a process, against every kind of input, for as many minutes as are given (default 10).
 * Prints counts and the worst case of each input, and every finding with its input and how to see it again.
 *
 *   npm run test:hostile -- 30
 *   npm run test:hostile -- --input glob --seed 17 --cases 1
 *   npm run test:hostile -- --input ignore --known "question marks" --strict
 *
 * Single cases are judged by the limits of `npm test`, with --strict by those of the long run.
 */

import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";

const text = /** @type {const} */ ({ type: "string" });
const { values, positionals } = parseArgs({
  options: { seed: text, cases: text, input: text, known: text, strict: { type: "boolean" } },
  allowPositionals: true,
});
const number = (/** @type {string} */ name, /** @type {string | undefined} */ value) => {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/u.test(value)) return Number(value);
  process.stderr.write(`Cannot use ${name} "${value}": give a whole number\n`);
  process.exit(2);
};
const isOne = values.cases !== undefined || values.known !== undefined;
const given = {
  minutes: isOne ? undefined : (number("the minutes", positionals[0]) ?? 10),
  seed: number("--seed", values.seed) ?? (isOne ? 1 : Date.now() % 1_000_000_000),
  cases: number("--cases", values.cases),
  input: values.input,
  known: values.known,
  strict: values.strict === true || !isOne,
};
process.stdout.write(`seed ${given.seed}\n`);
const { status } = spawnSync("node_modules/.bin/vitest", ["run", "test/hostile/hostile.test.ts"], {
  stdio: "inherit",
  env: { ...process.env, FILEHAND_HOSTILE: JSON.stringify(given) },
});
process.exit(status ?? 1);
