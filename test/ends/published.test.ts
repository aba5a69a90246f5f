/** What registries and desktop programs get: server.json, and the bundle, unpacked and run. */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { unzipSync } from "fflate";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { modes } from "../../src/contract/permission.ts";
import { newClient, serverEnvironment } from "../mcp/server.ts";
import { commandLine, project, run, temporaryFolder } from "./run.ts";

const own = JSON.parse(readFileSync(join(project, "package.json"), "utf8")) as {
  name: string;
  version: string;
  mcpName: string;
};

/**
 * What the registry's schema of 2025-12-11 (`$defs` ServerDetail, Package, PositionalArgument, NamedArgument, StdioTransport) wants of
 * the parts that our file has. Stricter in one thing: a key that is not known there is refused, since it would be without effect.
 */
const input = {
  description: z.string().optional(),
  isRequired: z.boolean().optional(),
  isSecret: z.boolean().optional(),
  isRepeated: z.boolean().optional(),
  format: z.enum(["string", "number", "boolean", "filepath"]).optional(),
  value: z.string().optional(),
  default: z.string().optional(),
  placeholder: z.string().optional(),
  choices: z.array(z.string()).optional(),
};
const positional = z
  .strictObject({ ...input, type: z.literal("positional"), valueHint: z.string().optional() })
  .refine(({ value, valueHint }) => value !== undefined || valueHint !== undefined);
const named = z.strictObject({ ...input, type: z.literal("named"), name: z.string() });
/** Neither a range nor a word for one. */
const version = z
  .string()
  .min(1)
  .max(255)
  .regex(/^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/);
const schema = z.strictObject({
  $schema: z.literal("https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"),
  name: z
    .string()
    .min(3)
    .max(200)
    .regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
  title: z.string().min(1).max(100).optional(),
  description: z.string().min(1).max(100),
  version,
  packages: z.array(
    z.strictObject({
      registryType: z.literal("npm"),
      identifier: z.string(),
      version,
      runtimeHint: z.string().optional(),
      transport: z.strictObject({ type: z.literal("stdio") }),
      packageArguments: z.array(z.union([positional, named])),
    }),
  ),
});

describe("server.json", () => {
  const server = schema.parse(JSON.parse(readFileSync(join(project, "server.json"), "utf8")));

  test("has the name that package.json claims, and its version", () => {
    expect(server.name).toBe(own.mcpName);
    expect(server.version).toBe(own.version);
    expect(server.packages).toMatchObject([{ identifier: own.name, version: own.version }]);
  });

  for (const [what, change] of [
    ["a name without a slash", { name: "filehand" }],
    ["a range for a version", { version: "^1.2.3" }],
    ["a longer description", { description: "x".repeat(101) }],
    ["a key of another version", { websiteURL: "https://example.com" }],
    [
      "an argument without a value or a hint",
      { packages: [{ ...server.packages[0], packageArguments: [{ type: "positional" }] }] },
    ],
    ["no transport", { packages: [{ ...server.packages[0], transport: undefined }] }],
  ] as const) {
    test(`${what} would not be taken by this test`, () => {
      expect(schema.safeParse({ ...server, ...change }).success).toBe(false);
    });
  }

  test("the command that a client makes of it starts a server with what the person chose", async () => {
    const folder = temporaryFolder();
    onTestFinished(() => folder.remove());
    for (const name of ["one", "two"]) {
      mkdirSync(join(folder.path, name));
      writeFileSync(join(folder.path, name, "a.txt"), `${name}\n`);
    }
    const chosen: Readonly<Record<string, readonly string[]>> = {
      "--root": [join(folder.path, "one"), join(folder.path, "two")],
      "--mode": ["read-only"],
    };
    // A named argument is written `--flag=value`, a positional one as it is.
    const args = (server.packages[0]?.packageArguments ?? []).flatMap((one) =>
      one.type === "positional" ? [one.value ?? ""] : (chosen[one.name] ?? []).map((value) => `${one.name}=${value}`),
    );
    expect(args).toHaveLength(4);
    const client = newClient("modern");
    const transport = {
      command: process.execPath,
      args: [commandLine, ...args],
      cwd: "/",
      env: serverEnvironment(folder),
    };
    await client.connect(new StdioClientTransport({ ...transport, stderr: "ignore" }));
    try {
      for (const name of ["one", "two"]) {
        const read = await client.callTool({
          name: "Read",
          arguments: { file_path: join(folder.path, name, "a.txt") },
        });
        expect(read).toMatchObject({ content: [{ text: expect.stringContaining(`1\t${name}`) }] });
      }
      const written = { file_path: join(folder.path, "one", "b.txt"), content: "" };
      expect(await client.callTool({ name: "Write", arguments: written })).toMatchObject({ isError: true });
      expect(existsSync(written.file_path)).toBe(false);
    } finally {
      await client.close();
    }
  });

  test("every choice that it names is one of the command", () => {
    const modesNamed = server.packages[0]?.packageArguments.find(
      (one) => one.type === "named" && one.name === "--mode",
    );
    expect(new Set(modesNamed?.choices)).toEqual(new Set(modes));
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
      /^(?:manifest\.json|package\.json|LICENSE|dist\/(?:(?:filehand|main|node-version)\.cjs|(?:cli|parts)\/.+|THIRD-PARTY\.txt)|node_modules\/(?:@embedpdf\/pdfium)\/.+)$/;
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
        content: [{ type: "text", text: expect.stringContaining("1\tone\n2\ttwo") }],
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
