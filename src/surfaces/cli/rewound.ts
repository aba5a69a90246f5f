/** Runs a rewind for a person and reports for each file what was done, or why it was left. */

import type { ConflictReason, RewindOutcome, RewoundFile, TurnChanges } from "../../contract/history.ts";
import { FilehandError } from "../../contract/problem.ts";
import {
  madeBy,
  parenthesized,
  rewindHead,
  rewoundForPerson,
  sentenceForPerson,
  sessionTitle,
  timeText,
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
  othersWith,
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
  const { confirm } = looked.past.asking;
  let isDeclined = false;
  const confirmed = async (plan: RewindOutcome): Promise<boolean> => {
    bar.clear();
    const text = await planText(way, plan, looked, host);
    isDeclined = !(await confirm?.(text, questions[way], host.signal));
    return !isDeclined;
  };
  const options = {
    signal: host.signal,
    dryRun: given.flag("dry-run"),
    force: given.flag("force"),
    onProgress: bar.show,
    ...(confirm === undefined || given.flag("yes") ? {} : { confirm: confirmed }),
  };
  const outcome = await go(options)
    .catch((error: unknown) => {
      if (isDeclined && !host.signal.aborted) return undefined;
      throw error;
    })
    .catch((error: unknown) => rethrowForPerson(error, way, looked))
    .finally(() => bar.clear());
  if (outcome === undefined) {
    host.stderr.write("Nothing was changed\n");
    return 1;
  }
  if (outcome.turn !== undefined) await startUpkeep(looked.past, host);
  const turn = turnOf(outcome.to, looked);
  const rows = await Promise.all(outcome.files.map((file) => rowOf(file, looked, given)));
  if (given.flag("json")) {
    const { to, turn: own = null, dryRun: dry, passed } = outcome;
    const files = rows.map(({ file: { path, step }, did, why, note, view = null }) => ({
      path,
      did,
      why,
      ...(note !== undefined && { note }),
      step,
      view,
    }));
    const { session = looked.past.ownId, tools = [], title = null } = turn ?? {};
    const client = clientOf(session, looked)?.client ?? null;
    const what = { session, client, tools, title, time: turn?.timestamp.toISOString() ?? null };
    printJson({ ...what, to, turn: own, dryRun: dry, passed, files }, host);
  } else {
    const still = rows.filter(({ file }) => isStill(file)).length;
    const shown = still > stillMax ? rows.filter(({ file }) => !isStill(file)) : rows;
    const lines = shown.flatMap((row) => [lineOf(row, host), ...viewOf(row, looked, host)]);
    if (still > stillMax) lines.push(`  as it was: ${still} files`);
    const names = shortNames(looked.ids);
    const head = rewindHead(way, outcome, (id) => names.get(id) ?? id);
    const whose = turn === undefined || outcome.files.length === 0 ? [] : [turnText(turn, looked)];
    host.stdout.write(`${[...head, ...whose, ...lines].join("\n")}\n`);
  }
  return outcome.files.some(isLeft) ? 1 : 0;
}

const questions = {
  undo: "Undo this?",
  redo: "Take back this undo?",
  rewind: "Go back to before this, and all that came after it?",
} as const satisfies Record<RewindWay, string>;

const turnOf = (id: string, { turns }: Looked): TurnChanges | undefined =>
  turns.turns().find(({ messageId }) => messageId === id);

const clientOf = (id: string, { sessions }: Looked) => sessions.find((session) => session.id === id);

/** Which client, which tool or command, and when. */
function turnText(turn: TurnChanges, looked: Looked): string {
  const session = clientOf(turn.session, looked) ?? { id: turn.session };
  return `By ${sessionTitle(session, looked.past.nowMs)}: ${madeBy(turn)}, ${timeText(turn.timestamp)}`;
}

/** In a question: files in the list, and diff lines of all of them. */
const [askedFilesMax, askedLinesMax] = [50, 400];

/** What a rewind would do, before the question: whose turn it is, each file, and the diffs of files that may be shown. */
async function planText(way: RewindWay, plan: RewindOutcome, looked: Looked, host: Host): Promise<string> {
  const turn = turnOf(plan.to, looked);
  const names = shortNames(looked.ids);
  const diffs: string[] = [];
  let linesLeft = askedLinesMax;
  for (const { path, action, came } of plan.files) {
    if (linesLeft <= 0) break;
    if (came !== "planned" || action === undefined || action.is !== undefined) continue;
    if (looked.past.filehand.permissions.explain("Read", path).verdict !== "allow") continue;
    const now = sideOnDisk(path);
    const then = action.does === "delete" ? "absent" : await sideOfContent(action.content, looked.turns);
    const diff = diffOfSides(action.does === "create" ? "absent" : now, then);
    const text = paintVersions(nameFrom(host.cwd, path), diff, host, { stream: "stderr", linesMax: linesLeft });
    linesLeft -= text.split("\n").length;
    diffs.push(text);
  }
  const rows = plan.files.map((file) => ({ file, ...rewoundForPerson(file), view: undefined }));
  const more = rows.length - askedFilesMax;
  return [
    ...diffs,
    ...(turn === undefined ? [] : [turnText(turn, looked)]),
    ...rewindHead(way, plan, (id) => names.get(id) ?? id).slice(1),
    ...rows.slice(0, askedFilesMax).map((row) => lineOf(row, host)),
    ...(more > 0 ? [`  and ${more} more files`] : []),
    "",
  ].join("\n");
}

/** If there is nothing to undo or redo here, the message names the sessions that have something. */
async function rethrowForPerson(error: unknown, way: RewindWay, looked: Looked): Promise<never> {
  const { code, problem } = error instanceof FilehandError ? error : {};
  if (code === undefined || problem === undefined) throw error;
  const isEmpty =
    problem.code === "NO_TURN" && (problem.reason === `nothing to ${way}` || problem.reason === "undo forgotten");
  const others = isEmpty && way !== "rewind" ? await othersWith(way, looked) : "";
  throw new FilehandError(code, `${sentenceForPerson(problem, "rewind")}${others}`, problem);
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

const viewOf = ({ file, view }: Row, looked: Looked, host: Host): readonly string[] => {
  const whose = looked.sessions.length > 1 ? "these sessions" : "this session";
  return view === undefined ? [] : [paintConflict(nameFrom(host.cwd, file.path), whose, view, host)];
};

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

function paintConflict(name: string, whose: string, { why, ours, theirs }: ConflictView, host: Host): string {
  const mixed = why === "changed in between" ? " and somebody else in between" : "";
  const parts = [
    paintVersions(`${name}: what ${whose}${mixed} changed`, ours, host),
    ...(why === "changed since" ? [paintVersions(`${name}: what somebody else changed since`, theirs, host)] : []),
  ];
  return parts.map((part) => part.replaceAll(/^/gm, "    ")).join("\n\n");
}
