/** Leaving: the browser is forgotten, in all its tabs, and what it had is of no more use. */

import { expect } from "vitest";
import { browserForAll, browserTest } from "./chromium.ts";
import { openPage, rows, startInspector } from "./inspector.ts";

const browser = browserForAll();
const out = "This browser is not let in";

browserTest("who leaves is out at once, in every tab, and comes back only by a new address", async () => {
  const inspector = await startInspector({ "a.txt": "one\n" });
  const client = await inspector.client();
  await client.callTool({ name: "Read", arguments: { file_path: "a.txt" } });
  // The browser says of each request that was refused that it was.
  const page = await openPage(browser(), inspector, { expected: /401/ });
  await rows(page).first().waitFor();
  const other = await page.context().newPage();
  await other.goto(page.url());
  await rows(other).first().waitFor();
  const before = { cookies: await page.context().cookies(), key: await storedKey() };
  expect([before.cookies.length, before.key === null]).toEqual([1, false]);

  await page.getByRole("button", { name: "Leave" }).click();
  await page.getByRole("heading", { name: "You have left" }).waitFor();
  expect(await page.getByRole("navigation").count()).toBe(0);
  expect(await rows(page).count()).toBe(0);
  expect([await page.context().cookies(), await storedKey()]).toEqual([[], null]);
  await other.getByRole("heading", { name: out }).waitFor();
  await page.reload();
  await page.getByRole("heading", { name: out }).waitFor();

  // Not even with what it had: the server has forgotten it.
  await page.context().addCookies(before.cookies);
  await page.evaluate((key) => localStorage.setItem("filehand-page", key ?? ""), before.key);
  await page.reload();
  await page.getByRole("heading", { name: out }).waitFor();

  await page.goto("about:blank");
  await page.goto(await inspector.address());
  await rows(page).first().waitFor();

  function storedKey(): Promise<string | null> {
    return page.evaluate(() => localStorage.getItem("filehand-page"));
  }
});
