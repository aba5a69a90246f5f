/** Agents that start `filehand mcp` themselves, next to an open page: their calls, their questions, and who is watched. */

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, onTestFinished } from "vitest";
import { commandLine } from "../ends/run.ts";
import { browserForAll, browserTest } from "./chromium.ts";
import { type Inspector, openPage, rows, startInspector } from "./inspector.ts";

const browser = browserForAll();

/** As a coding agent does it. */
async function agentBeside({ root, env }: Inspector): Promise<Client> {
  const client = new Client({ name: "agent", version: "1" });
  onTestFinished(() => client.close());
  const program = { command: process.execPath, args: [commandLine, "mcp"], cwd: root, env: { ...env } };
  await client.connect(new StdioClientTransport(program));
  return client;
}

browserTest("calls of another process are seen, and its questions are answered", async () => {
  const inspector = await startInspector({ "a.txt": "one\n" });
  const page = await openPage(browser(), inspector);
  await page.getByText("it finds this page by itself").waitFor();
  await page.getByText("Watching this server; agents that run").waitFor();
  const agent = await agentBeside(inspector);
  await page.getByText(/^Watching this server and 1 other process: mcp \d+$/).waitFor();
  await agent.callTool({ name: "Read", arguments: { file_path: "a.txt" } });
  await rows(page).filter({ hasText: "a.txt" }).click();
  const pane = page.getByRole("region", { name: /^Call \d+$/ });
  await pane.getByText(/^1\s+one/).waitFor();
  await pane.getByText(/^mcp \d+$/).waitFor();

  const change = { file_path: "a.txt", old_string: "one", new_string: "two" };
  const changed = agent.callTool({ name: "Edit", arguments: change });
  await page
    .getByRole("navigation")
    .getByRole("link", { name: /Approvals.*1 open question/ })
    .click();
  await page.locator(".question .diff-new", { hasText: "two" }).first().waitFor();
  await page.getByRole("button", { name: "Allow once" }).click();
  expect((await changed).isError).toBeUndefined();
  expect(inspector.read("a.txt")).toBe("two\n");

  await agent.close();
  await page.getByRole("navigation").getByRole("link", { name: "Timeline" }).click();
  await page.getByText("Watching this server; agents that run").waitFor();
});

browserTest("where others cannot find the server, the page says that only its own calls are seen", async () => {
  const inspector = await startInspector({ "a.txt": "one\n" }, ["--state-dir", "/dev/null/nowhere"]);
  const page = await openPage(browser(), inspector);
  await page.getByText("Watching this server only").waitFor();
  expect(await page.getByText("it finds this page by itself").count()).toBe(0);
});
