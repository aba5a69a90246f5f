/** Suite `start`: from nothing to the answer, as whole processes, against a Node that does nothing. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { judge, notJudged } from "../answers.js";
import { folder } from "../corpus.js";
import { bin } from "../filehand.js";
import { timeCommand, usageOf } from "../process.js";
import { addGate, addRatios, addSample, rowOf, startTable } from "../results.js";

const roundsDefault = 15;
/** A whole read, with all that is loaded for it, in no more than twice the time of an empty Node. */
const readOfNodeMax = 2;

/**
 * @param {import("../run.js").Setting} setting
 * @returns {Promise<import("../results.js").Table[]>}
 */
export async function start({ rounds = roundsDefault, progress }) {
  const small = join(folder, "small.txt");
  const lines = ["one", "two", "größe", "four", "five"];
  writeFileSync(small, `${lines.join("\n")}\n`);
  const filehand = [process.execPath, bin];

  /** @type {readonly { name: string, command: import("../process.js").Command, right: (stdout: string) => import("../answers.js").Verdict }[]} */
  const methods = [
    { name: "node -e 0", command: [process.execPath, "-e", "0"], right: () => notJudged },
    {
      name: "filehand read small.txt",
      command: [process.execPath, ...filehand.slice(1), "read", small, "--root", folder],
      right: (stdout) => {
        const shown = stdout.split("\n").slice(0, lines.length);
        return judge({ lines: shown.map((line) => line.replace(/^\s*\d+\D/, "")) }, { lines, total: lines.length });
      },
    },
    {
      name: "filehand --version",
      command: [process.execPath, bin, "--version"],
      right: (stdout) => ({ counts: /\d+\.\d+\.\d+/.test(stdout), words: "" }),
    },
  ];

  const table = startTable("start", `start: whole processes, ${rounds} rounds`, "node -e 0");
  for (let round = 0; round <= rounds; round += 1) {
    progress(`start, round ${round} of ${rounds}`);
    for (const { name, command, right } of methods) {
      const { ms, stdout } = await timeCommand(command);
      // Round 0 fills the caches of the system.
      if (round > 0) addSample(rowOf(table, name), { ms, ...(await usageOf(command)) }, right(stdout));
    }
  }
  addRatios(table);
  const read = rowOf(table, "filehand read small.txt");
  addGate(read, "ratio", read.ratio?.value, readOfNodeMax);
  return [table];
}
