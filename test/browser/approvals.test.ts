/** Questions: a client waits while a person answers on the page. */

import { join } from "node:path";
import { expect } from "vitest";
import { createInspector } from "../../src/surfaces/inspector/index.ts";
import { commandLine, project, run } from "../ends/run.ts";
import { connectHttp } from "../mcp/http-server.ts";
import { startInProcess } from "../mcp/in-process.ts";
import { textOf } from "../mcp/server.ts";
import { browserForAll, browserTest } from "./chromium.ts";
import { type Inspector, openPage, startInspector } from "./inspector.ts";

const browser = browserForAll();
const files = { "src/port.ts": "export const port = 80;\n", "README.md": "# Shop\n" };

/** A client that has read the file and now wants to change it; the call waits. */
async function wanting(inspector: Inspector, file_path = "src/port.ts", old_string = "80", new_string = "8080") {
  const client = await inspector.client();
  await client.callTool({ name: "Read", arguments: { file_path } });
  const call = client.callTool({ name: "Edit", arguments: { file_path, old_string, new_string } });
  return { client, call };
}

browserTest("a change waits for the page, is shown with its diff, and is made after a yes", async () => {
  const inspector = await startInspector(files);
  const page = await openPage(browser(), inspector);
  const { call } = await wanting(inspector);
  // Wherever one is, it is said: in the head, in the title and aloud.
  await page.getByRole("link", { name: /Approvals.*1 open question/ }).waitFor();
  await expect.poll(() => page.title()).toBe("(1) May Edit change src/port.ts? · Filehand");
  await expect.poll(() => page.locator("[data-announcer]").innerText()).toContain("New question");
  await page.getByRole("link", { name: /Approvals/ }).click();
  const question = page.getByRole("article");
  await question.getByText("wants to change").waitFor();
  await question.locator(".diff-new mark", { hasText: "8080" }).waitFor();
  await question.getByText(/\d:\d\d left/).waitFor();
  expect(inspector.read("src/port.ts")).toContain("= 80;");
  await question.getByRole("button", { name: "Allow once" }).click();
  expect((await call).isError).toBeUndefined();
  expect(inspector.read("src/port.ts")).toContain("= 8080;");
  await page.getByText("Nobody waits for an answer").waitFor();
  await page.getByRole("row", { name: /port\.ts.*allowed once/ }).waitFor();
});

browserTest("two of three hunks are accepted: the file, the answer and the history agree", async () => {
  const before = Array.from({ length: 40 }, (_, at) => `line ${at + 1}\n`).join("");
  const inspector = await startInspector({ "a.txt": before });
  const page = await openPage(browser(), inspector, { view: "approvals" });
  const client = await inspector.client();
  await client.callTool({ name: "Read", arguments: { file_path: "a.txt" } });
  const sent = before
    .replace("line 2\n", "two\nand more\n")
    .replace("line 20\n", "twenty\n")
    .replace("line 39\n", "thirty-nine\n");
  const call = client.callTool({ name: "Write", arguments: { file_path: "a.txt", content: sent } });
  const question = page.getByRole("article");
  await question.getByRole("button", { name: "Choose hunks…" }).click();
  await expect.poll(() => question.getByRole("checkbox").count()).toBe(3);
  // Nothing is chosen yet, so there is nothing to allow.
  expect(await question.getByRole("button", { name: "Allow 0 of 3 hunks" }).isDisabled()).toBe(true);
  await question.locator(".hunk", { hasText: "and more" }).getByRole("checkbox").check();
  await question.getByRole("checkbox", { name: /Hunk 3 of 3, lines 36 to 40/ }).focus();
  await page.keyboard.press("Space");
  expect(inspector.read("a.txt")).toBe(before);
  await question.getByRole("button", { name: "Allow 2 of 3 hunks" }).click();
  const reply = await call;
  expect(reply.isError).toBeUndefined();
  const after = before.replace("line 2\n", "two\nand more\n").replace("line 39\n", "thirty-nine\n");
  expect(inspector.read("a.txt")).toBe(after);
  expect(textOf(reply)).toContain('Wrote "a.txt" in part (2 of 3 hunks, +3 -2).');
  expect(textOf(reply)).toContain("Accepted: lines 2 to 3 and line 40. Refused: line 21, which is as before.");
  await page.getByRole("row", { name: /a\.txt.*allowed in part \(2 hunks\)/ }).waitFor();
  // The next edit of the model is right without another Read.
  const next = { file_path: "a.txt", old_string: "line 20", new_string: "20" };
  const edit = client.callTool({ name: "Edit", arguments: next });
  await question.getByRole("button", { name: "Allow once" }).click();
  expect((await edit).isError).toBeUndefined();
  expect(inspector.read("a.txt")).toBe(after.replace("line 20", "20"));
  // The history has what was written, and both turns undone give the old bytes.
  const filehand = (...args: readonly string[]) =>
    run(process.execPath, [commandLine, ...args], { cwd: inspector.root, env: inspector.env });
  const { turns } = JSON.parse((await filehand("history", "--json")).stdout) as {
    readonly turns: readonly (Readonly<Record<"insertions" | "deletions", number>> & { readonly session: string })[];
  };
  expect(turns.map(({ insertions, deletions }) => [insertions, deletions])).toEqual([
    [1, 1],
    [3, 2],
  ]);
  for (const { session } of turns) {
    expect((await filehand("undo", "--yes", "--session", session)).code).toBe(0);
  }
  expect(inspector.read("a.txt")).toBe(before);
});

browserTest("a no takes what shall be done instead to the model", async () => {
  const inspector = await startInspector(files);
  const page = await openPage(browser(), inspector, { view: "approvals" });
  const { call } = await wanting(inspector);
  await page.getByRole("button", { name: "Reject…" }).click();
  await page.getByLabel(/What shall it do instead/).fill("Use the port 3000 instead");
  await page.getByRole("button", { name: "Reject", exact: true }).click();
  const reply = await call;
  expect(reply.isError).toBe(true);
  expect(textOf(reply)).toContain("Use the port 3000 instead");
  expect(inspector.read("src/port.ts")).toContain("= 80;");
});

browserTest("always is by one of the rules that are offered, the narrowest first", async () => {
  const inspector = await startInspector(files);
  const page = await openPage(browser(), inspector, { view: "approvals" });
  const { client, call } = await wanting(inspector);
  await page.getByRole("button", { name: "Always allow…" }).click();
  const rules = page.getByRole("radio", { name: /Edit\(/ });
  expect(await rules.first().isChecked()).toBe(true);
  await page.getByRole("button", { name: "Always allow", exact: true }).click();
  expect((await call).isError).toBeUndefined();
  const again = { file_path: "src/port.ts", old_string: "8080", new_string: "9090" };
  expect((await client.callTool({ name: "Edit", arguments: again })).isError).toBeUndefined();
  expect(inspector.read("src/port.ts")).toContain("= 9090;");
});

browserTest("what a file is for is said before a yes", async () => {
  const inspector = await startInspector({ "package.json": "{}\n" });
  const page = await openPage(browser(), inspector, { view: "approvals" });
  const { call } = await wanting(inspector, "package.json", "{}", '{ "scripts": {} }');
  await page.getByText("This file names commands that are run").waitFor();
  await page.getByRole("button", { name: "Allow once" }).click();
  expect((await call).isError).toBeUndefined();
});

browserTest("two people cannot answer the same question twice", async () => {
  const inspector = await startInspector(files);
  const one = await openPage(browser(), inspector, { view: "approvals" });
  const other = await openPage(browser(), inspector, { view: "approvals" });
  const { call } = await wanting(inspector);
  await one.getByRole("button", { name: "Allow once" }).waitFor();
  await other.getByRole("button", { name: "Allow once" }).click();
  expect((await call).isError).toBeUndefined();
  await one.getByRole("main").getByText("allowed once in another browser").waitFor();
  await one.getByText("Nobody waits for an answer").waitFor();
});

browserTest("a question that nobody answers in time is said to be so, and the call is refused", async () => {
  const limits = { waitMsMax: 1_000 };
  const folder = join(project, "dist", "web");
  const inspector = createInspector({ version: "0", folder, log: () => undefined, limits });
  const { port } = await startInProcess({ inspector });
  const address = async (): Promise<string> => `http://127.0.0.1:${port}/#key=${inspector.newKey()}`;
  const page = await openPage(browser(), { address }, { view: "approvals" });
  const client = await connectHttp({ port, token: "" }, "modern");
  await client.callTool({ name: "Read", arguments: { file_path: "a.txt" } });
  const change = { file_path: "a.txt", old_string: "one", new_string: "two" };
  expect((await client.callTool({ name: "Edit", arguments: change })).isError).toBe(true);
  await page.getByRole("row", { name: /Edit a\.txt not answered time ran out/ }).waitFor();
  await page.getByText("Nobody waits for an answer").waitFor();
});

browserTest("a client that gives up takes its question along", async () => {
  const inspector = await startInspector(files);
  const page = await openPage(browser(), inspector, { view: "approvals" });
  const client = await inspector.client();
  await client.callTool({ name: "Read", arguments: { file_path: "README.md" } });
  const stopping = new AbortController();
  const change = { file_path: "README.md", old_string: "Shop", new_string: "Store" };
  const call = client.callTool({ name: "Edit", arguments: change }, { signal: stopping.signal }).catch(() => "stopped");
  await page.getByRole("button", { name: "Allow once" }).waitFor();
  stopping.abort();
  expect(await call).toBe("stopped");
  await page.getByText("Nobody waits for an answer").waitFor();
  expect(inspector.read("README.md")).toBe("# Shop\n");
});
