/** Diffs of calls: side by side and unified, words marked, pictures before and after, long ones as fast as short ones. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect } from "vitest";
import { commandLine } from "../ends/run.ts";
import { browserForAll, browserTest } from "./chromium.ts";
import { type Inspector, openPage, rows, startInspector } from "./inspector.ts";
import { pngOf } from "./pictures.ts";

const browser = browserForAll();
const allowed = ["--allow", "Edit"];

browserTest("an edit is shown side by side and unified, with its words marked and its code coloured", async () => {
  const inspector = await startInspector({ "src/port.ts": "// server\nexport const port = 80;\n" }, allowed);
  const page = await openPage(browser(), inspector, { viewport: { width: 1500, height: 800 } });
  const client = await inspector.client();
  await client.callTool({ name: "Read", arguments: { file_path: "src/port.ts" } });
  const change = { file_path: "src/port.ts", old_string: "port = 80", new_string: "port = 8080" };
  await client.callTool({ name: "Edit", arguments: change });
  await rows(page).filter({ hasText: "Edit" }).click();
  await page.locator(".diff-split").waitFor();
  expect(await page.locator(".diff-old mark").allInnerTexts()).toEqual(["80"]);
  expect(await page.locator(".diff-new mark").allInnerTexts()).toEqual(["8080"]);
  expect(await page.locator(".diff-split .token-keyword").allInnerTexts()).toContain("export");
  await page.getByRole("radio", { name: "Unified" }).click();
  await page.locator(".diff-unified").waitFor();
  expect(await page.locator(".diff-unified .diff-row").allInnerTexts()).toHaveLength(4);
  // The choice is remembered.
  await page.reload();
  await page.locator(".diff-unified").waitFor();
});

browserTest("ten thousand lines are in the page only where they are in sight", async () => {
  const lines = Array.from({ length: 10_000 }, (_, index) => `export const value${index} = ${index};`);
  const inspector = await startInspector({}, allowed);
  const page = await openPage(browser(), inspector, { viewport: { width: 1500, height: 800 } });
  const client = await inspector.client();
  const write = (content: string) => client.callTool({ name: "Write", arguments: { file_path: "big.ts", content } });
  await write(`${lines.join("\n")}\n`);
  await write(`${lines.map((line, index) => (index % 2 === 0 ? line : line.replace("const", "let"))).join("\n")}\n`);
  await rows(page).nth(1).waitFor();
  await rows(page).first().click();
  const scroller = page.locator(".diff-scroller");
  await scroller.waitFor();
  // All pages of the diff are there once nothing is said to come.
  await expect.poll(() => page.getByText("lines to come").count()).toBe(0);
  await scroller.focus();
  await page.keyboard.press("End");
  await page.locator(".diff-side-new .diff-row", { hasText: "value9999" }).waitFor();
  const inPage = await page.locator(".diff-row").count();
  expect(inPage).toBeGreaterThan(20);
  expect(inPage).toBeLessThan(200);
});

browserTest("a picture that was replaced is shown before and after", async () => {
  const inspector = await startInspector({ "logo.png": pngOf(30, 10, [255, 0, 0]) });
  await observed(inspector, () => inspector.write("logo.png", pngOf(50, 20, [0, 0, 255])));
  const page = await openPage(browser(), inspector, { view: "history" });
  await page.getByRole("button", { name: /logo\.png/ }).click();
  await page.getByText(/^Before · PNG .* 30 × 10 pixels$/).waitFor();
  await page.getByText(/^After · PNG .* 50 × 20 pixels$/).waitFor();
});

/** A session beside the server's, during which somebody else changes files; what that was is kept. */
async function observed({ root, env }: Inspector, change: () => void): Promise<void> {
  const args = [commandLine, "batch", "--observe", "--session", "agent"];
  const child = spawn(process.execPath, args, { cwd: root, env: { ...env }, stdio: ["pipe", "pipe", "inherit"] });
  const closed = once(child, "close");
  child.stdin.write(`${JSON.stringify({ id: 1, tool: "LS", input: { path: root } })}\n`);
  await once(child.stdout, "data");
  change();
  child.stdin.end();
  expect(await closed).toEqual([0, null]);
}
