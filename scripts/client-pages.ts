/** A page of docs for each MCP client, from the table that `filehand init` works with: the two cannot differ. */

import { readFileSync } from "node:fs";
import { soleChange, soleText } from "../src/settings/client-file.ts";
import {
  askingWords,
  type Client,
  clients,
  type Place,
  type Scope,
  clientScopes,
  startOf,
  tokenVariable,
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
    "docs/clients/capabilities.md": capabilitiesPage(note),
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
    "`--write` shows the change, asks once, and writes it; `--remove` takes it out again. Everything else in the file stays.",
    "`--replace-builtins` also switches off the client's own file tools, where it has a setting for that.",
    "",
    ...clients.map(
      ({ id, title, replace }) =>
        `- [${title}](${id}.md)${replace === undefined ? "" : ", also instead of its own tools"}`,
    ),
    "",
    "[What each agent can do](capabilities.md), as tests with the real programs saw it. [Plugins](../../plugins/README.md) do the same as",
    "`--replace-builtins`, and are installed by the agent's own command.",
    "",
    "For any other client that starts MCP servers as programs, the command is `npx -y filehand mcp`, with `--root DIR` for each",
    "folder if the client does not start its servers in the project.",
    "",
  ].join("\n");
}

interface Seen {
  readonly agent: string;
  readonly version: string;
  readonly way: string;
  readonly answers: string;
  readonly pages: number;
  readonly own: string;
  readonly read: boolean;
  readonly image: boolean;
  readonly pdf: boolean;
  readonly edit: boolean;
  readonly refused: boolean;
  readonly undo: boolean;
  readonly outside: boolean;
}

/** What the tests with real agents saw; they write the file. */
function capabilitiesPage(note: string): string {
  const seen = JSON.parse(readFileSync("docs/clients/capabilities.json", "utf8")) as readonly Seen[]; // our own file
  const word = (value: boolean): string => (value ? "yes" : "no");
  return [
    note,
    "",
    "# What each agent can do",
    "",
    "Seen by `npm run test:clients -- capabilities` with the real programs and a model that is a script: each agent is set up by its",
    "[plugin](../../plugins/README.md) or by `filehand init`, then reads a file, a file of 1,500 lines, an image and a page of a PDF, edits,",
    "is refused a file outside the workspace, and the edit is undone by `filehand undo`. Once more without approval, the file must stay as it was.",
    "",
    "| agent | set up by | read | long file | image | PDF page | edit approved | none without approval | undo | outside refused | its own file tools |",
    "| ----- | --------- | ---- | --------- | ----- | -------- | ------------- | ------------ | ---- | --------------- | ------------------ |",
    ...seen.map((one) => {
      const pages = one.pages === 0 ? "no" : one.pages === 1 ? "1 page" : `${one.pages} pages`;
      const cells = [
        `${one.agent} ${one.version}`,
        one.way,
        word(one.read),
        pages,
        ...[one.image, one.pdf, one.edit, one.refused, one.undo, one.outside].map(word),
        one.own,
      ];
      return `| ${cells.join(" | ")} |`;
    }),
    "",
    "Its own file tools are *hidden*: the model is not offered them; *refused*: a call of them is refused with the advice to use ours;",
    "*offered*: they stay beside ours. A *no* under image means that the agent did not hand the image on to its model.",
    "",
    "How the change was approved, since nobody sat at a terminal. Without approval a client refuses the call or does not offer the tool:",
    "",
    ...[...new Map(seen.map(({ agent, answers }) => [agent, answers]))].map(
      ([agent, answers]) => `- ${agent}: ${answers}.`,
    ),
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
    `filehand init ${id} --write${client.replace === undefined ? "" : " --replace-builtins"}`,
    "```",
    "",
    "Without `--write` the command only shows the change. The files:",
    "",
    "| whose | for | system | file |",
    "| ----- | --- | ------ | ---- |",
    ...clientScopes.flatMap((one) => rowsOf(client.files, one, "the server")),
    ...(client.replace?.files === undefined
      ? []
      : clientScopes.flatMap((one) => rowsOf(client.replace?.files ?? client.files, one, "its own tools"))),
    "",
    `The configuration of the server, in the ${scope === "user" ? "user's" : "project's"} file, as \`--npx\` writes it:`,
    "",
    `\`\`\`${client.format}`,
    textOf(client, scope).trimEnd(),
    "```",
    "",
    "`npx -y filehand` needs a published package. Without `--npx`, a `filehand` from a clone or an installed package writes its own",
    "path instead, and says so. On Windows npx is a script, so the command is `cmd /c npx -y filehand mcp`.",
    "",
    ...(client.openFolder === undefined
      ? []
      : [`${title} replaces \`${client.openFolder}\` by the folder that is open.`, ""]),
    client.afterwards,
    "",
    ...replacePart(client),
    ...(client.asks ? [] : [askingWords(client), ""]),
    ...httpPart(client),
    "`--root`, `--mode`, `--dialect`, `--allow`, `--deny`, `--history-tools`, `--language-servers` and `--observe` become part of",
    `the configuration. \`filehand init ${id} --remove\` takes out all that was written, and nothing that was there before.`,
    ...(client.doubts === undefined ? [] : ["", `Not certain: ${client.doubts}`]),
    "",
  ].join("\n");
}

function replacePart({ title, replace }: Client): readonly string[] {
  if (replace === undefined) {
    return [
      `${title} is not known to have a setting that switches off its own file tools: it has both, its own and ours.`,
      "",
    ];
  }
  const settings = replace.settings("filehand");
  const text = soleChange({ format: "json" }, undefined, settings);
  return [
    `With \`--replace-builtins\`: ${replace.words}`,
    "",
    ...(settings.length === 0
      ? []
      : settings.some((setting) => setting.under === "features")
        ? [
            "```toml",
            "[features]",
            ...settings.flatMap((one) => ("key" in one ? [`${one.key} = ${one.value}`] : [])),
            "```",
            "",
          ]
        : ["```json", text.trimEnd(), "```", ""]),
  ];
}

function httpPart({ id, title, remote }: Client): readonly string[] {
  if (remote === undefined)
    return [`\`--http\` is refused for ${title}: it is not known to take a token from the environment.`, ""];
  return [
    `For a server that runs already (\`filehand serve\`): \`filehand init ${id} --http http://127.0.0.1:3323/mcp --write\`. The token is`,
    `not in the file: ${title} takes it from the variable \`${tokenVariable}\`.`,
    "",
  ];
}

const textOf = (client: Client, scope: Scope): string =>
  soleText(client, {
    under: client.under,
    name: "filehand",
    value: client.local(startOf(client, scope, nothingGiven, hostOf(places.Linux)).command, "filehand"),
  });

/** Systems that have the same file share a row. */
function rowsOf(filesOf: Client["files"], scope: Scope, purpose: string): readonly string[] {
  const systems = new Map<string, string[]>();
  for (const [system, place] of Object.entries(places)) {
    const files = filesOf(scope, place) ?? [];
    // The folder of a project is where one stands.
    const shown = files.map(
      (file) => `\`${scope === "project" && system === "Windows" ? file.replaceAll("\\", "/") : file}\``,
    );
    if (shown.length > 0) systems.set(shown.join(" or "), [...(systems.get(shown.join(" or ")) ?? []), system]);
  }
  return [...systems].map(([files, names]) => {
    const all = names.length === Object.keys(places).length ? "any" : names.join(", ");
    return `| ${scope === "project" ? "the project's" : "yours"} | ${purpose} | ${all} | ${files} |`;
  });
}
