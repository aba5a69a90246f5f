/** A page of docs for each MCP client, from the table that `filehand init` works with: the two cannot differ. */

import { soleText } from "../src/settings/client-file.ts";
import {
  askingWords,
  type Client,
  clients,
  commandFor,
  type Place,
  type Scope,
  clientScopes,
  usualScope,
} from "../src/surfaces/cli/clients.ts";
import type { Given, Host } from "../src/surfaces/cli/command.ts";

/** Names for what differs from one machine to the next. */
const places = {
  Linux: { platform: "linux", home: "~", cwd: "", env: {} },
  macOS: { platform: "darwin", home: "~", cwd: "", env: {} },
  Windows: { platform: "win32", home: "%USERPROFILE%", cwd: "", env: {} },
} as const satisfies Record<string, Place>;

const nothingGiven: Given = {
  argv: [],
  parameters: [],
  flag: () => false,
  text: () => undefined,
  integer: () => undefined,
  list: () => [],
};

/** A host for a command that asks only where it is. */
const hostOf = (place: Place): Host => ({ ...place, cwd: "/path/to/project" }) as Host; // no stream is touched

export function clientPages(note: string): Readonly<Record<string, string>> {
  return {
    "docs/clients/README.md": indexPage(note),
    ...Object.fromEntries(clients.map((client) => [`docs/clients/${client.id}.md`, clientPage(note, client)])),
  };
}

function indexPage(note: string): string {
  return [
    note,
    "",
    "# Clients",
    "",
    "`filehand init` lists these clients and says which seem to be installed. `filehand init <client>` shows the configuration and its file.",
    "`--write` shows the change, asks, and writes it; `--remove` takes it out again. Everything else in the file stays.",
    "",
    ...clients.map(({ id, title }) => `- [${title}](${id}.md)`),
    "",
    "For any other client that starts MCP servers as programs, the command is `npx -y filehand mcp`, with `--root DIR` for each",
    "folder if the client does not start its servers in the project.",
    "",
  ].join("\n");
}

function clientPage(note: string, client: Client): string {
  const { id, title } = client;
  const scope = usualScope(client, places.Linux);
  return [
    note,
    "",
    `# ${title}`,
    "",
    "```sh",
    `filehand init ${id} --write`,
    "```",
    "",
    "Without `--write` the command only shows the change. The files:",
    "",
    "| whose | system | file |",
    "| ----- | ------ | ---- |",
    ...clientScopes.flatMap((one) => rowsOf(client, one)),
    "",
    `The configuration, in the ${scope === "user" ? "user's" : "project's"} file:`,
    "",
    `\`\`\`${client.format}`,
    textOf(client, scope).trimEnd(),
    "```",
    "",
    ...(client.openFolder === undefined
      ? []
      : [`${title} replaces \`${client.openFolder}\` by the folder that is open.`, ""]),
    client.afterwards,
    "",
    ...(client.asks ? [] : [askingWords(client), ""]),
    "On Windows the command is `cmd /c npx -y filehand mcp`, since npx is a script there. `--installed` writes the path of the",
    "program that you run, instead of npx: it starts faster and needs no network. `--root`, `--mode`, `--dialect`, `--allow` and",
    `\`--deny\` become part of the configuration. \`filehand init ${id} --remove\` takes it out again.`,
    ...(client.doubts === undefined ? [] : ["", `Not certain: ${client.doubts}`]),
    "",
  ].join("\n");
}

const textOf = (client: Client, scope: Scope): string =>
  soleText(client, {
    under: client.under,
    name: "filehand",
    value: client.value(commandFor(client, scope, nothingGiven, hostOf(places.Linux))),
  });

/** Systems that have the same file share a row. */
function rowsOf(client: Client, scope: Scope): readonly string[] {
  const systems = new Map<string, string[]>();
  for (const [system, place] of Object.entries(places)) {
    const files = client.files(scope, place) ?? [];
    // The folder of a project is where one stands.
    const shown = files.map(
      (file) => `\`${scope === "project" && system === "Windows" ? file.replaceAll("\\", "/") : file}\``,
    );
    if (shown.length > 0) systems.set(shown.join(" or "), [...(systems.get(shown.join(" or ")) ?? []), system]);
  }
  return [...systems].map(([files, names]) => {
    const all = names.length === Object.keys(places).length ? "any" : names.join(", ");
    return `| ${scope === "project" ? "the project's" : "yours"} | ${all} | ${files} |`;
  });
}
