/** Runs a request for a person and prints its answer; for a change with its diff. */

import * as nodePath from "node:path";
import type { Request, RunResult, Verb } from "../../contract/call.ts";
import type { ChangedFile, FileTool } from "../../contract/edit.ts";
import type { Profile } from "../../contract/profile.ts";
import { person, personDialect, viewOf } from "../../dialects/dialects.ts";
import { shortened } from "../questions.ts";
import type { ExitCode, Given, Host } from "./command.ts";
import { paintDiff } from "./diff.ts";
import { type Needs, openSession, startUpkeep } from "./open-session.ts";
import { coloured, paintedLines, printReply, wordsFor } from "./print.ts";
import { progressBar, type ProgressBar } from "./progress.ts";

/** Diff lines on the screen; `--json` has as many as the engine makes. */
const diffLinesMax = 2_000;

type ChangeVerb = "edit" | "write" | "notebook-edit" | "patch" | "rename" | FileTool;

/** The session's dialect words the reply if `--dialect` or `--json` is given; else the reply is for people. */
export async function runChange(
  makeRequest: (profile: Profile) => Request & { readonly verb: ChangeVerb },
  given: Given,
  host: Host,
  stdin: "free" | "used",
  languages: NonNullable<Needs["languages"]> = "if wanted",
): Promise<ExitCode> {
  const words = given.text("dialect") === undefined && !given.flag("json") ? person : undefined;
  const needs: Needs = {
    readFirst: false,
    languages,
    ...(stdin === "used" ? { stdin } : {}),
    ...(words && { dialect: personDialect }),
  };
  const opened = await openSession(given, host, "people", needs);
  const { session, record, asking } = opened;
  const bar = progressBar("Searching", given, host);
  const { outcome, reply } = await session.run(makeRequest, {
    signal: host.signal,
    onProgress: bar.show,
    dryRun: given.flag("dry-run"),
    full: true,
    ...(words && { words }),
  });
  bar.clear();
  record();
  await opened.filehand.close();
  if (outcome !== undefined) await startUpkeep(opened, host);
  if (words === undefined) return printReply(reply, given, host);
  if (outcome === undefined) {
    if (asking.declined === undefined) return printReply(reply, given, host);
    host.stderr.write("Nothing was changed\n");
    return 1;
  }
  // A question has just shown the diff.
  const diff =
    asking.diffShown && host.stdout.isTTY === true
      ? ""
      : diffText(outcome.kind === "patch" ? outcome.files : [outcome.file], host);
  const { body, notes } = viewOf(reply);
  host.stdout.write(`${diff}${paintedLines([...body, ...notes], host, "stdout")}\n`);
  return 0;
}

function diffText(files: readonly ChangedFile[], host: Host): string {
  let linesLeft = diffLinesMax;
  const parts = files.map((file) => {
    const { hunks, totals, lines } = shortened(file.hunks, linesLeft);
    linesLeft -= lines;
    // The lines are counted even if the diff is too long to be made.
    const all = {
      additions: Math.max(totals.additions, file.additions),
      deletions: Math.max(totals.deletions, file.deletions),
    };
    // Without diff and lines it is an empty or an unchanged file.
    if (file.hunks.length === 0 && all.additions + all.deletions === 0) return "";
    return `${paintDiff(titleOf(file, host), hunks, { colour: coloured(host, "stdout"), totals: all })}\n\n`;
  });
  return parts.join("");
}

function titleOf({ target, movedFrom }: ChangedFile, host: Host): string {
  const name = nameFrom(host.cwd, target.absolute);
  return movedFrom === undefined ? name : `${nameFrom(host.cwd, movedFrom.absolute)} -> ${name}`;
}

/** Relative to the current folder, also upwards, unless the path itself is shorter. */
export function nameFrom(cwd: string, path: string): string {
  const relative = nodePath.relative(cwd, path);
  if (relative === "") return ".";
  return relative.length < path.length ? relative : path;
}

interface Showing<V extends Verb> {
  readonly needs?: Needs;
  readonly bar?: ProgressBar;
  /** Without it every outcome is a success. */
  readonly isFound?: (outcome: NonNullable<RunResult<V>["outcome"]>) => boolean;
}

export async function showRequest<V extends Verb>(
  makeRequest: (profile: Profile) => Request & { readonly verb: V },
  given: Given,
  host: Host,
  { needs, bar, isFound }: Showing<V> = {},
): Promise<ExitCode> {
  const { filehand, session, record } = await openSession(given, host, "people", needs);
  try {
    const words = wordsFor(given, session);
    const options = { signal: host.signal, ...(bar && { onProgress: bar.show }), ...(words && { words }) };
    const { outcome, reply } = await session.run<V>(makeRequest, options);
    bar?.clear();
    record();
    const code = printReply(reply, given, host, words);
    return outcome === undefined || isFound === undefined || isFound(outcome) ? code : 1;
  } finally {
    await filehand.close();
  }
}
