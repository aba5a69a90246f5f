/** What registries and desktop programs read about the package: server.json, and the manifest of the bundle. */

import { claude } from "../src/dialects/claude/index.ts";

export interface PackageFacts {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly repository: { readonly url: string };
  readonly mcpName: string;
  readonly engines: { readonly node: string };
  readonly keywords: readonly string[];
}

/**
 * package.json with every address made from `repository`: the owner is written there and nowhere else. Other pages link to files
 * beside them, and npm completes those links by the same field.
 */
export function withAddresses(text: string): string {
  const facts = JSON.parse(text) as PackageFacts; // our own file
  const [, owner, name] = /github\.com\/([\w-]+)\/([\w.-]+)\.git$/.exec(facts.repository.url) ?? [];
  if (owner === undefined || name === undefined) throw new Error("package.json: repository.url names no repository");
  const page = `https://github.com/${owner}/${name}`;
  const addresses = {
    homepage: `${page}#readme`,
    bugs: { url: `${page}/issues` },
    mcpName: `io.github.${owner}/${name}`,
  };
  return `${JSON.stringify({ ...facts, ...addresses }, null, 2)}\n`;
}

/** Registries take up to 100 characters. */
const description = "File tools for coding agents: read, search, edit and undo, inside the folders you name";

/** For the registry of MCP servers. */
export const serverJson = ({ name, version, mcpName }: PackageFacts): unknown => ({
  $schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
  name: mcpName,
  title: "Filehand",
  description,
  version,
  packages: [
    {
      registryType: "npm",
      identifier: name,
      version,
      runtimeHint: "npx",
      transport: { type: "stdio" },
      packageArguments: [
        { type: "positional", value: "mcp" },
        {
          type: "named",
          name: "--root",
          description: "Folder that may be worked in; without it the folder in which the server is started",
          format: "filepath",
          isRequired: false,
          isRepeated: true,
        },
        {
          type: "named",
          name: "--mode",
          description: "What may be done at all",
          isRequired: false,
          choices: ["default", "read-only", "plan", "accept-edits"],
        },
      ],
    },
  ],
});

/** Of the bundle for desktop programs, manifest 0.3. */
export const bundleManifest = ({ name, version, license, engines, keywords }: PackageFacts): unknown => ({
  manifest_version: "0.3",
  name,
  display_name: "Filehand",
  version,
  description,
  author: { name: "the Filehand authors" },
  license,
  keywords,
  server: {
    type: "node",
    entry_point: "dist/filehand.cjs",
    mcp_config: {
      command: "node",
      // Several folders become several arguments.
      args: ["${__dirname}/dist/filehand.cjs", "mcp", "${user_config.folders}"],
      env: {},
    },
  },
  tools: claude.specs.filter(({ offered }) => offered === "always").map(({ name: tool }) => ({ name: tool })),
  tools_generated: true,
  compatibility: { platforms: ["darwin", "win32", "linux"], runtimes: { node: engines.node } },
  user_config: {
    folders: {
      type: "directory",
      title: "Folders",
      description: "The folders that may be worked in. Nothing outside of them is read or changed.",
      multiple: true,
      required: true,
    },
  },
});
