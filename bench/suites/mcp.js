/**
 * Suite `mcp`: what the MCP server adds. From the start to the first reply against a Node that does nothing; a small Read
 * against a tool of the bare SDK that only gives back its text, over pipes one by one and over HTTP by 50 callers at once. And
 * how long a call goes on after it was cancelled.
 */

import { truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { notJudged } from "../answers.js";
import { folder } from "../corpus.js";
import { bin, library } from "../filehand.js";
import { clientWire, firstReplyMs, httpWire, stdioWire } from "../mcp/wires.js";
import { timeCommand } from "../process.js";
import { addGate, addRatios, addSample, rowOf, startTable } from "../results.js";
import { median } from "../units.js";

const roundsDefault = 11;
const startOfNodeMax = 2.2;
const readOfEchoMax = 1.3;
/** At least 0.8 times the calls a second. */
const httpOfEchoMax = 1 / 0.8;
const callers = 50;
const turnMs = 1_000;
const callsOfTurn = 300;
const warmUpCalls = 3_000;
const cancelMsMax = 50;
/** Long enough for a scan to be under way. */
const cancelAfterMs = 60;

const echoServer = fileURLToPath(new URL("../mcp/echo.js", import.meta.url));
const text = "one\ntwo\nthree\nfour\nfive\n";
const methods = {
  echo: { name: "echo, bare SDK", call: { name: "echo", arguments: { text } } },
  read: { name: "filehand, Read of 5 lines", call: { name: "Read", arguments: { file_path: "small.txt", limit: 4 } } },
};

/**
 * @param {import("../run.js").Setting} setting
 * @returns {Promise<import("../results.js").Table[]>}
 */
export async function mcp({ rounds = roundsDefault, progress }) {
  writeFileSync(join(folder, "small.txt"), text);
  return [
    await starts(rounds, progress),
    await calls("stdio, SDK client", rounds, progress),
    await calls("stdio, bare pipe", rounds, progress),
    await calls("http", rounds, progress),
    await cancels(rounds, progress),
  ];
}

/** @param {number} rounds @param {(words: string) => void} progress */
async function starts(rounds, progress) {
  const table = startTable("mcp", `mcp: to the first reply, ${rounds} rounds`, "node -e 0");
  for (let round = 0; round <= rounds; round += 1) {
    progress(`mcp, start, round ${round} of ${rounds}`);
    const nothing = await timeCommand([process.execPath, "-e", "0"]);
    const reply = await firstReplyMs([bin, "mcp"], folder);
    if (round === 0) continue; // fills the caches of the system
    addSample(rowOf(table, "node -e 0"), { ms: nothing.ms }, notJudged);
    const counts = reply.text.includes('"supportedVersions"');
    addSample(rowOf(table, "filehand mcp"), { ms: reply.ms }, { counts, words: "" });
  }
  addRatios(table);
  const row = rowOf(table, "filehand mcp");
  addGate(row, "ratio", row.ratio?.value, startOfNodeMax);
  return table;
}

/** @param {"stdio, SDK client" | "stdio, bare pipe" | "http"} kind @param {number} rounds @param {(words: string) => void} progress */
async function calls(kind, rounds, progress) {
  const how = kind !== "http" ? `${callsOfTurn} calls one by one, median` : `${callers} callers for ${turnMs} ms`;
  const table = startTable("mcp", `mcp: ${kind}, ${how}, per call, ${rounds} rounds`, methods.echo.name);
  const http = ["serve", "--port", "0", "--insecure-no-token"];
  const open = { "stdio, SDK client": clientWire, "stdio, bare pipe": stdioWire, http: httpWire }[kind];
  const wires = {
    echo: await open([echoServer, ...(kind === "http" ? ["http"] : [])], folder),
    read: await open([bin, ...(kind === "http" ? http : ["mcp"])], folder),
  };
  const turn = kind === "http" ? allAtOnce : oneByOne;
  try {
    for (let round = 0; round <= rounds; round += 1) {
      for (const which of /** @type {const} */ (["echo", "read"])) {
        progress(`mcp, ${kind}, round ${round} of ${rounds}, ${which}`);
        const { name, call } = methods[which];
        if (round === 0) for (let count = 0; count < warmUpCalls; count += 1) await wires[which].call(call);
        const { ms, last } = await turn(() => wires[which].call(call));
        if (round > 0)
          addSample(rowOf(table, name), { ms }, { counts: /three/.test(last) && !/"error"/.test(last), words: "" });
      }
    }
  } finally {
    await Promise.all([wires.echo.close(), wires.read.close()]);
  }
  addRatios(table);
  const row = rowOf(table, methods.read.name);
  // Over a bare pipe the calls of both are a tenth of a millisecond, and a file costs what it costs: told, not judged.
  if (kind === "stdio, SDK client") addGate(row, "ratio", row.ratio?.value, readOfEchoMax);
  if (kind === "http") addGate(row, "ratio", row.ratio?.value, httpOfEchoMax);
  return table;
}

/**
 * From the cancel to the end of the work, in the engine, where every transport hands its signal to.
 * @param {number} rounds @param {(words: string) => void} progress
 */
async function cancels(rounds, progress) {
  const table = startTable("mcp", `mcp: from the cancel to the end of a call, ${rounds} rounds`, "Read of 2 TB");
  const file = join(folder, "cancelled.txt");
  writeFileSync(file, "a line of a file that is text\n".repeat(1_000));
  truncateSync(file, 2_000_000_000_000); // a hole, which takes no room
  writeFileSync(join(folder, "searched.txt"), "a line to search, and another word\n".repeat(6_000_000));
  const { createFilehand } = await import(library);
  const session = createFilehand({ roots: [folder] }).session();
  const work = {
    "Read of 2 TB": ["Read", { file_path: "cancelled.txt", offset: 1_100, limit: 1 }, cancelAfterMs],
    "Grep in 200 MB": [
      "Grep",
      { pattern: "(a|b|l).*(n|o)[a-z]+er wor", path: "searched.txt", output_mode: "count" },
      20,
    ],
  };
  for (const [name, [tool, input, afterMs]] of Object.entries(work)) {
    for (let round = 0; round < rounds; round += 1) {
      progress(`mcp, cancel, ${name}, round ${round + 1} of ${rounds}`);
      const stop = new AbortController();
      const call = session.call(tool, input, { signal: stop.signal });
      await new Promise((resolve) => setTimeout(resolve, Number(afterMs)));
      const cancelledMs = performance.now();
      stop.abort();
      const { error } = await call;
      addSample(
        rowOf(table, name),
        { ms: performance.now() - cancelledMs },
        { counts: error?.code === "CANCELLED", words: "" },
      );
    }
    const row = rowOf(table, name);
    addGate(row, "ms", median(row.samples.map(({ ms }) => ms)), cancelMsMax);
  }
  return table;
}

/** @param {() => Promise<string>} call */
async function oneByOne(call) {
  const times = [];
  let last = "";
  for (let count = 0; count < callsOfTurn; count += 1) {
    const startedMs = performance.now();
    last = await call();
    times.push(performance.now() - startedMs);
  }
  return { ms: median(times), last };
}

/** @param {() => Promise<string>} call */
async function allAtOnce(call) {
  const startedMs = performance.now();
  let count = 0;
  let last = "";
  const caller = async () => {
    while (performance.now() - startedMs < turnMs) {
      last = await call();
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return { ms: (performance.now() - startedMs) / count, last };
}
