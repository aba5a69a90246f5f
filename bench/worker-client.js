/** The parent's side of a worker: asks, waits within limits of time and memory, and ends it by its id. */

import { fork } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

/** @typedef {import("./worker.js").Answered} Answered */

/**
 * @typedef {object} Method
 * @property {string} name
 * @property {URL} module
 * @property {string} [variant]   handed to the reader
 * @property {string} [program]   the Node to run it with
 */

/** @typedef {import("./worker.js").AnyQuestion} AnyQuestion */
/** @typedef {{ ask(question: AnyQuestion): Promise<Answered>, close(): void }} Worker */

const program = fileURLToPath(new URL("worker.js", import.meta.url));
export const timeMsMax = 60_000;
export const memoryMbMax = 4096;

/**
 * @param {Method} method
 * @param {string} folder  the workspace
 * @returns {Promise<Worker>}
 */
export async function openWorker(method, folder) {
  const home = mkdtempSync(join(tmpdir(), "filehand-bench-"));
  mkdirSync(join(home, "tmp"));
  const child = fork(program, [method.module.href, JSON.stringify({ folder, variant: method.variant })], {
    cwd: folder,
    env: quietEnvironment(home),
    execPath: method.program ?? process.execPath,
    execArgv: [`--max-old-space-size=${memoryMbMax}`],
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    serialization: "advanced",
  });
  let talk = "";
  child.stderr?.on("data", (data) => (talk = `${talk}${data}`.slice(-4000)));

  /** @returns {Promise<Record<string, unknown>>} */
  const next = () =>
    new Promise((resolve, reject) => {
      const finish = (/** @type {() => void} */ outcome) => {
        clearTimeout(timer);
        clearInterval(watch);
        child.off("message", onMessage);
        child.off("exit", onExit);
        outcome();
      };
      const fail = (/** @type {string} */ why) => finish(() => reject(new Error(why)));
      const stop = (/** @type {string} */ why) => {
        child.kill("SIGKILL");
        fail(why);
      };
      const onMessage = (/** @type {Record<string, unknown>} */ message) =>
        "failure" in message ? fail(String(message.failure)) : finish(() => resolve(message));
      const onExit = (/** @type {number | null} */ code, /** @type {string | null} */ signal) =>
        fail(`the process ended with ${signal ?? code}: ${reasonIn(talk)}`);
      const timer = setTimeout(() => stop(`no answer within ${timeMsMax / 1000} s`), timeMsMax);
      const watch = setInterval(() => {
        if (residentMb(child.pid) > memoryMbMax) stop(`more than ${memoryMbMax / 1024} GB of memory`);
      }, 100);
      child.on("message", onMessage);
      child.on("exit", onExit);
    });

  const close = () => {
    child.kill("SIGKILL");
    rmSync(home, { recursive: true, force: true, maxRetries: 3 });
  };
  try {
    await next();
  } catch (error) {
    close();
    throw error;
  }
  return {
    ask: async (question) => {
      const answered = next();
      child.send(question);
      return /** @type {Answered} */ (/** @type {unknown} */ (await answered)); // worker.js sends nothing else
    },
    close,
  };
}

/** A home of its own, nothing sent anywhere. @param {string} home */
function quietEnvironment(home) {
  return {
    ...process.env,
    // Desktop Commander starts `python3 --version` at every read. A shim that looks for the right Python first would
    // make it eight times as slow as it is on other machines.
    PATH: (process.env["PATH"] ?? "")
      .split(delimiter)
      .filter((entry) => !/\bshims$/.test(entry))
      .join(delimiter),
    HOME: home,
    USERPROFILE: home,
    XDG_CONFIG_HOME: join(home, "config"),
    XDG_CACHE_HOME: join(home, "cache"),
    XDG_DATA_HOME: join(home, "data"),
    GEMINI_CLI_HOME: home,
    DESKTOP_COMMANDER_DISABLE_TELEMETRY: "1",
    CLINE_TELEMETRY_DISABLED: "1",
    PI_OFFLINE: "1",
    DO_NOT_TRACK: "1",
    NO_COLOR: "1",
  };
}

/** @param {number | undefined} pid */
function residentMb(pid) {
  try {
    return (Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]) * 4096) / 2 ** 20;
  } catch {
    return 0; // it has just ended, or the system has no /proc: then only the heap is limited
  }
}

/** @param {string} talk */
function reasonIn(talk) {
  const lines = talk.split("\n").filter((line) => line.trim() !== "");
  return lines.find((line) => /error|out of memory/i.test(line))?.trim() ?? lines.at(-1)?.trim() ?? "no reason given";
}
