/** The package as a user gets it: packed, installed into an empty folder, imported, typed and run. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { environment, project, run, temporaryFolder } from "./run.ts";

const folder = temporaryFolder();
afterAll(() => folder.remove());

const adapters = [
  "ai-sdk",
  "anthropic",
  "openai-agents",
  "langchain",
  "standard-schema",
  "acp",
  "mcp",
  "claude-agent",
  "mastra",
  "google-genai",
  "llamaindex",
];
/** What those who use an adapter have installed themselves. */
const hosts = ["ai", "@anthropic-ai/sdk", "@openai/agents", "@langchain/core", "@agentclientprotocol/sdk"];

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}
let files: readonly string[] = [];

/** How whoever runs the tests gets to the registry. */
const network = Object.fromEntries(
  Object.entries(process.env).filter(([name]) =>
    /^(?:.*_proxy|npm_config_(?:registry|cafile)|ssl_cert_file)$/iu.test(name),
  ),
);

const npm = async (args: readonly string[], cwd: string): Promise<string> => {
  const ran = await run("npm", [...args, "--ignore-scripts", "--no-audit", "--no-fund"], { cwd, env: network });
  expect(ran.code, ran.stderr).toBe(0);
  return ran.stdout;
};

beforeAll(async () => {
  const packed = JSON.parse(await npm(["pack", "--json", "--pack-destination", folder.path], project)) as Packed[];
  const [{ filename, files: list } = { filename: "", files: [] }] = packed;
  files = list.map(({ path }) => path);
  writeFileSync(join(folder.path, "package.json"), '{"private": true, "type": "module"}');
  writeFileSync(join(folder.path, "hello.txt"), "hello\nthere\n");
  await npm(["install", "--prefer-offline", join(folder.path, filename)], folder.path);
  // A registry may be slow, and a newcomer waits for it too.
}, 900_000);

describe("what is in it", () => {
  for (const needed of [
    "LICENSE",
    "README.md",
    "package.json",
    "settings.schema.json",
    "dist/filehand.cjs",
    "dist/index.js",
    "dist/types/index.d.ts",
    "dist/types/shared.d.ts",
    "plugins/opencode/filehand.js",
    ".claude-plugin/marketplace.json",
    ...["claude", "opencode", "opencode-legacy", "envelope"].map((name) => `dist/dialects/${name}.js`),
    ...adapters.map((name) => `dist/adapters/${name}.js`),
  ]) {
    test(needed, () => expect(files).toContain(needed));
  }

  test("nothing but what is built, described and licensed", () => {
    const expected =
      /^(?:dist\/.+|man\/filehand\.1|plugins\/.+|\.claude-plugin\/marketplace\.json|package\.json|settings\.schema\.json|README(?:\.zh-CN)?\.md|CHANGELOG\.md|LICENSE)$/;
    expect(files.filter((path) => !expected.test(path))).toEqual([]);
    expect(files.filter((path) => /\.test\.|\.map$|(?<!\.d)\.ts$/.test(path))).toEqual([]);
  });

  test("every file that its package.json names", () => {
    type Named = string | { readonly [key: string]: Named };
    const { bin, exports } = JSON.parse(readFileSync(join(project, "package.json"), "utf8")) as Record<string, Named>;
    const filesOf = (one: Named | undefined): readonly string[] =>
      typeof one === "string" ? [one] : Object.values(one ?? {}).flatMap(filesOf);
    const named = [...filesOf(bin), ...filesOf(exports)];
    expect(named.length).toBeGreaterThan(40);
    for (const path of named) expect(files).toContain(path.replace(/^\.\//, ""));
  });

  test("one file of types for each entry, and one that they share", () => {
    const types = files.filter((path) => path.endsWith(".d.ts"));
    expect(types).toHaveLength(1 + 4 + adapters.length + 1);
  });
});

describe("as a library", () => {
  const script = async (body: string): Promise<string> => {
    writeFileSync(join(folder.path, "script.mjs"), body);
    const ran = await run(process.execPath, ["script.mjs"], { cwd: folder.path });
    expect(ran.code, ran.stderr).toBe(0);
    return ran.stdout;
  };

  test("every dialect reads a file", async () => {
    const printed = await script(`
      import { createFilehand } from "filehand";
      const filehand = createFilehand({ roots: ["."] });
      const { tools: claude } = filehand.session();
      const { tools: opencode } = filehand.session({ dialect: "opencode" });
      const { tools: legacy } = filehand.session({ dialect: "opencode-legacy" });
      const { tools: envelope } = filehand.session({ dialect: "envelope" });
      console.log(JSON.stringify([
        (await claude.Read({ file_path: "hello.txt" })).file.content,
        (await opencode.read({ filePath: "hello.txt", offset: 2 })).metadata.preview,
        (await legacy.read({ filePath: "hello.txt", offset: 1 })).metadata.preview,
        (await envelope.Read({ path: "hello.txt", start_line: 2 })).data.content,
      ]));`);
    expect(JSON.parse(printed)).toEqual(["hello\nthere", "there", "there\n", "   2 | there\n"]);
  });

  test("a failure is thrown where the dialect throws, and returned where it does not", async () => {
    const printed = await script(`
      import { createFilehand, FilehandError } from "filehand";
      const filehand = createFilehand({ roots: ["."] });
      const thrown = await filehand.session().tools.Read({ file_path: "no-such-file" }).catch((error) => error);
      const returned = await filehand.session({ dialect: "envelope" }).tools.Read({ path: "no-such-file" });
      console.log(JSON.stringify([thrown instanceof FilehandError, thrown.code, returned.error.code]));`);
    expect(JSON.parse(printed)).toEqual([true, "NOT_FOUND", "NOT_FOUND"]);
  });

  test("the subpaths can be imported", async () => {
    const printed = await script(`
      import { createRequire } from "node:module";
      const names = ["claude", "opencode", "opencode-legacy", "envelope"];
      const dialects = await Promise.all(names.map((name) => import("filehand/dialects/" + name)));
      const schema = createRequire(import.meta.url)("filehand/settings.schema.json");
      const found = dialects.flatMap((module) => Object.values(module).map(({ name }) => name));
      console.log(JSON.stringify([found, schema.title]));`);
    expect(JSON.parse(printed)).toEqual([["claude", "opencode", "opencode-legacy", "envelope"], "Filehand settings"]);
  });

  test("no host is installed along, and the adapter that needs none works without", async () => {
    for (const host of hosts) expect(existsSync(join(folder.path, "node_modules", host)), host).toBe(false);
    const printed = await script(`
      import { createFilehand } from "filehand";
      import { fileTools } from "filehand/standard-schema";
      const [read] = fileTools(createFilehand({ roots: ["."], reminder: false }).session(), { only: ["Read"] });
      const reply = await read.execute({ file_path: "hello.txt" });
      const missing = await import("filehand/langchain").catch(({ code }) => code);
      console.log(JSON.stringify([reply.content[0].text, missing]));`);
    expect(JSON.parse(printed)).toEqual(["1\thello\n2\tthere", "ERR_MODULE_NOT_FOUND"]);
  });

  test("every adapter can be imported beside its host, and shares the library's sessions", async () => {
    // A consumer's own install of the hosts: the very packages that are installed for the tests.
    const consumer = temporaryFolder();
    onTestFinished(() => consumer.remove());
    const modules = join(consumer.path, "node_modules");
    cpSync(join(folder.path, "node_modules"), modules, { recursive: true, verbatimSymlinks: true });
    for (const host of hosts) {
      mkdirSync(dirname(join(modules, host)), { recursive: true });
      symlinkSync(join(project, "node_modules", host), join(modules, host));
    }
    writeFileSync(
      join(consumer.path, "script.mjs"),
      `import { createFilehand } from "filehand";
       const filehand = createFilehand({ roots: ["."] });
       const session = filehand.session({ dialect: "claude" });
       const counts = {};
       for (const name of ${JSON.stringify(adapters)}) {
         const { fileTools, fileFunctions, ...others } = await import("filehand/" + name);
         const open = others.clientFiles ?? others.fileOptions ?? others.createMcpServer;
         counts[name] = Object.keys(fileTools?.(session) ?? fileFunctions?.(session).functionDeclarations ?? open(filehand)).length;
       }
       console.log(JSON.stringify(counts));`,
    );
    const ran = await run(process.execPath, ["script.mjs"], { cwd: consumer.path });
    expect(ran.code, ran.stderr).toBe(0);
    const tools = 11;
    const others = { acp: 4, mcp: 4, "claude-agent": 4 };
    expect(JSON.parse(ran.stdout)).toEqual({ ...Object.fromEntries(adapters.map((name) => [name, tools])), ...others });
  });

  test("CommonJS can require it", async () => {
    writeFileSync(
      join(folder.path, "script.cjs"),
      `const { createFilehand } = require("filehand");
       const { claude } = require("filehand/dialects/claude");
       const { tools } = createFilehand({ roots: ["."] }).session();
       tools.Read({ file_path: "hello.txt" }).then(({ file }) => console.log(claude.name, file.totalLines));`,
    );
    const ran = await run(process.execPath, ["script.cjs"], { cwd: folder.path });
    expect(ran).toEqual({ code: 0, stdout: "claude 2\n", stderr: "" });
  });

  test("what is not exported cannot be imported", async () => {
    const printed = await script(`
      const error = await import("filehand/dist/index.js").catch((reason) => reason);
      console.log(error.code);`);
    expect(printed).toBe("ERR_PACKAGE_PATH_NOT_EXPORTED\n");
  });
});

describe("as a program", () => {
  const npx = (...args: readonly string[]) =>
    run("npx", ["--no", "--", "filehand", ...args], { cwd: folder.path, env: { XDG_CONFIG_HOME: folder.path } });

  test("npx filehand read", async () => {
    expect(await npx("read", "hello.txt")).toMatchObject({ code: 0, stdout: "1→hello\n2→there\n" });
  });

  test("npx filehand --version says what package.json says", async () => {
    const { version } = JSON.parse(readFileSync(join(project, "package.json"), "utf8")) as { version: string };
    expect(await npx("--version")).toMatchObject({ code: 0, stdout: `${version}\n` });
  });

  test("the inspector's page is there, also for a program that was started through npm's link", async () => {
    const program = join(folder.path, "node_modules", ".bin", "filehand");
    const child = spawn(program, ["serve", "--port", "0"], { cwd: folder.path, env: environment() });
    try {
      const [address] = (await once(child.stdout, "data")) as [Buffer];
      const page = await fetch(/http:\S+/.exec(String(address))?.[0] ?? "");
      expect(await page.text()).toContain('<div id="page">');
    } finally {
      child.kill();
      await once(child, "close");
    }
  });
});

describe("as types", () => {
  const compile = async (name: string, body: string, options: Readonly<Record<string, string>> = {}) => {
    const file = name.includes(".") ? name : `${name}.ts`;
    writeFileSync(join(folder.path, file), body);
    const compilerOptions = {
      strict: true,
      skipLibCheck: false,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      module: "nodenext",
      target: "es2022",
      noEmit: true,
      // The consumer's own types of Node: `AbortSignal` is one of them.
      types: ["node"],
      typeRoots: [join(project, "node_modules", "@types")],
      ...options,
    };
    const config = join(folder.path, `${name}.tsconfig.json`);
    writeFileSync(config, JSON.stringify({ compilerOptions, files: [file] }));
    return run(join(project, "node_modules", ".bin", "tsc"), ["-p", config], { cwd: folder.path });
  };

  test("a strict program that uses the typed functions compiles", async () => {
    const ran = await compile(
      "right",
      `import { type Asker, createFilehand, FilehandError, type Reply } from "filehand";
       import { claude, type ReadInput } from "filehand/dialects/claude";

       const ask: Asker = async () => ({ reply: "once" });
       const filehand = createFilehand({ roots: ["."], permissions: { deny: ["Read(x)"] }, ask });
       const session = filehand.session({ dialect: "claude" });
       const input: ReadInput = { file_path: "hello.txt", offset: 1 };
       const answer = await session.tools.Read(input);
       const lines: number = answer.type === "text" ? answer.file.numLines : 0;
       const reply: Reply = await session.call("Read", input, { signal: new AbortController().signal });
       const envelope = await filehand.session({ dialect: "envelope" }).tools.Read({ path: "hello.txt" });
       const text: string = envelope.status === "error" ? envelope.error.code : envelope.data.content;
       const code: string = new FilehandError("NOT_FOUND", "").code;
       export { claude, code, lines, reply, text };`,
    );
    expect(ran).toEqual({ code: 0, stdout: "", stderr: "" });
  });

  test("so does one that looks back, by the names of what it is given", async () => {
    const ran = await compile(
      "past",
      `import * as filehand from "filehand";

       const toolkit: filehand.Filehand = filehand.createFilehand({ roots: ["."], stateDir: "state" });
       const session: filehand.Session = toolkit.session({ dialect: "claude", id: "one" });
       const observed: filehand.Observed = await session.observe();
       const past: filehand.SessionHistory | undefined = await session.history();
       const all: filehand.History | undefined = await toolkit.history();
       const snapshot: filehand.Snapshot | undefined = past?.snapshots()[0];
       const version: filehand.FileVersion | undefined = snapshot?.trackedFileBackups["a"];
       const turn: filehand.TurnChanges | undefined = past?.turns()[0];
       const change: filehand.FileChange | undefined = turn?.files[0];
       const stats: filehand.DiffStats | undefined = await past?.diffStats("m1");
       const options: filehand.RewindOptions = { files: ["a"], force: true, dryRun: true };
       const outcome: filehand.RewindOutcome = await session.rewind("m1", options);
       const file: filehand.RewoundFile | undefined = outcome.files[0];
       const step: filehand.RewindStep | undefined = file?.step;
       const refused: string | undefined = await session.readRefusal("a");
       export { all, change, observed, refused, stats, step, version };`,
    );
    expect(ran).toEqual({ code: 0, stdout: "", stderr: "" });
  });

  for (const [what, file, options] of [
    ["node16", "names.ts", { module: "node16" }],
    ["nodenext", "names.ts", { module: "nodenext" }],
    ["bundler", "names.ts", { module: "esnext", moduleResolution: "bundler" }],
    ["CommonJS under node16", "names.cts", { module: "node16" }],
  ] as const) {
    test(`public types can be named: ${what}`, async () => {
      const ran = await compile(
        file,
        `import { createFilehand, type EditRequest, type FilePage, type Usage, type Workspace } from "filehand";
         import { claude, type EditInput } from "filehand/dialects/claude";
         import { fileTools } from "filehand/standard-schema";

         const session = createFilehand({ roots: ["."] }).session({ dialect: "claude" });
         const workspace: Workspace = session.workspace;
         const page: Promise<FilePage> = workspace.files({ max: 10 });
         const edit = async (input: EditInput) => (await session.tools.Edit(input)).structuredPatch;
         const pathOf = (request: EditRequest): string => request.path;
         const bytesOf = (usage: Usage): number => Object.keys(usage).length;
         export { bytesOf, claude, edit, fileTools, page, pathOf };`,
        options,
      );
      expect(ran).toEqual({ code: 0, stdout: "", stderr: "" });
    });
  }

  for (const [name, call, error] of [
    ["a wrong parameter", "session.tools.Read({ filePath: 1 })", "'filePath' does not exist in type 'ReadInput"],
    ["a wrong type", "session.tools.Read({ file_path: 1 })", "'number' is not assignable to type 'string'"],
    ["another dialect's tool", 'session.tools.read({ filePath: "x" })', "'read' does not exist"],
    ["an unknown dialect", 'filehand.session({ dialect: "clade" })', `'"clade"' is not assignable`],
  ] as const) {
    test(`${name} does not compile`, async () => {
      const ran = await compile(
        "wrong",
        `import { createFilehand } from "filehand";
         const filehand = createFilehand({ roots: ["."] });
         const session = filehand.session({ dialect: "claude" });
         await ${call};
         export { session };`,
      );
      expect(ran.code).not.toBe(0);
      expect(ran.stdout).toContain(error);
    });
  }
});
