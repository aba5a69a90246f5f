/** Checks the import rules between the rooms of src/ (ARCHITECTURE.md) and of the page, and which of Node's own modules a room may use. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix, relative } from "node:path";
import { doorOf, loadedWhenUsed, roomOf } from "./doors.js";

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
  history: ["text", "disk", "state"],
  session: ["text"],
  state: ["text", "disk"],
  lsp: ["text"],
  settings: ["disk"],
  confinement: ["disk"],
  tools: ["text", "disk", "guard", "kinds", "search", "session", "history"],
  dialects: ["text"],
  // The files that stand beside the rooms: the toolkit and the public names.
  ".": [
    "text",
    "disk",
    "guard",
    "kinds",
    "search",
    "session",
    "state",
    "history",
    "lsp",
    "tools",
    "dialects",
    "confinement",
  ],
  surfaces: [".", "text", "state", "dialects", "settings", "confinement"],
};

/**
 * Node's own modules by room; `*` may be used everywhere.
 * @type {Readonly<Record<string, readonly string[]>>}
 */
const builtins = {
  "*": ["node:buffer", "node:path", "node:util"],
  // A child process only where a file's attributes cannot be copied otherwise, and for the formatter of the settings.
  disk: [
    "node:child_process",
    "node:crypto",
    "node:fs",
    "node:module",
    "node:os",
    "node:timers/promises",
    "node:worker_threads",
  ],
  kinds: ["node:module", "node:timers/promises", "node:url", "node:vm", "node:worker_threads", "node:zlib"],
  confinement: ["node:fs", "node:module", "node:os", "node:timers/promises"],
  history: ["node:crypto", "node:zlib"],
  search: ["node:child_process", "node:module", "node:timers/promises"],
  state: ["node:crypto", "node:fs", "node:os", "node:zlib"],
  lsp: ["node:child_process", "node:events", "node:url"],
  session: ["node:async_hooks"],
  ".": ["node:crypto", "node:events", "node:os"],
  // A child process only of this program itself, for work that nobody shall wait for; what opens the browser; and the user's own
  // command that leads to a remote workspace.
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
    "node:zlib",
  ],
};

/**
 * Packages by room.
 * @type {Readonly<Record<string, readonly string[]>>}
 */
const packages = {
  // An optional peer, loaded where the state is in a database.
  state: ["pg"],
  disk: ["koffi"],
  confinement: ["koffi"],
  dialects: ["fastest-levenshtein"],
  guard: ["fastest-levenshtein"],
  kinds: ["@embedpdf/pdfium", "gpt-tokenizer/encoding/o200k_base", "jschardet", "sharp", "web-tree-sitter"],
  search: ["fastest-levenshtein"],
  settings: ["jsonc-parser", "smol-toml", "fastest-levenshtein"],
  // Of hosts, each in its own adapter: optional peers that the user has installed. The MCP SDK is bundled.
  surfaces: [
    "@modelcontextprotocol/client",
    "@modelcontextprotocol/client/stdio",
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
        const path = posix.normalize(posix.join(posix.dirname(relative(root, file)), target)).replace(/\?.*/, "");
        if (other !== room && !isDoor(path, match[2] !== undefined)) {
          wrong.push(`${file} imports ${path}, which is not the door of ${other}/`);
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
const otherThings = [
  "settings/schema.ts",
  "surfaces/cli/clients.ts",
  "surfaces/cli/permission-export.ts",
  "surfaces/mcp/client-limits.ts",
  "surfaces/mcp/client-titles.ts",
  "surfaces/replay/conversation.ts",
  "surfaces/replay/opencode.ts",
];

/** The messages of the MCP SDK, for the log, and those of other programs in their transcripts are read there. */
const wordsOfOthers = [
  "surfaces/mcp/server.ts",
  "surfaces/replay/claude-code.ts",
  "surfaces/replay/codex.ts",
  "surfaces/replay/failure-words.ts",
  "surfaces/replay/gemini-cli.ts",
  "surfaces/replay/mapping.ts",
  "surfaces/replay/replay.ts",
  "surfaces/replay/shell.ts",
];

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

/** What may be imported from another room: its door, a noun of the contract, a dialect as the package offers it. */
function isDoor(/** @type {string} */ path, /** @type {boolean} */ isLoadedLater) {
  const room = roomOf(path);
  if (room === "." || room === "contract" || path === doorOf(room)) return true;
  return isLoadedLater ? Object.hasOwn(loadedWhenUsed, path) : packageEntries.includes(path);
}

/** Files that a user imports by name, as package.json lists them. */
const packageEntries = [
  "dialects/claude/index.ts",
  "dialects/opencode/index.ts",
  "dialects/opencode/legacy.ts",
  "dialects/envelope/index.ts",
];

/** Siblings with one shape: each has the same names, and none imports another. */
const siblings =
  /^(?:dialects\/(?:claude|envelope|person|opencode\/legacy|opencode)|surfaces\/adapters\/[^/]+)(?=\/|-inputs\.ts$|\.ts$|$)/;

const exportPattern = /(?:^|\n)export (?:async )?(?:interface|type|class|const|function\*?) (\w+)/g;

/** @returns {string[]} one line per name that two files of a room export */
export function namesTwice(root = "src") {
  /** @type {Map<string, string>} */
  const homes = new Map();
  const wrong = [];
  for (const file of sources(root)) {
    const path = relative(root, file);
    const home = siblings.exec(path)?.[0] ?? roomOf(path);
    for (const name of new Set([...readFileSync(file, "utf8").matchAll(exportPattern)].map(([, one]) => one))) {
      const before = homes.get(`${home} ${name}`);
      if (before !== undefined) wrong.push(`${file} exports ${name}, and so does ${before}`);
      homes.set(`${home} ${name}`, file);
    }
  }
  return wrong;
}

/** Shorter files belong to their only importer, unless they have a test of their own or are loaded when they are used. */
const linesAloneMin = 40;

/** @returns {string[]} one line per short file with a single importer and no test */
export function shortFiles(root = "src") {
  const files = sources(root).map((file) => ({ path: relative(root, file), text: readFileSync(file, "utf8") }));
  /** @type {Map<string, Set<string>>} */
  const importers = new Map();
  for (const { path, text } of files) {
    for (const [, from, later, bare] of text.matchAll(importPattern)) {
      const target = from ?? later ?? bare ?? "";
      if (!target.startsWith(".")) continue;
      const place = posix.normalize(posix.join(posix.dirname(path), target));
      importers.set(place, (importers.get(place) ?? new Set()).add(later === undefined ? path : `${path} later`));
    }
  }
  return files.flatMap(({ path, text }) => {
    const lines = text.split("\n").length - 1;
    const [only, ...others] = importers.get(path) ?? [];
    if (
      lines >= linesAloneMin ||
      text.slice(0, 200).includes("Made by npm run generate") ||
      only === undefined ||
      others.length > 0 ||
      only.endsWith(" later")
    )
      return [];
    // What the door repeats has readers in other rooms.
    if (only === doorOf(roomOf(path)) || packageEntries.includes(path)) return [];
    if (path === doorOf(roomOf(path)) || existsSync(join(root, path.replace(/\.ts$/, ".test.ts")))) return [];
    return [`src/${path} has ${lines} lines and one importer, ${only}: put it there, or give it a test of its own`];
  });
}

const limitPattern = /^\s*(?:export )?const \w+(?:Max|Min|Ms|Least|Most) =\s*[-\d_.(]/;

/** @returns {string[]} one line per limit outside of `contract/limits.ts` that no comment explains */
export function limitsUnexplained(root = "src") {
  return sources(root).flatMap((file) => {
    if (relative(root, file) === "contract/limits.ts") return [];
    const lines = readFileSync(file, "utf8").split("\n");
    return lines.flatMap((line, at) => {
      const isExplained = /\*\/\s*$|^\s*\/\//.test(lines[at - 1] ?? "") || line.includes("//");
      if (!limitPattern.test(line) || isExplained) return [];
      return [
        `${file}:${at + 1}: ${line.trim()} is a limit: put it into contract/limits.ts, or say in a comment why it is local`,
      ];
    });
  });
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

/** @returns {string[]} */
function sources(/** @type {string} */ folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return sources(path);
    return /\.tsx?$/.test(entry.name) && !/\.(test|d)\.ts$/.test(entry.name) ? [path] : [];
  });
}
