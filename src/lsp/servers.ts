/** Known language servers; nothing is downloaded. In a group the first that runs is used; all groups check a file. */

import * as nodePath from "node:path";
import type { LanguageFault, LanguageOptions, LanguageServerOptions } from "../contract/lsp.ts";

export interface ServerEntry {
  readonly name: string;
  readonly group: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly extensions: Readonly<Record<string, string>>;
  /** A folder with one of these is a project's root; if there is none, the workspace's root is. */
  readonly rootMarkers: readonly string[];
  readonly initializationOptions: unknown;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly env: Readonly<Record<string, string>>;
  /** The program that finds the errors. Without it the server reports no errors for any file. */
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
const nodeProjectMarkers = ["tsconfig.json", "jsconfig.json", "package.json"];

type KnownServer = Pick<ServerEntry, "name" | "command" | "args" | "extensions" | "rootMarkers"> & Partial<ServerEntry>;

const known: readonly KnownServer[] = [
  {
    // TypeScript 7 and later; an older `tsc` exits at once, and the next server of the group is used.
    name: "typescript",
    group: "typescript",
    command: "tsc",
    args: ["--lsp", "--stdio"],
    extensions: script,
    rootMarkers: nodeProjectMarkers,
  },
  {
    name: "typescript-language-server",
    group: "typescript",
    command: "typescript-language-server",
    args: ["--stdio"],
    extensions: script,
    rootMarkers: nodeProjectMarkers,
    // It would download the types of packages.
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
    // Build scripts and macros would run code of the project. A user who trusts it can enable them.
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
    // It would download schemas.
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
    // The server reads each of these; if one is missing it fails and reports no errors.
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

const entryDefaults = { initializationOptions: undefined, settings: {}, env: {}, checksWith: undefined } as const;

export const knownServers: readonly ServerEntry[] = known.map((entry) => ({
  ...entryDefaults,
  group: entry.name,
  ...entry,
}));

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
    // Another program under the same name may find errors by itself.
    checksWith: nodePath.basename(command) === base?.command ? base.checksWith : undefined,
  };
}

const lowerCase = (extensions: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(extensions).map(([extension, language]) => [extension.toLowerCase(), language]));

/** How to install the known servers: people read these commands. */
const installs: ReadonlyMap<string, string> = new Map([
  ["typescript", "npm install --global typescript@7"],
  ["typescript-language-server", "npm install --global typescript-language-server typescript"],
  ["pyright", "npm install --global pyright"],
  ["gopls", "go install golang.org/x/tools/gopls@latest"],
  ["rust-analyzer", "rustup component add rust-analyzer"],
  ["clangd", "apt install clangd, brew install llvm"],
  ["json", "npm install --global vscode-langservers-extracted"],
  ["css", "npm install --global vscode-langservers-extracted"],
  ["html", "npm install --global vscode-langservers-extracted"],
  ["yaml", "npm install --global yaml-language-server"],
  ["bash", "npm install --global bash-language-server, and for errors apt install shellcheck, brew install shellcheck"],
  ["shellcheck", "apt install shellcheck, brew install shellcheck"],
]);

/** `server`: a server, or a program that a server checks with. */
export const installOf = (server: string): string | undefined => installs.get(server);
