/** `filehand log`: the calls of the past, of all sessions and programs, from the call log of the state folder. */

import * as nodePath from "node:path";
import type { LoggedCall, LoggedQuestion, LogFilter } from "../../../contract/call-log.ts";
import { timeText } from "../../../dialects/dialects.ts";
import { realPrefixes } from "../../../filehand.ts";
import { openQuestions, readCallLog } from "../../../state/state.ts";
import { escapeName, shownName } from "../../../text/text.ts";
import { localPrincipal } from "../../mcp/names.ts";
import { nameFrom } from "../change.ts";
import { type Command, type ExitCode, type Given, type Host, notEmpty, option, UsageError } from "../command.ts";
import { openSession } from "../open-session.ts";
import { coloured, orJsonFailure, print, printJson, styled } from "../print.ts";

export const log: Command = {
  name: "log",
  summary: "List the calls of the past: which program did what to which file, with which result",
  parameters: ["[path]"],
  options: {
    session: option.text("ID", "Only this session, by its id or the beginning of it", notEmpty),
    agent: option.text("NAME", "Only the program whose name contains this, such as Claude", notEmpty),
    tool: option.text("NAME", "Only calls of this tool", notEmpty),
    failed: option.flag("Only calls that failed"),
    since: option.text("TIME", "Only calls since then: 90m, 12h, 7d, or a date such as 2026-11-18", notEmpty),
    all: option.flag("Also calls in other workspaces"),
    limit: option.integer("How many calls, newest first (default: 50)", { min: 1, max: 10_000 }),
    before: option.text("PLACE", "Only older calls than those of the page that printed this place", notEmpty),
  },
  details: [
    "With a path: the calls that read, changed or failed at this file, or at what is in this folder.",
    "A call that waits for an answer comes first. Arguments, contents and replies are not kept, nor names that a rule hides.",
    "The setting callLog says how much is kept: 64 MiB and 30 days by default, or nothing with false.",
  ].join("\n"),
  examples: ["filehand log", "filehand log src/index.ts --since 7d", "filehand log --agent claude --failed --json"],
  run: (given, host) => orJsonFailure(given, host, () => showLog(given, host)),
};

const limitUsual = 50;

async function showLog(given: Given, host: Host): Promise<ExitCode> {
  const { filehand, stateDir } = await openSession(given, host, "people");
  if (stateDir === undefined)
    throw new UsageError("There is no state folder, so no call is kept: name one with --state-dir");
  const filter = filterOf(given, host, filehand.roots);
  const before = given.text("before");
  const page = await readCallLog(stateDir, {
    filter,
    max: given.integer("limit") ?? limitUsual,
    before,
    signal: host.signal,
  });
  const isWhole = filter.path === undefined && filter.tool === undefined && before === undefined;
  const waiting = isWhole ? await openQuestions(stateDir, given.flag("all") ? undefined : filehand.roots) : [];
  if (given.flag("json")) return printJson({ waiting, ...page }, host);
  const notes = [
    ...(page.next === null ? [] : [`There are older ones: --before ${page.next}`]),
    ...(page.lost > 0 ? [`${page.lost} calls came faster than they could be written`] : []),
    ...(page.damaged > 0 ? [`${page.damaged} lines of the log are damaged and left out`] : []),
  ];
  const lines = [...waitingLines(waiting, host), ...callLines(page.calls, host)];
  print(lines.length === 0 ? noCalls(given) : lines.join("\n"), host);
  if (notes.length > 0) host.stderr.write(`${notes.join("\n")}\n`);
  return 0;
}

const noCalls = (given: Given): string =>
  ["session", "agent", "tool", "failed", "since", "before"].some((name) => given.flag(name)) ||
  given.parameters.length > 0
    ? "No call matches"
    : "No call was made in this workspace yet, or calls are not kept (callLog)";

function filterOf(given: Given, host: Host, roots: readonly string[]): LogFilter {
  const [path] = given.parameters;
  const [session, client, tool, since] = [
    given.text("session"),
    given.text("agent"),
    given.text("tool"),
    given.text("since"),
  ];
  return {
    ...(given.flag("all") ? {} : { roots }),
    ...(path === undefined ? {} : { path: realPrefixes()(nodePath.resolve(host.cwd, path)) }),
    ...(session === undefined ? {} : { session }),
    ...(client === undefined ? {} : { client }),
    ...(tool === undefined ? {} : { tool }),
    ...(since === undefined ? {} : { sinceMs: sinceOf(since, Date.now()) }),
    ...(given.flag("failed") ? { failed: true } : {}),
  };
}

const unitsMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** `90m`, or anything that is a date. */
export function sinceOf(text: string, nowMs: number): number {
  const [, amount, unit = ""] = /^(\d{1,6})([smhdw])$/.exec(text) ?? [];
  if (amount !== undefined) return nowMs - Number(amount) * (unitsMs[unit] ?? 0);
  // A day alone is local time, as on the clock of the person.
  const ms = Date.parse(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00` : text);
  if (Number.isNaN(ms))
    throw new UsageError(`--since "${text}" is no time, use 90m, 12h, 7d or a date such as 2026-11-18`);
  return ms;
}

/** A line for each session in a row, then its calls: several sessions at once take turns. */
function callLines(calls: readonly LoggedCall[], host: Host): readonly string[] {
  const rows = calls.map((call) => rowOf(call, host));
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return calls.flatMap((call, at) => {
    const line = `  ${(rows[at] ?? []).map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ")}`.trimEnd();
    const painted = call.outcome !== "ok" && coloured(host, "stdout") ? styled("red", line) : line;
    return calls[at - 1]?.session === call.session ? [painted] : [strong(sessionWords(call), host), painted];
  });
}

/** Names are made by clients and models: one column of a line. */
const nameCharsMax = 60;

function sessionWords({ client, principal, session, sessionMs }: LoggedCall | LoggedQuestion): string {
  // Over stdio every caller is the person who started the server.
  const user = principal === null || principal === localPrincipal ? "" : ` for ${shownName(principal, nameCharsMax)}`;
  const name = shownName(client ?? "A program without a name", nameCharsMax);
  return `${name}${user}, since ${timeText(new Date(sessionMs))} (${shownName(session, nameCharsMax)})`;
}

function rowOf(call: LoggedCall, host: Host): readonly string[] {
  const { startedMs, tool, outcome, reason, dryRun, elapsedMs, tokensGiven, tokensSaved } = call;
  const said = outcome === "ok" ? (reason === "unchanged" ? "unchanged" : "ok") : outcome;
  return [
    timeText(new Date(startedMs)),
    tool === null ? "(unknown tool)" : shownName(tool, nameCharsMax),
    dryRun ? `${said}, dry run` : said,
    `${Math.round(elapsedMs)} ms`,
    `${Math.round(tokensGiven)} tokens${tokensSaved > 0 ? ` (${tokensSaved} saved)` : ""}`,
    filesWords(call, host),
  ];
}

/** Changed files of one call on the screen; `--json` has more. */
const filesMax = 3;

function filesWords({ path, hidden, changes, changesTotal, range }: LoggedCall, host: Host): string {
  const name = (absolute: string): string => escapeName(nameFrom(host.cwd, absolute)) || ".";
  const hiddenWords = hidden ? ["(a name that a rule hides)"] : [];
  if (changes.length === 0) {
    const lines = range?.of !== "lines" ? "" : `:${range.from}${range.to === null ? "" : `-${range.to}`}`;
    return [...(path === null ? [] : [`${name(path)}${lines}`]), ...hiddenWords].join(" ");
  }
  const some = changes.slice(0, filesMax).map(({ path: to, did, movedFrom, additions, deletions }) => {
    const from = movedFrom === null ? "" : `${name(movedFrom)} -> `;
    return `${from}${name(to)} ${did === "updated" ? "" : `${did} `}+${additions} -${deletions}`;
  });
  const more = changesTotal - some.length;
  return [...some, ...(more > 0 ? [`and ${more} more`] : []), ...hiddenWords].join(", ");
}

function waitingLines(waiting: readonly LoggedQuestion[], host: Host): readonly string[] {
  if (waiting.length === 0) return [];
  const lines = waiting.map((question) => {
    const { permission, path, timeMs } = question;
    const what = path === null ? "a file whose name a rule hides" : escapeName(nameFrom(host.cwd, path));
    const does = permission === "external_directory" ? "use the folder" : permission;
    return `  ${timeText(new Date(timeMs))}  may it ${does} ${what}?  ${sessionWords(question)}`;
  });
  return [strong("Waiting for an answer", host), ...lines, ""];
}

const strong = (text: string, host: Host): string => (coloured(host, "stdout") ? styled("bold", text) : text);
