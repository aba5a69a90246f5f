/** Narrow and wide, light and dark: nothing sticks out, and colours follow the system or the switch. */

import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import type { ReplayResult } from "../../src/contract/replay.ts";
import { commandLine, project, run } from "../ends/run.ts";
import { browserForAll, browserTest } from "./chromium.ts";
import { openPage, rows, startInspector } from "./inspector.ts";

const browser = browserForAll();
const long = `${"very-long-folder-name/".repeat(6)}${"long-file-name-".repeat(6)}.ts`;

/** How far the page is wider than the window. */
const tooWide = (page: Page): Promise<number> =>
  page.evaluate(() => Math.max(0, document.documentElement.scrollWidth - innerWidth));

browserTest("nothing sticks out of a window of 360 pixels, in any view", async () => {
  const inspector = await startInspector({ [long]: `${"x".repeat(300)} one\n` });
  const page = await openPage(browser(), inspector, { viewport: { width: 360, height: 740 } });
  const client = await inspector.client();
  await client.callTool({ name: "Read", arguments: { file_path: long } });
  const call = client.callTool({ name: "Edit", arguments: { file_path: long, old_string: "one", new_string: "two" } });
  await rows(page).first().waitFor();
  const wide: Record<string, number> = { timeline: await tooWide(page) };
  await rows(page).first().click();
  await page.locator(".code").waitFor();
  wide["call"] = await tooWide(page);
  const go = (view: string) => page.getByRole("navigation").getByRole("link", { name: view }).click();
  await go("Approvals");
  await page.locator(".diff-unified").waitFor();
  wide["approvals"] = await tooWide(page);
  await page.getByRole("button", { name: "Allow once" }).click();
  await call;
  await go("Log");
  await page.getByRole("region", { name: "Calls of the past, newest first" }).getByText("Edit").first().waitFor();
  wide["log"] = await tooWide(page);
  await go("History");
  await page.locator(".turn-file").click();
  await page.locator(".diff-unified").waitFor();
  wide["history"] = await tooWide(page);
  await go("Usage");
  await page.getByRole("heading", { name: "By tool", exact: true }).waitFor();
  wide["usage"] = await tooWide(page);
  await go("Files");
  await page.getByRole("treeitem", { name: /very-long/ }).waitFor();
  await page.getByRole("tree").focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: /^Read / }).waitFor();
  wide["files"] = await tooWide(page);
  expect(wide).toEqual({ timeline: 0, call: 0, approvals: 0, log: 0, history: 0, usage: 0, files: 0 });
});

const ground = (page: Page): Promise<number> =>
  page.evaluate(() => {
    const channels = getComputedStyle(document.body).backgroundColor.match(/\d+/g) ?? [];
    return channels.slice(0, 3).reduce((sum, channel) => sum + Number(channel), 0) / 3;
  });

browserTest("colours follow the system, and the switch where somebody has chosen", async () => {
  const inspector = await startInspector({ "a.txt": "one\n" });
  const page = await openPage(browser(), inspector, { colorScheme: "dark" });
  await expect.poll(() => ground(page)).toBeLessThan(60);
  await page.emulateMedia({ colorScheme: "light" });
  await expect.poll(() => ground(page)).toBeGreaterThan(200);
  await page.getByLabel("Theme").selectOption("dark");
  await expect.poll(() => ground(page)).toBeLessThan(60);
  await page.reload();
  await page.getByText("Live", { exact: true }).waitFor();
  await expect.poll(() => ground(page)).toBeLessThan(60);
});

browserTest("the usage page has plots, and the same numbers in tables", async () => {
  const inspector = await startInspector({ "a.txt": "one\n" });
  const page = await openPage(browser(), inspector);
  const client = await inspector.client();
  // A repeated read is answered with a stub only in a conversation that the client names.
  const named = { _meta: { "io.github.filehand/session": "figures" } };
  const read = (file_path: string) => client.callTool({ name: "Read", arguments: { file_path }, ...named });
  await read("a.txt");
  await read("a.txt");
  await read("b.txt");
  await client.callTool({
    ...named,
    name: "Edit",
    arguments: { file_path: "a.txt", old_string: "nine", new_string: "ten" },
  });
  await page.getByRole("navigation").getByRole("link", { name: "Usage" }).click();
  for (const name of ["Tokens by tool", "Tokens by file", "Tokens saved by repeated reads", "Failed edits by reason"]) {
    const figure = page.getByRole("region", { name, exact: true });
    await figure.locator(".plot path").first().waitFor();
    const plot = figure.getByRole("slider");
    expect(await plot.getAttribute("aria-valuetext")).toMatch(/^In all \d/);
    // The last part of the time has the last call in it, or is after it.
    await plot.focus();
    await page.keyboard.press("End");
    await expect.poll(() => plot.getAttribute("aria-valuetext")).toMatch(/^\d\d:\d\d:\d\d to \d\d:\d\d:\d\d: /);
    await page.keyboard.press("Escape");
    await expect.poll(() => plot.getAttribute("aria-valuetext")).toMatch(/^In all/);
    await figure.getByText("As a table").click();
    await figure
      .getByRole("region", { name: `${name}, as a table` })
      .getByRole("row")
      .nth(1)
      .waitFor();
  }
  const reasons = page.getByRole("region", { name: "Failed edits by reason", exact: true });
  expect(await reasons.getByRole("slider").getAttribute("aria-valuetext")).toBe("In all 1 failure: NO_MATCH 1");
  const times = page.getByRole("img", { name: /^How long calls took\. Read half within .* 99 % within .*; Edit half/ });
  // A line and three marks for each of the two tools.
  expect([await times.locator(".plot-span").count(), await times.locator("path").count()]).toEqual([2, 6]);
  await page.getByRole("row", { name: /^Read 3 1/ }).waitFor();
  await page.getByRole("row", { name: /^Edit NO_MATCH/ }).waitFor();
  await page.getByRole("row", { name: /NOT_FOUND/ }).waitFor();
});

browserTest("the tree marks what was read and what is denied, and says why", async () => {
  const files = { "src/a.ts": "1\n", "secrets/key.txt": "x\n", ".env": "A=1\n" };
  const inspector = await startInspector(files, ["--deny", "Read(/secrets/**)"]);
  const client = await inspector.client();
  await client.callTool({ name: "Read", arguments: { file_path: "src/a.ts" } });
  const page = await openPage(browser(), inspector, { view: "files" });
  await page.getByRole("treeitem", { name: /src.*1 read/ }).waitFor();
  await page.getByRole("treeitem", { name: /\.env.*asks/ }).waitFor();
  await page.getByRole("treeitem", { name: /secrets/ }).click();
  await page.getByRole("treeitem", { name: /key\.txt.*denied/ }).click();
  await page.getByRole("heading", { name: "Read denied" }).waitFor();
  await page.getByText("Read(/secrets/**)").first().waitFor();
});

browserTest("the page of a replay shows its tokens, edits by line and refusals", async () => {
  const corpus = join(project, "bench/replay/corpus/claude-code.jsonl");
  const { stdout } = await run(process.execPath, [commandLine, "replay", corpus, "--json"], { cwd: project });
  const { lineEdits, scores } = JSON.parse(stdout) as ReplayResult;
  const inspector = await startInspector({ "r.json": stdout }, ["--no-open", "--replay", "r.json"], {}, "inspect");
  const page = await openPage(browser(), inspector);
  await page.getByRole("navigation").getByRole("link", { name: "Replay" }).click();
  const tile = page.locator(".tiles > *").filter({ hasText: "Edits by line" });
  await tile.waitFor();
  expect(await tile.textContent()).toContain(`for ${lineEdits.calls} edit`);
  for (const { tool } of scores[0]?.tools ?? []) {
    const table = page.locator("section.figure").filter({ hasText: "Tokens by tool, Filehand" });
    expect(await table.getByText(tool, { exact: true }).count()).toBeGreaterThan(0);
  }
  await page.getByRole("heading", { name: "Tokens of reads by format" }).waitFor();
});
