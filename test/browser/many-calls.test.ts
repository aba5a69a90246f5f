/** Ten thousand calls while somebody looks: only what is in sight is in the page, and the page goes on answering. */

import { expect } from "vitest";
import { browserForAll, browserTest } from "./chromium.ts";
import { openPage, rows, startInspector } from "./inspector.ts";

const browser = browserForAll();
const total = 10_000;
const clients = 8;

browserTest("ten thousand calls do not stall the page", async () => {
  const inspector = await startInspector({ "a.txt": "one\n", "b.txt": "two\n" });
  const page = await openPage(browser(), inspector);
  await page.evaluate(() => {
    // Counted in the page, at every change of it.
    const counts = { rowsMax: 0, longTasks: 0 };
    Object.assign(globalThis, { counts });
    new MutationObserver(() => {
      counts.rowsMax = Math.max(counts.rowsMax, document.querySelectorAll(".call").length);
    }).observe(document.body, { childList: true, subtree: true });
    new PerformanceObserver((list) => (counts.longTasks += list.getEntries().length)).observe({ type: "longtask" });
  });
  const workers = Array.from({ length: clients }, async (_, worker) => {
    const client = await inspector.client();
    for (let call = 0; call < total / clients; call += 1) {
      const file_path = worker === 0 && call === 0 ? "b.txt" : "a.txt";
      await client.callTool({ name: "Read", arguments: { file_path, limit: 1 } });
    }
  });
  await rows(page).first().waitFor();
  // In the middle of it all: a click is answered, and what was opened stays.
  await rows(page).first().click();
  const pane = page.getByRole("region", { name: /^Call \d+$/ });
  await pane.getByRole("region", { name: "The reply, as the model got it" }).waitFor();
  await Promise.all(workers);
  await page.getByText(`${total.toLocaleString("en")} kept`).waitFor();
  await page.keyboard.press("Escape");
  const list = page.getByRole("grid");
  await list.focus();
  await page.keyboard.press("End");
  await rows(page).filter({ hasText: "b.txt" }).waitFor();
  expect(await list.getAttribute("aria-rowcount")).toBe(String(total + 1));
  await page.keyboard.press("Home");
  const counts = await page.evaluate(
    () => (globalThis as unknown as { counts: { rowsMax: number; longTasks: number } }).counts, // made above
  );
  process.stdout.write(`many calls: at most ${counts.rowsMax} rows in the page, ${counts.longTasks} long tasks\n`);
  expect(counts.rowsMax).toBeGreaterThan(10);
  expect(counts.rowsMax).toBeLessThan(120);
});
