/** Ten thousand calls while somebody looks: only what is in sight is in the page, and the page goes on answering. */

import { Agent, request } from "node:http";
import { expect, onTestFinished } from "vitest";
import { modernMeta } from "../mcp/server.ts";
import { browserForAll, browserTest } from "./chromium.ts";
import { type Inspector, openPage, rows, startInspector } from "./inspector.ts";

const browser = browserForAll();
const total = 10_000;
const atOnce = 8;

browserTest(
  "ten thousand calls do not stall the page",
  async () => {
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
    const read = readerOf(inspector);
    await read("b.txt");
    const workers = Array.from({ length: atOnce }, async (_, worker) => {
      for (let call = worker + 1; call < total; call += atOnce) await read("a.txt");
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
    // A page that fell behind asks for the list again, and gets it part by part.
    const oldest = async (): Promise<number> => {
      await page.keyboard.press("End");
      return rows(page).filter({ hasText: "b.txt" }).count();
    };
    await expect.poll(oldest, { timeout: 120_000 }).toBe(1);
    expect(await list.getAttribute("aria-rowcount")).toBe(String(total + 1));
    await page.keyboard.press("Home");
    const counts = await page.evaluate(
      () => (globalThis as unknown as { counts: { rowsMax: number; longTasks: number } }).counts, // made above
    );
    process.stdout.write(`many calls: at most ${counts.rowsMax} rows in the page, ${counts.longTasks} long tasks\n`);
    expect(counts.rowsMax).toBeGreaterThan(10);
    expect(counts.rowsMax).toBeLessThan(120);
  },
  600_000,
);

/** Calls without a client, which would take longer than the server does. */
function readerOf({ port, token }: Inspector): (file_path: string) => Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce });
  onTestFinished(() => agent.destroy());
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": "Read",
  };
  let id = 0;
  return (file_path) => {
    const params = { name: "Read", arguments: { file_path, limit: 1 }, _meta: modernMeta() };
    const body = JSON.stringify({ jsonrpc: "2.0", id: (id += 1), method: "tools/call", params });
    return new Promise((resolve, reject) => {
      const sent = request({ agent, host: "127.0.0.1", port, path: "/mcp", method: "POST", headers }, (answer) => {
        answer.resume();
        answer.on("end", () => (answer.statusCode === 200 ? resolve() : reject(new Error(`${answer.statusCode}`))));
        answer.on("error", reject);
      });
      sent.on("error", reject);
      sent.end(body);
    });
  };
}
