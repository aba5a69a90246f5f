/** The HTTP server by conversations, parallel calls and earlier calls; the inspector's page by calls; language servers. */

import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { chromiumArguments, chromiumPath } from "../../../scripts/chromium.js";
import { bin } from "../../filehand.js";
import { meta } from "../../mcp/wires.js";
import { cpuMsOf } from "../../process.js";
import { mustSucceed, openSession, row } from "../row.js";

/** @typedef {import("../row.js").Place} Place */

/** A server in a process of its own. @param {string} folder @param {number} [sockets] */
async function startServer(folder, sockets = 64) {
  writeFileSync(join(folder, "small.txt"), "one\ntwo\nthree\n");
  const env = { ...process.env, FILEHAND_DEDUP: "0", HOME: folder, XDG_STATE_HOME: join(folder, "state") };
  const args = [bin, "serve", "--port", "0", "--insecure-no-token"];
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  process.on("exit", () => child.kill("SIGKILL"));
  let said = "";
  const hear = (/** @type {RegExp} */ pattern) =>
    new Promise((/** @type {(found: string) => void} */ resolve, reject) => {
      const look = () => {
        const found = pattern.exec(said)?.[1];
        if (found !== undefined) resolve(found);
      };
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding("utf8").on("data", (/** @type {string} */ chunk) => {
          said = `${said}${chunk}`.slice(-10_000);
          look();
        });
      }
      child.once("close", () => reject(new Error(said)));
      look();
    });
  const [port, page] = await Promise.all([hear(/"url":"http:\/\/[^"]*:(\d+)\//), hear(/(http:\/\/\S+#key=[^\s"]+)/)]);
  const agent = new Agent({ keepAlive: true, maxSockets: sockets });
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "Read", arguments: { file_path: "small.txt" }, _meta: meta },
  });
  const call = (/** @type {string} */ conversation) =>
    new Promise((/** @type {(done: void) => void} */ resolve, reject) => {
      const headers = {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "content-length": Buffer.byteLength(body),
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "Read",
        "filehand-session": conversation,
      };
      const sent = request(
        { host: "127.0.0.1", port: Number(port), path: "/mcp", method: "POST", agent, headers },
        (answer) => {
          let text = "";
          answer.setEncoding("utf8").on("data", (/** @type {string} */ chunk) => (text += chunk));
          answer.on("end", () => (text.includes("three") ? resolve() : reject(new Error(text.slice(0, 300)))));
        },
      );
      sent.on("error", reject);
      sent.end(body);
    });
  const close = async () => {
    agent.destroy();
    child.kill("SIGKILL");
  };
  return { pid: child.pid, page, call, close };
}

/** Some calls, so many at once, until all are made. @param {number} count @param {number} atOnce @param {(at: number) => Promise<void>} call */
async function calls(count, atOnce, call) {
  let next = 0;
  const lane = async () => {
    while (next < count) await call(next++);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, lane));
}

/** What the server used for each of some calls: its processor time, and its memory at the end above that at the start. @param {{ readonly pid: number | undefined }} server @param {number} count @param {() => Promise<void>} work @param {number} fromMb */
async function used({ pid }, count, work, fromMb) {
  const before = cpuMsOf(pid) ?? 0;
  await work();
  const cpuMs = ((cpuMsOf(pid) ?? 0) - before) / count;
  return { cpuMs, peakMb: Math.max(0, peakMb(pid) - fromMb), pauseMs: Number.NaN };
}

/** @param {number | undefined} pid */
const peakMb = (pid) =>
  (Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024) / 1e6;

const callsOfRound = 600;
const warmUpCalls = 1_500;
const serverNote =
  "Processor time of the server for one call; memory is its peak above that after 1,500 calls. Pauses of the server are not in this row.";

/** @param {Place} place @param {number} [sockets] */
async function warmServer({ folder }, sockets) {
  const server = await startServer(folder, sockets);
  await calls(warmUpCalls, 16, () => server.call("first"));
  return { server, fromMb: peakMb(server.pid) };
}

export const servers = [
  row({
    name: "http-parallel",
    title: "a small Read over HTTP, by parallel callers",
    unit: "callers",
    sizes: [1, 8, 64, 256, 512],
    quick: [1, 8, 32, 64, 128],
    grows: "constant",
    note: serverNote,
    prepare: async (size, place) => {
      const { server, fromMb } = await warmServer(place, size);
      return {
        calls: "once",
        measure: () => used(server, callsOfRound, () => calls(callsOfRound, size, () => server.call("first")), fromMb),
        close: server.close,
      };
    },
  }),
  row({
    name: "http-sessions",
    title: "a small Read over HTTP, in turn by so many conversations",
    unit: "conversations",
    sizes: [1, 10, 100, 1_000, 10_000],
    quick: [1, 10, 50, 100, 200],
    grows: "linear",
    note: `${serverNote} The server keeps the last 256 conversations in memory; one that returns begins anew, from what the state folder has of it.`,
    prepare: async (size, place) => {
      const { server, fromMb } = await warmServer(place);
      let next = 0;
      const call = () => server.call(`conversation-${next++ % size}`);
      await calls(size, 16, call);
      return {
        calls: "once",
        measure: () => used(server, callsOfRound, () => calls(callsOfRound, 8, call), fromMb),
        close: server.close,
      };
    },
  }),
  row({
    name: "http-calls",
    title: "a small Read over HTTP, after so many calls",
    unit: "calls",
    sizes: [1_000, 3_000, 10_000, 30_000, 100_000],
    quick: [100, 300, 1_000, 2_000, 4_000],
    grows: "constant",
    note: `${serverNote} A million calls would take longer than all other rows together.`,
    prepare: async (size, place) => {
      const { server, fromMb } = await warmServer(place);
      await calls(size, 16, () => server.call("first"));
      return {
        calls: "once",
        measure: () => used(server, callsOfRound, () => calls(callsOfRound, 8, () => server.call("first")), fromMb),
        close: server.close,
      };
    },
  }),
  row({
    name: "inspector",
    title: "the inspector's page, from its address to the list of calls",
    unit: "calls",
    sizes: [100, 1_000, 10_000, 30_000, 100_000],
    quick: [10, 100, 300, 1_000, 3_000],
    grows: "linear",
    note: "Work of the page's main thread, and its JavaScript heap. The list keeps the last 10,000 calls; a million calls would take longer than all other rows together.",
    prepare: async (size, { folder }) => {
      const executablePath = chromiumPath();
      if (executablePath === undefined) throw new Error("there is no chromium");
      const server = await startServer(folder);
      await calls(size, 16, () => server.call("first"));
      const browser = await chromium.launch({ executablePath, args: [...chromiumArguments] });
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
      // The key is good for one login.
      await (await open(context, server.page)).close();
      const [address = ""] = server.page.split("#");
      return {
        calls: "once",
        measure: async () => {
          const page = await open(context, address);
          const metrics = await page.context().newCDPSession(page);
          await metrics.send("Performance.enable");
          await page.reload();
          await seen(page);
          const { metrics: found } = await metrics.send("Performance.getMetrics");
          const value = (/** @type {string} */ name) => found.find((one) => one.name === name)?.value ?? 0;
          await page.close();
          return { cpuMs: value("TaskDuration") * 1_000, peakMb: value("JSHeapUsedSize") / 1e6, pauseMs: Number.NaN };
        },
        close: async () => {
          await browser.close();
          await server.close();
        },
      };
    },
  }),
];

/** @param {import("playwright-core").BrowserContext} context @param {string} address */
async function open(context, address) {
  const page = await context.newPage();
  await page.goto(address);
  await seen(page);
  return page;
}

/** @param {import("playwright-core").Page} page */
const seen = (page) => page.locator(".call").first().waitFor({ timeout: 120_000 });

const fakeServer = fileURLToPath(new URL("../../../test/lsp/fake-server.js", import.meta.url));

/** @param {string} folder */
const openWithServer = (folder) =>
  openSession(folder, {
    languageServers: {
      waitMsMax: 60_000,
      servers: { fake: { command: [process.execPath, fakeServer, "{}"], extensions: { ".fake": "fake" } } },
    },
  });

export const languages = [
  row({
    name: "diagnostics",
    title: "Edit of a file for which a language server reports errors",
    unit: "errors",
    sizes: [1, 10, 100, 1_000, 10_000],
    quick: [1, 10, 100, 300, 1_000],
    grows: "linear",
    note: "Of one file 2,000 diagnostics are kept, and 20 shown.",
    prepare: async (size, { folder }) => {
      const path = join(folder, "a.fake");
      writeFileSync(path, `state 1\n${Array.from({ length: size }, (_, at) => `error:E${at}\n`).join("")}`);
      const session = await openWithServer(folder);
      let state = 1;
      return {
        measure: async () => {
          const input = { file_path: path, old_string: `state ${state}\n`, new_string: `state ${state + 1}\n` };
          state += 1;
          mustSucceed(await session.call("Edit", input));
        },
      };
    },
  }),
  row({
    name: "open-files",
    title: "Edit of a file while a language server has others open",
    unit: "files",
    sizes: [1, 10, 50, 200, 500],
    quick: [1, 5, 20, 50, 100],
    grows: "constant",
    note: "A server has 50 files open at most; the one that was used longest ago is closed.",
    prepare: async (size, { folder }) => {
      const session = await openWithServer(folder);
      for (let at = 0; at < size; at += 1) {
        writeFileSync(join(folder, `${at}.fake`), "state 1\nfine\n");
        mustSucceed(
          await session.call("Edit", { file_path: `${at}.fake`, old_string: "state 1\n", new_string: "state 2\n" }),
        );
      }
      let state = 2;
      return {
        measure: async () => {
          const input = {
            file_path: `${size - 1}.fake`,
            old_string: `state ${state}\n`,
            new_string: `state ${state + 1}\n`,
          };
          state += 1;
          mustSucceed(await session.call("Edit", input));
        },
      };
    },
  }),
];
