/** Which file each client reads, on each system and in each scope. */

import { describe, expect, test } from "vitest";
import { clients, type Place, usualScope } from "./clients.ts";

const linux: Place = { platform: "linux", home: "/home/me", cwd: "/work", env: {} };
const mac: Place = { platform: "darwin", home: "/Users/me", cwd: "/work", env: {} };
const windows: Place = { platform: "win32", home: "C:\\Users\\me", cwd: "D:\\work", env: { APPDATA: "C:\\Roaming" } };

const user: Readonly<Record<string, readonly [Place, string][]>> = {
  "claude-code": [
    [linux, "/home/me/.claude.json"],
    [mac, "/Users/me/.claude.json"],
    [windows, "C:\\Users\\me\\.claude.json"],
    [{ ...linux, env: { CLAUDE_CONFIG_DIR: "/c" } }, "/c/.claude.json"],
  ],
  "claude-desktop": [
    [linux, "/home/me/.config/Claude/claude_desktop_config.json"],
    [mac, "/Users/me/Library/Application Support/Claude/claude_desktop_config.json"],
    [windows, "C:\\Roaming\\Claude\\claude_desktop_config.json"],
  ],
  cursor: [
    [linux, "/home/me/.cursor/mcp.json"],
    [windows, "C:\\Users\\me\\.cursor\\mcp.json"],
  ],
  vscode: [
    [linux, "/home/me/.config/Code/User/mcp.json"],
    [mac, "/Users/me/Library/Application Support/Code/User/mcp.json"],
    [windows, "C:\\Roaming\\Code\\User\\mcp.json"],
    [{ ...windows, env: {} }, "C:\\Users\\me\\AppData\\Roaming\\Code\\User\\mcp.json"],
  ],
  zed: [
    [linux, "/home/me/.config/zed/settings.json"],
    [mac, "/Users/me/.config/zed/settings.json"],
    [windows, "C:\\Roaming\\Zed\\settings.json"],
    [{ ...linux, env: { XDG_CONFIG_HOME: "/x" } }, "/x/zed/settings.json"],
    [{ ...linux, env: { XDG_CONFIG_HOME: "relative" } }, "/home/me/.config/zed/settings.json"],
  ],
  codex: [
    [linux, "/home/me/.codex/config.toml"],
    [{ ...mac, env: { CODEX_HOME: "/c" } }, "/c/config.toml"],
  ],
  gemini: [[linux, "/home/me/.gemini/settings.json"]],
  qwen: [[linux, "/home/me/.qwen/settings.json"]],
  kilo: [
    [linux, "/home/me/.config/kilo/kilo.json"],
    [{ ...linux, env: { XDG_CONFIG_HOME: "/x" } }, "/x/kilo/kilo.json"],
  ],
  copilot: [
    [linux, "/home/me/.copilot/mcp-config.json"],
    [{ ...linux, env: { COPILOT_HOME: "/c" } }, "/c/mcp-config.json"],
  ],
  kimi: [
    [linux, "/home/me/.kimi-code/mcp.json"],
    [{ ...linux, env: { KIMI_CODE_HOME: "/k" } }, "/k/mcp.json"],
  ],
  cline: [[linux, "/home/me/.cline/data/settings/cline_mcp_settings.json"]],
  goose: [
    [linux, "/home/me/.config/goose/config.yaml"],
    [mac, "/Users/me/.config/goose/config.yaml"],
    [windows, "C:\\Roaming\\Block\\goose\\config\\config.yaml"],
  ],
  continue: [
    [linux, "/home/me/.continue/mcpServers/filehand.json"],
    [{ ...linux, env: { CONTINUE_GLOBAL_DIR: "/c" } }, "/c/mcpServers/filehand.json"],
  ],
  windsurf: [
    [linux, "/home/me/.codeium/windsurf/mcp_config.json"],
    [windows, "C:\\Users\\me\\.codeium\\windsurf\\mcp_config.json"],
  ],
  amp: [[linux, "/home/me/.config/amp/settings.json"]],
  crush: [
    [linux, "/home/me/.config/crush/crush.json"],
    [windows, "C:\\Users\\me\\AppData\\Local\\crush\\crush.json"],
  ],
  opencode: [
    [linux, "/home/me/.config/opencode/opencode.json"],
    [windows, "C:\\Users\\me\\.config\\opencode\\opencode.json"],
  ],
};

const project: Readonly<Record<string, string | undefined>> = {
  "claude-code": "/work/.mcp.json",
  "claude-desktop": undefined,
  cursor: "/work/.cursor/mcp.json",
  vscode: "/work/.vscode/mcp.json",
  zed: "/work/.zed/settings.json",
  codex: "/work/.codex/config.toml",
  gemini: "/work/.gemini/settings.json",
  opencode: "/work/opencode.json",
  qwen: "/work/.qwen/settings.json",
  kilo: "/work/kilo.json",
  copilot: "/work/.github/mcp.json",
  kimi: "/work/.kimi-code/mcp.json",
  cline: undefined,
  goose: undefined,
  continue: "/work/.continue/mcpServers/filehand.json",
  windsurf: undefined,
  amp: "/work/.amp/settings.json",
  crush: "/work/.crush.json",
};

describe.each(clients)("$id", (client) => {
  test("the user's file", () => {
    const expected = user[client.id] ?? [];
    expect(expected.map(([place]) => client.files("user", place)?.[0])).toEqual(expected.map(([, file]) => file));
    expect(expected.length).toBeGreaterThan(0);
  });

  test("without a home there is none", () => {
    expect(client.files("user", { ...linux, home: undefined })).toBeUndefined();
  });

  test("the project's file, which is the usual one", () => {
    expect(client.files("project", linux)?.[0]).toBe(project[client.id]);
    expect(usualScope(client, linux)).toBe(project[client.id] === undefined ? "user" : "project");
  });
});
