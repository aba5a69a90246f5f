/** `filehand init` with the built command line: what is shown, written, left alone, refused and taken out again. */

import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { parse } from "smol-toml";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { newClient, serverEnvironment } from "../mcp/server.ts";
import { commandLine, project as rootOfProject, type Ran, run, temporaryFolder } from "./run.ts";
import { hasTerminal, typing } from "./terminal.ts";

let top = "";
const at = (name: string): string => join(top, name);
const text = (name: string): string => readFileSync(at(name), "utf8");
const put = (name: string, content: string): void => {
  mkdirSync(dirname(at(name)), { recursive: true });
  writeFileSync(at(name), content);
};

beforeEach(() => {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  top = folder.path;
  for (const name of ["ws", "home", "bin"]) mkdirSync(at(name));
});

const env = (): Record<string, string | undefined> => ({
  HOME: at("home"),
  XDG_CONFIG_HOME: at("config"),
  APPDATA: at("appdata"),
  CODEX_HOME: undefined,
  CLAUDE_CONFIG_DIR: undefined,
  PATH: at("bin"),
});
const init = (...args: readonly string[]): Promise<Ran> =>
  run(process.execPath, [commandLine, "init", ...args], { cwd: at("ws"), env: env() });

/** Each client's file in either scope, and where the server stands in it. */
const files = {
  "claude-code": ["ws/.mcp.json", "home/.claude.json", "mcpServers"],
  "claude-desktop": [undefined, "config/Claude/claude_desktop_config.json", "mcpServers"],
  cursor: ["ws/.cursor/mcp.json", "home/.cursor/mcp.json", "mcpServers"],
  vscode: ["ws/.vscode/mcp.json", "config/Code/User/mcp.json", "servers"],
  zed: ["ws/.zed/settings.json", "config/zed/settings.json", "context_servers"],
  codex: ["ws/.codex/config.toml", "home/.codex/config.toml", "mcp_servers"],
  gemini: ["ws/.gemini/settings.json", "home/.gemini/settings.json", "mcpServers"],
  opencode: ["ws/opencode.json", "config/opencode/opencode.json", "mcp"],
} as const;

// The places are those of Linux; src/surfaces/cli/clients.test.ts has the others.
describe.runIf(process.platform === "linux").each(Object.entries(files))("%s", (client, [project, user, under]) => {
  const [file, scope] = project === undefined ? [user, "user"] : [project, "project"];

  test("what is shown is what is written; a second time it is there already; removed, nothing of it is left", async () => {
    const shown = await init(client);
    expect(shown).toMatchObject({ code: 0, stderr: expect.stringContaining(`in ${at(file)}\n`) });
    expect(shown.stdout).toContain(under);
    expect(existsSync(at(file))).toBe(false);

    expect(await init(client, "--write", "--yes")).toMatchObject({ code: 0, stdout: "" });
    expect(text(file)).toBe(shown.stdout);
    expect(await init(client, "--write", "--yes")).toEqual({
      code: 0,
      stdout: "",
      stderr: `Already there: "filehand" in ${at(file)}\n`,
    });
    expect(text(file)).toBe(shown.stdout);

    expect(await init(client, "--remove", "--yes")).toMatchObject({ code: 0, stderr: `Taken out of ${at(file)}\n` });
    expect(text(file)).not.toContain("npx");
    expect(await init(client, "--remove", "--yes")).toMatchObject({
      code: 0,
      stderr: `Not there: "filehand" in ${at(file)}\n`,
    });
    expect(readdirSync(dirname(at(file)))).toEqual([file.split("/").at(-1)]);
  });

  test("the user's own file, with what is in it, its mode and its byte order mark", async () => {
    const before = user.endsWith(".toml")
      ? "\uFEFF# mine\r\n[mcp_servers.other]\r\ncommand = 'x'\r\n"
      : `\uFEFF{\r\n\t// mine\r\n\t"${under}": {\r\n\t\t"other": {"command": "x"},\r\n\t},\r\n}\r\n`;
    put(user, before);
    chmodSync(at(user), 0o600);
    expect(await init(client, "--scope", "user", "--write", "--yes", "--installed")).toMatchObject({ code: 0 });
    expect(text(user)).toContain(JSON.stringify(process.execPath));
    expect(text(user)).not.toMatch(/(?<!\r)\n/);
    expect(statSync(at(user)).mode & 0o777).toBe(0o600);
    expect(await init(client, "--scope", "user", "--remove", "--yes")).toMatchObject({ code: 0 });
    expect(text(user)).toBe(before);
  });

  test("a file that cannot be understood is not touched", async () => {
    put(file, "{ half");
    const { code, stdout, stderr } = await init(client, "--scope", scope, "--write", "--yes");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^filehand: Cannot change ".*": it is not valid (JSON|TOML) \(.*line 1\), mend it first\n$/);
    expect(text(file)).toBe("{ half");
  });

  test("a read-only file is not replaced", async () => {
    put(file, file.endsWith(".toml") ? "" : "{}");
    chmodSync(at(file), 0o444);
    expect(await init(client, "--write", "--yes")).toMatchObject({
      code: 1,
      stderr: `filehand: Cannot change "${at(file)}": it is read-only\n`,
    });
  });
});

describe("what is written works", () => {
  /** As the client would start it. */
  const commandIn = (name: string): readonly string[] => {
    const config = name.endsWith(".toml") ? parse(text(name)) : (JSON.parse(text(name)) as Record<string, unknown>);
    const [servers] = Object.values(config).filter((value) => typeof value === "object");
    const { filehand } = servers as { filehand: { command: string | string[]; args?: string[] } };
    return [filehand.command, filehand.args ?? []].flat();
  };

  for (const [client, [project, user]] of Object.entries(files)) {
    test(`${client}: the command of its file serves the project`, async () => {
      put("ws/a.txt", "one\n");
      expect(await init(client, "--write", "--yes", "--installed", "--mode", "read-only")).toMatchObject({ code: 0 });
      const [command = "", ...args] = commandIn(project ?? user).map((part) =>
        part.replace("${workspaceFolder}", at("ws")),
      );
      const mcp = newClient("legacy");
      const transport = {
        command,
        args,
        // One without projects starts its servers anywhere.
        cwd: project === undefined ? "/" : at("ws"),
        env: serverEnvironment({ path: at("home"), remove: () => {} }),
      };
      await mcp.connect(new StdioClientTransport({ ...transport, stderr: "ignore" }));
      try {
        expect((await mcp.listTools()).tools.map(({ name }) => name)).toContain("Read");
        const read = await mcp.callTool({ name: "Read", arguments: { file_path: at("ws/a.txt") } });
        expect(read).toMatchObject({ content: [{ text: expect.stringContaining("1\tone") }] });
        const written = await mcp.callTool({ name: "Write", arguments: { file_path: at("ws/b.txt"), content: "" } });
        expect(written.isError).toBe(true);
        expect(await mcp.callTool({ name: "Read", arguments: { file_path: "/etc/hostname" } })).toMatchObject({
          isError: true,
        });
      } finally {
        await mcp.close();
      }
    });
  }
});

describe.runIf(process.platform === "linux")("the page of each client", () => {
  const page = (client: string): string => readFileSync(join(rootOfProject, "docs", "clients", `${client}.md`), "utf8");

  test("is there, and nothing else is", () => {
    const pages = readdirSync(join(rootOfProject, "docs", "clients"));
    expect(new Set(pages)).toEqual(new Set(["README.md", ...Object.keys(files).map((client) => `${client}.md`)]));
  });

  for (const [client, [project, user]] of Object.entries(files)) {
    test(`${client}: its commands do what it says, and what it shows is what they write`, async () => {
      const [, line = "", config = ""] =
        /```sh\nfilehand init ([^\n]+)\n```[^]*?```(?:jsonc?|toml)\n([^]*?)```/.exec(page(client)) ?? [];
      expect(line).toContain("--write");
      expect(await init(...line.split(" "), "--yes")).toMatchObject({ code: 0 });
      const written = text(project ?? user);
      // A client without projects has the folder in which the command was given.
      const folder = /--root", "([^"]+)"/.exec(config)?.[1] ?? "";
      expect(project === undefined ? written.replace(at("ws"), folder) : written).toBe(config);
      const [, removal = ""] = /`filehand init ([^`]+ --remove)`/.exec(page(client)) ?? [];
      expect(await init(...removal.split(" "), "--yes")).toMatchObject({ code: 0 });
      expect(text(project ?? user)).not.toContain("npx");
    });
  }
});

describe("links", () => {
  test("the user's own are followed, and stay links", async () => {
    put("dotfiles/mcp.json", "{}\n");
    mkdirSync(at("home/.cursor"));
    symlinkSync("../../dotfiles/mcp.json", at("home/.cursor/mcp.json"));
    expect(await init("cursor", "--scope", "user", "--write", "--yes")).toMatchObject({ code: 0 });
    expect(text("dotfiles/mcp.json")).toContain("npx");
    expect(readdirSync(at("home/.cursor"), { withFileTypes: true })[0]?.isSymbolicLink()).toBe(true);
  });

  test("a project's are not, neither the file nor its folder", async () => {
    put("out/mcp.json", "{}\n");
    symlinkSync(at("out/mcp.json"), at("ws/.mcp.json"));
    symlinkSync(at("out"), at("ws/.cursor"));
    for (const client of ["claude-code", "cursor"]) {
      const { code, stderr } = await init(client, "--write", "--yes");
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: expect.stringContaining("a project's links are not followed"),
      });
    }
    expect(text("out/mcp.json")).toBe("{}\n");
  });

  test("a dangling link is reported", async () => {
    mkdirSync(at("home/.cursor"));
    symlinkSync("nowhere/mcp.json", at("home/.cursor/mcp.json"));
    const { code, stderr } = await init("cursor", "--scope", "user", "--write", "--yes");
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining("a link to something that does not exist"),
    });
  });
});

describe("what is asked for", () => {
  test("without --yes and a terminal nothing is written", async () => {
    expect(await init("zed", "--write")).toMatchObject({ code: 1, stderr: expect.stringContaining("add --yes") });
    expect(existsSync(at("ws/.zed"))).toBe(false);
  });

  test.runIf(hasTerminal)("at a terminal the change is shown and the answer counts", async () => {
    const options = { cwd: at("ws"), env: { HOME: at("home"), PATH: process.env["PATH"] ?? "" } };
    const no = await typing(["n\n"], ["init", "codex", "--write"], options);
    expect(no).toMatchObject({ code: 1, stdout: expect.stringContaining("[mcp_servers.filehand]") });
    expect(existsSync(at("ws/.codex"))).toBe(false);
    expect(await typing(["y\n"], ["init", "codex", "--write"], options)).toMatchObject({ code: 0 });
    expect(text("ws/.codex/config.toml")).toContain("[mcp_servers.filehand]");
  });

  test("--dry-run shows the diff, with colour if that is forced, and writes nothing", async () => {
    put("ws/.mcp.json", '{\n  "a": 1\n}\n');
    const { code, stdout } = await init("claude-code", "--dry-run");
    expect(code).toBe(0);
    expect(stdout).toContain('-  "a": 1\n+  "a": 1,\n+  "mcpServers": {\n');
    const forced = await run(process.execPath, [commandLine, "init", "claude-code", "--dry-run"], {
      cwd: at("ws"),
      env: { ...env(), FORCE_COLOR: "1" },
    });
    expect(forced.stdout).toContain("\x1b[32m");
    expect(text("ws/.mcp.json")).toBe('{\n  "a": 1\n}\n');
  });

  test("another server of that name stays, unless it shall be replaced or another name is given", async () => {
    put("ws/.mcp.json", '{"mcpServers": {"filehand": {"command": "mine"}}}');
    const { code, stderr } = await init("claude-code", "--write", "--yes");
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("use --replace") });
    expect(await init("claude-code", "--write", "--yes", "--name", "files")).toMatchObject({ code: 0 });
    expect(await init("claude-code", "--write", "--yes", "--replace")).toMatchObject({ code: 0 });
    const { mcpServers } = JSON.parse(text("ws/.mcp.json")) as { mcpServers: Record<string, { command: string }> };
    expect(Object.entries(mcpServers).map(([name, { command }]) => [name, command])).toEqual([
      ["filehand", "npx"],
      ["files", "npx"],
    ]);
  });

  test("options of the server go into its command, folders with their whole path", async () => {
    const { stdout } = await init("cursor", "--json", "--root", "sub", "--mode", "read-only", "--deny", "Read(/x/**)");
    expect(JSON.parse(stdout)).toMatchObject({
      state: "missing",
      entry: {
        value: {
          command: "npx",
          args: ["-y", "filehand", "mcp", "--root", at("ws/sub"), "--mode", "read-only", "--deny", "Read(/x/**)"],
        },
      },
    });
  });

  test("of two files the one that is there is used", async () => {
    put("ws/opencode.jsonc", "{ // mine\n}\n");
    expect(await init("opencode", "--write", "--yes")).toMatchObject({ code: 0 });
    expect(text("ws/opencode.jsonc")).toMatch(/^\{ \/\/ mine\n[^]*"mcp"/);
    expect(existsSync(at("ws/opencode.json"))).toBe(false);
  });

  for (const [name, args, words] of [
    ["an unknown client", ["cluade-code"], 'There is no client "cluade-code", did you mean claude-code'],
    ["a client that is nothing like any", ["notepad"], "use one of claude-code, claude-desktop,"],
    ["an unknown scope", ["zed", "--scope", "all"], '--scope must be project or user, not "all"'],
    [
      "a scope that it has not",
      ["claude-desktop", "--scope", "project"],
      "Claude Desktop has no settings of a project",
    ],
    ["a name that is none", ["zed", "--name", "a b"], "--name must be"],
    ["two wishes", ["zed", "--remove", "--write"], "--remove and --write cannot both be meant"],
    [
      "a wish without a client",
      ["--write", "--yes"],
      "--write needs a client, as in filehand init claude-code --write",
    ],
    [
      "a rule that is none",
      ["zed", "--allow", "Foo("],
      "Cannot use the rule Foo(: it is not of the form Tool(pattern)",
    ],
    ["a rule of no tool", ["zed", "--deny", "Raed(a)"], "Cannot use the rule Raed(a): its tool is unknown"],
    ["a mode that is none", ["zed", "--mode", "readonly"], 'There is no mode "readonly", did you mean read-only'],
  ] as const) {
    test(name, async () => {
      const { code, stdout, stderr } = await init(...args);
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toContain(words);
    });
  }
});

describe("the list", () => {
  test("says what seems to be installed, by a program or a folder", async () => {
    put("bin/codex", "#!/bin/sh\n");
    chmodSync(at("bin/codex"), 0o755);
    put("bin/gemini", "not a program\n");
    chmodSync(at("bin/gemini"), 0o644);
    mkdirSync(at("home/.cursor"));
    const { code, stdout } = await init();
    expect(code).toBe(0);
    expect(stdout).toMatch(/^codex .* found: .*\/bin\/codex$/m);
    expect(stdout).toMatch(/^cursor .* found: .*\/home\/\.cursor$/m);
    expect(stdout).toMatch(/^gemini .* not found$/m);
    const told = JSON.parse((await init("--json")).stdout) as { client: string; installed: boolean }[];
    expect(told.filter(({ installed }) => installed).map(({ client }) => client)).toEqual(["cursor", "codex"]);
  });
});
