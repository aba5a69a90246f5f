/** A change by a person: run it, show its diff and what was done. What a dialect says of it is for models. */

import * as nodePath from "node:path";
import { styleText } from "node:util";
import type { Reply, Request } from "../../contract/call.ts";
import type { Hunk } from "../../contract/edit.ts";
import type { Profile } from "../../contract/profile.ts";
import type { ChangeResult } from "../../dialects/claude/change-render.ts";
import { visibleControls } from "../../text/encoding/escape.ts";
import { shortened } from "../questions.ts";
import type { ExitCode, Given, Host } from "./command.ts";
import { paintDiff } from "./diff.ts";
import { type Needs, openSession, startUpkeep } from "./open-session.ts";
import { coloured, printReply } from "./print.ts";
import { progressBar } from "./progress.ts";

/** Diff lines on the screen; `--json` has as many as the engine makes. */
const diffLinesMax = 2_000;

/** The session's dialect words the reply if it was asked for by name, or for programs; else the reply is for people. */
export async function runChange(
  makeRequest: (profile: Profile) => Request,
  given: Given,
  host: Host,
  stdin: "free" | "used",
  languages: NonNullable<Needs["languages"]> = "if wanted",
): Promise<ExitCode> {
  const forPeople = given.text("dialect") === undefined && !given.flag("json");
  const needs: Needs = {
    readFirst: false,
    languages,
    ...(stdin === "used" ? { stdin } : {}),
    ...(forPeople ? { dialect: "claude" } : {}),
  };
  const opened = await openSession(given, host, "people", needs);
  const { session, record, asking } = opened;
  const bar = progressBar("Searching", given, host);
  const { reply } = await session.run(makeRequest, {
    signal: host.signal,
    onProgress: bar.show,
    dryRun: given.flag("dry-run"),
    full: true,
  });
  bar.clear();
  record();
  await opened.filehand.close();
  if (!reply.isError) await startUpkeep(opened, host);
  if (!forPeople) return printReply(reply, given, host);
  if (reply.isError) {
    if (asking.declined !== undefined) host.stderr.write("Nothing was changed\n");
    else printReply({ ...reply, content: [{ type: "text", text: forPerson(textOf(reply)) }] }, given, host);
    return 1;
  }
  // Who was just asked has the diff before their eyes.
  const diff = asking.diffShown && host.stdout.isTTY === true ? "" : diffText(reply, host);
  host.stdout.write(`${diff}${summary(textOf(reply), host)}\n`);
  return 0;
}

const textOf = (reply: Reply): string =>
  reply.content.map((part) => (part.type === "text" ? part.text : "")).join("\n");

interface FileDiff {
  readonly name: string;
  readonly hunks: readonly Hunk[];
}

function diffText(reply: Reply, host: Host): string {
  const files = filesOf(reply.structured as ChangeResult, host); // the answer to a change in the claude dialect
  // What the diff leaves out is known from the summary only.
  const counted = [...textOf(reply).matchAll(/\(\+(\d+) -(\d+)\)\.$/gm)].map(([, plus, minus]) => ({
    additions: Number(plus),
    deletions: Number(minus),
  }));
  let linesLeft = diffLinesMax;
  const parts = files.map(({ name, hunks }, index) => {
    const { hunks: shown, totals, lines } = shortened(hunks, linesLeft);
    linesLeft -= lines;
    const said = files.length === counted.length ? counted[index] : undefined;
    const all = {
      additions: Math.max(totals.additions, said?.additions ?? 0),
      deletions: Math.max(totals.deletions, said?.deletions ?? 0),
    };
    // What has no diff and no lines is an empty file, or one that stays as it was; a diff may be too long to be made.
    if (hunks.length === 0 && all.additions + all.deletions === 0) return "";
    return `${paintDiff(name, shown, { colour: coloured(host, "stdout"), totals: all })}\n\n`;
  });
  return parts.join("");
}

function filesOf(result: ChangeResult, host: Host): readonly FileDiff[] {
  const shown = (path: string): string => nameFrom(host.cwd, path);
  if ("files" in result) {
    return result.files.map(({ filePath, movedFrom, structuredPatch }) => ({
      name: movedFrom === null ? shown(filePath) : `${shown(movedFrom)} -> ${shown(filePath)}`,
      hunks: structuredPatch,
    }));
  }
  const path = "notebookPath" in result ? result.notebookPath : result.filePath;
  return [{ name: shown(path), hunks: result.structuredPatch }];
}

/** As the person would type it. */
export function nameFrom(cwd: string, path: string): string {
  const relative = nodePath.relative(cwd, path);
  return relative.startsWith("..") || nodePath.isAbsolute(relative) ? path : relative;
}

/** What was done, then notes. The lines that a model is shown after a loose match are those of the diff. */
function summary(text: string, host: Host): string {
  const lines = visibleControls(text).split("\n");
  const look = lines.findIndex((line) => closerLook.test(line));
  const checked = lines.findIndex((line) => saidByServers.test(line));
  const kept =
    look === -1
      ? lines
      : [
          ...lines.slice(0, look),
          lines[look]?.replace(closerLook, "") ?? "",
          ...(checked === -1 ? [] : lines.slice(checked)),
        ];
  return kept
    .map(withoutLater)
    .map((line) => (isNote(line) && coloured(host, "stdout") ? note(line) : line))
    .join("\n");
}

/** Where that part of an answer begins which language servers have said. Lines of the file carry their numbers. */
const saidByServers = /^(?:\d+ (?:errors?|warnings?)\b.* in "|".*" is not checked yet;|The language server ")/;
/** Behind a command there is no later answer. */
const withoutLater = (line: string): string =>
  line.replace(/^(".*" is not checked yet); .*$/, "$1; filehand diagnostics waits longer for its language server.");
const closerLook = / These lines (?:are there now|would be there):$/;
const isNote = (line: string): boolean =>
  !/^(?:Dry run|Would|(?:Edit|Creat|Add|Updat|Delet|Mov|Replac|Insert|Renam)ed|Wrote)\b/.test(line);
const note = (line: string): string => styleText("yellow", line, { validateStream: false });

/** Errors name the parameters of a model's call; a person gave options. What comes from the file stays as it is. */
function forPerson(text: string): string {
  const from = text.indexOf('": ');
  const nearest = text.search(/\. The nearest text|\n/);
  const to = nearest === -1 ? text.length : nearest;
  if (from === -1 || from > to) return text;
  const said = text
    .slice(from, to)
    .replaceAll("set replace_all to true", "give --all")
    .replaceAll("old_string", "the old text")
    .replaceAll("new_string", "the new text")
    .replaceAll("use NotebookEdit for its cells", "use filehand notebook-edit for its cells")
    .replace(/ would allow it$/, " would allow it (--allow), or answer with --yes");
  return modeWords(text.slice(0, from) + said + text.slice(to));
}

/** A refusal by the mode, worded for a model, in words for the person who chose the mode. */
export const modeWords = (text: string): string =>
  text
    .replace(
      /the session is planning and nothing is written[^\n]*$/m,
      "in plan mode nothing is written, use --mode default",
    )
    .replace(
      /the session is read-only and nothing is written[^\n]*$/m,
      "in read-only mode nothing is written, use --mode default",
    );
