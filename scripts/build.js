/** Builds the package: the library as ES modules, the command line as one CommonJS file, the inspector's page, the types. */

import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { posix, resolve } from "node:path";
import { build } from "rolldown";
import { build as buildPage } from "vite";
import { throughDoors } from "./doors.js";
import { pageSize } from "./page-size.js";
import { buildParts, partPackages } from "./parts.js";
import { rollUpTypes } from "./roll-up-types.js";
import { textFiles } from "./text-files.js";

const { version, bugs, engines, optionalDependencies, peerDependenciesMeta } = JSON.parse(
  readFileSync("package.json", "utf8"),
);

rmSync("dist", { recursive: true, force: true });
mkdirSync("dist");

/** Read before everything else by every entry, in syntax that old Nodes parse. */
const needed = engines.node.replace(">=", "");
for (const name of ["node-version.cjs", "filehand.cjs"]) {
  writeFileSync(`dist/${name}`, readFileSync(`scripts/entry/${name}`, "utf8").replace("NODE_NEEDED", needed));
}
chmodSync("dist/filehand.cjs", 0o755);

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
  transform: {
    target: "node20",
    define: { FILEHAND_VERSION: JSON.stringify(version), FILEHAND_BUGS: JSON.stringify(bugs.url) },
  },
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

/** The MCP SDK is bundled: without its validators, which Filehand does not use, and without parts that only do work when they are imported. */
const withMcpSdk = {
  resolve: { ...shared.resolve, alias: { "@modelcontextprotocol/server/_shims": resolve("scripts/sdk-shims.js") } },
  treeshake: { moduleSideEffects: false },
};

const commandLine = inOneFile("/cli/bin.ts");

const names = ["claude", "opencode", "opencode-legacy", "envelope"];
/** The legacy form of opencode is a file of the opencode dialect. @param {string} name */
const dialectSource = (name) =>
  name === "opencode-legacy" ? "src/dialects/opencode/legacy.ts" : `src/dialects/${name}/index.ts`;
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

/** Source by entry. @type {Record<string, string>} */
const library = {
  index: "src/index.ts",
  ...Object.fromEntries(names.map((name) => [`dialects/${name}`, dialectSource(name)])),
  ...Object.fromEntries(adapters.map((name) => [`adapters/${name}`, `src/surfaces/adapters/${name}.ts`])),
};

await build({
  ...shared,
  ...withMcpSdk,
  input: library,
  // What is always loaded goes into the bundle: only what is used of it costs memory.
  external: packages([...Object.keys(optionalDependencies), ...Object.keys(peerDependenciesMeta)]),
  output: {
    dir: "dist",
    format: "es",
    chunkFileNames: "chunks/[name]-[hash].js",
    minify: false,
    // What they say is in the types.
    comments: { jsdoc: false },
    banner: ({ isEntry, fileName }) => (isEntry ? `import "${versionCheckOf(fileName)}";` : ""),
  },
});

/** The check of Node's version, as seen from a file of the library. @param {string} file */
function versionCheckOf(file) {
  return `${file.includes("/") ? ".." : "."}/node-version.cjs`;
}

// For CommonJS: Node 20.19 and later can require an ES module. An older one would only name the file, so the check comes first.
for (const entry of Object.keys(library)) {
  const code = `"use strict";\nrequire("${versionCheckOf(entry)}");\nmodule.exports = require("./${posix.basename(entry)}.js");\n`;
  writeFileSync(`dist/${entry}.cjs`, code);
}

await build({
  ...shared,
  input: { main: "src/surfaces/cli/bin.ts" },
  plugins: [
    ...plugins,
    commandLine.plugin,
    apart("/mcp/index.ts", "./cli/mcp.cjs"),
    apart("/inspector/index.ts", "./cli/inspector.cjs"),
  ],
  // Everything but what is optional goes into the bundle: one file to read at start.
  external: packages([...Object.keys(optionalDependencies), "pg"]),
  output: {
    dir: "dist",
    format: "cjs",
    entryFileNames: "[name].cjs",
    chunkFileNames: "cli/[name]-[hash].cjs",
    codeSplitting: { groups: [{ name: "main", test: (id) => commandLine.test(id) }] },
    minify: true,
  },
});

// The MCP server with its SDK: one file more for the two commands that need it, and not a byte for the others.
await build({
  ...shared,
  ...withMcpSdk,
  input: { mcp: "src/surfaces/mcp/index.ts" },
  output: { dir: "dist/cli", format: "cjs", entryFileNames: "[name].cjs", minify: true, codeSplitting: false },
});

// What the inspector's page asks for, for the two commands that serve it.
await build({
  ...shared,
  input: { inspector: "src/surfaces/inspector/index.ts" },
  output: { dir: "dist/cli", format: "cjs", entryFileNames: "[name].cjs", minify: true, codeSplitting: false },
});

await buildParts("dist/parts");

await buildPage({ configFile: "web/vite.config.ts" });
process.stdout.write(`${pageSize("dist/web")}\n`);

/** What is inside the bundles and is no dependency of the package. */
const inside = [
  "fastest-levenshtein",
  "jsonc-parser",
  "smol-toml",
  "@modelcontextprotocol/client",
  "@modelcontextprotocol/server",
  "zod",
  "preact",
  ...partPackages,
];

/** The licences of all that is inside. */
const notices = inside.map((name) => {
  const folder = `node_modules/${name}`;
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (file === undefined) throw new Error(`${name} has no licence file`);
  return `${name}\n\n${readFileSync(`${folder}/${file}`, "utf8").trim()}\n`;
});
writeFileSync("dist/THIRD-PARTY.txt", notices.join(`\n${"-".repeat(72)}\n\n`));

execFileSync("node_modules/.bin/tsc", ["-p", "tsconfig.build.json"], { stdio: "inherit" });
await rollUpTypes("dist/declarations", "dist/types", library);
rmSync("dist/declarations", { recursive: true });
