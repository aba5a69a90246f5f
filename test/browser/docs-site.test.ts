/** The documentation's site, built and opened: light and dark, narrow and wide, without any other host, with a search that finds. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { addressOf, parts } from "../../docs/.vitepress/navigation.js";
import { project, temporaryFolder } from "../ends/run.ts";
import { browserForAll, browserTest } from "./chromium.ts";

const browser = browserForAll();
const site = temporaryFolder();
const types: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".woff2": "font/woff2",
};

/** Files alone, as any host of static pages serves them. */
const server = createServer((request, response) => {
  const path = decodeURIComponent(new URL(request.url ?? "/", "http://site").pathname);
  const file = join(site.path, path.endsWith("/") ? `${path}index.html` : path);
  response.statusCode = existsSync(file) ? 200 : 404;
  response.setHeader("content-type", types[extname(file)] ?? "text/plain");
  response.end(existsSync(file) ? readFileSync(file) : "");
});
let origin = "";

beforeAll(async () => {
  const vitepress = join(project, "docs/node_modules/vitepress/bin/vitepress.js");
  const build = spawn(process.execPath, [vitepress, "build", "docs", "--outDir", site.path], {
    cwd: project,
    stdio: ["ignore", "ignore", "inherit"],
  });
  expect(await once(build, "close")).toEqual([0, null]);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // a server that listens on a port has one
}, 300_000);
afterAll(() => {
  server.closeAllConnections();
  server.close();
  site.remove();
});

const all = parts.flatMap(({ groups }) => groups.flatMap(({ entries }) => entries.map(({ page }) => page)));
/** One of each kind: with plots, with pictures, with wide tables, with long code, in Chinese. */
const some = [
  "README",
  "explanation/comparison",
  "tutorials/watch-and-approve",
  "reference/errors",
  "reference/library",
  "tutorials/first-edit.zh-CN",
];

for (const [colorScheme, width, names] of [
  ["light", 1280, some],
  ["dark", 1280, some],
  ["light", 360, all],
  ["dark", 360, some],
] as const) {
  browserTest(`${names.length} pages, ${colorScheme}, ${width} pixels wide`, async () => {
    const page = await browser().newPage({ colorScheme, viewport: { width, height: 800 } });
    const faults: string[] = [];
    page.on("pageerror", ({ message }) => faults.push(message));
    page.on("request", (request) => {
      if (!request.url().startsWith("data:") && !request.url().startsWith(`${origin}/`)) faults.push(request.url());
    });
    page.on("response", (response) => {
      if (response.status() >= 400) faults.push(`${response.status()} ${response.url()}`);
    });
    for (const name of names) {
      const address = addressOf(name);
      await page.goto(`${origin}${address.endsWith("/") ? address : `${address}.html`}`);
      await page.locator(".vp-doc h1").waitFor();
      const tooWide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      if (tooWide > 0) faults.push(`${name} is ${tooWide} pixels too wide`);
    }
    const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    expect(ground).toBe(colorScheme === "light" ? "rgb(255, 255, 255)" : "rgb(27, 27, 31)");
    expect(faults).toEqual([]);
    await page.close();
  });
}

browserTest("the search finds a page without a network", async () => {
  const context = await browser().newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  await page.goto(`${origin}/`);
  await page.keyboard.press("Control+k");
  await page.locator(".VPLocalSearchBox input").waitFor();
  await page.locator(".VPLocalSearchBox input").fill("GB18030");
  const results = page.locator(".VPLocalSearchBox .result");
  await results.first().waitFor();
  await results.first().click();
  // The page that was left stays until the one that was found is loaded.
  await expect.poll(() => page.locator(".vp-doc").innerText()).toContain("GB18030");
  expect(new URL(page.url()).origin).toBe(origin);
  await context.close();
});

browserTest("every link of the site leads to a file of it", () => {
  const files = readdirSync(site.path, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".html"));
  expect(files.length).toBeGreaterThan(60);
  const broken = files.flatMap((file) =>
    [...readFileSync(join(site.path, file), "utf8").matchAll(/(?:href|src)="(\/[^"#?]*)/g)]
      .map(([, to]) => decodeURIComponent(to ?? ""))
      .filter((to) => !existsSync(join(site.path, to.endsWith("/") ? `${to}index.html` : to)))
      .map((to) => `${file}: ${to}`),
  );
  expect([...new Set(broken)]).toEqual([]);
});
