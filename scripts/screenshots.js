/**
 * `npm run screenshots`: the pictures of the README, docs/pictures/*.png. A real server, a small project, two agents at work in
 * it, and the page in a real browser. Build first.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { chromium } from "playwright-core";
import { chromiumArguments, chromiumPath } from "./chromium.js";

const out = process.argv[2] ?? "docs/pictures";
const pictureBytesMax = 200_000;
const executablePath = chromiumPath();
if (executablePath === undefined) throw new Error("Cannot take pictures: there is no chromium, install Debian's");

const base = mkdtempSync(join(tmpdir(), "filehand-pictures-"));
const root = join(base, "shop");
const source = `/** Where the shop listens, and for how long it waits. */

import { readFileSync } from "node:fs";

const port = 80;
const host = "localhost";

export interface Settings {
  readonly port: number;
  readonly host: string;
  readonly timeoutMs: number;
}

export function load(path: string): Settings {
  const given = JSON.parse(readFileSync(path, "utf8"));
  return { port, host, timeoutMs: 1500, ...given };
}
`;
const cart = `/** What is in the cart, and what it costs. */

export interface Item {
  readonly name: string;
  readonly price: number;
}

export function total(items: Item[]): number {
  let sum = 0;
  for (const item of items) sum += item.price;
  return sum;
}

export function label(items: Item[]): string {
  return items.length + " items, " + total(items) + " EUR";
}
`;
const files = {
  "src/server/settings.ts": source,
  "src/server/listen.ts":
    'import { load } from "./settings.ts";\n\nexport const listen = () => load("shop.json").port;\n',
  "src/cart/total.ts": cart,
  "src/cart/total.test.ts":
    'import { total } from "./total.ts";\n\nif (total([1, 2]) !== 3) throw new Error("wrong");\n',
  "docs/guide.md": `# Guide\n\n${"The shop listens on the port of its settings, and waits a while.\n".repeat(80)}`,
  "README.md": "# Shop\n\nA small shop that listens on port 80.\n",
  "package.json": '{ "name": "shop", "scripts": { "test": "node src/cart/total.test.ts" } }\n',
  ".env": "TOKEN=nobody-shall-see-this\n",
  "private/keys.txt": "nobody shall see this either\n",
};
for (const [name, content] of Object.entries(files)) {
  mkdirSync(dirname(join(root, name)), { recursive: true });
  writeFileSync(join(root, name), content);
}
mkdirSync(out, { recursive: true });

const rules = ["--allow", "Edit(/docs/**)", "--allow", "Edit(/src/cart/**)", "--deny", "Read(/private/**)"];
const server = spawn(
  process.execPath,
  ["dist/filehand.cjs", "serve", root, "--port", "0", "--state-dir", join(base, "state"), ...rules],
  { stdio: ["ignore", "pipe", "pipe"] },
);
const ended = once(server, "close");
const address = wordIn(server.stdout, /The inspector: (\S+)/);
const token = await wordIn(server.stderr, /token of this run is (\S+)/);
const browser = await chromium.launch({ executablePath, args: chromiumArguments });
try {
  await pictures(await address);
} finally {
  await browser.close();
  server.kill();
  await ended;
  rmSync(base, { recursive: true, force: true });
}

async function pictures(/** @type {string} */ url) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 720 }, colorScheme: "light" });
  await page.goto(url);
  await page.getByText("Live", { exact: true }).waitFor();
  const { waiting } = await work(new URL("/mcp", url));
  const view = (/** @type {string} */ name) => page.getByRole("navigation").getByRole("link", { name }).click();

  await page.locator(".call", { hasText: "settings.ts" }).first().waitFor();
  await page.locator(".call", { hasText: "total.ts" }).filter({ hasText: "MultiEdit" }).first().click();
  await page.locator(".diff mark").first().waitFor();
  await picture("timeline");

  await view("Approvals");
  await page.locator(".question .diff mark").first().waitFor();
  await picture("approvals");
  await page.emulateMedia({ colorScheme: "dark" });
  await picture("approvals-dark");
  await page.setViewportSize({ width: 360, height: 740 });
  await page.locator(".question .diff-unified").waitFor();
  await picture("approvals-narrow");
  await page.setViewportSize({ width: 1280, height: 720 });
  await page.emulateMedia({ colorScheme: "light" });
  await page.getByRole("button", { name: "Allow once" }).click();
  await waiting;

  await view("History");
  await page.getByLabel("Session").selectOption({ index: 1 });
  await page.getByText("tax.ts").first().waitFor();
  await page.getByRole("button", { name: "Rewind to before…" }).last().click();
  await page.getByText("Nothing has been done yet").waitFor();
  await page.getByRole("listitem").filter({ hasText: "total.ts" }).getByRole("button", { name: "Diff" }).click();
  await page.locator(".diff-row").first().waitFor();
  await picture("history");

  await view("Usage");
  await page.locator(".plot path").first().waitFor();
  await picture("usage");

  await view("Files");
  await page.getByRole("treeitem", { name: /^src/ }).click();
  await page.getByRole("treeitem", { name: /private/ }).click();
  await page.getByRole("treeitem", { name: /keys\.txt/ }).click();
  await page.getByRole("heading", { name: "Read denied" }).waitFor();
  await picture("files");

  async function picture(/** @type {string} */ name) {
    const path = join(out, `${name}.png`);
    await page.screenshot({ path, animations: "disabled", caret: "hide" });
    const { size } = statSync(path);
    process.stdout.write(`${path}: ${size} bytes\n`);
    if (size > pictureBytesMax) throw new Error(`${path} is too large: ${size} bytes, at most ${pictureBytesMax}`);
  }
}

/** Two agents at work. Gives a call that waits for an answer on the page. @param {URL} mcp */
async function work(mcp) {
  const [one, two] = [await client(mcp, "one"), await client(mcp, "two")];
  const read = (/** @type {Client} */ who, /** @type {string} */ file_path) => call(who, "Read", { file_path });
  for (let round = 0; round < 4; round += 1) {
    await call(one, "Grep", { pattern: "port", output_mode: "content" });
    await read(one, "docs/guide.md");
    await read(two, "src/cart/total.ts");
    await call(two, "Glob", { pattern: "**/*.ts" });
    await read(one, "src/server/settings.ts");
    await read(two, "src/cart/total.test.ts");
    await call(one, "LS", { path: root });
    await read(one, round % 2 === 0 ? "src/server/listne.ts" : "src/server/listen.ts");
    await read(two, "private/keys.txt");
    await call(two, "Edit", { file_path: "src/cart/total.ts", old_string: "sum(prices)", new_string: "total(prices)" });
  }
  await read(two, "docs/guide.md");
  await call(two, "Edit", {
    file_path: "docs/guide.md",
    old_string: "# Guide",
    new_string: "# A guide to the shop",
  });
  await call(two, "Write", { file_path: "src/cart/tax.ts", content: "export const taxRate = 0.19;\n" });
  await call(two, "MultiEdit", {
    file_path: "src/cart/total.ts",
    edits: [
      {
        old_string: "  readonly price: number;",
        new_string: "  /** In cents, without tax. */\n  readonly price: number;",
      },
      { old_string: "total(items: Item[]): number", new_string: "total(items: readonly Item[], tax = 0.19): number" },
      { old_string: "  return sum;", new_string: "  return Math.round(sum * (1 + tax));" },
      {
        old_string: 'return items.length + " items, " + total(items) + " EUR";',
        new_string: "return `${items.length} items, ${(total(items) / 100).toFixed(2)} EUR`;",
      },
    ],
  });
  // Somebody else is at work, too.
  writeFileSync(join(root, "docs/guide.md"), "# The guide\n\nWritten anew, by hand.\n");
  const waiting = call(one, "MultiEdit", {
    file_path: "src/server/settings.ts",
    edits: [
      { old_string: "const port = 80;", new_string: "const port = Number(process.env.PORT ?? 8080);" },
      { old_string: '"localhost"', new_string: '"127.0.0.1"' },
      { old_string: "timeoutMs: 1500,", new_string: "timeoutMs: 5_000," },
    ],
  });
  return { waiting };
}

async function client(/** @type {URL} */ mcp, /** @type {string} */ name) {
  const made = new Client({ name, version: "1" });
  await made.connect(
    new StreamableHTTPClientTransport(mcp, { requestInit: { headers: { authorization: `Bearer ${token}` } } }),
  );
  return made;
}

function call(/** @type {Client} */ who, /** @type {string} */ name, /** @type {Record<string, unknown>} */ input) {
  return who.callTool({ name, arguments: input });
}

/**
 * The first group of the first match in what a program prints.
 * @param {import("node:stream").Readable} stream @param {RegExp} pattern @returns {Promise<string>}
 */
function wordIn(stream, pattern) {
  return new Promise((resolve, reject) => {
    let text = "";
    stream.setEncoding("utf8").on("data", (chunk) => {
      text += chunk;
      const found = pattern.exec(text)?.[1];
      if (found !== undefined) resolve(found);
    });
    stream.once("end", () => reject(new Error(`the server ended: ${text}`)));
  });
}
