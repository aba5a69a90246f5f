/** Looking back on the page: calls from before it was open, calls that wait, and a person who is called to answer. */

import { expect } from "vitest";
import { commandLine, run } from "../ends/run.ts";
import { connect } from "../mcp/server.ts";
import { browserForAll, browserTest } from "./chromium.ts";
import { openPage, startInspector } from "./inspector.ts";

const browser = browserForAll();
const files = { "src/port.ts": "export const port = 80;\n", "notes.md": "# Notes\n" };
const call = (name: string, input: object) => ({ name, arguments: { ...input } });

browserTest("calls from before the page was there, by program and by file", async () => {
  const inspector = await startInspector(files);
  const { client } = await connect({
    era: "modern",
    cwd: inspector.root,
    name: "claude-code",
    env: inspector.env,
    args: ["--yes"],
  });
  await client.callTool(call("Read", { file_path: "src/port.ts" }));
  await client.callTool(call("Edit", { file_path: "src/port.ts", old_string: "80", new_string: "8080" }));
  await client.callTool(call("Read", { file_path: "missing.md" }));
  await client.close();
  await run(process.execPath, [commandLine, "read", "notes.md"], { cwd: inspector.root, env: inspector.env });
  const page = await openPage(browser(), inspector, { view: "^log$" });
  const table = page.getByRole("region", { name: "Calls of the past, newest first" });
  await table.getByRole("row", { name: /Read .*missing\.md.* NOT_FOUND/ }).waitFor();
  const said = (await table.innerText()).replaceAll(/\s+/g, " ");
  expect(said).toMatch(/command line, since .* read notes\.md .* Claude Code, since .* missing\.md .*port\.ts/);
  await table.getByRole("row", { name: /Edit .*port\.ts.*1 line added, 1 removed.* ok/ }).waitFor();
  // Who touched this file?
  await table
    .getByRole("row", { name: /Edit/ })
    .getByRole("button", { name: /port\.ts/ })
    .click();
  await expect.poll(() => table.getByRole("row").filter({ hasText: "notes.md" }).count()).toBe(0);
  expect(await page.getByRole("searchbox", { name: "Path contains" }).inputValue()).toBe("src/port.ts");
  await page.getByText("2 calls shown").waitFor();
  expect(await table.getByRole("row").filter({ hasText: "port.ts" }).count()).toBe(2);
  await page.getByRole("button", { name: "Clear" }).click();
  await page.getByRole("checkbox", { name: "Errors only" }).check();
  await page.getByText("1 call shown").waitFor();
  await page.getByRole("searchbox", { name: "Program contains" }).fill("nobody");
  await page.getByText("No call matches").waitFor();
});

browserTest(
  "a call that waits is in the timeline, the title says so, and a person who looks elsewhere is notified",
  async () => {
    const inspector = await startInspector(files);
    const page = await openPage(browser(), inspector, { permissions: ["notifications"] });
    // Headless browsers show no notifications: what the page asks for is recorded instead.
    await page.evaluate(() => {
      const made: { title: string; closed: boolean }[] = [];
      class Recorded extends EventTarget {
        static readonly permission = "granted";
        static readonly requestPermission = () => Promise.resolve("granted");
        readonly #at = made.length;
        constructor(title: string) {
          super();
          made.push({ title, closed: false });
        }
        close(): void {
          const one = made[this.#at];
          if (one !== undefined) one.closed = true;
        }
      }
      Object.assign(globalThis, { Notification: Recorded, made });
      document.hasFocus = () => false;
    });
    const made = () => page.evaluate(() => (globalThis as unknown as { made: unknown }).made);
    const client = await inspector.client();
    await client.callTool(call("Read", { file_path: "src/port.ts" }));
    const edit = (to: string, from: string) =>
      client.callTool(call("Edit", { file_path: "src/port.ts", old_string: from, new_string: to }));
    const first = edit("8080", "80");
    const waiting = page.getByRole("list", { name: "Calls that wait for an answer" });
    await waiting.getByText("waiting").waitFor();
    expect((await waiting.innerText()).replaceAll(/\s+/g, " ")).toMatch(/Edit src\/ ?port\.ts waiting/);
    await expect.poll(() => page.title()).toBe("(1) May Edit change src/port.ts? · Filehand");
    // The person has not asked for notifications.
    expect(await made()).toEqual([]);
    await waiting.getByRole("link", { name: "Answer" }).click();
    await page.getByRole("checkbox", { name: /^Notify me/ }).check();
    await page.getByRole("button", { name: "Allow once" }).click();
    await first;
    await expect.poll(() => page.title()).toBe("Filehand");
    const second = edit("9090", "8080");
    await expect.poll(made).toEqual([{ title: "May Edit change src/port.ts?", closed: false }]);
    await page.getByRole("button", { name: "Allow once" }).click();
    await second;
    await expect.poll(made).toEqual([{ title: "May Edit change src/port.ts?", closed: true }]);
    await page.getByRole("navigation").getByRole("link", { name: "Timeline" }).click();
    expect(await waiting.count()).toBe(0);
  },
);
