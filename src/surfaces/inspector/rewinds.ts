/** Rewinds from the page: first a plan, then exactly the plan that was shown. The click approves its files and nothing else. */

import { createHash } from "node:crypto";
import type { RewindOptions, Session, SessionHistory } from "../../options.ts";
import type { RewindFileView, RewindView, VersionRef } from "./wire.ts";
import type { RewindOutcome, RewoundFile } from "../../contract/history.ts";
import { sentenceForPage } from "../../dialects/dialects.ts";
import { type Inspected, mayName, relativeOf, inspectedSession } from "./inspected.ts";
import {
  choice,
  type Fields,
  fieldsOf,
  flag,
  isFailure,
  maybeText,
  own,
  RequestRefused,
  text,
  texts,
} from "./input.ts";
import type { Board } from "./questions.ts";
import { pastOf } from "./history.ts";

interface Asked {
  readonly session: string;
  readonly to: string | { readonly last: "undo" | "redo" };
  readonly files: readonly string[] | undefined;
  readonly force: boolean;
}

const filesMax = 10_000; // of one request; all files by default
const jobCharsMax = 100; // it comes back with every progress event

function askedOf(body: Fields): Asked {
  const to = own(body, "to");
  const last = typeof to === "object" ? choice(fieldsOf(to, '"to"'), "last", ["undo", "redo"]) : undefined;
  return {
    session: text(body, "session"),
    to: last === undefined ? text(body, "to") : { last },
    files: texts(body, "files", filesMax),
    force: flag(body, "force"),
  };
}

export async function planRewind(body: Fields, inspected: Inspected): Promise<RewindView> {
  const asked = askedOf(body);
  const session = await sessionWithPast(inspected, asked.session);
  return viewed(await go(session, asked, { dryRun: true }), asked, inspected);
}

export async function doRewind(
  body: Fields,
  inspected: Inspected,
  board: Pick<Board, "approve">,
  onProgress: (job: string, done: number, total: number) => void,
): Promise<RewindView> {
  const asked = askedOf(body);
  const shown = text(body, "plan");
  const job = maybeText(body, "job", jobCharsMax);
  const session = await sessionWithPast(inspected, asked.session);
  const plan = await viewed(await go(session, asked, { dryRun: true }), asked, inspected);
  if (plan.plan !== shown) {
    throw new RequestRefused(409, "PLAN_CHANGED", "The files have changed since the plan was made, look at it again", {
      plan,
    });
  }
  // Files that rules hide are not in the plan that was shown, so they are not touched.
  const paths = plan.files.filter(({ came }) => came === "planned").map(({ path }) => path);
  const approving = new AbortController();
  board.approve(approving.signal, new Set(paths));
  const files = plan.hiddenByRules === 0 ? asked.files : plan.files.map(({ path }) => path);
  const options: RewindOptions = {
    signal: approving.signal,
    ...(job === undefined ? {} : { onProgress: (done, total) => onProgress(job, done, total) }),
  };
  const outcome = await go(session, { ...asked, files }, options);
  if (job !== undefined) onProgress(job, outcome.files.length, outcome.files.length);
  return viewed(outcome, asked, inspected);
}

async function sessionWithPast(inspected: Inspected, id: string): Promise<Session> {
  const past = await pastOf(inspected, id);
  if (past.turns().length > 0) return inspectedSession(inspected, id);
  throw new RequestRefused(404, "NO_SUCH_SESSION", "Nothing is kept of that session");
}

async function go(session: Session, { to, files, force }: Asked, options: RewindOptions): Promise<RewindOutcome> {
  const given: RewindOptions = { ...options, force, ...(files === undefined ? {} : { files }) };
  try {
    return await (typeof to === "string" ? session.rewind(to, given) : session[to.last](given));
  } catch (error) {
    if (!isFailure(error)) throw error;
    if (error.code === "NO_TURN") throw new RequestRefused(404, "NO_SUCH_TURN", error.message);
    throw new RequestRefused(422, "REFUSED", error.message);
  }
}

async function viewed(outcome: RewindOutcome, asked: Asked, inspected: Inspected): Promise<RewindView> {
  const isNamed = mayName(inspected);
  const shown = outcome.files.filter(({ path }) => isNamed(path));
  const past = await pastOf(inspected, asked.session);
  const targetOf = targetsBefore(outcome.to, past);
  const as = asked.files === undefined ? (typeof asked.to === "string" ? "rewind" : asked.to.last) : "partial";
  const planned = { session: asked.session, to: outcome.to, as } as const;
  const steps = shown.map(({ path, step, came }) => [path, step, came]);
  return {
    plan: createHash("sha256")
      .update(JSON.stringify([planned, asked.force, steps]))
      .digest("base64url"),
    ...planned,
    passed: outcome.passed,
    turn: outcome.turn ?? null,
    files: shown.map((file) => fileView({ ...file, relative: relativeOf(inspected, file.path) }, targetOf(file.path))),
    hiddenByRules: outcome.files.length - shown.length,
  };
}

/** Before the first change since that turn. */
function targetsBefore(to: string, past: SessionHistory): (path: string) => VersionRef | null {
  const turns = past.turns();
  const found = turns.findIndex(({ messageId }) => messageId === to);
  const first = new Map<string, VersionRef>();
  for (const { messageId: turn, files } of turns.slice(Math.max(0, found))) {
    for (const { path } of files) {
      if (!first.has(path)) first.set(path, { session: past.id, turn, path, when: "before" });
    }
  }
  return (path) => first.get(path) ?? null;
}

function fileView({ path, relative, step, came }: RewoundFile, target: VersionRef | null): RewindFileView {
  return {
    path,
    relative,
    does: step.does,
    why: step.does === "conflict" || step.does === "unavailable" ? step.why : null,
    forced: step.does === "conflict" ? step.forced.does : null,
    came: typeof came === "object" ? "refused" : came,
    problem: typeof came === "object" ? sentenceForPage(came.problem, "rewind") : null,
    target,
  };
}
