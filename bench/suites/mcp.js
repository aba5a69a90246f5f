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
import { cpuMsOf, timeCommand } from "../process.js";
import { addGate, addPairedRatios, addRatios, addSample, rowOf, startTable } from "../results.js";
import { median } from "../units.js";

const roundsDefault = 11;
const startOfNodeMax = 2.2;
const readOfEchoMax = 1.3;
/** At least 0.8 times the calls a second. */
const httpOfEchoMax = 1 / 0.8;
const callers = 50;
/** Short turns, and several a round: whatever else the machine does, it does it to both. */
const turnsOfRound = 3;
const callsOfTurn = { alone: 300, atOnce: 1_000 };
/** As many for everybody, made in the way that is measured: until V8 has compiled what there is to compile. */
const warmUpCalls = 6_000;
const cancelMsMax = 50;
/** Long enough for a scan to be under way. */
const cancelAfterMs = 60;

const echoServer = fileURLToPath(new URL("../mcp/echo.js", import.meta.url));
const text = "one\ntwo\nthree\nfour\nfive\n";
const echo = { name: "echo", arguments: { text } };
const read = { name: "Read", arguments: { file_path: "small.txt", limit: 4 } };
const reference = "echo, bare SDK";
const serve = [bin, "serve", "--port", "0", "--insecure-no-token"];

/** @typedef {{ readonly name: string, readonly call: import("../mcp/wires.js").Call, readonly args: readonly string[] }} Method */
/** @typedef {{ readonly name: string, readonly open: typeof clientWire | typeof stdioWire, readonly methods: readonly Method[], readonly atOnce: number, readonly gate?: number }} Kind */

/** @type {readonly Method[]} */
const overPipes = [
  { name: reference, call: echo, args: [echoServer] },
  { name: "filehand, Read of 5 lines", call: read, args: [bin, "mcp"] },
];
/** @type {readonly Method[]} */
const overHttp = [
  { name: reference, call: echo, args: [echoServer, "http"] },
  { name: "filehand, Read of 5 lines", call: read, args: serve },
  { name: "filehand --no-inspector", call: read, args: [...serve, "--no-inspector"] },
];
/**
 * Over a bare pipe the calls of both are a tenth of a millisecond, and a file costs what it costs: told, not judged.
 * @type {readonly Kind[]}
 */
const kinds = [
  { name: "stdio, SDK client", open: clientWire, methods: overPipes, atOnce: 1, gate: readOfEchoMax },
  { name: "stdio, bare pipe", open: stdioWire, methods: overPipes, atOnce: 1 },
  { name: "http", open: httpWire, methods: overHttp, atOnce: callers, gate: httpOfEchoMax },
];

/**
 * @param {import("../run.js").Setting} setting
 * @returns {Promise<import("../results.js").Table[]>}
 */
export async function mcp({ rounds = roundsDefault, progress }) {
  writeFileSync(join(folder, "small.txt"), text);
  const tables = [await starts(rounds, progress)];
  for (const kind of kinds) tables.push(await calls(kind, rounds, progress));
  return [...tables, await cancels(rounds, progress)];
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

/** @param {Kind} kind @param {number} rounds @param {(words: string) => void} progress */
async function calls({ name, open, methods, atOnce, gate }, rounds, progress) {
  const count = atOnce === 1 ? callsOfTurn.alone : callsOfTurn.atOnce;
  const how = atOnce === 1 ? `${count} calls one by one, median` : `${count} calls by ${atOnce} callers`;
  const turns = rounds * turnsOfRound;
  const table = startTable("mcp", `mcp: ${name}, ${how}, per call, ${turns} turns each`, reference);
  /** @type {(Method & { readonly wire: import("../mcp/wires.js").Wire })[]} */
  const sides = [];
  try {
    for (const method of methods) sides.push({ ...method, wire: await open(method.args, folder) });
    progress(`mcp, ${name}, warming up`);
    for (const { wire, call } of sides) await turn(() => wire.call(call), warmUpCalls, atOnce);
    for (let at = 0; at < turns; at += 1) {
      progress(`mcp, ${name}, round ${Math.floor(at / turnsOfRound) + 1} of ${rounds}`);
      // Every other time from the last to the first: nobody always comes after the same one.
      for (const { name: method, call, wire } of at % 2 === 0 ? sides : sides.toReversed()) {
        const usedMs = cpuMsOf(wire.pid);
        const { ms, last } = await turn(() => wire.call(call), count, atOnce);
        const endMs = cpuMsOf(wire.pid);
        const cpu = usedMs === undefined || endMs === undefined ? {} : { cpuMs: (endMs - usedMs) / count };
        const counts = /three/.test(last) && !/"error"/.test(last);
        addSample(rowOf(table, method), { ms, ...cpu }, { counts, words: "" });
      }
    }
  } finally {
    await Promise.all(sides.map(({ wire }) => wire.close()));
  }
  addPairedRatios(table);
  if (gate === undefined) return table;
  for (const row of table.rows) if (row.method !== reference) addGate(row, "ratio", row.ratio?.value, gate);
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

/**
 * One by one: the median of how long a call took. Many at once: the time of all, divided by how many there were.
 * @param {() => Promise<string>} call @param {number} count @param {number} atOnce
 */
async function turn(call, count, atOnce) {
  const startedMs = performance.now();
  /** @type {number[]} */
  const times = [];
  let last = "";
  let left = count;
  const caller = async () => {
    while (left > 0) {
      left -= 1;
      const askedMs = performance.now();
      last = await call();
      times.push(performance.now() - askedMs);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, caller));
  return { ms: atOnce === 1 ? median(times) : (performance.now() - startedMs) / count, last };
}
