/** Builds the package: the library as ES modules, the command line as one CommonJS file, the inspector's page, the types. */

import { execFileSync } from "node:child_process";
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { build } from "rolldown";
import { build as buildPage } from "vite";
import { throughDoors } from "./doors.js";
import { pageSize } from "./page-size.js";
import { textFiles } from "./text-files.js";

const { version, dependencies, optionalDependencies, peerDependencies } = JSON.parse(
  readFileSync("package.json", "utf8"),
);

rmSync("dist", { recursive: true, force: true });

/** Puts our helper for `using` in the place of the bundler's. A transform, since the bundler asks no plugin where its own is. */
const usingHelper = readFileSync("scripts/using-context.js", "utf8");
const usingContexts = {
  name: "using-contexts",
  /** @param {string} _code @param {string} id */
  transform: (_code, id) => (id.endsWith("/usingCtx.js") ? usingHelper : null),
};

const plugins = [textFiles(), throughDoors(), usingContexts];

/** @type {import("rolldown").BuildOptions} */
const shared = {
  platform: "node",
  plugins,
  // jsonc-parser's main file loads its parts in a way that no bundler can follow.
  resolve: { mainFields: ["module", "main"] },
  transform: { target: "node20", define: { FILEHAND_VERSION: JSON.stringify(version) } },
  logLevel: "warn",
};

/** Packages with all of their parts. @param {string[]} list */
const packages = (list) => list.map((name) => new RegExp(`^${name}(/|$)`));

/**
 * A part that is bundled by itself: found where it will lie.
 * @param {string} source  how its imports end
 * @param {string} file  as seen from the program
 */
function apart(source, file) {
  return {
    name: "apart",
    /** @param {string} id */
    resolveId: (id) => (id.endsWith(source) ? { id: file, external: true } : null),
    // Left as it is, Node would read the whole file once more, only to guess its exports.
    /** @param {string} code */
    renderChunk: (code) =>
      code.replaceAll(
        new RegExp(`import\\(([\`"'])${file.replaceAll(".", "\\.")}\\1\\)`, "g"),
        `Promise.resolve().then(()=>require("${file}"))`,
      ),
  };
}

/** Everything that the program imports at start, in one file: whatever lazily loaded parts share with it would else lie beside it. */
function inOneFile(/** @type {string} */ entry) {
  /** @type {Map<string, readonly string[]>} */
  const imports = new Map();
  /** @type {Set<string>} */
  const atStart = new Set();
  const follow = (/** @type {string} */ id) => {
    if (atStart.has(id)) return;
    atStart.add(id);
    for (const next of imports.get(id) ?? []) follow(next);
  };
  return {
    plugin: {
      name: "in-one-file",
      /** @param {{ readonly id: string, readonly importedIds: readonly string[] }} module */
      moduleParsed: ({ id, importedIds }) => void imports.set(id, importedIds),
    },
    test(/** @type {string} */ id) {
      if (atStart.size === 0) follow([...imports.keys()].find((one) => one.endsWith(entry)) ?? "");
      return atStart.has(id);
    },
  };
}

const commandLine = inOneFile("/cli/bin.ts");

const names = ["claude", "opencode", "opencode-legacy", "envelope"];
/** The legacy form of opencode is a file of the opencode dialect. @param {string} name */
const dialectSource = (name) =>
  name === "opencode-legacy" ? "src/dialects/opencode/legacy.ts" : `src/dialects/${name}/index.ts`;
const adapters = ["ai-sdk", "anthropic", "openai-agents", "langchain", "standard-schema", "acp"];

await build({
  ...shared,
  input: {
    index: "src/index.ts",
    ...Object.fromEntries(names.map((name) => [`dialects/${name}`, dialectSource(name)])),
    ...Object.fromEntries(adapters.map((name) => [`adapters/${name}`, `src/surfaces/adapters/${name}.ts`])),
  },
  // What is always loaded goes into the bundle: only what is used of it costs memory.
  external: packages([...Object.keys(optionalDependencies), ...Object.keys(peerDependencies)]),
  output: { dir: "dist", format: "es", chunkFileNames: "chunks/[name]-[hash].js", minify: false },
});

await build({
  ...shared,
  input: { filehand: "src/surfaces/cli/bin.ts" },
  plugins: [
    ...plugins,
    commandLine.plugin,
    apart("/mcp/index.ts", "./cli/mcp.cjs"),
    apart("/inspector/index.ts", "./cli/inspector.cjs"),
  ],
  // Everything but what is optional goes into the bundle: one file to read at start.
  external: packages(Object.keys(optionalDependencies)),
  output: {
    dir: "dist",
    format: "cjs",
    entryFileNames: "[name].cjs",
    chunkFileNames: "cli/[name]-[hash].cjs",
    codeSplitting: { groups: [{ name: "filehand", test: (id) => commandLine.test(id) }] },
    minify: true,
    // The pool's size must be set before anything uses it: four reads that hang would stop all others.
    banner: (chunk) => (chunk.isEntry ? '#!/usr/bin/env node\nprocess.env.UV_THREADPOOL_SIZE ??= "16";' : ""),
  },
});
chmodSync("dist/filehand.cjs", 0o755);

// The MCP server with its SDK: one file more for the two commands that need it, and not a byte for the others.
await build({
  ...shared,
  input: { mcp: "src/surfaces/mcp/index.ts" },
  resolve: { ...shared.resolve, alias: { "@modelcontextprotocol/server/_shims": resolve("scripts/sdk-shims.js") } },
  treeshake: { moduleSideEffects: false },
  output: { dir: "dist/cli", format: "cjs", entryFileNames: "[name].cjs", minify: true, codeSplitting: false },
});

// What the inspector's page asks for, for the two commands that serve it.
await build({
  ...shared,
  input: { inspector: "src/surfaces/inspector/index.ts" },
  output: { dir: "dist/cli", format: "cjs", entryFileNames: "[name].cjs", minify: true, codeSplitting: false },
});

await buildPage({ configFile: "web/vite.config.ts" });
process.stdout.write(`${pageSize("dist/web")}\n`);

/** What is inside the bundles and is no dependency of the package. */
const inside = ["jsonc-parser", "smol-toml", "@modelcontextprotocol/client", "@modelcontextprotocol/server", "preact"];

/** The licences of all that is inside. */
const notices = [...Object.keys(dependencies), ...inside].map((name) => {
  const folder = `node_modules/${name}`;
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (file === undefined) throw new Error(`${name} has no licence file`);
  return `${name}\n\n${readFileSync(`${folder}/${file}`, "utf8").trim()}\n`;
});
writeFileSync("dist/THIRD-PARTY.txt", notices.join(`\n${"-".repeat(72)}\n\n`));

execFileSync("node_modules/.bin/tsc", ["-p", "tsconfig.build.json"], { stdio: "inherit" });
