/** The past on the page: turns and files, versions compared, a rewind planned, made, and taken back. */

import type { Page } from "playwright-core";
import { expect } from "vitest";
import { browserForAll, browserTest } from "./chromium.ts";
import { type Inspector, openPage, startInspector } from "./inspector.ts";

const browser = browserForAll();

/** Two changes of one file and a new one. */
async function changed(): Promise<Inspector> {
  const inspector = await startInspector({ "a.txt": "one\n", "b.txt": "same\n" }, ["--allow", "Edit"]);
  const client = await inspector.client();
  await client.callTool({ name: "Read", arguments: { file_path: "a.txt" } });
  const edit = (old_string: string, new_string: string) =>
    client.callTool({ name: "Edit", arguments: { file_path: "a.txt", old_string, new_string } });
  await edit("one", "two");
  await edit("two", "three");
  await client.callTool({ name: "Write", arguments: { file_path: "new.txt", content: "fresh\n" } });
  return inspector;
}

browserTest("a rewind is planned first, then made, and can be taken back", async () => {
  const inspector = await changed();
  const page = await openPage(browser(), inspector, { view: "history", viewport: { width: 1500, height: 800 } });
  await page
    .getByRole("button", { name: /a\.txt/ })
    .first()
    .click();
  await page.locator(".diff-new", { hasText: "three" }).first().waitFor();
  await page.getByRole("button", { name: "Rewind to before…" }).last().click();
  const pane = page.getByRole("region", { name: "Rewind" });
  await pane.getByText("Nothing has been done yet").waitFor();
  expect(inspector.read("a.txt")).toBe("three\n");
  const held = await hold(page, "**/history/rewind");
  await pane.getByRole("button", { name: /^Change \d+ file/ }).click();
  await pane.getByRole("progressbar", { name: "Rewind" }).waitFor();
  expect(await pane.getByRole("button", { name: "At work…" }).isDisabled()).toBe(true);
  held.letGo();
  await pane.getByText("Redo takes it back").waitFor();
  expect(inspector.read("a.txt")).toBe("one\n");
  await page.getByRole("button", { name: "Redo…" }).click();
  await pane.getByText("Nothing has been done yet").waitFor();
  await pane.getByRole("button", { name: /^Change \d+ file/ }).click();
  await pane.getByText("brought back").waitFor();
  expect(inspector.read("a.txt")).toBe("three\n");
  await page.getByRole("button", { name: "Undo…" }).click();
  await pane.getByText("Nothing has been done yet").waitFor();
  await pane.getByRole("button", { name: /^Change \d+ file/ }).click();
  await pane.getByText("brought back").waitFor();
  // One turn is taken back, and not all that the rewind was about.
  expect([inspector.has("new.txt"), inspector.read("a.txt")]).toEqual([false, "three\n"]);
});

/** Keeps requests on their way until they are let go, so that what is shown meanwhile can be looked at. */
async function hold(page: Page, address: string) {
  let letGo = (): void => undefined;
  const gone = new Promise<void>((resolve) => (letGo = resolve));
  await page.route(address, async (route) => {
    await gone;
    await route.continue();
  });
  return { letGo: () => letGo() };
}

browserTest("what somebody else changed is a conflict, left alone unless one insists", async () => {
  const inspector = await changed();
  inspector.write("a.txt", "by hand\n");
  const page = await openPage(browser(), inspector, { view: "history" });
  expect(await page.getByLabel("Session").innerText()).toMatch(/^filehand-test · \S+ · \d turns · /);
  await page.getByRole("button", { name: "Rewind to before…" }).last().click();
  const pane = page.getByRole("region", { name: "Rewind" });
  const conflict = pane.getByRole("listitem").filter({ hasText: "a.txt" });
  await conflict.getByText("conflict", { exact: true }).waitFor();
  await conflict.getByText("somebody else changed it since").waitFor();
  await conflict.getByRole("button", { name: "Diff" }).click();
  await conflict.locator(".diff-old", { hasText: "by hand" }).first().waitFor();
  await pane.getByRole("button", { name: /^Change 1 file/ }).click();
  await pane.getByText("1 left as they are").waitFor();
  expect(inspector.read("a.txt")).toBe("by hand\n");
});

browserTest("any two versions are compared", async () => {
  const inspector = await changed();
  const page = await openPage(browser(), inspector, { view: "history", viewport: { width: 1500, height: 800 } });
  await page
    .getByRole("button", { name: /a\.txt/ })
    .first()
    .click();
  await page.getByRole("button", { name: "Compare versions" }).click();
  const from = page.getByLabel("From");
  await from.waitFor();
  await page.locator(".diff-old", { hasText: "one" }).first().waitFor();
  await page.locator(".diff-new", { hasText: "three" }).first().waitFor();
  await from.selectOption({ index: 1 });
  await page.locator(".diff-old", { hasText: "two" }).first().waitFor();
});

browserTest("turns beyond the first pages can be reached", async () => {
  const inspector = await startInspector({}, ["--allow", "Edit"], { history: { snapshotsMax: 500 } });
  const client = await inspector.client();
  const turns = 210;
  for (let turn = 1; turn <= turns; turn += 1) {
    const input = { file_path: `${turn}.txt`, content: `${turn}\n` };
    await client.callTool({ name: "Write", arguments: input });
  }
  const page = await openPage(browser(), inspector, { view: "history" });
  const list = page.getByRole("list", { name: "Turns, newest first" });
  await list.getByRole("button", { name: /\b210\.txt/ }).waitFor();
  expect(await list.locator(".turn").count()).toBe(50);
  await list.getByRole("button", { name: "Older turns (160 more)" }).click();
  await list.getByRole("button", { name: /\b1\.txt/ }).waitFor();
  expect(await list.locator(".turn").count()).toBe(turns);
  expect(await list.getByRole("button", { name: /Older turns/ }).count()).toBe(0);
});
