/** Measures a row: a process for each size, all of them alive at once, and rounds in turn, so that a busy moment hits all sizes. */

import { fork } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { folder as files } from "../corpus.js";
import { faultsOf, fitOf } from "./fit.js";
import { inMemory } from "./row.js";

/** @typedef {import("./row.js").Row} Row */
/** @typedef {import("./fit.js").Point} Point */
/** @typedef {import("./fit.js").Bounds} Bounds */
/** @typedef {import("./child.js").Round} Round */

/**
 * @typedef {object} How
 * @property {boolean} quick
 * @property {Bounds} bounds
 * @property {string} shared   folder for what several rows use
 * @property {string} [module] other rows than those of the suite
 * @property {(words: string) => void} progress
 */

/**
 * @typedef {object} Result
 * @property {Row} row
 * @property {readonly (Point & { readonly rounds: number })[]} points
 * @property {import("./fit.js").Fit | undefined} fit
 * @property {readonly string[]} faults
 * @property {number} seconds
 */

const program = fileURLToPath(new URL("child.js", import.meta.url));
const roundsMax = 8;
/** Besides the first one, which compiles and fills caches. */
const roundsMin = 2;
const budgetMs = { quick: 1_500, whole: 12_000 };
const answerMsMax = { quick: 60_000, whole: 240_000 };

/** @param {Row} row @param {How} how @returns {Promise<Result>} */
export async function measureRow(row, { quick, bounds, shared, module = "", progress }) {
  const started = performance.now();
  const kind = quick ? "quick" : "whole";
  const top = row.onDisk === true ? join(files, "..") : inMemory();
  mkdirSync(top, { recursive: true });
  const folder = mkdtempSync(join(top, "filehand-growth-"));
  /** @type {{ readonly size: number, readonly child: Child, readonly rounds: Round[] }[]} */
  const lanes = [];
  try {
    for (const size of quick ? row.quick : row.sizes) {
      progress(`growth, ${row.name}, preparing ${size.toLocaleString("en")} ${row.unit}`);
      const own = join(folder, String(size));
      mkdirSync(own);
      lanes.push({
        size,
        child: await startChild([row.name, String(size), own, shared, module], answerMsMax[kind]),
        rounds: [],
      });
    }
    const until = async (/** @type {number} */ ms, /** @type {number} */ max) => {
      const begun = performance.now();
      for (let round = 0; round <= max; round += 1) {
        progress(`growth, ${row.name}, round ${round}`);
        for (const { child, rounds } of lanes) rounds.push(await child.round());
        const tookMs = performance.now() - begun;
        if (tookMs > ms && (round >= roundsMin || (round > 0 && tookMs > 3 * ms))) break;
      }
    };
    await until(budgetMs[kind], roundsMax);
    // Others may have been busy: what is wrong because of them is right the second time.
    if (faultsOf(fitOf(lanes.map(pointOf), row.grows), row.grows, bounds).length > 0) {
      await until(2 * budgetMs[kind], 2 * roundsMax);
    }
    const points = lanes.map(pointOf);
    const fit = fitOf(points, row.grows);
    return { row, points, fit, faults: faultsOf(fit, row.grows, bounds), seconds: seconds(started) };
  } catch (error) {
    // The table is read elsewhere: it names no folder of this machine.
    const said = error instanceof Error ? error.message : String(error);
    const fault = (said.split("\n")[0] ?? "").replaceAll(folder, "<files>").replaceAll(shared, "<shared>");
    const points = lanes.filter(({ rounds }) => rounds.length > 0).map(pointOf);
    return { row, points, fit: undefined, faults: [fault], seconds: seconds(started) };
  } finally {
    for (const { child } of lanes) await child.end();
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

/** @param {number} started */
const seconds = (started) => Math.round((performance.now() - started) / 1_000);

/** The least time and the least pause are those without other processes; memory is the most after the first round. @param {{ readonly size: number, readonly rounds: readonly Round[] }} lane */
function pointOf({ size, rounds }) {
  const [first, ...later] = rounds;
  const used = later.length === 0 && first !== undefined ? [first] : later;
  return {
    size,
    ms: Math.min(...used.map(({ ms }) => ms)),
    peakMb: Math.max(...used.map(({ peakMb }) => peakMb)),
    pauseMs: Math.min(...used.map(({ pauseMs }) => pauseMs)),
    rounds: used.length,
  };
}

/** @typedef {{ round(): Promise<Round>, end(): Promise<void> }} Child */

/** @param {readonly string[]} args @param {number} waitMsMax @returns {Promise<Child>} */
async function startChild(args, waitMsMax) {
  const child = fork(program, args, {
    execArgv: ["--expose-gc"],
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    serialization: "advanced", // JSON has no number that says that nothing was measured
    env: { ...process.env, FILEHAND_DEDUP: "0" },
  });
  let said = "";
  child.stderr?.on("data", (data) => (said = `${said}${data}`.slice(-2_000)));
  const next = (/** @type {number} */ waitMs) =>
    new Promise((/** @type {(message: any) => void} */ resolve, reject) => {
      const finish = () => {
        clearTimeout(timer);
        child.off("message", onMessage);
        child.off("exit", onExit);
      };
      const onMessage = (/** @type {any} */ message) => {
        finish();
        if ("failure" in message) reject(new Error(message.failure));
        else resolve(message);
      };
      const onExit = (/** @type {number | null} */ code, /** @type {string | null} */ signal) => {
        finish();
        reject(new Error(`the process of size ${args[1]} ended with ${signal ?? code}: ${said.trim()}`));
      };
      const timer = setTimeout(() => {
        finish();
        child.kill("SIGKILL");
        reject(new Error(`size ${args[1]} took more than ${waitMs / 1_000} s`));
      }, waitMs);
      child.on("message", onMessage);
      child.on("exit", onExit);
    });
  await next(waitMsMax);
  return {
    round: () => {
      const answered = next(waitMsMax);
      child.send("round");
      return answered;
    },
    end: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = next(10_000).catch(() => undefined);
      child.send("end");
      await ended;
      child.kill("SIGKILL");
    },
  };
}
