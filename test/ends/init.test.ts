/** `filehand init` with the built command line: what is shown, written, left alone, refused and taken out again. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
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
  qwen: ["ws/.qwen/settings.json", "home/.qwen/settings.json", "mcpServers"],
  opencode: ["ws/opencode.json", "config/opencode/opencode.json", "mcp"],
  kilo: ["ws/kilo.json", "config/kilo/kilo.json", "mcp"],
  copilot: ["ws/.github/mcp.json", "home/.copilot/mcp-config.json", "mcpServers"],
  kimi: ["ws/.kimi-code/mcp.json", "home/.kimi-code/mcp.json", "mcpServers"],
  cline: [undefined, "home/.cline/data/settings/cline_mcp_settings.json", "mcpServers"],
  goose: [undefined, "config/goose/config.yaml", "extensions"],
  continue: ["ws/.continue/mcpServers/filehand.json", "home/.continue/mcpServers/filehand.json", "mcpServers"],
  windsurf: [undefined, "home/.codeium/windsurf/mcp_config.json", "mcpServers"],
  amp: ["ws/.amp/settings.json", "home/.config/amp/settings.json", "amp.mcpServers"],
  crush: ["ws/.crush.json", "config/crush/crush.json", "mcp"],
} as const;

/** Clients whose own file tools can be switched off in a file, and that file. */
const replaced = {
  "claude-code": ["ws/.claude/settings.json", "home/.claude/settings.json"],
  codex: ["ws/.codex/config.toml", "home/.codex/config.toml"],
  gemini: ["ws/.gemini/settings.json", "home/.gemini/settings.json"],
  qwen: ["ws/.qwen/settings.json", "home/.qwen/settings.json"],
  opencode: ["ws/opencode.json", "config/opencode/opencode.json"],
  kilo: ["ws/kilo.json", "config/kilo/kilo.json"],
  crush: ["ws/.crush.json", "config/crush/crush.json"],
} as const;

interface Server {
  readonly command: readonly string[];
  readonly url?: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The server in a client's file, as the client would read it. */
function serverIn(name: string, under: string): Server {
  const config = parsedFile(name);
  const servers = config[under] as Record<string, Record<string, unknown>>;
  const entry = servers["filehand"] ?? {};
  const { transport = {} } = entry as { transport?: Record<string, unknown> };
  const all: Record<string, unknown> = { ...entry, ...transport };
  const text = (...keys: readonly string[]): string | undefined =>
    keys.map((key) => all[key]).find((value) => typeof value === "string");
  const variable = text("bearer_token_env_var", "bearerTokenEnvVar");
  const url = text("url", "httpUrl", "serverUrl", "uri");
  return {
    command: [all["command"] ?? all["cmd"] ?? [], all["args"] ?? []].flat() as string[],
    ...(url === undefined ? {} : { url }),
    headers: {
      ...(all["headers"] as Record<string, string> | undefined),
      ...(variable === undefined ? {} : { Authorization: `Bearer $${variable}` }),
    },
  };
}

function parsedFile(name: string): Record<string, unknown> {
  const content = text(name).replace(/^\uFEFF/, "");
  if (name.endsWith(".toml")) return parse(content);
  if (!name.endsWith(".yaml")) return JSON.parse(content) as Record<string, unknown>;
  // The form that init writes: keys on lines, values as JSON.
  const [, under = "", body = ""] = /^(\w+):\n {2}filehand:\n([^]*)$/.exec(content) ?? [];
  const keys = [...body.matchAll(/^ {4}(\w+): (.*)$/gm)].map(([, key = "", value = ""]) => [key, JSON.parse(value)]);
  return { [under]: { filehand: Object.fromEntries(keys) } };
}

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
    expect(text(file)).not.toContain("filehand");
    expect(await init(client, "--remove", "--yes")).toMatchObject({
      code: 0,
      stderr: `Not there: "filehand" in ${at(file)}\n`,
    });
    expect(readdirSync(dirname(at(file)))).toEqual([file.split("/").at(-1)]);
  });

  test("the user's own file, with what is in it, its mode and its byte order mark", async () => {
    const before = user.endsWith(".yaml")
      ? "\uFEFF# mine\r\nGOOSE_MODE: auto\r\nextensions:\r\n  other:\r\n    cmd: x\r\n    args:\r\n    - a\r\nlast: 1\r\n"
      : user.endsWith(".toml")
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
    expect(stderr).toMatch(
      /^filehand: Cannot change ".*": it is not (valid (JSON|TOML)|YAML of the plain form) \(.*line 1\), (mend it first|change it by hand)\n$/,
    );
    expect(text(file)).toBe("{ half");
  });

  test("a read-only file is not replaced", async () => {
    put(file, file.endsWith(".json") ? "{}" : "");
    chmodSync(at(file), 0o444);
    expect(await init(client, "--write", "--yes")).toMatchObject({
      code: 1,
      stderr: `filehand: Cannot change "${at(file)}": it is read-only\n`,
    });
  });
});

describe("what is written works", () => {
  for (const [client, [project, user, under]] of Object.entries(files)) {
    const startsHere = project !== undefined || client === "goose";

    test(`${client}: the command of its file serves the project`, async () => {
      put("ws/a.txt", "one\n");
      // Without --installed: run from a clone, the path of this program is written by itself.
      const options = ["--mode", "read-only", "--history-tools", "--observe"];
      const done = await init(client, "--write", "--yes", ...options);
      expect(done).toMatchObject({ code: 0, stderr: expect.stringContaining("this filehand is a clone") });
      const [command = "", ...args] = serverIn(project ?? user, under).command.map((part) =>
        part.replace("${workspaceFolder}", at("ws")),
      );
      expect([command, args[0]]).toEqual([process.execPath, commandLine]);
      const mcp = newClient("legacy");
      const transport = {
        command,
        args,
        // One without projects starts its servers anywhere.
        cwd: startsHere ? at("ws") : "/",
        env: serverEnvironment({ path: at("home"), remove: () => {} }),
      };
      await mcp.connect(new StdioClientTransport({ ...transport, stderr: "ignore" }));
      try {
        const tools = (await mcp.listTools()).tools.map(({ name }) => name);
        expect(tools).toEqual(expect.arrayContaining(["Read", "History"]));
        const read = await mcp.callTool({ name: "Read", arguments: { file_path: at("ws/a.txt") } });
        expect(read).toMatchObject({ content: [{ text: expect.stringContaining("1\tone") }] });
        const written = await mcp
          .callTool({ name: "Write", arguments: { file_path: at("ws/b.txt"), content: "" } })
          .catch(() => ({ isError: true }));
        expect(written.isError).toBe(true);
        expect(await mcp.callTool({ name: "Read", arguments: { file_path: "/etc/hostname" } })).toMatchObject({
          isError: true,
        });
      } finally {
        await mcp.close();
      }
    });
  }

  test("--language-servers goes to the server, and npx is written on request", async () => {
    const { stdout } = await init("gemini", "--npx", "--language-servers", "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      entry: { value: { command: "npx", args: ["-y", "filehand", "mcp", "--language-servers"] } },
      start: { why: expect.stringContaining("--npx") },
    });
  });
});

describe("a server over HTTP", () => {
  const withoutVariables = ["claude-desktop", "zed", "cline", "continue"];

  test("every client that takes a token from the environment reaches it with what its file says", async () => {
    put("ws/a.txt", "one\n");
    const token = "a-token-of-this-test-0123456789abcdef";
    put("token", token);
    chmodSync(at("token"), 0o600);
    const { url, stop } = await startServe(["--port", "0", "--token-file", at("token"), "--no-inspector"]);
    try {
      for (const [client, [project, user, under]] of Object.entries(files)) {
        if (withoutVariables.includes(client)) continue;
        expect(await init(client, "--http", url, "--write", "--yes"), client).toMatchObject({
          code: 0,
          stderr: expect.stringContaining("FILEHAND_TOKEN"),
        });
        const file = project ?? user;
        expect(text(file), client).not.toContain(token);
        const server = serverIn(file, under);
        const headers = Object.fromEntries(
          Object.entries(server.headers).map(([name, value]) => [
            name,
            value.replace(/\$?\{(env:)?FILEHAND_TOKEN\}|\$FILEHAND_TOKEN/, token),
          ]),
        );
        const mcp = newClient("legacy");
        await mcp.connect(new StreamableHTTPClientTransport(new URL(server.url ?? ""), { requestInit: { headers } }));
        expect(
          (await mcp.listTools()).tools.map(({ name }) => name),
          client,
        ).toContain("Read");
        await mcp.close();
      }
    } finally {
      await stop();
    }
  });

  for (const client of withoutVariables) {
    test(`${client} is refused`, async () => {
      expect(await init(client, "--http", "http://127.0.0.1:1/mcp")).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("is not known to take a token from the environment"),
      });
    });
  }
});

async function startServe(
  args: readonly string[],
): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> {
  const child = spawn(process.execPath, [commandLine, "serve", at("ws"), ...args], {
    cwd: at("ws"),
    env: serverEnvironment({ path: at("home"), remove: () => {} }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "exit");
  const url = await new Promise<string>((resolve, reject) => {
    let said = "";
    for (const pipe of [child.stdout, child.stderr]) {
      pipe.setEncoding("utf8").on("data", (part: string) => {
        said += part;
        const found = /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0];
        if (found !== undefined) resolve(`${found}/mcp`);
      });
    }
    child.on("exit", () => reject(new Error(said)));
  });
  return {
    url,
    stop: async () => {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

describe.runIf(process.platform === "linux").each(Object.entries(replaced))(
  "instead of the tools of %s",
  (client, [project, user]) => {
    test("the settings are written and taken out again, and the files are as without them", async () => {
      expect(await init(client, "--write", "--yes")).toMatchObject({ code: 0 });
      expect(await init(client, "--remove", "--yes")).toMatchObject({ code: 0 });
      const bare = existsSync(at(project)) ? text(project) : undefined;

      const shown = await init(client, "--replace-builtins");
      expect(shown.stdout).toMatch(/deny|exclude|disabled_tools|"read": false|shell_tool = false/);
      expect(await init(client, "--replace-builtins", "--write", "--yes")).toMatchObject({ code: 0 });
      const written = text(project);
      expect(written).toMatch(/deny|exclude|disabled_tools|"read": false|shell_tool = false/);
      expect(await init(client, "--replace-builtins", "--write", "--yes")).toMatchObject({
        stderr: expect.stringContaining("Already there"),
      });
      expect(text(project)).toBe(written);
      expect(await init(client, "--remove", "--yes")).toMatchObject({ code: 0 });
      expect(text(project).replaceAll(/\s/g, "")).toBe((bare ?? "{}").replaceAll(/\s/g, ""));
    });

    test("what the person had before stays, also of what would be written", async () => {
      const before = {
        "claude-code": '{\n  // mine\n  "permissions": { "deny": ["Read", "Bash(rm *)"] }\n}\n',
        codex: '# mine\nmodel = "x"\n\n[features]\nshell_tool = true # on\nother = true\n',
        gemini: '{\n  "tools": {\n    "exclude": [\n      "glob"\n    ]\n  }\n}\n',
        qwen: '{ "tools": { "exclude": ["glob"], "sandbox": false } }\n',
        opencode: '{\n  "tools": { "read": false, "edit": true }\n}\n',
        kilo: '{\n  "tools": {\n    "webfetch": false\n  }\n}\n',
        crush: '{\n  "options": { "disabled_tools": ["ls"] },\n  "mcp": {}\n}\n',
      }[client];
      put(user, before ?? "");
      const done = await init(client, "--scope", "user", "--replace-builtins", "--write", "--yes");
      expect(done, done.stderr).toMatchObject({ code: 0 });
      expect(text(user)).not.toBe(before);
      expect(await init(client, "--scope", "user", "--remove", "--yes")).toMatchObject({ code: 0 });
      // The object of the servers stays, empty.
      const withoutServers = (content = ""): string => content.replace(/,?\s*"(mcp|mcpServers)": \{\s*\}/, "");
      expect(withoutServers(text(user))).toBe(withoutServers(before));
    });

    test("without notes of what was added it stays, and that is said", async () => {
      expect(await init(client, "--replace-builtins", "--write", "--yes", "--state-dir", at("state"))).toMatchObject({
        code: 0,
      });
      const { code, stderr } = await init(client, "--remove", "--yes", "--state-dir", at("other"));
      expect({ code, stderr }).toEqual({
        code: 0,
        stderr: expect.stringContaining("it is not noted that init did that"),
      });
    });
  },
);

test("Claude Code's two files are one question, and nothing is written if the answer is no", async () => {
  const { code, stdout } = await init("claude-code", "--replace-builtins", "--dry-run");
  expect(code).toBe(0);
  expect(stdout).toContain(".mcp.json");
  expect(stdout).toContain("mcp__filehand");
  if (!hasTerminal) return;
  const options = { cwd: at("ws"), env: { HOME: at("home"), PATH: process.env["PATH"] ?? "" } };
  const no = await typing(["n\n"], ["init", "claude-code", "--replace-builtins", "--write"], options);
  expect(no).toMatchObject({ code: 1 });
  expect(readdirSync(at("ws"))).toEqual([]);
  expect(await typing(["y\n"], ["init", "claude-code", "--replace-builtins", "--write"], options)).toMatchObject({
    code: 0,
  });
  expect(readdirSync(at("ws"))).toEqual([".claude", ".mcp.json"]);
});

describe.runIf(process.platform === "linux")("the page of each client", () => {
  const page = (client: string): string => readFileSync(join(rootOfProject, "docs", "clients", `${client}.md`), "utf8");

  test("is there, and nothing else is", () => {
    const pages = readdirSync(join(rootOfProject, "docs", "clients"));
    expect(new Set(pages)).toEqual(
      new Set([
        "README.md",
        "capabilities.md",
        "capabilities.json",
        ...Object.keys(files).map((client) => `${client}.md`),
      ]),
    );
  });

  for (const [client, [project, user]] of Object.entries(files)) {
    test(`${client}: its commands do what it says, and what it shows is what they write`, async () => {
      const [, line = "", config = ""] =
        /```sh\nfilehand init ([^\n]+)\n```[^]*?```(?:jsonc?|toml|yaml)\n([^]*?)```/.exec(page(client)) ?? [];
      expect(line).toContain("--write");
      expect(await init(...line.split(" "), "--yes")).toMatchObject({ code: 0 });
      expect(await init(client, "--remove", "--yes")).toMatchObject({ code: 0 });
      rmSync(at(project ?? user));
      expect(await init(client, "--npx", "--write", "--yes")).toMatchObject({ code: 0 });
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
    expect(text("dotfiles/mcp.json")).toContain("filehand");
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
      ["filehand", process.execPath],
      ["files", process.execPath],
    ]);
  });

  test("options of the server go into its command, folders with their whole path", async () => {
    const { stdout } = await init(
      "cursor",
      "--npx",
      "--json",
      "--root",
      "sub",
      "--mode",
      "read-only",
      "--deny",
      "Read(/x/**)",
    );
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
    [
      "instead of tools that cannot be switched off",
      ["zed", "--replace-builtins"],
      "Zed is not known to have a setting for that",
    ],
    ["an address that is none", ["codex", "--http", "localhost"], "--http must be an address such as"],
    ["an address with a password", ["codex", "--http", "http://a:b@localhost/mcp"], "must have no password in it"],
    [
      "an address and an option of the server",
      ["codex", "--http", "http://127.0.0.1:1/mcp", "--observe"],
      "--observe belongs to filehand serve",
    ],
    ["two ways to start", ["codex", "--npx", "--installed"], "--npx and --installed cannot both be meant"],
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
