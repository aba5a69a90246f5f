/** Suite `install`: a cold `npx` of the packed package until the MCP server answers, what it fetches and what it leaves on the disk. */

import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { addGate, addPairedRatios, addSample, rowOf, startTable } from "../results.js";

const roundsDefault = 3;
/** Some clients end a server that has not answered after 30 seconds. */
const waitMsMax = 300_000;
const megabyte = 1_000_000;
const gates = { full: { disk: 70, download: 28 }, bare: { disk: 8, download: 8 }, ratio: 1 };

const peer = "@modelcontextprotocol/server-filesystem";
const project = fileURLToPath(new URL("../../", import.meta.url));

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "bench", version: "1" } },
};

/**
 * @param {import("../run.js").Setting} setting
 * @returns {Promise<import("../results.js").Table[]>}
 */
export async function install({ rounds = roundsDefault, progress }) {
  const room = mkdtempSync(join(tmpdir(), "fh-install-"));
  try {
    const tarball = packed(room);
    const { dependencies } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
    const methods = [
      { name: peer, args: ["--package", `${peer}@${dependencies[peer]}`, "mcp-server-filesystem", room] },
      { name: "filehand", args: ["--package", tarball, "filehand", "mcp", room] },
      {
        name: "filehand, --omit=optional",
        args: ["--omit=optional", "--package", tarball, "filehand", "mcp", room],
      },
    ];
    const table = startTable("install", `install: a cold npx until the server answers, ${rounds} rounds`, peer);
    for (let round = 1; round <= rounds; round += 1) {
      for (const { name, args } of methods) {
        progress(`install, round ${round} of ${rounds}: ${name}`);
        const cache = mkdtempSync(join(room, "cache-"));
        const ms = await untilAnswered(args, cache, room);
        const row = rowOf(table, name);
        addSample(row, { ms }, { counts: true, words: "" });
        row.counts = {
          packages: packagesBelow(join(cache, "_npx")),
          "on disk (MB)": inMegabytes(bytesBelow(join(cache, "_npx"))),
          // npm keeps every tarball that it fetched, ours too, and what the registry said about each package.
          "download (MB)": inMegabytes(bytesBelow(join(cache, "_cacache", "content-v2"))),
        };
        rmSync(cache, { recursive: true });
      }
    }
    addPairedRatios(table);
    for (const [name, max] of /** @type {const} */ ([
      ["filehand", gates.full],
      ["filehand, --omit=optional", gates.bare],
    ])) {
      const row = rowOf(table, name);
      addGate(row, "ratio", row.ratio?.value, gates.ratio);
      addGate(row, "disk", Number(row.counts?.["on disk (MB)"]), max.disk);
      addGate(row, "download", Number(row.counts?.["download (MB)"]), max.download);
    }
    return [table];
  } finally {
    rmSync(room, { recursive: true, force: true, maxRetries: 5 });
  }
}

function packed(/** @type {string} */ room) {
  const args = ["pack", "--json", "--ignore-scripts", "--loglevel=error", "--pack-destination", room];
  const { status, stdout, stderr } = spawnSync("npm", args, { cwd: project, encoding: "utf8" });
  if (status !== 0) throw new Error(`npm pack: ${stderr}`);
  return join(room, JSON.parse(stdout)[0].filename);
}

/** @param {readonly string[]} args @param {string} cache @param {string} cwd @returns {Promise<number>} */
function untilAnswered(args, cache, cwd) {
  const started = performance.now();
  const env = {
    ...process.env,
    npm_config_cache: cache,
    npm_config_loglevel: "error",
    npm_config_update_notifier: "false",
  };
  // A group of its own, since npx starts the server through a shell.
  const child = spawn("npx", ["--yes", ...args], { cwd, env, detached: true, stdio: ["pipe", "pipe", "pipe"] });
  let said = "";
  child.stderr.on("data", (chunk) => (said += chunk));
  child.stdin.on("error", () => undefined);
  child.stdin.write(`${JSON.stringify(initialize)}\n`);
  return new Promise((resolve, reject) => {
    const fail = () => reject(new Error(`npx ${args.join(" ")} did not answer: ${said.slice(-2_000)}`));
    const timer = setTimeout(end, waitMsMax, fail);
    /** @param {() => void} then */
    function end(then) {
      clearTimeout(timer);
      child.off("exit", fail);
      child.on("close", then);
      child.stdin.end();
      process.kill(-Number(child.pid), "SIGTERM");
    }
    child.on("exit", fail);
    child.stdout.once("data", () => {
      const ms = performance.now() - started;
      end(() => resolve(ms));
    });
  });
}

/** @param {string} folder @returns {number} */
function bytesBelow(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.reduce((sum, one) => (one.isFile() ? sum + statSync(join(one.parentPath, one.name)).size : sum), 0);
}

function packagesBelow(/** @type {string} */ folder) {
  const manifests = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return manifests.filter((path) => /node_modules\/(?:@[^/]+\/)?[^/]+\/package\.json$/.test(path)).length;
}

const inMegabytes = (/** @type {number} */ bytes) => Math.round((bytes / megabyte) * 10) / 10;
