/** `filehand init`: the configuration that an MCP client needs, shown or written, and taken out again. */

import type {
  AddedSetting,
  ClientChange,
  ClientFile,
  ClientPlan,
  ClientSetting,
  Entry,
  EntryWish,
} from "../../../settings/settings.ts";
import { readClientNotes, writeClientNotes } from "../../../state/state.ts";
import { escapeName, hunksOfTexts, unified } from "../../../text/text.ts";
import { askingAt } from "../ask.ts";
import {
  addressOf,
  askingWords,
  type Client,
  clientIds,
  clients,
  clientScopes,
  decides,
  listClients,
  passedFlags,
  type Scope,
  type Start,
  startOf,
  tokenVariable,
  usualScope,
} from "../clients.ts";
import { type Command, type ExitCode, type Given, type Host, option, UsageError } from "../command.ts";
import { paintDiff } from "../diff.ts";
import { stateDirOf } from "../open-session.ts";
import { oneOf, shared } from "../parse.ts";
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
    "replace-builtins": option.flag("Also switch off the client's own file tools, so that it works with ours"),
    http: option.text("URL", `A server over HTTP at this address; the client takes the token from ${tokenVariable}`),
    installed: option.flag("Start this very program by its path (the default, unless npx runs it)"),
    npx: option.flag("Start it with npx -y filehand"),
    ...shared(...passedFlags),
  },
  details: [
    `Clients: ${clientIds.join(", ")}. Without one: which of them seem to be installed.`,
    "A project's file is the one of the current folder. All else that is in the file stays as it is, to the byte.",
    "--root, --dialect, --mode, --model, --state-dir, --allow, --ask, --deny, --history-tools, --language-servers and --observe go",
    "into the configuration. --remove takes out all that --write put in, and nothing that was there before.",
  ].join("\n"),
  examples: [
    "filehand init",
    "filehand init cursor",
    "filehand init claude-code --replace-builtins --write",
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
    const name = nameOf(given.text("name"));
    if (given.flag("replace-builtins") && client.replace === undefined) {
      throw new UsageError(`--replace-builtins: ${client.title} is not known to have a setting for that, leave it out`);
    }
    const address = given.text("http") === undefined ? undefined : addressOf(client, given);
    const start = address === undefined ? startOf(client, scope, given, host) : undefined;
    const value = start === undefined ? client.remote?.(address ?? "", name) : client.local(start.command, name);
    if (value === undefined) throw new Error("a client without addresses was refused");
    const entry: Entry = { under: client.under, name, value };
    const work = await workOf({ client, scope, entry, wish, start, given, host });
    return given.flag("write") || given.flag("remove") || given.flag("dry-run")
      ? change(work, given, host)
      : show(work, given, host);
  },
};

async function workOf({
  given,
  host,
  ...task
}: Pick<Work, "client" | "scope" | "entry" | "wish" | "start"> & {
  readonly given: Given;
  readonly host: Host;
}): Promise<Work> {
  const { client, scope, entry, wish } = task;
  // Loaded on demand: the parsers of these files cost start-up time.
  const { addedSettingOf, isThere, planEntry } = await import("../../../settings/client-file.ts");
  const files = filesOf(client.files, client, scope, host);
  const present = files.filter(({ path }) => isThere(path));
  const file = present.find((one) => planEntry(one, entry, "remove").merged === "text") ?? present[0] ?? files[0];
  if (file === undefined)
    throw new UsageError(`Cannot tell where ${client.title} keeps its settings: there is no home folder`);
  const { replace } = client;
  const settingsFile = replace?.files === undefined ? file : filesOf(replace.files, { format: "json" }, scope, host)[0];
  const stateDir = stateDirOf(given.text("state-dir"), undefined, host);
  const settings = given.flag("replace-builtins") ? (replace?.settings(entry.name) ?? []) : [];
  const noted = (path: string): readonly AddedSetting[] =>
    stateDir === undefined
      ? []
      : readClientNotes(stateDir, path, entry.name).flatMap((note) => addedSettingOf(note) ?? []);
  const changeOf = (one: ClientFile): ClientChange => ({
    ...(one === file ? { entry: { entry, wish } } : {}),
    // The last one first: the first one may have made what the others are in.
    ...(wish === "remove" ? { take: noted(one.path).toReversed() } : { put: one === settingsFile ? settings : [] }),
  });
  const others = settingsFile === undefined || settingsFile === file ? [] : [settingsFile];
  const isOther = (one: ClientFile): boolean => wish === "remove" || settings.length > 0 || one === file;
  const parts = [file, ...others].filter(isOther).map((one) => ({ file: one, change: changeOf(one) }));
  return { ...task, file, parts, settings, stateDir };
}

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
  /** The file with the server. */
  readonly file: ClientFile;
  readonly wish: EntryWish;
  /** How the client starts the server; undefined: it does not. */
  readonly start: Start | undefined;
  /** Every file that is changed, the one with the server first. */
  readonly parts: readonly { readonly file: ClientFile; readonly change: ClientChange }[];
  /** The settings that switch off the client's own tools, if that is wanted. */
  readonly settings: readonly ClientSetting[];
  readonly stateDir: string | undefined;
}

async function show(work: Work, given: Given, host: Host): Promise<ExitCode> {
  const { client, entry, file, wish, parts } = work;
  const { planChange, soleChange } = await import("../../../settings/client-file.ts");
  const plan = combined(parts.map((part) => planChange(part.file, part.change).plan));
  const soles = parts.map((part) =>
    soleChange(part.file, part.file === file ? entry : undefined, part.change.put ?? []),
  );
  if (given.flag("json")) {
    const state = plan.merged === "text" ? "missing" : plan.merged;
    return tellState(work, state, host, { text: soles[0] ?? "" });
  }
  host.stdout.write(soles.join("\n"));
  const next = {
    text: "Add --write to have it written there",
    same: "It is there already",
    other: `There is another "${entry.name}" in it: --replace takes its place, --name adds a second one`,
    refused: plan.merged === "refused" ? `It cannot be written there: ${plan.why}` : "",
  }[plan.merged];
  const places = parts.map((part) => escapeName(part.file.path)).join("\nand in ");
  const hints = [
    ...startWords(work),
    ...(wish === "remove" ? [] : replaceWords(work, given)),
    ...askWords(work, given),
  ];
  host.stderr.write(`\nFor ${client.title}, in ${places}\n${next}\n${hints.map((line) => `${line}\n`).join("")}`);
  return 0;
}

/** What is to be done about all files: one that cannot be changed decides. */
function combined(plans: readonly ClientPlan[]): ClientPlan {
  const stop = plans.find(({ merged }) => merged === "refused" || merged === "other");
  return stop ?? plans.find(({ merged }) => merged === "text") ?? { merged: "same" };
}

async function change(work: Work, given: Given, host: Host): Promise<ExitCode> {
  const { planChange } = await import("../../../settings/client-file.ts");
  const { client, entry, wish, parts } = work;
  const asking = askingAt(host, given, "free");
  const fail = (message: string): ExitCode => {
    if (given.flag("json")) tellState(work, "refused", host, { message });
    else host.stderr.write(`filehand: ${message}\n`);
    return 1;
  };
  const written: string[] = [];
  for (let tries = 1; tries <= triesMax; tries += 1) {
    const planned = parts.map((part) => ({ ...part, ...planChange(part.file, part.change) }));
    const wrong = planned.find(({ plan }) => plan.merged === "refused" || plan.merged === "other");
    if (wrong !== undefined) {
      const other = `it has another "${entry.name}", use --replace to take its place or --name to add a second one`;
      const why = wrong.plan.merged === "refused" ? escapeName(wrong.plan.why) : other;
      return fail(`Cannot change "${escapeName(wrong.file.path)}": ${why}`);
    }
    const changes = planned.flatMap(({ file, plan, added }) => (plan.merged === "text" ? [{ file, plan, added }] : []));
    if (changes.length === 0 && written.length === 0) {
      if (given.flag("json")) return tellState(work, "same", host);
      const [first] = parts;
      const word = wish === "remove" ? "Not there" : "Already there";
      host.stderr.write(`${word}: "${entry.name}" in ${escapeName(first?.file.path ?? "")}\n`);
      return 0;
    }
    const shown = changes.map(({ file, plan }) => {
      const { hunks } = hunksOfTexts(plan.before ?? "", plan.after);
      return { file, hunks, diff: unified(file.path, hunks, plan.before === undefined ? "create" : "update") };
    });
    const diff = shown.map((one) => one.diff).join("");
    if (given.flag("dry-run")) {
      if (given.flag("json")) return tellState(work, "missing", host, { diff });
      for (const { file, hunks } of shown) {
        const short = shortened(hunks, diffLinesMax);
        print(paintDiff(file.path, short.hunks, { colour: coloured(host, "stdout"), totals: short.totals }), host);
      }
      return 0;
    }
    const [firstFile] = changes;
    if (!given.flag("yes") && firstFile !== undefined && written.length === 0) {
      if (asking.asker === undefined) {
        const path = escapeName(firstFile.file.path);
        return fail(`Cannot ask about ${path}: nobody is at a terminal, add --yes, or --dry-run to see the change`);
      }
      // One question about all files.
      const paths = changes.map(({ file }) => file.path);
      const metadata = { path: firstFile.file.path, diff };
      const question = { permission: "edit", patterns: paths, always: [], keep: [], metadata } as const;
      const answer = await asking.asker(question, host.signal);
      if (answer.reply === "reject") return fail("Nothing was changed");
    }
    const outcome = await writeAll(work, changes, written);
    if (outcome === "changed") continue;
    if (outcome !== undefined) return fail(outcome.why);
    for (const { file } of parts) if (wish === "remove") noteOf(work, file, []);
    if (given.flag("json")) return tellState(work, "written", host);
    host.stderr.write(
      [...written, ...hintsOf(work, given), ...(await leftOver(work))].map((line) => `${line}\n`).join(""),
    );
    return 0;
  }
  return fail(`Cannot change "${escapeName(work.file.path)}": others keep changing it, close ${client.title} first`);
}

async function writeAll(
  work: Work,
  changes: readonly {
    readonly file: ClientFile;
    readonly plan: Extract<ClientPlan, { readonly merged: "text" }>;
    readonly added: readonly AddedSetting[];
  }[],
  written: string[],
): Promise<"changed" | { readonly why: string } | undefined> {
  const { writePlan } = await import("../../../settings/client-file.ts");
  for (const { file, plan, added } of changes) {
    const path = escapeName(file.path);
    const so = written.length === 0 ? "" : ` (done before that: ${written.join(", ")})`;
    // Noted first: what is not noted could not be taken back.
    const why = added.length === 0 ? undefined : noteOf(work, file, added);
    if (why !== undefined)
      return { why: `Cannot note what is added to "${path}": ${why}, nothing is changed there${so}` };
    const wrote = writePlan(file, plan);
    if (wrote === "changed") return "changed";
    if (wrote !== undefined) return { why: `Cannot change "${path}": ${wrote.why}${so}` };
    const done = work.wish === "remove" ? "Taken out of" : plan.before === undefined ? "Made" : "Written to";
    written.push(`${done} ${path}`);
  }
  return undefined;
}

/** Adds to the notes of earlier runs; an empty list removes them. Gives the reason if it cannot. */
function noteOf({ stateDir, entry }: Work, file: ClientFile, added: readonly AddedSetting[]): string | undefined {
  if (stateDir === undefined) return added.length === 0 ? undefined : "there is no state folder, give --state-dir";
  const earlier = readClientNotes(stateDir, file.path, entry.name) as readonly object[]; // our own notes
  if (added.length === 0) {
    return earlier.length === 0 ? undefined : writeClientNotes(stateDir, file.path, entry.name, []);
  }
  return writeClientNotes(stateDir, file.path, entry.name, [...earlier, ...added]);
}

/** After --remove: settings that switch off the client's tools and are not noted as ours. */
async function leftOver({ client, entry, wish, parts }: Work): Promise<readonly string[]> {
  const settings = client.replace?.settings(entry.name) ?? [];
  if (wish !== "remove" || settings.length === 0) return [];
  const { planChange } = await import("../../../settings/client-file.ts");
  const file = parts.at(-1)?.file;
  if (file === undefined || planChange(file, { put: settings }).plan.merged !== "same") return [];
  return [
    `${client.title}'s own file tools are still off in ${escapeName(file.path)}: it is not noted that init did that, so it stays`,
  ];
}

function hintsOf(work: Work, given: Given): readonly string[] {
  if (work.wish === "remove") return [];
  return [...startWords(work), ...replaceWords(work, given), work.client.afterwards, ...askWords(work, given)];
}

function startWords({ start, wish }: Work): readonly string[] {
  if (wish === "remove") return [];
  if (start === undefined) return [`The token must be in the variable ${tokenVariable} of the client's environment.`];
  return [`It starts ${start.command.slice(0, start.command.indexOf("mcp")).map(escapeName).join(" ")}: ${start.why}.`];
}

const replaceWords = ({ client }: Work, given: Given): readonly string[] =>
  given.flag("replace-builtins") && client.replace !== undefined ? [client.replace.words] : [];

function askWords({ client, wish, start }: Work, given: Given): readonly string[] {
  if (wish === "remove" || start === undefined || client.asks || decides(given)) return [];
  return given.flag("replace-builtins")
    ? [
        `${client.title} is not known to show a server's questions, so Filehand asks none (--allow Edit): ${client.title} asks before it calls a tool.`,
      ]
    : [askingWords(client)];
}

/** `missing`: the server is not configured, or only in part. */
type State = "missing" | "same" | "other" | "refused" | "written";

function tellState(
  { client, scope, entry, file, wish, start, settings, parts }: Work,
  state: State,
  host: Host,
  more: Readonly<Record<string, string>> = {},
): ExitCode {
  const files = parts.map((part) => part.file.path);
  const starts = start === undefined ? {} : { start: { command: start.command, why: start.why } };
  const replaced = settings.length === 0 ? {} : { settings };
  const place = { client: client.id, scope, file: file.path, files, format: file.format };
  const report = { ...place, wish, entry, ...starts, ...replaced, state, ...more };
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

function filesOf(
  paths: Client["files"],
  { format, fresh }: Pick<Client, "format" | "fresh">,
  scope: Scope,
  host: Host,
): readonly ClientFile[] {
  const links = scope === "user" ? "follow" : "refuse";
  return (paths(scope, host) ?? []).map((path) => ({ path, format, links, ...(fresh === undefined ? {} : { fresh }) }));
}
