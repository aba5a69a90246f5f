/** `npm run test:hostile`: shapes that freeze, fill or end a process, against every kind of input. See `usage`. */

import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";

const usage = `npm run test:hostile -- [MINUTES] [OPTIONS]

Runs shapes that freeze, fill or end a process against every kind of input, for so many minutes (default 10).
Limits of a case: 50 ms for one turn of the event loop, 5 s of processor time, 300 MB. A case that is over one is measured
again, and counts if it is over a limit three times.
Prints counts and the worst case of each input, and every finding with its input and how to see it again.

  --input NAME    only this input: arguments, settings, messages, glob, notebook … (test/hostile/inputs.ts)
  --seed NUMBER   the first seed; the same seed makes the same cases
  --cases NUMBER  so many random cases of each input, besides the known samples, instead of MINUTES (1: no known samples)
  --known NAME    only the known sample of this name
  --help          this text

Examples
  npm run test:hostile -- 30
  npm run test:hostile -- --input glob --seed 17 --cases 1
  npm run test:hostile -- --input ignore --known "question marks"
`;

const text = /** @type {const} */ ({ type: "string" });
const { values, positionals } = parseArgs({
  options: {
    seed: text,
    cases: text,
    input: text,
    known: text,
    help: { type: "boolean" },
  },
  allowPositionals: true,
});
if (values.help === true) {
  process.stdout.write(usage);
  process.exit(0);
}
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
};
process.stdout.write(`seed ${given.seed}\n`);
const { status } = spawnSync("node_modules/.bin/vitest", ["run", "test/hostile/hostile.test.ts"], {
  stdio: "inherit",
  env: { ...process.env, FILEHAND_HOSTILE: JSON.stringify(given) },
});
process.exit(status ?? 1);
