/**
 * Ten thousand calls while somebody looks: only what is in sight is in the page, each time it is drawn little of it changes, and the
 * page goes on answering. How fast the machine is and what else it does must not count: work is counted in rows and in
 * times of drawing, and the longest stop is compared with the time that the same page takes for work of a known size.
 */

import { Agent, request } from "node:http";
import { expect, onTestFinished } from "vitest";
import { modernMeta } from "../mcp/server.ts";
import { browserForAll, browserTest } from "./chromium.ts";
import { type Inspector, openPage, rows, startInspector } from "./inspector.ts";

type Counts = Readonly<Record<"startedMs" | "rowsMax" | "changesMax" | "drawn" | "longTasks" | "longestMs", number>>;

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
      const counts = { startedMs: performance.now(), rowsMax: 0, changesMax: 0, drawn: 0, longTasks: 0, longestMs: 0 };
      Object.assign(globalThis, { counts });
      new MutationObserver((changes) => {
        counts.rowsMax = Math.max(counts.rowsMax, document.querySelectorAll(".call").length);
        const rowsChanged = changes.reduce((sum, { addedNodes, removedNodes }) => {
          const isRow = (node: Node): boolean => node instanceof Element && node.classList.contains("call");
          return sum + [...addedNodes, ...removedNodes].filter(isRow).length;
        }, 0);
        counts.changesMax = Math.max(counts.changesMax, rowsChanged);
        if (rowsChanged > 0) counts.drawn += 1;
      }).observe(document.body, { childList: true, subtree: true });
      new PerformanceObserver((list) => {
        for (const { duration } of list.getEntries()) {
          counts.longTasks += 1;
          counts.longestMs = Math.max(counts.longestMs, duration);
        }
      }).observe({ type: "longtask" });
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
    const counts = await page.evaluate(() => {
      const { counts: found } = globalThis as unknown as { counts: Counts }; // made above
      return { ...found, nowMs: performance.now() };
    });
    const unitMs = await page.evaluate(drawingAll, total);
    process.stdout.write(
      `many calls: at most ${counts.rowsMax} rows in the page and ${counts.changesMax} changed at once, drawn ${counts.drawn} times; ${counts.longTasks} long tasks, the longest ${Math.round(counts.longestMs)} ms; all rows at once ${Math.round(unitMs)} ms\n`,
    );
    expect(counts.rowsMax).toBeGreaterThan(10);
    expect(counts.rowsMax).toBeLessThan(120);
    // Each time the rows in sight go and others come, at the most; a few times may be looked at together.
    expect(counts.changesMax).toBeLessThan(total / 10);
    // Calls that come together are drawn together, ten times a second at most; the keys above draw as well.
    expect(counts.drawn).toBeGreaterThan(2);
    expect(counts.drawn).toBeLessThan(100 + (counts.nowMs - counts.startedMs) / 50);
    // No stop comes near to what a list without limits costs on this very machine, or is one that nobody minds.
    expect(counts.longestMs).toBeLessThan(Math.max(500, unitMs));
  },
  600_000,
);

/** How long the browser takes to make, lay out and draw as many rows as there are calls. */
async function drawingAll(rowsTotal: number): Promise<number> {
  const started = performance.now();
  const place = document.createElement("div");
  for (let row = 0; row < rowsTotal; row += 1) {
    const made = document.createElement("div");
    made.className = "call";
    for (let cell = 0; cell < 8; cell += 1) {
      const part = document.createElement("span");
      part.textContent = `cell ${cell} of ${row}`;
      made.append(part);
    }
    place.append(made);
  }
  document.body.append(place);
  place.getBoundingClientRect();
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  const tookMs = performance.now() - started;
  place.remove();
  return tookMs;
}

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
