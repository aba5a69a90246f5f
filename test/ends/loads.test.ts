/** What is loaded when: a small read must not pay for the parts that it does not use. */

import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { commandLine, project, run, temporaryFolder } from "./run.ts";

const folder = temporaryFolder();
afterAll(() => folder.remove());

const library = pathToFileURL(join(project, "dist", "index.js")).href;

beforeAll(() => {
  mkdirSync(join(folder.path, "workspace"));
  writeFileSync(join(folder.path, "workspace", "plain.txt"), "plain\n");
  writeFileSync(join(folder.path, "workspace", "latin.txt"), Buffer.from("\xc5\xbe\xe1dn\xfd \xf8\xe1dek\n", "latin1"));

  // Prints the address of every module as it is loaded.
  writeFileSync(
    join(folder.path, "hooks.mjs"),
    `import { writeSync } from "node:fs";
     export async function load(url, context, next) {
       writeSync(2, url + "\\n");
       return next(url, context);
     }`,
  );
  writeFileSync(
    join(folder.path, "watch-modules.mjs"),
    `import { register } from "node:module"; register("./hooks.mjs", import.meta.url);`,
  );

  // Prints the path of every call that goes to the file system by name.
  writeFileSync(
    join(folder.path, "watch-files.cjs"),
    `const fs = require("node:fs");
     const { syncBuiltinESMExports } = require("node:module");
     const { writeSync } = fs;
     const names = "open stat lstat statfs readFile realpath readdir opendir readlink access exists mkdir writeFile";
     for (const owner of [fs, fs.promises]) for (const name of names.split(" ").flatMap((one) => [one, one + "Sync"])) {
       const original = owner[name];
       if (original === undefined) continue;
       const watched = (path, ...rest) => {
         if (typeof path !== "number") writeSync(2, name + " " + path + "\\n");
         return original.call(owner, path, ...rest);
       };
       owner[name] = Object.assign(watched, original);
     }
     syncBuiltinESMExports();`,
  );
});

const script = (body: string): readonly string[] => ["--input-type=module", "--eval", body];

const packagesOf = (lines: string): readonly string[] =>
  [...new Set(lines.split("\n").flatMap((line) => /node_modules\/([^/]+)/.exec(line)?.[1] ?? []))].toSorted();

const readWith = async (name: string): Promise<readonly string[]> => {
  const body = `import { createFilehand } from ${JSON.stringify(library)};
    const reply = await createFilehand({ roots: ["workspace"] }).session().call("Read", { file_path: "${name}" });
    if (reply.isError) throw new Error(reply.error.message);`;
  const watch = pathToFileURL(join(folder.path, "watch-modules.mjs")).href;
  const { code, stderr } = await run(process.execPath, ["--import", watch, ...script(body)], { cwd: folder.path });
  expect(code, stderr).toBe(0);
  return packagesOf(stderr);
};

test("reading a small ASCII file with the library loads no detector and no settings parser", async () => {
  expect(await readWith("plain.txt")).toEqual([]);
});

test("importing the library loads no adapter and no host", async () => {
  const watch = pathToFileURL(join(folder.path, "watch-modules.mjs")).href;
  const body = `import ${JSON.stringify(library)};`;
  const { code, stderr } = await run(process.execPath, ["--import", watch, ...script(body)], { cwd: folder.path });
  expect(code, stderr).toBe(0);
  expect(stderr).toContain("/dist/index.js");
  expect(stderr).not.toContain("/dist/adapters/");
  expect(packagesOf(stderr)).toEqual([]);
});

test("importing an adapter loads its own host, if it needs one, and neither engine nor another host", async () => {
  const hosts = /node_modules\/(ai|@anthropic-ai|@openai|@langchain|@agentclientprotocol)\//g;
  const watch = pathToFileURL(join(folder.path, "watch-modules.mjs")).href;
  for (const [name, host] of [
    ["ai-sdk", "ai"],
    ["anthropic", "@anthropic-ai"],
    ["openai-agents", "@openai"],
    ["langchain", "@langchain"],
    ["standard-schema", undefined],
    ["acp", "@agentclientprotocol"],
    ["mcp", undefined],
    ["claude-agent", undefined],
    ["mastra", undefined],
    ["google-genai", undefined],
    ["llamaindex", undefined],
  ] as const) {
    const adapter = pathToFileURL(join(project, "dist", "adapters", `${name}.js`)).href;
    const body = `import ${JSON.stringify(adapter)};`;
    const { code, stderr } = await run(process.execPath, ["--import", watch, ...script(body)], { cwd: folder.path });
    expect(code, stderr).toBe(0);
    const loaded = new Set([...stderr.matchAll(hosts)].map(([, package_]) => package_));
    expect([...loaded], name).toEqual(host === undefined ? [] : [host]);
    expect(stderr, name).not.toContain(library);
  }
});

test("the detector of encodings is loaded in a worker, never beside the other calls", async () => {
  expect(await readWith("latin.txt")).toEqual([]);
});

test("importing the library looks at no file but modules", async () => {
  const body = `import ${JSON.stringify(library)};`;
  const watch = join(folder.path, "watch-files.cjs");
  const { code, stderr } = await run(process.execPath, ["--require", watch, ...script(body)], { cwd: folder.path });
  expect(code, stderr).toBe(0);
  const others = stderr
    .split("\n")
    .filter((line) => line !== "" && !/ (?:file:\/\/)?\/(?:.*\/)?(?:dist|node_modules)\/|package\.json$/.test(line));
  expect(others).toEqual([]);
});

test("the watch that the last test relies on sees what a read does", async () => {
  const body = `import { createFilehand } from ${JSON.stringify(library)}; createFilehand({ roots: ["workspace"] });`;
  const watch = join(folder.path, "watch-files.cjs");
  const { stderr } = await run(process.execPath, ["--require", watch, ...script(body)], { cwd: folder.path });
  expect(stderr).toContain(`openSync ${join(folder.path, "workspace")}`);
});

test("the command line reads a small ASCII file with one file of code", async () => {
  const watch = join(folder.path, "watch-requires.cjs");
  writeFileSync(
    watch,
    `process.on("exit", () => { for (const path of Object.keys(require.cache)) process.stderr.write(path + "\\n"); });`,
  );
  const { code, stdout, stderr } = await run(process.execPath, ["--require", watch, commandLine, "read", "plain.txt"], {
    cwd: join(folder.path, "workspace"),
    env: { HOME: folder.path },
  });
  expect({ code, stdout }).toEqual({ code: 0, stdout: "1→plain\n" });
  const [first, second, check, program, ...shared] = stderr.trim().split("\n");
  expect([first, second]).toEqual([watch, commandLine]);
  // The check of Node's version, then the program.
  expect([check, program]).toEqual(["node-version.cjs", "main.cjs"].map((name) => join(project, "dist", name)));
  expect(statSync(commandLine).size + statSync(check ?? "").size).toBeLessThan(4_096);
  // What the bundler itself needs at run time lies beside the program.
  expect(shared.reduce((sum, path) => sum + statSync(path).size, 0)).toBeLessThan(4_096);
});

test("an edit without language servers loads none of what speaks to them", async () => {
  const loaded = async (options: string): Promise<readonly string[]> => {
    const body = `import { createFilehand } from ${JSON.stringify(library)};
      const filehand = createFilehand({ roots: ["workspace"], ask: "yes", readFirst: false, ${options} });
      const input = { file_path: "plain.txt", content: "plain\\n" + process.hrtime.bigint() };
      const reply = await filehand.session().call("Write", input);
      if (reply.isError) throw new Error(reply.error.message);
      await filehand.close();`;
    const watch = pathToFileURL(join(folder.path, "watch-modules.mjs")).href;
    const { code, stderr } = await run(process.execPath, ["--import", watch, ...script(body)], { cwd: folder.path });
    expect(code, stderr).toBe(0);
    const files = stderr.split("\n").filter((line) => line.startsWith("file:") && line.includes("/dist/"));
    return files.filter((file) => readFileSync(fileURLToPath(file), "utf8").includes("textDocument/didOpen"));
  };
  expect(await loaded("")).toEqual([]);
  expect(await loaded("languageServers: true")).toHaveLength(1);
});
