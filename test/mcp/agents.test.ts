/**
 * Real agent programs and a model that is a script: each reads a file of 1,500 lines through our server, and the model gets every
 * character of the pages that the ledger counts as shown. Only in the long test (`npm run test:clients`), which installs the
 * programs; `FILEHAND_CLIENTS` is their folder.
 */

import * as fs from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { commandLine, temporaryFolder } from "../ends/run.ts";
import { clientsFolder, endDaemons, type Program, runProgram, write } from "./agent-programs.ts";
import { startScriptedModel } from "./scripted-model.ts";

const codex = (model: string): Program => ({
  package: "codex",
  bin: "codex",
  prepare({ home, url, server }) {
    const { command, args } = server;
    write(
      join(home, ".codex/config.toml"),
      [
        `model = "${model}"`,
        'model_provider = "scripted"',
        'approval_policy = "never"',
        "[model_providers.scripted]",
        'name = "scripted"',
        `base_url = "${url}/v1"`,
        'wire_api = "responses"',
        "requires_openai_auth = false",
        "[mcp_servers.files]",
        `command = ${JSON.stringify(command)}`,
        `args = ${JSON.stringify(args)}`,
        "startup_timeout_sec = 60",
        'default_tools_approval_mode = "approve"',
      ].join("\n"),
    );
    return { args: ["exec", "--skip-git-repo-check", "--sandbox", "danger-full-access", "go"] };
  },
});

const programs: Readonly<Record<string, Program>> = {
  "Claude Code": {
    package: "claude-code",
    bin: `../@anthropic-ai/claude-code-${process.platform}-${process.arch}/claude`,
    prepare({ home, url, server }) {
      const config = join(home, "mcp.json");
      write(config, { mcpServers: { files: server } });
      const env = {
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_API_KEY: "none",
        DISABLE_TELEMETRY: "1",
        DISABLE_AUTOUPDATER: "1",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        ENABLE_TOOL_SEARCH: "false",
      };
      return { args: ["-p", "go", "--mcp-config", config, "--strict-mcp-config", "--allowedTools", "mcp__files"], env };
    },
  },
  "Codex with a model that it does not know": codex("scripted"),
  "Codex with a model that it knows": codex("gpt-5"),
  "Gemini CLI": {
    package: "gemini",
    bin: "gemini",
    prepare({ home, url, server }) {
      write(join(home, ".gemini/settings.json"), {
        security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
        general: { disableAutoUpdate: true, enableAutoUpdate: false },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
        mcpServers: { files: { ...server, trust: true } },
      });
      const env = { GEMINI_API_KEY: "none", GOOGLE_GEMINI_BASE_URL: url, GEMINI_MODEL: "gemini-2.5-pro" };
      return { args: ["-p", "go", "--approval-mode", "yolo"], env: { ...env, GEMINI_CLI_TRUST_WORKSPACE: "true" } };
    },
  },
  opencode: {
    package: "opencode",
    // What is in .bin asks for the package's install script, which would only link this one.
    bin: `../opencode-${process.platform}-${process.arch}/bin/opencode`,
    prepare({ workspace, url, server }) {
      const model = {
        name: "scripted",
        tool_call: true,
        limit: { context: 1_000_000, output: 10_000 },
      };
      const provider = {
        npm: "@ai-sdk/openai-compatible",
        name: "scripted",
        options: { baseURL: `${url}/v1`, apiKey: "none" },
        models: { scripted: model },
      };
      write(join(workspace, "opencode.json"), {
        autoupdate: false,
        share: "disabled",
        model: "scripted/scripted",
        small_model: "scripted/scripted",
        provider: { scripted: provider },
        mcp: { files: { type: "local", command: [server.command, ...server.args], enabled: true, timeout: 60_000 } },
      });
      return { args: ["run", "go", "-m", "scripted/scripted"] };
    },
  },
  "Qwen Code": {
    package: "qwen",
    bin: "qwen",
    node: "newer",
    prepare({ home, url, server }) {
      write(join(home, ".qwen/settings.json"), {
        security: { auth: { selectedType: "openai" }, folderTrust: { enabled: false } },
        general: { disableAutoUpdate: true, enableAutoUpdate: false },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
        // The tools themselves and no search for them: the script is no model that could search.
        tools: { toolSearch: { enabled: false } },
        mcpServers: { files: { ...server, trust: true } },
      });
      const env = { OPENAI_API_KEY: "none", OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: "scripted" };
      return { args: ["-p", "go", "--approval-mode", "yolo"], env };
    },
  },
  "Copilot CLI": {
    package: "copilot",
    bin: "copilot",
    node: "newer",
    prepare({ home, url, server }) {
      write(join(home, ".copilot/mcp-config.json"), {
        mcpServers: { files: { type: "local", ...server, tools: ["*"] } },
      });
      const env = {
        COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
        COPILOT_PROVIDER_API_KEY: "none",
        COPILOT_MODEL: "gpt-4.1",
        COPILOT_OFFLINE: "true",
        COPILOT_AUTO_UPDATE: "false",
      };
      return { args: ["-p", "go", "--allow-all-tools", "--no-color"], env };
    },
  },
  "Kimi Code": {
    package: "kimi",
    bin: "kimi",
    node: "newer",
    prepare({ home, url, server }) {
      write(join(home, ".kimi-code/mcp.json"), { mcpServers: { files: server } });
      const env = {
        KIMI_MODEL_NAME: "scripted",
        KIMI_MODEL_PROVIDER_TYPE: "openai",
        KIMI_MODEL_API_KEY: "none",
        KIMI_MODEL_BASE_URL: `${url}/v1`,
        KIMI_MODEL_MAX_CONTEXT_SIZE: "1000000",
        KIMI_CODE_NO_AUTO_UPDATE: "1",
      };
      return { args: ["-p", "go"], env };
    },
  },
  Cline: {
    package: "cline",
    bin: "cline",
    prepare({ url, server }) {
      return {
        before: [
          ["auth", "-p", "openai", "-k", "none", "-m", "scripted", "-b", `${url}/v1`],
          ["mcp", "install", "files", "--yes", "--", server.command, ...server.args],
        ],
        args: ["--auto-approve", "true", "read the file"],
      };
    },
  },
};

const content = Array.from({ length: 1_500 }, (_, index) => {
  const number = String(index + 1).padStart(4, "0");
  return `line ${number}: const value${number} = compute(${index}, "text of this line");`.padEnd(65, "/");
});

describe.skipIf(clientsFolder === undefined)("a file of 1,500 lines, read through our server by", () => {
  test.each(Object.entries(programs))(
    "%s",
    async (_name, program) => {
      const [workspace, home] = [temporaryFolder(), temporaryFolder()];
      onTestFinished(() => {
        endDaemons(workspace.path);
        workspace.remove();
        home.remove();
      });
      const file = join(workspace.path, "long.txt");
      const text = `${content.join("\n")}\n`;
      fs.writeFileSync(file, text);
      const isWrite = (result: string): boolean => !/^\s*\d+\t/m.test(result);
      const model = await startScriptedModel("files", (results) => {
        if (results.length === 0) return { tool: "Read", input: { file_path: file } };
        if (results.length === 1) return { tool: "Write", input: { file_path: file, content: "overwritten\n" } };
        const last = results.findLast((result) => !isWrite(result)) ?? "";
        const next = /go on with offset (\d+)/.exec(last)?.[1];
        return next === undefined ? undefined : { tool: "Read", input: { file_path: file, offset: Number(next) } };
      });
      const args = [commandLine, "mcp", workspace.path, "--allow", "Edit"];
      const server = { command: process.execPath, args };
      const prepared = program.prepare({ workspace: workspace.path, home: home.path, url: model.url, server });
      let output = "";
      for (const one of [...(prepared.before ?? []), prepared.args]) {
        output += await runProgram(program, { ...prepared, args: one }, { workspace: workspace.path, home: home.path });
      }
      const pages = model.results.filter((result) => !isWrite(result));
      const explained = `${output}\n${model.asked.map((one) => one.slice(0, 300)).join("\n")}`;
      expect(pages.length, explained).toBeGreaterThan(0);
      // Each page has all of the lines that its note speaks of: nothing was cut on the way.
      const shown: string[] = [];
      for (const page of pages) {
        const lines = [...page.matchAll(/^ *(\d+)\t(.*)$/gm)];
        lines.forEach(([, number, line]) => {
          expect(Number(number)).toBe(shown.length + 1);
          shown.push(line ?? "");
        });
        const said = /lines (\d+) to (\d+) of 1500/.exec(page);
        if (shown.length < content.length) expect(Number(said?.[2])).toBe(shown.length);
      }
      expect(shown).toEqual(content);
      const [refused] = model.results.filter(isWrite);
      if (pages.length > 1) {
        expect(refused).toMatch(/read/i);
        expect(fs.readFileSync(file, "utf8")).toBe(text);
      }
      process.stdout.write(
        `${_name}: ${pages.length} pages, ${Math.max(...pages.map((page) => page.length))} characters at most\n`,
      );
    },
    170_000,
  );
});
