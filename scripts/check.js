/**
 * `npm run check`: format, lint, types, import rules between rooms, which tests are tried twice, translated pages,
 * generated files. All run; one that fails fails it.
 */

import { spawnSync } from "node:child_process";
import { brokenPageRules, brokenRules, brokenWordRules, limitsUnexplained, namesTwice, shortFiles } from "./rooms.js";
import { outOfStep } from "./translations.js";
import { wronglyTriedTwice } from "./tried-twice.js";

/** @type {ReadonlyArray<readonly [string, () => boolean]>} */
const steps = [
  ["format", () => runs("node_modules/.bin/biome", "format", ".")],
  ["lint", () => runs("node_modules/.bin/oxlint", "--type-aware", "--deny-warnings")],
  ["types", () => runs("node_modules/.bin/tsc", "--noEmit")],
  ["types of the page", () => runs("node_modules/.bin/tsc", "--noEmit", "-p", "web")],
  ["types of the browser tests", () => runs("node_modules/.bin/tsc", "--noEmit", "-p", "test/browser")],
  ["rooms", () => saysNothing([...brokenRules(), ...brokenPageRules(), ...brokenWordRules()])],
  ["names", () => saysNothing(namesTwice())],
  ["short files", () => saysNothing(shortFiles())],
  ["limits", () => saysNothing(limitsUnexplained())],
  ["second tries", () => saysNothing(wronglyTriedTwice())],
  ["translations", () => saysNothing(outOfStep())],
  ["generated files", () => runs(process.execPath, "scripts/generate.js", "--check")],
];

const failed = steps.filter(([name, step]) => {
  const ok = step();
  process.stdout.write(`${ok ? "ok    " : "FAILED"} ${name}\n`);
  return !ok;
});
process.exitCode = failed.length > 0 ? 1 : 0;

function runs(/** @type {string} */ program, /** @type {string[]} */ ...args) {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8" });
  if (status !== 0) process.stdout.write(`${stdout}${stderr}`);
  return status === 0;
}

function saysNothing(/** @type {readonly string[]} */ wrong) {
  for (const line of wrong) process.stdout.write(`${line}\n`);
  return wrong.length === 0;
}
