/** Checks the import rules between the rooms of src/ (ARCHITECTURE.md) and of the page, and which of Node's own modules a room may use. */

import { readdirSync, readFileSync } from "node:fs";
import { join, posix, relative } from "node:path";

/**
 * What a room may import besides itself and `contract/`.
 * @type {Readonly<Record<string, readonly string[]>>}
 */
const mayImport = {
  contract: [],
  text: [],
  disk: ["text"],
  guard: ["text", "disk"],
  kinds: ["text", "disk"],
  search: ["text", "disk"],
  history: ["text", "disk"],
  session: [],
  state: ["disk"],
  lsp: ["text"],
  settings: ["disk"],
  tools: ["text", "disk", "guard", "kinds", "search", "session", "history"],
  dialects: ["text"],
  // The files that stand beside the rooms: the toolkit and the public names.
  ".": ["text", "disk", "guard", "kinds", "search", "session", "state", "history", "lsp", "tools", "dialects"],
  surfaces: [".", "text", "state", "dialects", "settings"],
};

/**
 * Node's own modules by room; `*` may be used everywhere.
 * @type {Readonly<Record<string, readonly string[]>>}
 */
const builtins = {
  "*": ["node:buffer", "node:path", "node:util"],
  // A child process only where a file's attributes cannot be copied otherwise.
  disk: ["node:child_process", "node:crypto", "node:fs", "node:os", "node:timers/promises", "node:worker_threads"],
  kinds: ["node:module", "node:timers/promises", "node:url", "node:worker_threads", "node:zlib"],
  history: ["node:crypto", "node:zlib"],
  search: ["node:child_process", "node:module", "node:timers/promises"],
  state: ["node:crypto", "node:fs", "node:os"],
  lsp: ["node:child_process", "node:events", "node:url"],
  ".": ["node:async_hooks", "node:crypto", "node:events", "node:os"],
  // A child process only of this program itself, for work that nobody shall wait for; and what opens the browser.
  surfaces: [
    "node:child_process",
    "node:crypto",
    "node:events",
    "node:http",
    "node:net",
    "node:os",
    "node:stream",
    "node:url",
    "node:v8",
  ],
};

/**
 * Packages by room.
 * @type {Readonly<Record<string, readonly string[]>>}
 */
const packages = {
  disk: ["koffi"],
  dialects: ["zod/mini", "fastest-levenshtein"],
  guard: ["fastest-levenshtein"],
  kinds: ["@embedpdf/pdfium", "gpt-tokenizer/encoding/o200k_base", "jschardet", "sharp", "web-tree-sitter"],
  search: ["fastest-levenshtein"],
  settings: ["jsonc-parser", "smol-toml", "fastest-levenshtein", "zod/mini"],
  // Of hosts, each in its own adapter: optional peers that the user has installed. The MCP SDK is bundled.
  surfaces: [
    "@modelcontextprotocol/server",
    "@modelcontextprotocol/server/stdio",
    "@agentclientprotocol/sdk",
    "@anthropic-ai/sdk/lib/tools/BetaRunnableTool",
    "@anthropic-ai/sdk/lib/tools/ToolError",
    "@anthropic-ai/sdk/resources/beta",
    "@langchain/core/messages",
    "@langchain/core/tools",
    "@openai/agents",
    "ai",
  ],
};

const importPattern =
  /(?:^|\n)\s*(?:import|export)\s[^;]*?from\s+"([^"]+)"|import\("([^"]+)"\)|(?:^|\n)import\s+"([^"]+)"/g;

/** @returns {string[]} one line per import that breaks a rule */
export function brokenRules(root = "src") {
  const wrong = [];
  for (const file of sources(root)) {
    const room = roomOf(relative(root, file));
    const rules = mayImport[room];
    if (rules === undefined) {
      wrong.push(`${file}: there is no room "${room}"`);
      continue;
    }
    for (const match of readFileSync(file, "utf8").matchAll(importPattern)) {
      const target = match[1] ?? match[2] ?? match[3] ?? "";
      if (target.startsWith(".")) {
        const other = roomOf(posix.normalize(posix.join(posix.dirname(relative(root, file)), target)));
        const dialectsApart =
          room === "dialects" && other === "dialects" && crossesDialects(relative(root, file), target);
        if (dialectsApart) wrong.push(`${file} imports another dialect: ${target}`);
        if (other !== room && other !== "contract" && !rules.includes(other)) {
          wrong.push(`${file} imports ${other}/`);
        }
        continue;
      }
      const list = target.startsWith("node:") ? builtins : packages;
      const allowed = [...(list["*"] ?? []), ...(list[room] ?? [])];
      if (!allowed.includes(target)) wrong.push(`${file} imports ${target}`);
    }
  }
  return wrong;
}

/** Names of dialects, and where they name something else: a value that a settings file may have, programs of other makers. */
const dialectName = /"(?:claude|opencode|opencode-legacy|envelope)"/;
const otherThings = ["settings/schema.ts", "surfaces/cli/clients.ts", "surfaces/mcp/client-limits.ts"];

/** The messages of the MCP SDK are read there, for the log. */
const wordsOfOthers = ["surfaces/mcp/server.ts"];

/** A regular expression, or a text that another one is searched for, with two English words or a parameter of a model's call. */
const patternLiteral =
  /(?<=[=(:,!&|?[\s])\/(?![*/ ])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[dgimsuvy]*(?=[\s.,;)\]])|\.(?:includes|startsWith|endsWith|split|indexOf|lastIndexOf|replace|replaceAll|search|match)\(\s*(?:"[^"\n]*"|`[^`\n]*`)/g;
const ownWords = /[A-Za-z]{2,} (?:\(\?:)?[A-Za-z]{2,}|(?:old|new)_string|replace_all/;

/**
 * Only a dialect knows what a dialect is called, and only a dialect words what we say: a surface gets the outcome as data, so it
 * never has to read our own sentences. `person` has the words for people, and is there for every surface.
 * @returns {string[]} one line per place that breaks a rule
 */
export function brokenWordRules(root = "src") {
  const wrong = [];
  for (const file of sources(root)) {
    const path = relative(root, file).replaceAll("\\", "/");
    const room = roomOf(path);
    if (room === "dialects") continue;
    const code = readFileSync(file, "utf8").replaceAll(/^\s*(?:\/\/|\/?\*).*$/gm, "");
    const [named] = dialectName.exec(code) ?? [];
    if (named !== undefined && !otherThings.includes(path)) wrong.push(`${file} knows the dialect ${named}`);
    for (const [, folder] of code.matchAll(/"[./]+\/dialects\/([^/"]+)\/[^"]*"/g)) {
      if (folder !== "person") wrong.push(`${file} imports the dialect ${folder}`);
    }
    if ((room !== "surfaces" && room !== ".") || wordsOfOthers.includes(path)) continue;
    for (const [literal] of code.matchAll(patternLiteral)) {
      if (ownWords.test(literal)) wrong.push(`${file} reads words with ${literal}`);
    }
  }
  return wrong;
}

/** What the page is made with. */
const pagePackages = ["preact", "preact/hooks"];

/** What the page and the program must agree on to the letter. */
const pageShares = ["src/contract/hidden-characters.ts"];

/**
 * The page is no room: of src/ it may have types of the contract and what both share, and nothing else that runs.
 * @returns {string[]} one line per import that breaks the rule
 */
export function brokenPageRules(root = "web/src") {
  const wrong = [];
  for (const file of sources(root)) {
    for (const match of readFileSync(file, "utf8").matchAll(importPattern)) {
      const target = match[1] ?? match[2] ?? match[3] ?? "";
      const place = posix.normalize(posix.join(posix.dirname(file.replaceAll("\\", "/")), target));
      const isType = /^\s*(?:import|export)\s+type\s/.test(match[0]);
      const fine = target.startsWith(".")
        ? place.startsWith("web/") ||
          pageShares.includes(place) ||
          (isType && (place.startsWith("src/contract/") || place === "src/surfaces/inspector/wire.ts"))
        : pagePackages.includes(target);
      if (!fine) wrong.push(`${file} imports ${target}`);
    }
  }
  return wrong;
}

/** A file inside one dialect's folder that reaches into another's. `dialects/index.ts` knows them all. */
function crossesDialects(/** @type {string} */ file, /** @type {string} */ target) {
  const [, own, inside] = file.split("/");
  if (inside === undefined) return false;
  const [, other, deeper] = posix.normalize(posix.join(posix.dirname(file), target)).split("/");
  return deeper !== undefined && other !== own;
}

function roomOf(/** @type {string} */ path) {
  const [first, rest] = path.split("/", 2);
  return rest === undefined ? "." : (first ?? ".");
}

/** @returns {string[]} */
function sources(/** @type {string} */ folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return sources(path);
    return /\.tsx?$/.test(entry.name) && !/\.(test|d)\.ts$/.test(entry.name) ? [path] : [];
  });
}
