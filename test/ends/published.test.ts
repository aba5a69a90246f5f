/** What registries and desktop programs get: server.json, and the bundle, unpacked and run. */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { unzipSync } from "fflate";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newClient, serverEnvironment } from "../mcp/server.ts";
import { project, run, temporaryFolder } from "./run.ts";

const own = JSON.parse(readFileSync(join(project, "package.json"), "utf8")) as {
  name: string;
  version: string;
  mcpName: string;
};

describe("server.json", () => {
  const server = JSON.parse(readFileSync(join(project, "server.json"), "utf8")) as {
    name: string;
    description: string;
    version: string;
    packages: { identifier: string; version: string; registryType: string; transport: { type: string } }[];
  };

  test("has the name that package.json claims, and its version", () => {
    expect(server.name).toBe(own.mcpName);
    expect(server.version).toBe(own.version);
    expect(server.packages).toHaveLength(1);
    expect(server.packages[0]).toMatchObject({
      identifier: own.name,
      version: own.version,
      registryType: "npm",
      transport: { type: "stdio" },
    });
  });

  test("keeps to the limits of the registry", () => {
    expect(server.name).toMatch(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/);
    expect(server.description.length).toBeLessThanOrEqual(100);
  });
});

describe("the bundle", () => {
  const folder = temporaryFolder();
  afterAll(() => folder.remove());
  const unpacked = join(folder.path, "unpacked");
  let files: Readonly<Record<string, Uint8Array>> = {};

  beforeAll(async () => {
    const file = join(folder.path, "filehand.mcpb");
    // Without the build, which the tests have behind them.
    const made = await run(process.execPath, ["scripts/bundle.js", file], { cwd: project });
    expect(made.code, made.stderr).toBe(0);
    files = unzipSync(readFileSync(file));
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(unpacked, path)), { recursive: true });
      writeFileSync(join(unpacked, path), content);
    }
    mkdirSync(join(folder.path, "ws"));
    writeFileSync(join(folder.path, "ws", "a.txt"), "one\ntwo\n");
  });

  const manifest = (): {
    version: string;
    manifest_version: string;
    tools: { name: string }[];
    server: { entry_point: string; mcp_config: { args: string[] } };
    user_config: Record<string, { type: string; multiple: boolean }>;
  } => JSON.parse(Buffer.from(files["manifest.json"] ?? []).toString("utf8"));

  test("has a manifest whose program is in it", () => {
    const { version, manifest_version, server, user_config } = manifest();
    expect([version, manifest_version]).toEqual([own.version, "0.3"]);
    expect(Object.keys(files)).toContain(server.entry_point);
    const [program, ...args] = server.mcp_config.args;
    expect(program).toBe(`\${__dirname}/${server.entry_point}`);
    expect(args).toEqual(["mcp", "${user_config.folders}"]);
    expect(user_config["folders"]).toMatchObject({ type: "directory", multiple: true });
  });

  test("has nothing but what runs everywhere, and the licences", () => {
    const expected =
      /^(?:manifest\.json|package\.json|LICENSE|dist\/(?:filehand\.cjs|cli\/.+|THIRD-PARTY\.txt)|node_modules\/(?:ripgrep|@embedpdf\/pdfium)\/.+)$/;
    expect(Object.keys(files).filter((path) => !expected.test(path))).toEqual([]);
    expect(Object.keys(files).filter((path) => /\.(?:node|map|d\.ts)$/.test(path))).toEqual([]);
  });

  test("its command starts a server that reads in the chosen folders and nowhere else", async () => {
    const folders = [join(folder.path, "ws"), join(folder.path, "unpacked", "dist")];
    const args = manifest().server.mcp_config.args.flatMap((one) =>
      one === "${user_config.folders}" ? folders : one.replace("${__dirname}", unpacked),
    );
    const client = newClient("modern");
    const env = serverEnvironment(folder);
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args, cwd: "/", env, stderr: "ignore" }),
    );
    try {
      const offered = (await client.listTools()).tools.map(({ name }) => name);
      expect(offered).toEqual(expect.arrayContaining(manifest().tools.map(({ name }) => name)));
      const read = (path: string) => client.callTool({ name: "Read", arguments: { file_path: path } });
      expect(await read(join(folder.path, "ws", "a.txt"))).toMatchObject({
        content: [{ type: "text", text: expect.stringContaining("1→one\n2→two") }],
      });
      expect(await read(join(unpacked, "manifest.json"))).toMatchObject({ isError: true });
    } finally {
      await client.close();
    }
  });

  test("runs where nothing else is installed, and searches with what it brings", async () => {
    const filehand = (...args: readonly string[]) =>
      run(process.execPath, [join(unpacked, manifest().server.entry_point), ...args], {
        cwd: join(folder.path, "ws"),
        env: { HOME: folder.path, XDG_STATE_HOME: join(folder.path, "state"), PATH: undefined },
      });
    expect(await filehand("read", "a.txt")).toMatchObject({ code: 0, stdout: "1→one\n2→two\n" });
    expect(await filehand("grep", "tw")).toMatchObject({ code: 0, stdout: expect.stringContaining("two") });
    const { stdout } = await filehand("doctor");
    expect(stdout).toMatch(/^ok +ripgrep +the one in WebAssembly/m);
    expect(stdout).toMatch(/^note +sharp +not installed/m);
  });
});
