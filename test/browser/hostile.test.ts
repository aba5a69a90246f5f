/** Names and contents of files are text, whatever they would like to be. */

import { expect } from "vitest";
import { browserForAll, browserTest } from "./chromium.ts";
import { openPage, rows, startInspector } from "./inspector.ts";

const browser = browserForAll();

const image = '<img src=x onerror="document.title=`owned`">.txt';
const link = "javascript:alert(1)";
const turned = "invoice\u202egpj.ts";
const nasty = [
  "</script><script>document.title='owned'</script>",
  '<img src="https://example.invalid/x.png" onerror=alert(1)>',
  "[click](javascript:alert(1)) \x1b[31mred\x1b[0m \x1b]8;;https://example.invalid\x07link\x1b]8;;\x07",
  "if (level\u202e\u2066 // admin\u2069) {",
  "pass\u200bword {{constructor.constructor('alert(1)')()}} ${alert(1)}",
  "",
].join("\n");

browserTest("nothing of it runs, and what would hide is shown", async () => {
  const files = {
    [image]: nasty,
    [link]: "x\n",
    [turned]: "x\n",
    "page.svg": `<svg onload="alert(1)"><script>alert(1)</script></svg>\n`,
  };
  const inspector = await startInspector(files, ["--allow", "Edit"]);
  const page = await openPage(browser(), inspector, { viewport: { width: 1500, height: 800 } });
  const client = await inspector.client();
  for (const file_path of Object.keys(files)) await client.callTool({ name: "Read", arguments: { file_path } });
  const change = { file_path: image, old_string: "admin", new_string: "<b onmouseover=alert(1)>admin</b>" };
  await client.callTool({ name: "Edit", arguments: change });
  await client.callTool({ name: "Grep", arguments: { pattern: "<script>", path: ".", output_mode: "content" } });
  await client.callTool({ name: `<svg onload=alert(1)>`, arguments: {} }).catch(() => undefined);

  // In the timeline: names as they are, hidden characters named.
  await rows(page).filter({ hasText: "Edit" }).waitFor();
  await rows(page).filter({ hasText: "[U+202E]" }).first().waitFor();
  // The exact reply.
  await rows(page).filter({ hasText: "Read" }).filter({ hasText: "onerror" }).click();
  const reply = page.getByRole("region", { name: "The reply, as the model got it" });
  await reply.getByText("</script><script>").waitFor();
  await reply.getByText("[ESC]").first().waitFor();
  await reply.getByText("[U+200B]").first().waitFor();
  // The diff.
  await rows(page).filter({ hasText: "Edit" }).click();
  await page.locator(".diff-new").filter({ hasText: "onmouseover" }).first().hover();
  await page.locator(".diff").getByText("[U+202E]").first().waitFor();
  // Everywhere else.
  for (const view of ["Files", "Usage", "History", "Approvals"]) {
    await page.getByRole("navigation").getByRole("link", { name: view }).click();
    await page.locator(`.view-${view.toLowerCase()}`).waitFor();
  }
  await page.getByRole("navigation").getByRole("link", { name: "Files" }).click();
  await page.getByRole("treeitem", { name: /onerror/ }).click();
  await page.getByRole("heading", { name: "Read allowed" }).waitFor();

  expect(await page.title()).toBe("Filehand");
  expect(await page.locator('a[href^="javascript"], main img, main svg, main script, main b').count()).toBe(0);
});

browserTest("a question about a hostile file shows what it is", async () => {
  const inspector = await startInspector({ [turned]: "safe\n" });
  const page = await openPage(browser(), inspector, { view: "approvals" });
  const client = await inspector.client();
  await client.callTool({ name: "Read", arguments: { file_path: turned } });
  const change = { file_path: turned, old_string: "safe", new_string: "x\u202e<script>alert(1)</script>" };
  const call = client.callTool({ name: "Edit", arguments: change });
  await page.getByRole("heading", { name: /invoice\[U\+202E\]gpj\.ts/ }).waitFor();
  await page.locator(".diff-new").filter({ hasText: "[U+202E]<script>" }).first().waitFor();
  await page.getByRole("button", { name: "Reject…" }).click();
  await page.getByRole("button", { name: "Reject", exact: true }).click();
  expect((await call).isError).toBe(true);
});
