/** Peers that answer the same question round after round, each in a process of its own that stays open. */

import { addSample, rowOf } from "../results.js";
import { openWorker } from "../worker-client.js";
import { peerMethods } from "./index.js";

/**
 * One that fails has its row say so and is asked no more.
 * @param {import("../results.js").Table} table
 * @param {object} asked
 * @param {readonly string[]} asked.peers  by name
 * @param {string} asked.folder            the workspace
 * @param {import("../worker-client.js").AnyQuestion} asked.question
 * @param {(answered: import("../worker.js").Answered) => import("../answers.js").Verdict} asked.judge
 */
export async function peerTurns(table, { peers, folder, question, judge }) {
  /** @type {{ readonly name: string, readonly worker: import("../worker-client.js").Worker }[]} */
  const turns = [];
  for (const method of peerMethods().filter(({ name }) => peers.includes(name))) {
    const row = rowOf(table, method.name);
    if ("skipped" in method) row.failure = method.skipped;
    else {
      try {
        turns.push({ name: method.name, worker: await openWorker(method, folder) });
      } catch (error) {
        row.failure = String(error);
      }
    }
  }
  return {
    /** Round 0 fills caches, and counts for nobody. @param {number} round */
    async ask(round) {
      for (const { name, worker } of turns) {
        const row = rowOf(table, name);
        if (row.failure !== undefined) continue;
        try {
          const answered = await worker.ask(question);
          if (round > 0) addSample(row, { ms: answered.ms }, judge(answered));
        } catch (error) {
          row.failure = error instanceof Error ? error.message : String(error);
        }
      }
    },
    close: () => turns.forEach(({ worker }) => worker.close()),
  };
}
