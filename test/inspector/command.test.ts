/** `filehand inspect` and `filehand serve`: what they print, and what they serve. */

import * as fs from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { Hello } from "../../src/surfaces/inspector/wire.ts";
import { commandLine, project, run, temporaryFolder } from "../ends/run.ts";
import { ask, serve } from "../mcp/http-server.ts";
import { enter, send, serveInspected } from "./inspected.ts";

const workspace = temporaryFolder();
afterAll(() => workspace.remove());
fs.writeFileSync(join(workspace.path, "a.txt"), "one\n");

test("inspect prints one address on stdout, serves the page and the tools, and ends when told to", async () => {
  const served = await serveInspected(workspace.path, [], "inspect");
  expect(served.stdout()).toBe(`The inspector: http://127.0.0.1:${served.port}/#key=${await served.key()}\n`);
  const page = await send(served.port, "/");
  expect([page.status, page.headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
  expect(page.text).toContain("<!doctype html>");
  expect((await ask(served, { method: "GET", path: "/metrics" })).status).toBe(200);
  served.child.kill("SIGTERM");
  expect(await served.ended).toBe(0);
});

test("the page that is served is the one that was built", async () => {
  const built = join(project, "dist", "web", "index.html");
  const { port } = await serveInspected(workspace.path);
  const { text } = await send(port, "/");
  if (fs.existsSync(built)) expect(text).toBe(fs.readFileSync(built, "utf8"));
  else expect(text).toContain("npm run build");
});

test("a browser that comes back after its server was started again is told to look at the terminal", async () => {
  const first = await serveInspected(workspace.path);
  const browser = await enter(first);
  expect((await browser.ask<Hello>("/api/hello")).workspaces).toHaveLength(1);
  const second = await serveInspected(workspace.path);
  const again = await send<{ error: { message: string } }>(second.port, "/api/hello", { headers: browser.headers });
  expect([again.status, again.json.error.message]).toEqual([401, expect.stringContaining("terminal")]);
});

test("without the inspector there is no page, and nothing on stdout", async () => {
  const served = await serve(workspace.path, ["--no-inspector"]);
  for (const path of ["/", "/api/hello", "/index.html"]) {
    expect((await ask(served, { method: "GET", path })).status, path).toBe(404);
  }
  const same = ["serve", "--port", "0", ".", "--workspace", "filehand=."];
  expect((await run(process.execPath, [commandLine, ...same], { cwd: workspace.path })).stderr).toContain(
    "the same name",
  );
  expect(await run(process.execPath, [commandLine, "serve", "--port", "99999"], { cwd: workspace.path })).toMatchObject(
    {
      code: 2,
      stdout: "",
    },
  );
});
