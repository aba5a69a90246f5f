/** The whole page by keyboard alone, and what tools for accessibility find. */

import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { browserForAll, browserTest } from "./chromium.ts";
import { openPage, rows, startInspector } from "./inspector.ts";

const browser = browserForAll();
const files = { "src/port.ts": "export const port = 80;\n", ".env": "KEY=1\n", "README.md": "# Shop\n" };
/** Every colour of the page, on a line that stays, one that goes and one that comes. */
const colourful = 'export const a = f("text", 12, true); // note\n';

/** What has the focus, as a screen reader would call it. */
const focused = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const element = document.activeElement;
    return (element?.getAttribute("aria-label") ?? element?.textContent ?? "").trim();
  });

async function tabTo(page: Page, name: RegExp, key = "Tab"): Promise<void> {
  for (let presses = 0; presses < 60; presses += 1) {
    await page.keyboard.press(key);
    if (name.test(await focused(page))) return;
  }
  throw new Error(`no ${name} within 60 presses of ${key}`);
}

browserTest("everything can be reached and done with keys", async () => {
  const inspector = await startInspector(files);
  const page = await openPage(browser(), inspector);
  const client = await inspector.client();
  await client.callTool({ name: "Read", arguments: { file_path: "README.md" } });
  await client.callTool({ name: "Read", arguments: { file_path: "src/port.ts" } });
  await rows(page).nth(1).waitFor();

  // The first stop leads past the head.
  await page.keyboard.press("Tab");
  expect(await focused(page)).toBe("Skip to content");
  await page.keyboard.press("Enter");
  expect(await page.evaluate(() => document.activeElement?.id)).toBe("main");

  // The list: arrows move, Enter opens, Escape closes.
  await tabTo(page, /^Calls, newest first$/);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  const pane = page.getByRole("region", { name: /^Call \d+$/ });
  await pane.getByRole("heading", { name: /README\.md/ }).waitFor();
  await tabTo(page, /^Reply$/);
  await page.keyboard.press("ArrowRight");
  await pane.getByRole("region", { name: /^Arguments/ }).waitFor();
  await page.keyboard.press("Escape");
  await expect.poll(() => pane.count()).toBe(0);
  await expect.poll(() => focused(page)).toBe("Calls, newest first");

  // A question: by keys to the page, by keys to the answer.
  const change = { file_path: "src/port.ts", old_string: "80", new_string: "81" };
  const call = client.callTool({ name: "Edit", arguments: change });
  await page.getByRole("link", { name: /1 open question/ }).waitFor();
  await tabTo(page, /^Approvals/, "Shift+Tab");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Allow once" }).waitFor();
  await tabTo(page, /^Reject…$/);
  await page.keyboard.press("Enter");
  await page.keyboard.type("Not now");
  await tabTo(page, /^Back$/);
  await page.keyboard.press("Enter");
  await tabTo(page, /^Allow once$/, "Tab");
  await page.keyboard.press("Enter");
  expect((await call).isError).toBeUndefined();

  // The tree: right opens, down moves, Enter asks why.
  await tabTo(page, /^Files$/, "Shift+Tab");
  await page.keyboard.press("Enter");
  await page.getByRole("treeitem", { name: /README/ }).waitFor();
  await tabTo(page, /^Files of the workspace$/);
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: /^Read / }).waitFor();
});

interface AxeResult {
  readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[];
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe has to say, one line per element. */
async function complaints(page: Page): Promise<readonly string[]> {
  await page.evaluate(axeSource);
  const { violations } = await page.evaluate(
    () => (globalThis as unknown as { axe: { run(): Promise<AxeResult> } }).axe.run(), // put there by the line above
  );
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
}

for (const colorScheme of ["light", "dark"] as const) {
  browserTest(`axe finds nothing in any view, ${colorScheme}`, async () => {
    const content = colourful.repeat(3);
    const inspector = await startInspector({ ...files, "src/port.ts": content }, ["--allow", "Edit(/src/**)"]);
    const page = await openPage(browser(), inspector, { colorScheme });
    const client = await inspector.client();
    await client.callTool({ name: "Read", arguments: { file_path: "src/port.ts" } });
    const changed = `${colourful}${colourful.replace("f(", "g(")}export let b = h("x", 1, null); // other\n`;
    await client.callTool({ name: "Write", arguments: { file_path: "src/port.ts", content: changed } });
    await client.callTool({ name: "Read", arguments: { file_path: "missing" } });
    const asked = client.callTool({ name: "Write", arguments: { file_path: "new.txt", content: "a\n" } });
    const found: Record<string, readonly string[]> = {};
    await rows(page).nth(2).waitFor();
    await rows(page).filter({ hasText: "Write" }).click();
    await page.locator(".diff").waitFor();
    found["timeline"] = await complaints(page);
    const go = (view: string) => page.getByRole("navigation").getByRole("link", { name: view }).click();
    await go("Approvals");
    await page.locator(".question .diff").waitFor();
    found["approvals"] = await complaints(page);
    await page.getByRole("button", { name: "Always allow…" }).click();
    found["always"] = await complaints(page);
    await page.getByRole("button", { name: "Always allow", exact: true }).click();
    await asked;
    await go("Log");
    await page.getByRole("region", { name: "Calls of the past, newest first" }).getByText("missing").waitFor();
    found["log"] = await complaints(page);
    await go("History");
    await page
      .getByRole("button", { name: /port\.ts/ })
      .first()
      .click();
    await page.locator(".diff").waitFor();
    found["history"] = await complaints(page);
    await page.getByRole("button", { name: "Rewind to before…" }).first().click();
    await page.getByText("Nothing has been done yet").waitFor();
    found["rewind"] = await complaints(page);
    await go("Usage");
    await page.getByRole("heading", { name: "By tool", exact: true }).waitFor();
    found["usage"] = await complaints(page);
    await go("Files");
    await page.getByRole("treeitem", { name: /README/ }).click();
    await page.getByRole("heading", { name: /^Change / }).waitFor();
    found["files"] = await complaints(page);
    expect(Object.fromEntries(Object.entries(found).filter(([, list]) => list.length > 0))).toEqual({});
  });
}
