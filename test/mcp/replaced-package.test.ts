/** A package that is replaced under a running server, as an update does it: what is loaded works on, what is not says so. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { environment, project, temporaryFolder } from "../ends/run.ts";
import { initialize } from "./server.ts";

/** Says on stderr which parts of the package are loaded, as they are. */
const watchParts = `
  const { Module } = require("node:module");
  const load = Module._extensions[".cjs"] ?? Module._extensions[".js"];
  Module._extensions[".cjs"] = (module, name) => {
    load(module, name);
    require("node:fs").writeSync(2, "loaded " + name + "\\n");
  };`;

async function start(prepare: (dist: string) => void = () => undefined) {
  const folder = temporaryFolder();
  const dist = join(folder.path, "dist");
  cpSync(join(project, "dist"), dist, { recursive: true });
  symlinkSync(join(project, "node_modules"), join(folder.path, "node_modules"));
  prepare(dist);
  writeFileSync(join(folder.path, "watch.cjs"), watchParts);
  const workspace = join(folder.path, "workspace");
  cpSync(join(project, "examples"), workspace, { recursive: true });
  writeFileSync(join(workspace, "a.txt"), "hello\n");
  const args = ["--require", join(folder.path, "watch.cjs"), join(dist, "filehand.cjs"), "mcp", workspace];
  const child = spawn(
    process.execPath,
    [...args, "--yes", "--history-tools", "--state-dir", join(folder.path, "state")],
    {
      env: environment(),
    },
  );
  const ended = once(child, "close").then(([code]) => code as number | null);
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
    folder.remove();
  });
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (log += text));
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let id = 0;
  const ask = async (
    method: string,
    params: object,
  ): Promise<{ result: { isError?: boolean; content: [{ text: string }] } }> => {
    id += 1;
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    return JSON.parse(String((await answers.next()).value));
  };
  const call = async (name: string, input: object) => (await ask("tools/call", { name, arguments: input })).result;
  await ask("initialize", initialize);
  child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
  return { dist, workspace, call, ended, log: () => log, child };
}

/** What only commands for people, the bridge to a remote workspace and a shared state use; the last four are the MCP client of `filehand replay --server`. */
const commandsOnly =
  /^(?:bridge|folder-state|postgres|client-file|insert-text|findings|checkup|inspector|parse|replay|dist-|src-|stdio-|webapi-)/;

test("every part that a call may need is loaded soon after the start, so a package that is gone is not missed", async () => {
  const server = await start();
  const parts = readdirSync(join(server.dist, "cli")).filter((name) => !commandsOnly.test(name));
  expect(parts.length).toBeGreaterThan(10);
  const missing = (): readonly string[] =>
    parts.filter((name) => !server.log().includes(join(server.dist, "cli", name)));
  await expect.poll(missing, { timeout: 60_000 }).toEqual([]);
  renameSync(server.dist, `${server.dist}.old`);
  for (const [name, input] of [
    ["Read", { file_path: "a.txt" }],
    ["Edit", { file_path: "a.txt", old_string: "hello", new_string: "HELLO" }],
    ["Write", { file_path: "b.txt", content: "x\n" }],
    ["Grep", { pattern: "hello", "-i": true }],
    ["Glob", { pattern: "*.txt" }],
    ["LS", { path: "." }],
    ["History", {}],
    ["Rewind", { turn: "start" }],
  ] as const) {
    const { isError = false, content } = await server.call(name, input);
    expect([name, isError, content[0].text], content[0].text).toEqual([name, false, expect.any(String)]);
  }
  expect(readFileSync(join(server.workspace, "a.txt"), "utf8")).toBe("hello\n");
  server.child.stdin.end();
  expect(await server.ended).toBe(0);
});

test("a call that needs a part that is gone says that the server must be restarted, and the server ends", async () => {
  const server = await start((dist) => {
    for (const name of readdirSync(join(dist, "cli"))) if (name.startsWith("grep-")) rmSync(join(dist, "cli", name));
  });
  const { isError, content } = await server.call("Grep", { pattern: "hello" });
  expect([isError, content[0].text]).toEqual([
    true,
    "Cannot call Grep: Filehand was updated or removed while this server was running and a part of it cannot be loaded, nothing was done and the server ends now, restart it",
  ]);
  expect(await server.ended).toBe(1);
  expect(server.log()).toContain("a part of Filehand cannot be loaded, restart it");
});
