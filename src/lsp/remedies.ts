/** How to install the known servers. Filehand downloads nothing itself: people read these commands. */

import { extensionOf } from "./server.ts";
import type { ServerEntry } from "./servers.ts";
import type { ServerRemedy } from "../contract/lsp.ts";

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

export const remediesFor = (path: string, servers: readonly ServerEntry[]): readonly ServerRemedy[] =>
  servers
    .filter(({ extensions }) => Object.hasOwn(extensions, extensionOf(path)))
    .map(({ name, command }) => ({ server: name, command, install: installOf(name) }));
