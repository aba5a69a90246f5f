/** `filehand serve` as a real process, the page in a real browser, and an eye on what must never happen there. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import { dirname, join } from "node:path";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import { commandLine, temporaryFolder } from "../ends/run.ts";
import { connectHttp } from "../mcp/http-server.ts";
import { serverEnvironment } from "../mcp/server.ts";

export interface Inspector {
  readonly root: string;
  readonly port: number;
  readonly token: string;
  readonly child: ChildProcess;
  /** Of the server; a program with the same one keeps its history in the same place. */
  readonly env: Readonly<Record<string, string>>;
  /** An address of the page whose key nobody has used yet. */
  address(): Promise<string>;
  /** A client of the newest protocol that cannot ask anybody itself. */
  client(): ReturnType<typeof connectHttp>;
  write(name: string, content: string | Uint8Array): void;
  read(name: string): string;
  has(name: string): boolean;
}

const waitMsMax = 45_000;

export type Files = Readonly<Record<string, string | Uint8Array>>;

export async function startInspector(
  files: Files,
  args: readonly string[] = [],
  settings: object = {},
  command: "serve" | "inspect" = "serve",
): Promise<Inspector> {
  const [home, workspace] = [temporaryFolder(), temporaryFolder()];
  fs.mkdirSync(join(home.path, ".config", "filehand"), { recursive: true });
  fs.writeFileSync(join(home.path, ".config", "filehand", "filehand.jsonc"), JSON.stringify(settings));
  const write = (name: string, content: string | Uint8Array): void => {
    fs.mkdirSync(dirname(join(workspace.path, name)), { recursive: true });
    fs.writeFileSync(join(workspace.path, name), content);
  };
  for (const [name, content] of Object.entries(files)) write(name, content);
  const env = serverEnvironment(home);
  const child = spawn(process.execPath, [commandLine, command, "--port", "0", ...args], {
    cwd: workspace.path,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const said = outputOf(child);
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await said.ended;
    home.remove();
    workspace.remove();
  });
  const token = await said.find(/token of this run is (\S+)/);
  const port = Number(await said.find(/"url":"http:\/\/[^"]*:(\d+)\//));
  let used = 0;
  return {
    root: workspace.path,
    port,
    token,
    child,
    env,
    address: () => said.find(/(http:\/\/\S+#key=\S+)/, used++),
    client: () => connectHttp({ port, token }, "modern"),
    write,
    has: (name) => fs.existsSync(join(workspace.path, name)),
    read: (name) => fs.readFileSync(join(workspace.path, name), "utf8"),
  };
}

/** What a process says on both of its outputs, and a way to wait for it. */
function outputOf(child: ChildProcess) {
  let text = "";
  let waiting: (() => void)[] = [];
  const wake = (): void => {
    for (const one of waiting.splice(0)) one();
  };
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      wake();
    });
  }
  const ended = once(child, "close").then(wake);
  return {
    ended,
    /** The first group of the n-th match. */
    async find(pattern: RegExp, nth = 0): Promise<string> {
      for (;;) {
        // A line that is still being written is not looked at.
        const lines = text.slice(0, text.lastIndexOf("\n") + 1);
        const found = [...lines.matchAll(new RegExp(pattern, "g"))][nth]?.[1];
        if (found !== undefined) return found;
        if (child.exitCode !== null) throw new Error(`the server ended: ${text}`);
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
    },
  };
}

/** The page, let in. When the test is over, nothing must have run or gone out that should not. */
export async function openPage(
  browser: Browser,
  inspector: Pick<Inspector, "address">,
  options: BrowserContextOptions & { readonly view?: string; readonly expected?: RegExp } = {},
): Promise<Page> {
  const { view = "timeline", expected, ...contextOptions } = options;
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...contextOptions });
  // Long enough for a machine with much else to do; a test that waits for what never comes says for what.
  context.setDefaultTimeout(waitMsMax);
  const page = await context.newPage();
  const faults: string[] = [];
  const address = new URL(await inspector.address());
  page.on("dialog", (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") faults.push(`console: ${message.text()}`);
  });
  page.on("request", (request) => {
    const { origin, protocol } = new URL(request.url());
    if (origin !== address.origin && protocol !== "blob:") faults.push(`request: ${request.url()}`);
  });
  await page.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
      reportError(new Error(`policy: ${violatedDirective} ${blockedURI}`)),
    );
  });
  onTestFinished(async ({ task }) => {
    // What was to be seen says more than what was waited for.
    if (task.result?.state === "fail") process.stderr.write(`${task.name}: ${await seen(page)}\n`);
    await context.close();
    expect(faults.filter((fault) => expected === undefined || !expected.test(fault))).toEqual([]);
  });
  await page.goto(address.href);
  await page.getByText("Live", { exact: true }).waitFor();
  if (view !== "timeline")
    await page
      .getByRole("navigation")
      .getByRole("link", { name: new RegExp(view, "i") })
      .click();
  return page;
}

const seen = (page: Page): Promise<string> =>
  page
    .locator("body")
    .innerText({ timeout: 1_000 })
    .catch((error: unknown) => String(error));

/** Rows of the timeline. */
export const rows = (page: Page) => page.locator(".call:not(.call-head)");
