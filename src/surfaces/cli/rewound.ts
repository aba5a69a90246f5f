/** Runs a rewind for a person and reports for each file what was done, or why it was left. */

import type { ConflictReason, RewindOutcome, RewoundFile } from "../../contract/history.ts";
import { FilehandError } from "../../contract/problem.ts";
import {
  parenthesized,
  rewindHead,
  rewoundForPerson,
  sentenceForPerson,
  type RewindWay,
} from "../../dialects/dialects.ts";
import type { RewindOptions } from "../../options.ts";
import { escapeName } from "../../text/text.ts";
import { nameFrom } from "./change.ts";
import { type ExitCode, type Given, type Host, option } from "./command.ts";
import { paintVersions } from "./diff.ts";
import { startUpkeep } from "./open-session.ts";
import { shared } from "./parse.ts";
import {
  diffOfSides,
  type Looked,
  shortNames,
  type Side,
  sideOf,
  sideOfContent,
  sideOnDisk,
  type VersionDiff,
} from "./past.ts";
import { coloured, printJson, styled } from "./print.ts";
import { progressBar } from "./progress.ts";

export const rewindOptions = {
  ...shared("dry-run"),
  force: option.flag("Also over what somebody else changed since; that can be rewound as well"),
  verbose: option.flag("Show both sides of each conflict, as a dry run does"),
};

/** Files with nothing to do that are listed one by one on the screen. */
const stillMax = 10;

const isStill = ({ came, step }: RewoundFile): boolean => came === "left" && step.does === "nothing";

/** `go` starts the rewind with these options. */
export async function runRewind(
  way: RewindWay,
  looked: Looked,
  given: Given,
  host: Host,
  go: (options: RewindOptions) => Promise<RewindOutcome>,
): Promise<ExitCode> {
  const bar = progressBar("Going back", given, host, "files");
  const options = { signal: host.signal, dryRun: given.flag("dry-run"), force: given.flag("force") };
  const outcome = await go({ ...options, onProgress: bar.show })
    .catch(rethrowForPerson)
    .finally(() => bar.clear());
  if (outcome.turn !== undefined) await startUpkeep(looked.past, host);
  const rows = await Promise.all(outcome.files.map((file) => rowOf(file, looked, given)));
  if (given.flag("json")) {
    const { to, turn = null, dryRun: dry, passed } = outcome;
    const files = rows.map(({ file: { path, step }, did, why, note, view = null }) => ({
      path,
      did,
      why,
      ...(note !== undefined && { note }),
      step,
      view,
    }));
    printJson({ session: looked.turns.id, to, turn, dryRun: dry, passed, files }, host);
  } else {
    const still = rows.filter(({ file }) => isStill(file)).length;
    const shown = still > stillMax ? rows.filter(({ file }) => !isStill(file)) : rows;
    const lines = shown.flatMap((row) => [lineOf(row, host), ...viewOf(row, host)]);
    if (still > stillMax) lines.push(`  as it was: ${still} files`);
    const names = shortNames(looked.ids);
    const head = rewindHead(way, outcome, (id) => names.get(id) ?? id);
    host.stdout.write(`${[...head, ...lines].join("\n")}\n`);
  }
  return outcome.files.some(isLeft) ? 1 : 0;
}

function rethrowForPerson(error: unknown): never {
  const { code, problem } = error instanceof FilehandError ? error : {};
  if (code === undefined || problem === undefined) throw error;
  throw new FilehandError(code, sentenceForPerson(problem, "rewind"), problem);
}

/** Whether a file was not restored as requested. A dry run ends as the real one would, as far as it knows. */
const isLeft = ({ came, step }: RewoundFile): boolean =>
  typeof came === "object" || (came === "left" && step.does !== "nothing");

async function rowOf(file: RewoundFile, looked: Looked, given: Given) {
  const isShown = given.flag("dry-run") || given.flag("verbose");
  return { file, ...rewoundForPerson(file), view: isShown ? await conflictView(file, looked) : undefined };
}

type Row = Awaited<ReturnType<typeof rowOf>>;

function lineOf({ file, did: deed, why, note }: Row, host: Host): string {
  const name = escapeName(nameFrom(host.cwd, file.path));
  const words = why ?? note;
  const line = `  ${deed}: ${name}${parenthesized(words && escapeName(words))}`;
  if (!coloured(host, "stdout")) return line;
  const colour = isLeft(file) || note !== undefined ? "yellow" : file.came === "left" ? "dim" : "green";
  return styled(colour, line);
}

const viewOf = ({ file, view }: Row, host: Host): readonly string[] =>
  view === undefined ? [] : [paintConflict(nameFrom(host.cwd, file.path), view, host)];

// The three sides of a conflict as two diffs: the changes of the session, and those of other authors since.

export interface ConflictView {
  /** `changed in between`: the other author's change is between two of the session, so `ours` includes it. */
  readonly why: ConflictReason;
  /** From the version that a rewind would restore to the session's last one. */
  readonly ours: VersionDiff;
  /** From the session's last version to the present one. */
  readonly theirs: VersionDiff;
}

async function conflictView(file: RewoundFile, { session, turns }: Looked): Promise<ConflictView | undefined> {
  const { step, path, came } = file;
  if (step.does !== "conflict") return undefined;
  // No other author changed it.
  if (step.why === "too large to keep" || step.why === "cannot be kept") return undefined;
  const why = await session.readRefusal(path);
  const shown = async (side: () => Side | Promise<Side>): Promise<Side> => (why === undefined ? side() : { why });
  const base = await shown(() => sideOf(step.base, turns));
  const ours = await shown(() => sideOf(step.ours, turns));
  const theirs = await shown(() => {
    if (step.theirs === undefined) return "absent";
    // The version before a forced rewind is in the history now.
    return came === "done" ? sideOfContent(step.theirs, turns) : sideOnDisk(path);
  });
  return { why: step.why, ours: diffOfSides(base, ours), theirs: diffOfSides(ours, theirs) };
}

function paintConflict(name: string, { why, ours, theirs }: ConflictView, host: Host): string {
  const mixed = why === "changed in between" ? " and somebody else in between" : "";
  const parts = [
    paintVersions(`${name}: what this session${mixed} changed`, ours, host),
    ...(why === "changed since" ? [paintVersions(`${name}: what somebody else changed since`, theirs, host)] : []),
  ];
  return parts.map((part) => part.replaceAll(/^/gm, "    ")).join("\n\n");
}
