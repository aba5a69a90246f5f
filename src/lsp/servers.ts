/**
 * The language servers that are known, in one table. Nothing is ever downloaded: a server is used if its program is there.
 * Servers of one group are alternatives, the first that can be run is used; those of different groups all look at a file.
 */

import * as nodePath from "node:path";
import type { LanguageFault, LanguageOptions, LanguageServerOptions } from "../contract/lsp.ts";

export interface ServerEntry {
  readonly name: string;
  readonly group: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Extensions with their dot, in lower case, and what the protocol calls the language. */
  readonly extensions: Readonly<Record<string, string>>;
  /** A folder with one of these is the root of a project; without one it is the root of the workspace. */
  readonly rootMarkers: readonly string[];
  readonly initializationOptions: unknown;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly env: Readonly<Record<string, string>>;
  /** The program that finds the errors. Without it the server says of every file that there are none. */
  readonly checksWith: string | undefined;
}

const script = {
  ".ts": "typescript",
  ".mts": "typescript",
  ".cts": "typescript",
  ".tsx": "typescriptreact",
  ".js": "javascript",
  ".mjs": "javascript",
  ".cjs": "javascript",
  ".jsx": "javascriptreact",
};
const projectOfNode = ["tsconfig.json", "jsconfig.json", "package.json"];

type Known = Pick<ServerEntry, "name" | "command" | "args" | "extensions" | "rootMarkers"> & Partial<ServerEntry>;

const known: readonly Known[] = [
  {
    // TypeScript 7 and later; an older `tsc` ends at once, and the next of the group has its turn.
    name: "typescript",
    group: "typescript",
    command: "tsc",
    args: ["--lsp", "--stdio"],
    extensions: script,
    rootMarkers: projectOfNode,
  },
  {
    name: "typescript-language-server",
    group: "typescript",
    command: "typescript-language-server",
    args: ["--stdio"],
    extensions: script,
    rootMarkers: projectOfNode,
    // It would fetch types of packages on its own.
    initializationOptions: { disableAutomaticTypingAcquisition: true },
  },
  {
    name: "pyright",
    command: "pyright-langserver",
    args: ["--stdio"],
    extensions: { ".py": "python", ".pyi": "python" },
    rootMarkers: ["pyrightconfig.json", "pyproject.toml", "setup.cfg", "setup.py", "requirements.txt"],
    settings: { python: { analysis: { diagnosticMode: "openFilesOnly" } } },
  },
  {
    name: "gopls",
    command: "gopls",
    args: [],
    extensions: { ".go": "go", ".mod": "go.mod" },
    rootMarkers: ["go.work", "go.mod"],
  },
  {
    name: "rust-analyzer",
    command: "rust-analyzer",
    args: [],
    extensions: { ".rs": "rust" },
    rootMarkers: ["Cargo.toml", "rust-project.json"],
    // Build scripts and macros are code of the project that would be run. Whoever trusts it switches them on.
    initializationOptions: {
      cargo: { buildScripts: { enable: false } },
      procMacro: { enable: false },
      checkOnSave: false,
    },
  },
  {
    name: "clangd",
    command: "clangd",
    args: [],
    extensions: {
      ".c": "c",
      ".h": "c",
      ".cc": "cpp",
      ".cpp": "cpp",
      ".cxx": "cpp",
      ".hh": "cpp",
      ".hpp": "cpp",
      ".m": "objective-c",
      ".mm": "objective-cpp",
    },
    rootMarkers: ["compile_commands.json", "compile_flags.txt", ".clangd", "CMakeLists.txt"],
  },
  {
    name: "json",
    command: "vscode-json-language-server",
    args: ["--stdio"],
    extensions: { ".json": "json", ".jsonc": "jsonc" },
    rootMarkers: ["package.json"],
    // Schemas from the net would be fetched.
    initializationOptions: { handledSchemaProtocols: ["file"], provideFormatter: false },
    settings: { json: { validate: { enable: true } } },
  },
  {
    name: "css",
    command: "vscode-css-language-server",
    args: ["--stdio"],
    extensions: { ".css": "css", ".scss": "scss", ".less": "less" },
    rootMarkers: ["package.json"],
    initializationOptions: { handledSchemaProtocols: ["file"], provideFormatter: false },
    settings: { css: { validate: true }, scss: { validate: true }, less: { validate: true } },
  },
  {
    name: "html",
    command: "vscode-html-language-server",
    args: ["--stdio"],
    extensions: { ".html": "html", ".htm": "html" },
    rootMarkers: ["package.json"],
    initializationOptions: { handledSchemaProtocols: ["file"], provideFormatter: false },
    // It looks into each of them, and where one is missing it fails and says that there are no errors.
    settings: {
      html: { validate: { scripts: true, styles: true } },
      css: { validate: true, lint: {} },
      javascript: {},
      "js/ts": { implicitProjectConfig: {} },
    },
  },
  {
    name: "yaml",
    command: "yaml-language-server",
    args: ["--stdio"],
    extensions: { ".yaml": "yaml", ".yml": "yaml" },
    rootMarkers: [],
    settings: { yaml: { schemaStore: { enable: false }, validate: true }, redhat: { telemetry: { enabled: false } } },
  },
  {
    name: "bash",
    command: "bash-language-server",
    args: ["start"],
    extensions: { ".sh": "shellscript", ".bash": "shellscript" },
    rootMarkers: [],
    checksWith: "shellcheck",
  },
];

const nothing = { initializationOptions: undefined, settings: {}, env: {}, checksWith: undefined } as const;

export const knownServers: readonly ServerEntry[] = known.map((entry) => ({ ...nothing, group: entry.name, ...entry }));

/** All known servers, changed and added to by what the operator names. */
export function serversOf(options: LanguageOptions): {
  readonly servers: readonly ServerEntry[];
  readonly faults: readonly LanguageFault[];
} {
  const named = new Map(Object.entries(options.servers ?? {}));
  const faults: LanguageFault[] = [];
  const servers: ServerEntry[] = [];
  for (const name of new Set([...knownServers.map((one) => one.name), ...named.keys()])) {
    const given = named.get(name) ?? true;
    if (given === false || (given !== true && given.enabled === false)) continue;
    const made = entryOf(name, given === true ? {} : given);
    if ("why" in made) faults.push(made);
    else servers.push(made);
  }
  return { servers, faults };
}

function entryOf(name: string, given: LanguageServerOptions): ServerEntry | LanguageFault {
  const base = knownServers.find((one) => one.name === name);
  const [command = base?.command, ...args] = given.command ?? [];
  const extensions = given.extensions === undefined ? base?.extensions : lowerCase(given.extensions);
  if (command === undefined || command === "") return { name, why: "it is not a known server and has no command" };
  if (extensions === undefined || Object.keys(extensions).length === 0) return { name, why: "it has no extensions" };
  return {
    name,
    group: base?.group ?? name,
    command,
    args: given.command === undefined ? (base?.args ?? []) : args,
    extensions,
    rootMarkers: given.rootMarkers ?? base?.rootMarkers ?? [],
    initializationOptions: given.initializationOptions ?? base?.initializationOptions,
    settings: { ...base?.settings, ...given.settings },
    env: given.env ?? {},
    // Another program of the same name in the table may well do it alone.
    checksWith: nodePath.basename(command) === base?.command ? base.checksWith : undefined,
  };
}

const lowerCase = (extensions: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(extensions).map(([extension, language]) => [extension.toLowerCase(), language]));
