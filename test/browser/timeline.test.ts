/** The timeline: calls appear as they end, can be narrowed down, and show the exact reply. */

import { createServer, connect as connectSocket, type AddressInfo, type Socket } from "node:net";
import { once } from "node:events";
import { expect, onTestFinished } from "vitest";
import { connectHttp } from "../mcp/http-server.ts";
import { textOf } from "../mcp/server.ts";
import { codeCell, notebook4, onePixelPng, stream } from "../samples/notebooks.ts";
import { scannedPdf } from "../samples/pdfs.ts";
import { browserForAll, browserTest } from "./chromium.ts";
import { openPage, rows, startInspector } from "./inspector.ts";
import { pngOf } from "./pictures.ts";

const browser = browserForAll();

const files = {
  "src/index.ts": 'export const port = 80;\nconsole.log("hello");\n',
  "notes.md": "# Notes\n",
  "logo.png": pngOf(40, 20, [200, 30, 30]),
};

browserTest("a call appears as soon as it is over, with the exact reply", async () => {
  const inspector = await startInspector(files);
  const page = await openPage(browser(), inspector);
  await page.getByText("No calls yet").waitFor();
  const client = await inspector.client();
  const reply = await client.callTool({ name: "Read", arguments: { file_path: "src/index.ts" } });
  const row = rows(page).filter({ hasText: "src/index.ts" });
  await row.waitFor();
  expect(await row.innerText()).toMatch(/Read[\s\S]*index\.ts[\s\S]*lines 1–\d+[\s\S]*ok[\s\S]*filehand-test/);
  await row.click();
  const pane = page.getByRole("region", { name: /^Call \d+$/ });
  const shown = pane.getByRole("region", { name: "The reply, as the model got it" });
  await shown.waitFor();
  const lines = await shown.locator(".code-line").allInnerTexts();
  expect(lines.map((line) => line.replace(/\n$/, "")).join("\n")).toBe(textOf(reply));
  await pane.getByRole("radio", { name: "Arguments" }).click();
  await pane.getByText('"src/index.ts"').waitFor();
});

browserTest("a picture is shown as a picture", async () => {
  const inspector = await startInspector(files);
  const page = await openPage(browser(), inspector);
  const client = await inspector.client();
  await client.callTool({ name: "Read", arguments: { file_path: "logo.png" } });
  await rows(page).filter({ hasText: "logo.png" }).click();
  await page.getByText("40 × 20 pixels").waitFor();
});

browserTest("a notebook and a PDF are shown as the model got them: texts and pictures, in their order", async () => {
  const plot = { output_type: "display_data", data: { "image/png": onePixelPng }, metadata: {} };
  const notebook = notebook4([codeCell("print('hello from a cell')", [stream("said so\n"), plot])]);
  const inspector = await startInspector({ "model.ipynb": notebook, "scan.pdf": scannedPdf(1) });
  const page = await openPage(browser(), inspector);
  const client = await inspector.client();
  await client.callTool({ name: "Read", arguments: { file_path: "model.ipynb" } });
  const scan = await client.callTool({ name: "Read", arguments: { file_path: "scan.pdf", pages: "1" } });
  await rows(page).filter({ hasText: "model.ipynb" }).click();
  await page.getByText("hello from a cell").first().waitFor();
  await page.getByText("1 × 1 pixels").waitFor();
  await rows(page).filter({ hasText: "scan.pdf" }).click();
  const parts = page.locator(".part");
  const kinds = () => parts.evaluateAll((list) => list.map((part) => (part.querySelector("img") ? "image" : "text")));
  const given = (scan.content as readonly { type: string }[]).map(({ type }) => type); // MCP's own parts
  await expect.poll(kinds).toEqual(given);
});

browserTest("filters narrow down what is there and what comes", async () => {
  const inspector = await startInspector(files);
  const page = await openPage(browser(), inspector);
  const client = await inspector.client();
  const read = (file_path: string) => client.callTool({ name: "Read", arguments: { file_path } });
  await read("src/index.ts");
  await read("missing.ts");
  await rows(page).nth(1).waitFor();
  await page.getByLabel("Errors only").check();
  await expect.poll(() => rows(page).count()).toBe(1);
  await read("notes.md");
  await read("gone.md");
  await rows(page).filter({ hasText: "gone.md" }).waitFor();
  expect(await rows(page).filter({ hasText: "notes.md" }).count()).toBe(0);
  await page.getByRole("button", { name: "Clear" }).click();
  await rows(page).nth(3).waitFor();
  await page.getByLabel("Path contains").fill("NOTES");
  await expect.poll(() => rows(page).count()).toBe(1);
  await page.getByLabel("Path contains").fill("");
  await page.getByLabel("Tool").selectOption("Grep");
  await page.getByText("No call matches").waitFor();
});

browserTest("of several workspaces one is looked at, and its calls alone", async () => {
  const inspector = await startInspector({ "web/a.txt": "one\n", "api/b.txt": "two\n" }, [
    "--workspace",
    "web=web",
    "--workspace",
    "api=api",
  ]);
  const page = await openPage(browser(), inspector);
  for (const [path, file_path] of [
    ["/w/web/mcp", "a.txt"],
    ["/w/api/mcp", "b.txt"],
  ] as const) {
    const client = await connectHttp(inspector, "modern", { path });
    await client.callTool({ name: "Read", arguments: { file_path } });
  }
  await rows(page).filter({ hasText: "a.txt" }).waitFor();
  await page.getByLabel("Workspace").selectOption({ label: "api (api)" });
  await rows(page).filter({ hasText: "b.txt" }).waitFor();
  expect(await rows(page).count()).toBe(1);
});

browserTest("the key leaves the address, works once, and a reload stays in", async () => {
  const inspector = await startInspector(files);
  const address = await inspector.address();
  const page = await openPage(browser(), { address: () => Promise.resolve(address) }, { expected: /401/ });
  expect(page.url()).not.toContain("key");
  expect(await page.evaluate(() => history.length)).toBeLessThanOrEqual(2);
  await page.reload();
  await page.getByText("Live", { exact: true }).waitFor();
  const other = await (await browser().newContext()).newPage();
  await other.goto(address);
  await other.getByRole("heading", { name: "This browser is not let in" }).waitFor();
  // The terminal has a new one by now.
  await other.goto(await inspector.address());
  await other.getByText("Live", { exact: true }).waitFor();
  await other.context().close();
});

browserTest("after a break the stream goes on where it was", async () => {
  const inspector = await startInspector(files);
  const cable = await cableTo(inspector.port);
  const page = await openPage(
    browser(),
    { address: async () => (await inspector.address()).replace(`:${inspector.port}/`, `:${cable.port}/`) },
    { expected: /ERR_|Failed to load/ },
  );
  const client = await inspector.client();
  await client.callTool({ name: "Read", arguments: { file_path: "notes.md" } });
  await rows(page).first().waitFor();
  cable.cut();
  await page.getByText("Reconnecting…").waitFor();
  await client.callTool({ name: "Read", arguments: { file_path: "src/index.ts" } });
  cable.mend();
  await rows(page).filter({ hasText: "index.ts" }).waitFor();
  await page.getByText("Live", { exact: true }).waitFor();
  expect(await rows(page).count()).toBe(2);
});

/** A line between the page and the server that can be cut. */
async function cableTo(port: number) {
  let whole = true;
  const open = new Set<Socket>();
  const server = createServer((near) => {
    if (!whole) return void near.destroy();
    const far = connectSocket(port, "127.0.0.1");
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(one);
      one.on("error", () => undefined);
      one.on("close", () => {
        open.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return {
    port: (server.address() as AddressInfo).port, // it listens on a port, not on a pipe
    cut() {
      whole = false;
      for (const socket of open) socket.destroy();
    },
    mend() {
      whole = true;
    },
  };
}
