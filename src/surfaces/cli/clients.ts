/** The MCP clients that `filehand init` knows: which file each reads and how a server is written there. The docs are generated from it. */

import * as nodePath from "node:path";
import { posix, win32 } from "node:path";
import { modes } from "../../contract/permission.ts";
import { dialectNames } from "../../dialects/dialects.ts";
import { createFilehand } from "../../filehand.ts";
import type { Entry, EntryValue } from "../../settings/settings.ts";
import { escapeName } from "../../text/text.ts";
import { type ExitCode, type Given, type Host, UsageError } from "./command.ts";
import { rulesOf } from "./open-session.ts";
import { commonOptions, oneOf } from "./parse.ts";
import { print, printJson } from "./print.ts";

export const clientScopes = ["project", "user"] as const;
export type Scope = (typeof clientScopes)[number];

/** The parts of the host that determine where its files are. */
export type Place = Pick<Host, "env" | "platform" | "home" | "cwd">;

export interface Client {
  readonly id: string;
  readonly title: string;
  readonly format: "json" | "toml";
  readonly under: string;
  /** The files of a scope, the one first that is made if there is none; empty where it has no such scope. Undefined: no home. */
  readonly files: (scope: Scope, place: Place) => readonly string[] | undefined;
  readonly value: (command: readonly string[]) => Entry["value"];
  /** The client's placeholder for the open folder, if it does not start servers there. */
  readonly openFolder?: string;
  readonly fresh?: Readonly<Record<string, string>>;
  /** A program on the PATH and a folder that show that the client is installed. */
  readonly program?: string;
  readonly folder: (place: Place) => string | undefined;
  /** Whether it can show a server's question to the person. If not, a change without an allowing rule is refused. */
  readonly asks: boolean;
  /** What to do or know after the file is written. */
  readonly afterwards: string;
  /** What is not certain; for the docs. */
  readonly doubts?: string;
}

const pathOf = ({ platform }: Place) => (platform === "win32" ? win32 : posix);

function atHome(place: Place, ...names: readonly string[]): string | undefined {
  const { home } = place;
  return home === undefined || home === "" ? undefined : pathOf(place).join(home, ...names);
}

function named(place: Place, variable: string, ...usual: readonly string[]): string | undefined {
  const given = place.env[variable];
  return given !== undefined && pathOf(place).isAbsolute(given) ? given : atHome(place, ...usual);
}

function applicationFolder(place: Place, ...names: readonly string[]): string | undefined {
  const folder =
    place.platform === "win32"
      ? named(place, "APPDATA", "AppData", "Roaming")
      : place.platform === "darwin"
        ? atHome(place, "Library", "Application Support")
        : named(place, "XDG_CONFIG_HOME", ".config");
  return below(place, folder, ...names);
}

const below = (place: Place, folder: string | undefined, ...names: readonly string[]): string | undefined =>
  folder === undefined ? undefined : pathOf(place).join(folder, ...names);

const oneFile =
  (project: string | undefined, user: (place: Place) => string | undefined): Client["files"] =>
  (scope, place) => {
    if (scope === "project") return project === undefined ? [] : [pathOf(place).join(place.cwd, project)];
    const file = user(place);
    return file === undefined ? undefined : [file];
  };

const commandAndArgs = ([command = "", ...args]: readonly string[]): Readonly<Record<string, EntryValue>> => ({
  command,
  args,
});

const usual = { format: "json", under: "mcpServers", value: commandAndArgs } as const;

const zedFolder = (place: Place): string | undefined =>
  place.platform === "win32"
    ? applicationFolder(place, "Zed")
    : below(
        place,
        place.platform === "darwin" ? atHome(place, ".config") : named(place, "XDG_CONFIG_HOME", ".config"),
        "zed",
      );

const opencodeFolder = (place: Place): string | undefined =>
  below(place, named(place, "XDG_CONFIG_HOME", ".config"), "opencode");

export const clients: readonly Client[] = [
  {
    id: "claude-code",
    title: "Claude Code",
    ...usual,
    files: oneFile(".mcp.json", (place) => below(place, named(place, "CLAUDE_CONFIG_DIR"), ".claude.json")),
    value: (command) => ({ type: "stdio", ...commandAndArgs(command) }),
    program: "claude",
    folder: (place) => named(place, "CLAUDE_CONFIG_DIR", ".claude"),
    asks: true,
    afterwards:
      "Start claude anew in the project; it asks once whether the servers of .mcp.json may be used. /mcp shows them.",
  },
  {
    id: "claude-desktop",
    title: "Claude Desktop",
    ...usual,
    files: oneFile(undefined, (place) => applicationFolder(place, "Claude", "claude_desktop_config.json")),
    folder: (place) => applicationFolder(place, "Claude"),
    asks: false,
    afterwards:
      "Quit Claude Desktop and start it anew. It has no open folder, so the folders must be named: --root, or else the current one is taken.",
    doubts: "The place on Linux is that of other programs with windows; Claude Desktop documents macOS and Windows.",
  },
  {
    id: "cursor",
    title: "Cursor",
    ...usual,
    files: oneFile(".cursor/mcp.json", (place) => atHome(place, ".cursor", "mcp.json")),
    openFolder: "${workspaceFolder}",
    program: "cursor",
    folder: (place) => atHome(place, ".cursor"),
    asks: true,
    afterwards: "Switch the server on in Cursor's settings, under MCP, if it is not on already.",
  },
  {
    id: "vscode",
    title: "VS Code",
    ...usual,
    under: "servers",
    files: oneFile(".vscode/mcp.json", (place) => applicationFolder(place, "Code", "User", "mcp.json")),
    value: (command) => ({ type: "stdio", ...commandAndArgs(command) }),
    openFolder: "${workspaceFolder}",
    program: "code",
    folder: (place) => applicationFolder(place, "Code"),
    asks: true,
    afterwards: "Run the command MCP: List Servers and start it. Tools are there in agent mode.",
    doubts: "The user's file is that of the default profile; other profiles and Insiders have their own folders.",
  },
  {
    id: "zed",
    title: "Zed",
    ...usual,
    under: "context_servers",
    files: oneFile(".zed/settings.json", (place) => below(place, zedFolder(place), "settings.json")),
    program: "zed",
    folder: zedFolder,
    asks: false,
    afterwards: "Zed starts it at once; the agent panel's settings show whether it runs.",
    doubts:
      'Versions of 2025 also wanted "source": "custom" in the entry. That Zed starts servers in the project\'s folder was not tried here: if it does not, name the folder with --root.',
  },
  {
    id: "codex",
    title: "Codex",
    ...usual,
    format: "toml",
    under: "mcp_servers",
    files: oneFile(".codex/config.toml", (place) => below(place, named(place, "CODEX_HOME", ".codex"), "config.toml")),
    program: "codex",
    folder: (place) => named(place, "CODEX_HOME", ".codex"),
    asks: true,
    afterwards:
      "Start codex anew; /mcp shows the server. The project's file counts only in projects that Codex trusts.",
  },
  {
    id: "gemini",
    title: "Gemini CLI",
    ...usual,
    files: oneFile(".gemini/settings.json", (place) => atHome(place, ".gemini", "settings.json")),
    program: "gemini",
    folder: (place) => atHome(place, ".gemini"),
    asks: false,
    afterwards: "Start gemini anew; /mcp shows the server. The project's file counts only in folders that it trusts.",
  },
  {
    id: "opencode",
    title: "opencode",
    ...usual,
    under: "mcp",
    files: (scope, place) => {
      const folder = scope === "project" ? place.cwd : opencodeFolder(place);
      return folder === undefined
        ? undefined
        : ["opencode.json", "opencode.jsonc"].map((name) => pathOf(place).join(folder, name));
    },
    value: (command) => ({ type: "local", command, enabled: true }),
    fresh: { $schema: "https://opencode.ai/config.json" },
    program: "opencode",
    folder: opencodeFolder,
    asks: false,
    afterwards: "Start opencode anew; opencode mcp list shows the server.",
    doubts:
      "This is the configuration of opencode 1. If there are both files, opencode reads both; the one that is there is used.",
  },
];

export const clientIds: readonly string[] = clients.map(({ id }) => id);

export const usualScope = (client: Client, place: Place): Scope =>
  client.files("project", place)?.length === 0 ? "user" : "project";

export const askingWords = ({ title }: Client): string =>
  `${title} is not known to show a server's questions: changes are refused until a rule allows them. With --allow Edit they are left to ${title}'s own questions.`;

// How a client starts the server: with npx, or this program by its absolute path.

/** Options of `init` that are passed to the server. `--yes` is not: it answers the question of this command. */
const passedOn = ["dialect", "mode", "model", "state-dir", "allow", "ask", "deny"] as const;

export function commandFor(client: Client, scope: Scope, given: Given, host: Host): readonly string[] {
  // Checked now: otherwise a typing error shows only when the client starts the server, and few clients show why that failed.
  for (const [option, known] of [
    ["dialect", dialectNames],
    ["mode", modes],
  ] as const) {
    const word = given.text(option);
    if (word !== undefined) oneOf<string>(option, word, known);
  }
  requireRules(given, host);
  return [
    ...programOf(given, host),
    "mcp",
    ...rootsOf(client, scope, given, host),
    ...passedOn.flatMap(optionOf(given, host)),
  ];
}

function requireRules(given: Given, host: Host): void {
  const rules = rulesOf(given);
  if (rules.length === 0) return;
  const { cwd, home } = host;
  const options = { roots: [cwd], rules, unclearRules: "report", ...(home !== undefined && { home }) } as const;
  const [fault] = createFilehand(options).ruleFaults;
  if (fault !== undefined) throw new UsageError(`Cannot use the rule ${escapeName(fault.text)}: ${fault.why}`);
}

function programOf(given: Given, host: Host): readonly string[] {
  if (!given.flag("installed")) return npx(host.platform);
  const { program } = host;
  if (program === undefined) throw new UsageError("--installed needs to know where this program is, leave it out");
  // The cache of npx may be emptied at any time.
  if (program.some((part) => /[\\/]_npx[\\/]/.test(part))) {
    throw new UsageError(
      "--installed needs an installed filehand, this one is npx's own: npm install -g filehand first",
    );
  }
  // Node by its path too: desktop programs do not have the PATH of a shell, where version managers put it.
  return program;
}

/** On Windows npx is a script that only its shell can start. */
const npx = (platform: NodeJS.Platform): readonly string[] =>
  platform === "win32" ? ["cmd", "/c", "npx", "-y", "filehand"] : ["npx", "-y", "filehand"];

/** The given folders; else the client's placeholder for the open one; else none, and the server asks for its roots. */
function rootsOf(client: Client, scope: Scope, given: Given, host: Host): readonly string[] {
  const named = given.list("root").map((root) => nodePath.resolve(host.cwd, root));
  if (named.length > 0) return named.flatMap((root) => ["--root", root]);
  if (client.openFolder !== undefined) return ["--root", client.openFolder];
  return scope === "user" && client.files("project", host)?.length === 0 ? ["--root", host.cwd] : [];
}

const optionOf =
  (given: Given, host: Host) =>
  (name: (typeof passedOn)[number]): readonly string[] => {
    if (commonOptions[name].type === "list") return given.list(name).flatMap((value) => [`--${name}`, value]);
    const value = given.text(name);
    if (value === undefined) return [];
    return [`--${name}`, name === "state-dir" ? nodePath.resolve(host.cwd, value) : value];
  };

// `filehand init` without a client: which there are, and which of them seem to be installed.

export async function listClients(given: Given, host: Host): Promise<ExitCode> {
  const { isThere, programOnPath } = await import("../../settings/client-file.ts");
  const where = { path: host.env["PATH"] ?? host.env["Path"], platform: host.platform, notBeneath: [] }; // named, not run
  const signOf = ({ program, folder }: Client): string | undefined => {
    const at = folder(host);
    const found = program === undefined ? undefined : programOnPath(program, where);
    return found ?? (at !== undefined && isThere(at) ? at : undefined);
  };
  const rows = clients.map((client) => ({ client, sign: signOf(client) }));
  if (given.flag("json")) {
    const report = rows.map(({ client, sign }) => ({
      client: client.id,
      title: client.title,
      installed: sign !== undefined,
      ...(sign === undefined ? {} : { sign }),
      files: Object.fromEntries(clientScopes.map((scope) => [scope, client.files(scope, host) ?? []])),
    }));
    return printJson(report, host);
  }
  const width = Math.max(...clients.map(({ id }) => id.length));
  const titleWidth = Math.max(...clients.map(({ title }) => title.length));
  for (const { client, sign } of rows) {
    const found = sign === undefined ? "not found" : `found: ${sign}`;
    print(`${client.id.padEnd(width)}  ${client.title.padEnd(titleWidth)}  ${found}`, host);
  }
  host.stderr.write("\nfilehand init <client> shows its configuration, with --write it is written\n");
  return 0;
}
