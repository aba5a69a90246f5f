/** Nobody reads what the command line prints any more: a command ends in peace, a server works on. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { enter, send, serveInspected } from "../inspector/inspected.ts";
import { serve } from "../mcp/http-server.ts";
import { commandLine, environment, run, temporaryFolder } from "./run.ts";

const workspace = temporaryFolder();
afterAll(() => workspace.remove());
writeFileSync(join(workspace.path, "a.txt"), "one\n");

/** Until the child could have noticed; a log that fails is told on a later turn. */
const isWell = async (port: number): Promise<void> => {
  for (let times = 0; times < 3; times += 1) {
    expect(await send(port, "/nope")).toMatchObject({ status: 404 });
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};

test("a server keeps working if its log is not read", async () => {
  const served = await serve(workspace.path, ["--no-inspector"]);
  served.child.stderr?.destroy();
  await isWell(served.port);
  expect(served.child.exitCode).toBeNull();
  served.child.kill("SIGTERM");
  expect(await served.ended).toBe(0);
});

test("a server keeps working if the inspector's addresses are not read", async () => {
  const served = await serveInspected(workspace.path);
  const key = await served.key();
  served.child.stdout?.destroy();
  await enter({ port: served.port, key: async () => key });
  await isWell(served.port);
  expect(served.child.exitCode).toBeNull();
  served.child.kill("SIGTERM");
  expect(await served.ended).toBe(0);
});

test("an MCP server over stdio answers if its log is not read", async () => {
  const child: ChildProcess = spawn(process.execPath, [commandLine, "mcp"], {
    cwd: workspace.path,
    env: environment(),
    stdio: ["pipe", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  child.stderr?.destroy();
  let out = "";
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => (out += chunk));
  const say = (message: object): void => void child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const answered = async (id: number): Promise<void> => {
    while (!out.includes(`"id":${id}`)) {
      if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const clientInfo = { name: "test", version: "1" };
  say({ id: 1, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo } });
  await answered(1);
  say({ method: "notifications/initialized" });
  const call = { method: "tools/call", params: { name: "Read", arguments: { file_path: "a.txt" } } };
  for (const id of [2, 3]) {
    say({ id: 100 + id, result: {} }); // an answer that nobody asked for goes into the log
    say({ id, ...call });
    await answered(id);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  say({ id: 4, ...call });
  await answered(4);
  const closed = once(child, "exit");
  child.stdin?.end();
  expect(await closed).toEqual([0, null]);
});

test.skipIf(!existsSync("/dev/full"))("where no space is left for the answer, one sentence says so", async () => {
  const script = `"${process.execPath}" "${commandLine}" read a.txt > /dev/full`;
  expect(await run("bash", ["-c", script], { cwd: workspace.path })).toEqual({
    code: 1,
    stdout: "",
    stderr: "filehand: Cannot print the answer: no space is left where it goes, send stdout elsewhere\n",
  });
});

test("a refusal that cannot be printed still sets the exit code", async () => {
  // Wrong usage ends with 2; a process that breaks at its own words would end with 1.
  const script = `"${process.execPath}" "${commandLine}" read 2> >(exec 0<&-); echo "$?"`;
  expect(await run("bash", ["-c", script], { cwd: workspace.path })).toMatchObject({ stdout: "2\n", stderr: "" });
});
