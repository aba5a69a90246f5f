/** `filehand init`: the configuration that an MCP client needs, shown or written, and taken out again. */

import type { ClientFile, Entry, EntryWish } from "../../../settings/settings.ts";
import { escapeName, hunksOfTexts, unified } from "../../../text/text.ts";
import { askingAt } from "../ask.ts";
import {
  askingWords,
  type Client,
  clientIds,
  clients,
  commandFor,
  listClients,
  type Scope,
  clientScopes,
  usualScope,
} from "../clients.ts";
import { type Command, type ExitCode, type Given, type Host, option, UsageError } from "../command.ts";
import { paintDiff } from "../diff.ts";
import { oneOf } from "../parse.ts";
import { coloured, print, printJson } from "../print.ts";
import { shortened } from "../../questions.ts";

/** Retries if the client writes its file at the same time; some clients write it continually. */
const triesMax = 5;
/** A client's configuration is small; a longer diff would scroll away. */
const diffLinesMax = 400;

export const init: Command = {
  name: "init",
  summary: "Show or write the configuration with which an MCP client uses Filehand",
  parameters: ["[client]"],
  options: {
    write: option.flag("Write it, after showing the change and asking; --yes does not ask"),
    remove: option.flag("Take it out again, in the same way"),
    "dry-run": option.flag("Show what --write or --remove would change, and change nothing"),
    scope: option.text("SCOPE", "project or user: whose configuration (default: project, if it has one)"),
    name: option.text("NAME", "What the client calls the server (default: filehand)"),
    replace: option.flag("Replace a server of that name that says something else"),
    installed: option.flag("Start this very program by its path, instead of npx -y filehand"),
  },
  details: [
    `Clients: ${clientIds.join(", ")}. Without one: which of them seem to be installed.`,
    "A project's file is the one of the current folder. All else that is in the file stays as it is, to the byte.",
    "--root, --dialect, --mode, --model, --state-dir, --allow, --ask and --deny go into the configuration.",
  ].join("\n"),
  examples: [
    "filehand init",
    "filehand init cursor",
    "filehand init claude-code --write",
    "filehand init codex --scope user --write --yes",
    "filehand init claude-desktop --root ~/project --mode read-only --dry-run",
    "filehand init vscode --remove",
  ],
  async run(given, host) {
    const [id] = given.parameters;
    if (id === undefined) {
      refuseWithoutClient(given);
      return listClients(given, host);
    }
    const known = oneOf("client", id, clientIds);
    const client = clients.find((one) => one.id === known);
    if (client === undefined) throw new Error("every id belongs to a client");
    const scope = scopeOf(given.text("scope"), client, host);
    const wish = wishOf(given);
    const entry: Entry = {
      under: client.under,
      name: nameOf(given.text("name")),
      value: client.value(commandFor(client, scope, given, host)),
    };
    // Loaded on demand: the parsers of these files cost start-up time.
    const { isThere, planEntry } = await import("../../../settings/client-file.ts");
    const files = filesOf(client, scope, host);
    const present = files.filter(({ path }) => isThere(path));
    const file = present.find((one) => planEntry(one, entry, "remove").merged === "text") ?? present[0] ?? files[0];
    if (file === undefined)
      throw new UsageError(`Cannot tell where ${client.title} keeps its settings: there is no home folder`);
    const work: Work = { client, scope, entry, file, wish };
    return given.flag("write") || given.flag("remove") || given.flag("dry-run")
      ? change(work, given, host)
      : show(work, given, host);
  },
};

/** Without a client the command only lists clients, so options that need one are refused. */
function refuseWithoutClient(given: Given): void {
  const wants = Object.keys(init.options).find((name) => given.flag(name));
  if (wants !== undefined)
    throw new UsageError(`--${wants} needs a client, as in filehand init claude-code --${wants}`);
}

interface Work {
  readonly client: Client;
  readonly scope: Scope;
  readonly entry: Entry;
  readonly file: ClientFile;
  readonly wish: EntryWish;
}

async function show(work: Work, given: Given, host: Host): Promise<ExitCode> {
  const { client, entry, file, wish } = work;
  const { planEntry, soleText } = await import("../../../settings/client-file.ts");
  const plan = planEntry(file, entry, wish);
  const sole = soleText(file, entry);
  if (given.flag("json"))
    return tellState(work, plan.merged === "text" ? "missing" : plan.merged, host, { text: sole });
  host.stdout.write(sole);
  const next = {
    text: "Add --write to have it written there",
    same: "It is there already",
    other: `There is another "${entry.name}" in it: --replace takes its place, --name adds a second one`,
    refused: plan.merged === "refused" ? `It cannot be written there: ${plan.why}` : "",
  }[plan.merged];
  host.stderr.write(
    `\nFor ${client.title}, in ${escapeName(file.path)}\n${next}\n${client.asks ? "" : `${askingWords(client)}\n`}`,
  );
  return 0;
}

async function change(work: Work, given: Given, host: Host): Promise<ExitCode> {
  const { planEntry, writePlan } = await import("../../../settings/client-file.ts");
  const { client, entry, file, wish } = work;
  const path = escapeName(file.path);
  const asking = askingAt(host, given, "free");
  const fail = (message: string): ExitCode => {
    if (given.flag("json")) tellState(work, "refused", host, { message });
    else host.stderr.write(`filehand: ${message}\n`);
    return 1;
  };
  for (let tries = 1; tries <= triesMax; tries += 1) {
    const plan = planEntry(file, entry, wish);
    if (plan.merged === "same") {
      if (given.flag("json")) return tellState(work, "same", host);
      host.stderr.write(`${wish === "remove" ? "Not there" : "Already there"}: "${entry.name}" in ${path}\n`);
      return 0;
    }
    if (plan.merged !== "text") {
      const other = `it has another "${entry.name}", use --replace to take its place or --name to add a second one`;
      return fail(`Cannot change "${path}": ${plan.merged === "refused" ? escapeName(plan.why) : other}`);
    }
    const { hunks } = hunksOfTexts(plan.before ?? "", plan.after);
    const diff = unified(file.path, hunks, plan.before === undefined ? "create" : "update");
    if (given.flag("dry-run")) {
      if (given.flag("json")) return tellState(work, "missing", host, { diff });
      const shown = shortened(hunks, diffLinesMax);
      return print(paintDiff(file.path, shown.hunks, { colour: coloured(host, "stdout"), totals: shown.totals }), host);
    }
    if (!given.flag("yes")) {
      if (asking.asker === undefined) {
        return fail(`Cannot ask about ${path}: nobody is at a terminal, add --yes, or --dry-run to see the change`);
      }
      const metadata = { path: file.path, diff };
      const question = { permission: "edit", patterns: [file.path], always: [], keep: [], metadata } as const;
      const answer = await asking.asker(question, host.signal);
      if (answer.reply === "reject") return fail("Nothing was changed");
    }
    const wrote = writePlan(file, plan);
    if (wrote === "changed") continue;
    if (wrote !== undefined) return fail(`Cannot change "${path}": ${wrote.why}`);
    if (given.flag("json")) return tellState(work, "written", host);
    const done = wish === "remove" ? "Taken out of" : plan.before === undefined ? "Made" : "Written to";
    host.stderr.write(`${done} ${path}\n${wish === "remove" ? "" : `${hintsOf(work, given)}\n`}`);
    return 0;
  }
  return fail(`Cannot change "${path}": others keep changing it, close ${client.title} first`);
}

function hintsOf({ client }: Work, given: Given): string {
  const decides = given.list("allow").length > 0 || given.text("mode") !== undefined;
  return client.asks || decides ? client.afterwards : `${client.afterwards}\n${askingWords(client)}`;
}

/** `missing`: the server is not configured, or only in part. */
type State = "missing" | "same" | "other" | "refused" | "written";

function tellState(
  { client, scope, entry, file, wish }: Work,
  state: State,
  host: Host,
  more: Readonly<Record<string, string>> = {},
): ExitCode {
  const report = { client: client.id, scope, file: file.path, format: file.format, wish, entry, state, ...more };
  return printJson(report, host);
}

function scopeOf(given: string | undefined, client: Client, host: Host): Scope {
  if (given === undefined) return usualScope(client, host);
  const scope = clientScopes.find((one) => one === given);
  if (scope === undefined) throw new UsageError(`--scope must be project or user, not "${given}"`);
  if (client.files(scope, host)?.length === 0) {
    throw new UsageError(`${client.title} has no settings of a project, use --scope user`);
  }
  return scope;
}

function wishOf(given: Given): EntryWish {
  if (!given.flag("remove")) return given.flag("replace") ? "replace" : "put";
  for (const other of ["write", "replace"]) {
    if (given.flag(other)) throw new UsageError(`--remove and --${other} cannot both be meant`);
  }
  return "remove";
}

/** Names that every client accepts, also as a part of its tools' names. */
function nameOf(given = "filehand"): string {
  if (/^[A-Za-z][A-Za-z0-9_-]{0,31}$/.test(given)) return given;
  throw new UsageError(`--name must be up to 32 letters, digits, - and _ that begin with a letter, not "${given}"`);
}

function filesOf({ files, format, fresh }: Client, scope: Scope, host: Host): readonly ClientFile[] {
  const links = scope === "user" ? "follow" : "refuse";
  return (files(scope, host) ?? []).map((path) => ({ path, format, links, ...(fresh === undefined ? {} : { fresh }) }));
}
