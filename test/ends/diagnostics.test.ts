/** Language servers on the command line and over MCP: `filehand diagnostics`, the flag of commands that change files, settings. */

import * as fs from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { fakeServer, type FakeOptions } from "../lsp/support.ts";
import { commandLine, type Ran, run, temporaryFolder } from "./run.ts";

interface Bed {
  readonly root: string;
  readonly filehand: (args: readonly string[], input?: string) => Promise<Ran>;
}

/** A home with settings, and a workspace in it. */
function bed(files: Readonly<Record<string, string>>, settings: object, project?: object): Bed {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  const root = join(folder.path, "ws");
  fs.mkdirSync(join(folder.path, ".config", "filehand"), { recursive: true });
  fs.mkdirSync(root);
  fs.writeFileSync(join(folder.path, ".config", "filehand", "filehand.jsonc"), JSON.stringify(settings));
  if (project !== undefined) fs.writeFileSync(join(root, "filehand.jsonc"), JSON.stringify(project));
  for (const [name, text] of Object.entries(files)) fs.writeFileSync(join(root, name), text);
  const env = { HOME: folder.path, XDG_CONFIG_HOME: undefined, XDG_STATE_HOME: join(folder.path, "state") };
  return {
    root,
    filehand: (args, input) =>
      run(process.execPath, [commandLine, ...args], { cwd: root, env, ...(input === undefined ? {} : { input }) }),
  };
}

const languages = (fake: FakeOptions = {}, more: object = {}): object => ({
  languageServers: { waitMsMax: 60_000, servers: { fake: fakeServer(fake) }, ...more },
});

test("filehand diagnostics prints errors, their number, and says with its code whether there are any", async () => {
  const { filehand } = bed({ "a.fake": "x\n  error:one warn:two\n", "b.fake": "fine\n" }, languages());
  expect(await filehand(["diagnostics", "a.fake"])).toEqual({
    code: 1,
    stdout: "a.fake:2:3: error: one is wrong (fake 7)\n1 error\n",
    stderr: "",
  });
  expect((await filehand(["diagnostics", "a.fake", "--warnings"])).stdout).toBe(
    "a.fake:2:3: error: one is wrong (fake 7)\na.fake:2:13: warning: two is wrong (fake 7)\n1 error, 1 warning\n",
  );
  expect(await filehand(["diagnostics", "b.fake"])).toEqual({ code: 0, stdout: "no errors\n", stderr: "" });
  const { code, stdout } = await filehand(["diagnostics", "a.fake", "--json"]);
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    checked: true,
    pending: false,
    errors: [{ line: 2, column: 3, code: "7" }],
  });
});

test("filehand diagnostics says why it cannot tell", async () => {
  const silent = bed({ "a.fake": "x\n", "a.none": "x\n" }, languages({ silent: true }));
  expect(await silent.filehand(["diagnostics", "a.fake", "--wait", "50"])).toEqual({
    code: 1,
    stdout: "",
    stderr: '"a.fake" is not checked yet: give it more time with --wait\n',
  });
  const none = await silent.filehand(["diagnostics", "a.none"]);
  expect(none.code).toBe(1);
  expect(none.stderr).toMatch(
    /^Cannot check "a.none": no language server for it was found on the PATH .*, install one/,
  );
  const missing = await silent.filehand(["diagnostics", "nothing.fake"]);
  expect(missing.code).toBe(1);
  expect(missing.stderr).toContain('Cannot read "nothing.fake": it does not exist');
  expect((await silent.filehand(["diagnostics", "a.fake", "--wait", "0"])).code).toBe(2);
  expect((await silent.filehand(["diagnostics"])).code).toBe(2);

  const broken = bed({ "a.fake": "x\n" }, languages({ crash: "at start" }));
  const { code, stderr } = await broken.filehand(["diagnostics", "a.fake"]);
  expect(code).toBe(1);
  expect(stderr).toBe('The language server "fake" did not check "a.fake": it ended (status 3)\n');
});

test("commands that change files tell what they broke, by settings or by the flag", async () => {
  const on = bed({ "a.fake": "one\n" }, languages());
  const edited = await on.filehand(["edit", "a.fake", "--old", "one", "--new", "error:a", "--yes"]);
  expect(edited.code).toBe(0);
  expect(edited.stdout).toContain('1 error in "a.fake":\n1:1 a is wrong (fake 7)\n');

  const plain = bed({ "a.fake": "one\n" }, {});
  expect((await plain.filehand(["write", "a.fake", "--content", "error:a", "--yes"])).stdout).not.toContain("is wrong");
  expect((await plain.filehand(["write", "a.fake", "--content", "error:b", "--yes", "--language-servers"])).code).toBe(
    0,
  );

  const slow = bed({ "a.fake": "one\n" }, languages({ silent: true }, { waitMsMax: 10 }));
  expect((await slow.filehand(["edit", "a.fake", "--old", "one", "--new", "two", "--yes"])).stdout).toContain(
    '"a.fake" is not checked yet; filehand diagnostics waits longer for its language server.',
  );
});

test("calls of a batch are one session: a later reply knows the diagnostics of an earlier one", async () => {
  const { filehand } = bed({}, languages());
  const call = (id: number, content: string): string =>
    JSON.stringify({ id, tool: "Write", input: { file_path: "a.fake", content } });
  const { stdout } = await filehand(["batch", "--yes"], `${call(1, "error:a\n")}\n${call(2, "error:a\nerror:b\n")}\n`);
  const [, second = ""] = stdout.split("\n");
  expect(second).toContain("new: 2:1 b is wrong (fake 7)\\nknown before: 1:1 a is wrong (fake 7)");
});

test("a project's settings cannot switch servers on, and a server that cannot be used is reported", async () => {
  const { filehand, root } = bed({ "a.fake": "x\n" }, {}, languages());
  const { stdout, stderr } = await filehand(["edit", "a.fake", "--old", "x", "--new", "error:a", "--yes"]);
  expect(stdout).not.toContain("is wrong");
  expect(stderr).toContain(
    `${root}/filehand.jsonc:1: Cannot use "languageServers" here: it belongs in the user's own settings`,
  );

  const wrong = bed(
    { "a.fake": "x\n" },
    { languageServers: { servers: { own: { command: ["x"] } }, waitMsMax: "long" } },
  );
  const told = await wrong.filehand(["diagnostics", "a.fake"]);
  expect(told.stderr).toContain('Cannot use "languageServers.waitMsMax": expected a whole number of at least 0');
  expect(told.stderr).toContain('Cannot use the language server "own" of your settings: it has no extensions');
});

test("an MCP server reports new errors of a change, and its language servers exit with it", async () => {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  const log = join(folder.path, "log.jsonl");
  // The server is confined, and so are the language servers that it starts.
  const { filehand } = bed({}, { ...languages({ log }), confinement: { write: [folder.path] } });
  const messages = [
    {
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
    },
    { method: "notifications/initialized" },
    {
      id: 2,
      method: "tools/call",
      params: { name: "Write", arguments: { file_path: "a.fake", content: "error:a\n" } },
    },
  ];
  const input = messages.map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`).join("");
  const { stdout } = await filehand(["mcp", "--allow", "Edit"], input);
  expect(stdout).toContain("new: 1:1 a is wrong (fake 7)");
  const [first = "{}"] = fs.readFileSync(log, "utf8").split("\n");
  const { started } = JSON.parse(first) as { readonly started: number }; // the fake server's first line
  const isRunning = (): boolean => {
    try {
      return process.kill(started, 0);
    } catch {
      return false;
    }
  };
  await expect.poll(isRunning, { timeout: 60_000 }).toBe(false);
});
