/** What this machine has for Filehand to work with, as data: for `filehand doctor`. Nothing is made or changed. */

import { loadAttributeCalls } from "./disk/attributes.ts";
import { type FolderFacts, folderFacts } from "./disk/folder-facts.ts";
import { defaultLockFolders, lockFolderFault } from "./disk/lock-folder.ts";
import { programOnPath } from "./disk/programs.ts";
import { type OptionalPart, optionalParts, type PartState } from "./kinds/optional-parts.ts";
import { type RipgrepKind, ripgrep } from "./search/ripgrep.ts";

export interface CheckupOptions {
  readonly roots: readonly string[];
  readonly stateDir: string | undefined;
  readonly path: string | undefined;
  readonly platform: NodeJS.Platform;
}

export interface Checkup {
  readonly node: { readonly version: string; readonly needed: string; readonly enough: boolean };
  readonly ripgrep: { readonly kind: RipgrepKind; readonly command: string } | undefined;
  readonly parts: ReadonlyMap<OptionalPart | "koffi", PartState>;
  readonly stateDir: ({ readonly path: string } & FolderFacts) | undefined;
  readonly locks: { readonly path: string; readonly fault: string | undefined } & FolderFacts;
  readonly roots: readonly ({ readonly path: string } & FolderFacts)[];
  readonly git: string | undefined;
  readonly languageServers: readonly string[];
}

/** As package.json has it. */
export const nodeNeeded = "20.19.0";

/** The usual names of language servers. */
const serverNames = (
  "typescript-language-server vtsls tsgo pyright-langserver basedpyright-langserver pylsp ty ruff gopls rust-analyzer clangd " +
  "jdtls kotlin-language-server metals csharp-ls omnisharp ruby-lsp solargraph intelephense phpactor lua-language-server " +
  "bash-language-server yaml-language-server vscode-json-language-server vscode-html-language-server " +
  "vscode-css-language-server vscode-eslint-language-server svelteserver vue-language-server astro-ls " +
  "tailwindcss-language-server deno dart sourcekit-lsp zls elixir-ls expert erlang_ls haskell-language-server-wrapper ocamllsp " +
  "terraform-ls nixd nil texlab taplo marksman docker-langserver graphql-lsp clojure-lsp gleam"
).split(" ");

export async function checkup({ roots, stateDir, path, platform }: CheckupOptions): Promise<Checkup> {
  const [found, parts, attributes] = await Promise.all([
    ripgrep({ path, notBeneath: roots }),
    optionalParts(),
    loadAttributeCalls(),
  ]);
  const koffi = platform === "linux" ? ([["koffi", attributes === undefined ? "missing" : "there"]] as const) : [];
  const where = { path, platform };
  const { first: locks } = defaultLockFolders();
  return {
    node: { version: process.versions.node, needed: nodeNeeded, enough: isEnough(process.versions.node) },
    ripgrep: found === undefined ? undefined : { kind: found.kind, command: found.before[0] ?? found.command },
    parts: new Map([...parts, ...koffi]),
    stateDir: stateDir === undefined ? undefined : { path: stateDir, ...folderFacts(stateDir) },
    locks: { path: locks, fault: lockFolderFault(locks), ...folderFacts(locks) },
    roots: roots.map((root) => ({ path: root, ...folderFacts(root) })),
    git: programOnPath("git", where),
    languageServers: serverNames.filter((name) => programOnPath(name, where) !== undefined),
  };
}

function isEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [neededMajor = 0, neededMinor = 0] = nodeNeeded.split(".").map(Number);
  return major > neededMajor || (major === neededMajor && minor >= neededMinor);
}
