/** The MCP clients that `filehand init` knows: which file each reads and how a server is written there. The docs are generated from it. */

import * as nodePath from "node:path";
import { posix, win32 } from "node:path";
import { modes } from "../../contract/permission.ts";
import { dialectNames, ownFileToolsOf } from "../../dialects/dialects.ts";
import { createFilehand } from "../../filehand.ts";
import type { ClientFormat, ClientSetting, EntryTable } from "../../settings/settings.ts";
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
  readonly format: ClientFormat;
  readonly under: string;
  /** The files of a scope, the one first that is made if there is none; empty where it has no such scope. Undefined: no home. */
  readonly files: (scope: Scope, place: Place) => readonly string[] | undefined;
  /** The entry of a server that the client starts. */
  readonly local: (command: readonly string[], name: string) => EntryTable;
  /** The entry of a server at an address. The token is in a variable of the environment, never in the file. */
  readonly remote?: (url: string, name: string) => EntryTable;
  /** What makes the client use our tools and not its own; undefined: nothing is known that does. */
  readonly replace?: Replacement;
  /** It has no settings of a project, and yet starts its servers in the folder where it was started itself. */
  readonly startsInProject?: true;
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

export interface Replacement {
  /** The settings, for a server of this name. */
  readonly settings: (server: string) => readonly ClientSetting[];
  /** Where they are, if not in the file of the server. */
  readonly files?: Client["files"];
  /** What the client does then, and what remains of its own. */
  readonly words: string;
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

const commandAndArgs = ([command = "", ...args]: readonly string[]): EntryTable => ({ command, args });

/** The variable with the token of `filehand serve`. */
export const tokenVariable = "FILEHAND_TOKEN";

/** Clients differ in how a variable of the environment is written. */
const bearer = (variable: string): EntryTable => ({ Authorization: `Bearer ${variable}` });
const braced = bearer(`\${${tokenVariable}}`);
const bracedEnv = bearer(`\${env:${tokenVariable}}`);
const dollar = bearer(`$${tokenVariable}`);

const usual = { format: "json", under: "mcpServers", local: commandAndArgs } as const;

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

const opencodeFiles =
  (folderOf: (place: Place) => string | undefined, ...names: readonly string[]): Client["files"] =>
  (scope, place) => {
    const folder = scope === "project" ? place.cwd : folderOf(place);
    return folder === undefined ? undefined : names.map((name) => pathOf(place).join(folder, name));
  };

const kiloFolder = (place: Place): string | undefined =>
  below(place, named(place, "XDG_CONFIG_HOME", ".config"), "kilo");

const opencodeEntries = {
  format: "json",
  under: "mcp",
  local: (command: readonly string[]): EntryTable => ({ type: "local", command, enabled: true }),
  remote: (url: string): EntryTable => ({
    type: "remote",
    url,
    enabled: true,
    oauth: false,
    headers: bearer(`{env:${tokenVariable}}`),
  }),
  replace: {
    settings: (): readonly ClientSetting[] =>
      ownFileToolsOf("opencode").map((key) => ({ under: "tools", key, value: false })),
    words: "Its own read, edit, write, grep, glob, list and patch are off; bash stays.",
  },
} as const;

const geminiEntries = (own: "gemini" | "qwen") =>
  ({
    ...usual,
    remote: (url: string): EntryTable => ({ httpUrl: url, headers: dollar }),
    replace: {
      settings: (): readonly ClientSetting[] => [{ under: "tools", list: "exclude", items: ownFileToolsOf(own) }],
      words: "Its own tools for files and for searching are excluded; the shell stays.",
    },
  }) as const;

/** Claude Code warns of rules for tools that it does not have any more. */
const claudeTools = ownFileToolsOf("claude-code").filter((tool) => tool !== "MultiEdit" && tool !== "LS");
/** Built in to Copilot CLI 1.0.102. */
const copilotTools = "view,create,edit,apply_patch,grep,glob";
/** Built in to Crush, by its documentation. */
const crushTools = ["view", "edit", "multiedit", "write", "grep", "glob", "ls"] as const;

const crushFolder = (place: Place): string | undefined =>
  place.platform === "win32"
    ? below(place, named(place, "LOCALAPPDATA", "AppData", "Local"), "crush")
    : below(place, named(place, "XDG_CONFIG_HOME", ".config"), "crush");

const gooseFolder = (place: Place): string | undefined =>
  place.platform === "win32"
    ? applicationFolder(place, "Block", "goose", "config")
    : below(place, named(place, "XDG_CONFIG_HOME", ".config"), "goose");

/** goose's names of an extension's fields; it wants all of them. */
const gooseEntry = (name: string, fields: EntryTable): EntryTable => ({
  enabled: true,
  name,
  description: "Files of this project",
  timeout: 300,
  ...fields,
});

export const clients: readonly Client[] = [
  {
    id: "claude-code",
    title: "Claude Code",
    ...usual,
    files: oneFile(".mcp.json", (place) => below(place, named(place, "CLAUDE_CONFIG_DIR"), ".claude.json")),
    local: (command) => ({ type: "stdio", ...commandAndArgs(command) }),
    remote: (url) => ({ type: "http", url, headers: braced }),
    replace: {
      files: oneFile(".claude/settings.json", (place) =>
        below(place, named(place, "CLAUDE_CONFIG_DIR", ".claude"), "settings.json"),
      ),
      settings: (server) => [
        { under: "permissions", list: "deny", items: claudeTools },
        { under: "permissions", list: "allow", items: [`mcp__${server}`] },
      ],
      words:
        "Its own Read, Edit, Write, NotebookEdit, Grep and Glob are denied and not offered to the model. It does not ask before our tools: Filehand asks, with the diff. Bash stays.",
    },
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
    remote: (url) => ({ url, headers: bracedEnv }),
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
    local: (command) => ({ type: "stdio", ...commandAndArgs(command) }),
    remote: (url) => ({ type: "http", url, headers: bracedEnv }),
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
    afterwards:
      "Zed starts it at once; the agent panel's settings show whether it runs. Zed's documentation says that it hands its servers on to external agents (ACP) such as Claude, Codex and Gemini CLI; an agent's own file tools are switched off in its own settings, as in filehand init claude-code --replace-builtins.",
    doubts:
      'Versions of 2025 also wanted "source": "custom" in the entry. That Zed starts servers in the project\'s folder was not tried here: if it does not, name the folder with --root. Nor was it tried with an external agent.',
  },
  {
    id: "codex",
    title: "Codex",
    ...usual,
    format: "toml",
    under: "mcp_servers",
    files: oneFile(".codex/config.toml", (place) => below(place, named(place, "CODEX_HOME", ".codex"), "config.toml")),
    // Codex does not ask before our tools: Filehand asks, with the diff.
    local: (command) => ({ ...commandAndArgs(command), default_tools_approval_mode: "approve" }),
    remote: (url) => ({ url, bearer_token_env_var: tokenVariable, default_tools_approval_mode: "approve" }),
    replace: {
      settings: () => [
        { under: "features", key: "shell_tool", value: false },
        { under: "features", key: "view_image", value: false },
      ],
      words:
        "Its shell and view_image are off, since Codex reads and writes files with the shell: it can run no commands any more. Its apply_patch stays, Codex has no switch for it.",
    },
    program: "codex",
    folder: (place) => named(place, "CODEX_HOME", ".codex"),
    asks: true,
    afterwards:
      "Start codex anew; /mcp shows the server. The project's file counts only in projects that Codex trusts.",
  },
  {
    id: "gemini",
    title: "Gemini CLI",
    ...geminiEntries("gemini"),
    files: oneFile(".gemini/settings.json", (place) => atHome(place, ".gemini", "settings.json")),
    program: "gemini",
    folder: (place) => atHome(place, ".gemini"),
    asks: false,
    afterwards: "Start gemini anew; /mcp shows the server. The project's file counts only in folders that it trusts.",
  },
  {
    id: "qwen",
    title: "Qwen Code",
    ...geminiEntries("qwen"),
    files: oneFile(".qwen/settings.json", (place) => atHome(place, ".qwen", "settings.json")),
    program: "qwen",
    folder: (place) => atHome(place, ".qwen"),
    asks: false,
    afterwards: "Start qwen anew; /mcp shows the server.",
  },
  {
    id: "opencode",
    title: "opencode",
    ...opencodeEntries,
    files: opencodeFiles(opencodeFolder, "opencode.json", "opencode.jsonc"),
    fresh: { $schema: "https://opencode.ai/config.json" },
    program: "opencode",
    folder: opencodeFolder,
    asks: false,
    afterwards: "Start opencode anew; opencode mcp list shows the server.",
    doubts:
      "This is the configuration of opencode 1. If there are both files, opencode reads both; the one that is there is used.",
  },
  {
    id: "kilo",
    title: "Kilo",
    ...opencodeEntries,
    files: opencodeFiles(kiloFolder, "kilo.json", "kilo.jsonc"),
    program: "kilo",
    folder: kiloFolder,
    asks: false,
    afterwards: "Start kilo anew; kilo mcp list shows the server. The extension for VS Code reads the same files.",
    doubts:
      "The files are those that the documentation of Kilo 7 names; older versions had .kilocode/mcp.json. It was not run here.",
  },
  {
    id: "copilot",
    title: "Copilot CLI",
    ...usual,
    files: oneFile(".github/mcp.json", (place) =>
      below(place, named(place, "COPILOT_HOME", ".copilot"), "mcp-config.json"),
    ),
    local: (command) => ({ type: "local", ...commandAndArgs(command), tools: ["*"] }),
    remote: (url) => ({ type: "http", url, headers: braced, tools: ["*"] }),
    replace: {
      settings: () => [],
      words: `Copilot CLI has no setting for that, only options: start it as copilot --excluded-tools=${copilotTools} --allow-tool=filehand; its shell stays.`,
    },
    program: "copilot",
    folder: (place) => named(place, "COPILOT_HOME", ".copilot"),
    asks: true,
    afterwards: "Start copilot anew; /mcp shows the server.",
  },
  {
    id: "kimi",
    title: "Kimi Code",
    ...usual,
    files: oneFile(".kimi-code/mcp.json", (place) =>
      below(place, named(place, "KIMI_CODE_HOME", ".kimi-code"), "mcp.json"),
    ),
    remote: (url) => ({ url, bearerTokenEnvVar: tokenVariable }),
    program: "kimi",
    folder: (place) => named(place, "KIMI_CODE_HOME", ".kimi-code"),
    asks: false,
    afterwards: "Start kimi anew, or /new.",
  },
  {
    id: "cline",
    title: "Cline",
    ...usual,
    files: oneFile(undefined, (place) => atHome(place, ".cline", "data", "settings", "cline_mcp_settings.json")),
    local: (command) => ({ transport: { type: "stdio", ...commandAndArgs(command) } }),
    program: "cline",
    folder: (place) => atHome(place, ".cline"),
    asks: false,
    afterwards:
      "Start cline anew. It has no settings of a project, so the folders must be named: --root, or else the current one is taken.",
    doubts: "This is the file of Cline's command line; the extension for VS Code keeps one of its own.",
  },
  {
    id: "goose",
    title: "goose",
    format: "yaml",
    under: "extensions",
    files: oneFile(undefined, (place) => below(place, gooseFolder(place), "config.yaml")),
    local: ([cmd = "", ...args], name) => gooseEntry(name, { type: "stdio", cmd, args }),
    remote: (uri, name) =>
      gooseEntry(name, { type: "streamable_http", uri, headers: braced, env_keys: [tokenVariable] }),
    // It starts its extensions in the folder where it was started.
    startsInProject: true,
    program: "goose",
    folder: gooseFolder,
    asks: true,
    afterwards:
      "Start goose anew in the project. It shows questions in a session at a terminal; goose run without one ends with an error when it is asked: give --allow Edit for that.",
    doubts:
      "goose writes its file anew when it is configured; then --write needs --replace. The variable in the header of --http was not tried.",
  },
  {
    id: "continue",
    title: "Continue",
    ...usual,
    files: oneFile(".continue/mcpServers/filehand.json", (place) =>
      below(place, named(place, "CONTINUE_GLOBAL_DIR", ".continue"), "mcpServers", "filehand.json"),
    ),
    program: "cn",
    folder: (place) => named(place, "CONTINUE_GLOBAL_DIR", ".continue"),
    asks: false,
    afterwards: "Reload the window of the editor; the tools are there in agent mode.",
    doubts:
      "Continue's extensions document these files; its command line cn was not seen to read them, it takes servers from config.yaml.",
  },
  {
    id: "windsurf",
    title: "Windsurf",
    ...usual,
    files: oneFile(undefined, (place) => atHome(place, ".codeium", "windsurf", "mcp_config.json")),
    remote: (url) => ({ serverUrl: url, headers: bracedEnv }),
    program: "windsurf",
    folder: (place) => atHome(place, ".codeium", "windsurf"),
    asks: false,
    afterwards:
      "Refresh the servers in Windsurf's settings. It has no settings of a project, so the folders must be named: --root, or else the current one is taken.",
    doubts: "From its documentation; it has a window and was not run here.",
  },
  {
    id: "amp",
    title: "Amp",
    ...usual,
    under: "amp.mcpServers",
    files: oneFile(".amp/settings.json", (place) => atHome(place, ".config", "amp", "settings.json")),
    remote: (url) => ({ url, headers: braced }),
    program: "amp",
    folder: (place) => atHome(place, ".config", "amp"),
    asks: false,
    afterwards: "Start amp anew in the project; a server of a project must be approved there once.",
    doubts: "From its documentation; it needs an account and was not run here.",
  },
  {
    id: "crush",
    title: "Crush",
    ...usual,
    under: "mcp",
    files: (scope, place) =>
      scope === "project"
        ? [".crush.json", "crush.json"].map((name) => pathOf(place).join(place.cwd, name))
        : oneFile(undefined, (one) => below(one, crushFolder(one), "crush.json"))(scope, place),
    local: (command) => ({ type: "stdio", ...commandAndArgs(command) }),
    remote: (url) => ({ type: "http", url, headers: dollar }),
    replace: {
      settings: () => [{ under: "options", list: "disabled_tools", items: crushTools }],
      words: "Its own tools for files and for searching are disabled; bash stays.",
    },
    fresh: { $schema: "https://charm.land/crush.json" },
    program: "crush",
    folder: crushFolder,
    asks: false,
    afterwards: "Start crush anew in the project.",
    doubts: "From its documentation; its program is not on npm and was not run here.",
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
/** Switches of `filehand mcp` that are passed to it as well. */
export const passedFlags = ["history-tools", "language-servers", "observe"] as const;

export interface Start {
  readonly command: readonly string[];
  /** Why it is this one; for the person. */
  readonly why: string;
}

export function startOf(client: Client, scope: Scope, given: Given, host: Host): Start {
  // Checked now: otherwise a typing error shows only when the client starts the server, and few clients show why that failed.
  for (const [option, known] of [
    ["dialect", dialectNames],
    ["mode", modes],
  ] as const) {
    const word = given.text(option);
    if (word !== undefined) oneOf<string>(option, word, known);
  }
  requireRules(given, host);
  const { command, why } = programOf(given, host);
  const rules = [...passedOn.flatMap(optionOf(given, host)), ...passedFlags.flatMap(flagOf(given))];
  return {
    command: [...command, "mcp", ...rootsOf(client, scope, given, host), ...rules, ...leftToClient(client, given)],
    why,
  };
}

/**
 * A client that shows no questions asks by itself before it calls a tool. With its own tools switched off, changes that Filehand
 * refuses could not be made at all, so one side asks: the client.
 */
function leftToClient(client: Client, given: Given): readonly string[] {
  return given.flag("replace-builtins") && client.replace !== undefined && !client.asks && !decides(given)
    ? ["--allow", "Edit"]
    : [];
}

export const decides = (given: Given): boolean =>
  ["allow", "ask", "deny"].some((rule) => given.list(rule).length > 0) || given.text("mode") !== undefined;

function requireRules(given: Given, host: Host): void {
  const rules = rulesOf(given);
  if (rules.length === 0) return;
  const { cwd, home } = host;
  const options = { roots: [cwd], rules, unclearRules: "report", ...(home !== undefined && { home }) } as const;
  const [fault] = createFilehand(options).ruleFaults;
  if (fault !== undefined) throw new UsageError(`Cannot use the rule ${escapeName(fault.text)}: ${fault.why}`);
}

/** npx finds a package only if it is published; whoever runs this program has it, so its own path always starts. */
function programOf(given: Given, host: Host): Start {
  const { program, platform } = host;
  // The cache of npx may be emptied at any time.
  const isFromNpx = program?.some((part) => /[\\/]_npx[\\/]/.test(part)) === true;
  if (given.flag("installed")) {
    if (program === undefined) throw new UsageError("--installed needs to know where this program is, leave it out");
    if (isFromNpx) {
      throw new UsageError(
        "--installed needs an installed filehand, this one is npx's own: npm install -g filehand first",
      );
    }
  }
  if (given.flag("npx")) {
    if (given.flag("installed")) throw new UsageError("--npx and --installed cannot both be meant");
    return { command: npx(platform), why: "--npx asks for it; it works once filehand is published on npm" };
  }
  if (program === undefined) return { command: npx(platform), why: "this program does not know its own path" };
  if (isFromNpx) return { command: npx(platform), why: "npx started this program, too" };
  // Node by its path too: desktop programs do not have the PATH of a shell, where version managers put it.
  const script = program.at(-1) ?? "";
  const kind = /[\\/]node_modules[\\/]filehand[\\/]/.test(script) ? "an installed package" : "a clone or a copy";
  return {
    command: program,
    why: `this filehand is ${kind}, and its path starts without a registry; the file is then for this machine only`,
  };
}

/** On Windows npx is a script that only its shell can start. */
const npx = (platform: NodeJS.Platform): readonly string[] =>
  platform === "win32" ? ["cmd", "/c", "npx", "-y", "filehand"] : ["npx", "-y", "filehand"];

/** The address of a server over HTTP. What the server does is decided where it is started. */
export function addressOf(client: Client, given: Given): string {
  const url = given.text("http") ?? "";
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !["http:", "https:"].includes(parsed.protocol)) {
    throw new UsageError(`--http must be an address such as http://127.0.0.1:3323/mcp, not "${url}"`);
  }
  if (parsed.username !== "" || parsed.password !== "") {
    throw new UsageError(`--http must have no password in it, the token comes from the variable ${tokenVariable}`);
  }
  const other = [...passedOn, "root", ...passedFlags, "installed", "npx"].find(
    (name) => given.flag(name) || given.text(name) !== undefined || given.list(name).length > 0,
  );
  if (other !== undefined) {
    throw new UsageError(`--${other} belongs to filehand serve, with --http the client starts no server`);
  }
  if (client.remote === undefined) {
    throw new UsageError(
      `${client.title} is not known to take a token from the environment, and none is written into its file: leave --http out`,
    );
  }
  return url;
}

/** The given folders; else the client's placeholder for the open one; else none, and the server asks for its roots. */
function rootsOf(client: Client, scope: Scope, given: Given, host: Host): readonly string[] {
  const named = given.list("root").map((root) => nodePath.resolve(host.cwd, root));
  if (named.length > 0) return named.flatMap((root) => ["--root", root]);
  if (client.openFolder !== undefined) return ["--root", client.openFolder];
  const anywhere = client.startsInProject !== true && client.files("project", host)?.length === 0;
  return scope === "user" && anywhere ? ["--root", host.cwd] : [];
}

const optionOf =
  (given: Given, host: Host) =>
  (name: (typeof passedOn)[number]): readonly string[] => {
    if (commonOptions[name].type === "list") return given.list(name).flatMap((value) => [`--${name}`, value]);
    const value = given.text(name);
    if (value === undefined) return [];
    return [`--${name}`, name === "state-dir" ? nodePath.resolve(host.cwd, value) : value];
  };

const flagOf =
  (given: Given) =>
  (name: (typeof passedFlags)[number]): readonly string[] =>
    given.flag(name) ? [`--${name}`] : [];

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
