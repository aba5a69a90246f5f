/** Rewind: restores files to their state before a turn, with the same permissions, locks and writes as every change. */

import * as nodePath from "node:path";
import type {
  CurrentState,
  Loss,
  RewindAction,
  RewindFile,
  RewindOutcome,
  RewindPlan,
  RewindRequest,
  RewoundFile,
} from "../../contract/history.ts";
import { limits } from "../../contract/limits.ts";
import { Problem } from "../../contract/problem.ts";
import type { Place } from "../../contract/target.ts";
import {
  FileTruncated,
  hashOf,
  type TreeEntry,
  type Identity,
  type OpenFile,
  parseTempName,
  ReadFailed,
  withHandleClosed,
  timeSlices,
  wholeFile,
  yieldToEventLoop,
} from "../../disk/disk.ts";
import { deniedBy } from "../../guard/guard.ts";
import { inodeFingerprint, type SessionHistory } from "../../history/history.ts";
import { handleOf, resolveChangeTarget } from "../change/change-target.ts";
import type { Turn } from "../change/history-recorder.ts";
import { notifyOfPaths } from "../languages.ts";
import { statKeyOf } from "../fingerprint.ts";
import { type ToolContext, orUnreadable, type Tool } from "../tool.ts";
import { isEntryAction, rewindRefusals, type RewindTask } from "./ask.ts";
import { entryKeyOf, restoreFile } from "./swap.ts";
import { targetAt } from "../files/tree.ts";
import { compareCodePoints } from "../../text/text.ts";

export const rewind: Tool<"rewind"> = (request, context) =>
  orUnreadable(typeof request.to === "string" ? request.to : request.to.last, () => goBack(request, context));

async function goBack(request: RewindRequest, context: ToolContext): Promise<RewindOutcome> {
  const history = await context.past();
  const { to: asked, as } = request;
  if (history === undefined) {
    const turn = typeof asked === "string" ? asked : asked.last;
    throw new Problem({ code: "NO_TURN", asked: turn, reason: "no history" });
  }
  await history.prepare(context.signal);
  const { to, plan, passed, seen } = await planned(request, history, context);
  const damage = damageOf(history);
  const todo = inOrder(
    plan.files.map((file) => ({
      file: { ...file, relative: context.guard.spell(file.path) },
      action: actionOf(file, request),
    })),
  );
  const foretold = async (): Promise<RewindOutcome> => {
    const files: RewoundFile[] = [];
    for (const { file, action } of todo) {
      const came = action === undefined ? "left" : await foreseen(file, seen.get(file.path), context);
      files.push(shown(file, action, came, came === "planned" ? foreseenLoss(file) : undefined));
    }
    return { kind: "rewind", to, passed, turn: undefined, files, dryRun: context.dryRun, ...damage };
  };
  if (context.dryRun || todo.every(({ action }) => action === undefined)) return foretold();

  // One error for the whole call, before a turn begins.
  const [first] = todo.filter(({ action }) => action !== undefined);
  if (first !== undefined) context.guard.requireWriting(placeOf(first.file));
  if (request.confirm !== undefined && !(await request.confirm({ ...(await foretold()), dryRun: true }))) {
    throw new Problem({ code: "CANCELLED", tool: "Rewind" });
  }

  const refused = await rewindRefusals(todo, to, history, context);
  const messageId = context.newId();
  const turn: Turn = { history, messageId, tool: "Rewind" };
  const isAllowed = ({ file, action }: RewindTask): boolean => action !== undefined && !refused.has(file.path);
  if (todo.some(isAllowed)) await history.checkpoint(messageId, { to, as, state: "begun" });
  const files: RewoundFile[] = [];
  let isRecorded = false;
  const restored = new Set<string>();
  for (const [index, { file, action }] of todo.entries()) {
    context.onProgress?.(index, todo.length);
    const first = refused.get(file.path);
    // By now a folder may be again where a file was in the way: only now the rules can judge what is in it.
    const isInTheWay = first?.code === "NOT_FOUND" && first.reason === "file on the way";
    const problem = isInTheWay
      ? (await rewindRefusals([{ file, action }], to, history, context)).get(file.path)
      : first;
    if (problem !== undefined) files.push(shown(file, action, { problem }));
    else if (action === undefined) files.push(shown(file, action, "left"));
    else {
      const swap = { ...file, action, seen: seen.get(file.path)?.statKey, force: request.force, restored };
      const result = await restoreFile(swap, turn, context);
      if ("step" in result) files.push(shown({ ...file, step: result.step }, undefined, "left"));
      else files.push(shown(file, action, result.came, result.lost));
      isRecorded ||= result.isRecorded === true;
      await yieldToEventLoop(); // a write may finish without a single wait, and a cancellation must get through
    }
  }
  // A call that was cancelled in the middle has not come to its end.
  if (isRecorded && !context.signal.aborted) await history.checkpoint(messageId, { to, as, state: "ended" });
  // A cancelled call reports the files that it restored; if there are none, it ends as cancelled.
  if (!files.some(({ came }) => came === "done")) context.signal.throwIfAborted();
  context.onProgress?.(todo.length, todo.length);
  const diagnostics = await notifyOfPaths(
    files.flatMap(({ path, action, came }) =>
      came === "done" && action !== undefined ? [{ path, did: didByAction[action.does] }] : [],
    ),
    context,
  );
  // Without a record there is no turn that could be rewound again.
  const done = { kind: "rewind", to, passed, turn: isRecorded ? messageId : undefined, files, dryRun: false } as const;
  return { ...done, ...damage, ...(diagnostics.length > 0 ? { diagnostics } : {}) };
}

/** Folders are made before what is in them, and removed after it; the rest keeps its order. */
function inOrder(tasks: readonly RewindTask[]): readonly RewindTask[] {
  // In a folder without the right to write nothing more can be changed.
  const isClosed = ({ action }: RewindTask): boolean =>
    action?.does === "restore" && action.is === "folder" && ((action.mode ?? writable) & writable) !== writable;
  const isMade = (task: RewindTask): boolean =>
    task.action?.is === "folder" && task.action.does !== "delete" && !isClosed(task);
  const isRemoved = ({ action }: RewindTask): boolean =>
    (action?.is === "folder" && action.does === "delete") ||
    (action !== undefined && action.does !== "delete" && action.replaces === "folder");
  const byPath = (a: RewindTask, b: RewindTask): number => compareCodePoints(a.file.path, b.file.path);
  return [
    ...tasks.filter(isMade).toSorted(byPath),
    ...tasks.filter((task) => !isMade(task) && !isRemoved(task) && !isClosed(task)),
    ...tasks.filter((task) => isRemoved(task) && !isMade(task)).toSorted((a, b) => byPath(b, a)),
    ...tasks.filter(isClosed).toSorted((a, b) => byPath(b, a)),
  ];
}

/** Of a folder's mode: names in it can be changed by its owner. */
const writable = 0o300;

interface Seen {
  /** To check later whether the file is still the same; "absent" if there is none. */
  readonly statKey: string;
  readonly mode: number | undefined;
}

async function currentState(
  path: string,
  context: ToolContext,
  seen: Map<string, Seen>,
  isKnown: (path: string) => boolean,
): Promise<CurrentState> {
  const lookup = context.disk.lookup(path);
  const entry = context.disk.entryAt(path);
  if (entry !== undefined && entry.is !== "file") {
    if (lookup.seen === "node") lookup.handle.close();
    return entryState(path, entry, seen);
  }
  if (lookup.seen === "missing") {
    seen.set(path, { statKey: "absent", mode: undefined });
    return missingState(path, context, isKnown);
  }
  if (lookup.seen !== "node") return { kind: "other", what: lookup.seen === "outside" ? "outside" : "refused" };
  using _handle = lookup.handle;
  if (lookup.real !== path) return { kind: "other", what: "link" };
  if (lookup.kind !== "file") return { kind: "other", what: "special" };
  const file = context.disk.open(lookup);
  if ("errno" in file) return { kind: "other", what: "refused" };
  const { sizeBytes, mode, identity } = file;
  const bytes = await smallContent(file);
  const links = file.links > 1 ? file.links - (await leftoversOf(path, identity, context)) : file.links;
  seen.set(path, { statKey: statKeyOf(identity), mode });
  const hash = async (): Promise<string> =>
    bytes === undefined ? hashOfPath(path, context) : hashOf(bytes).toString("hex");
  return { kind: "file", sizeBytes, mode, links, fingerprint: inodeFingerprint(identity), hash };
}

/** A symlink or a folder. What is in a folder is no part of its state. */
function entryState(path: string, entry: TreeEntry, seen: Map<string, Seen>): CurrentState {
  const { mode, identity, leadsTo = Buffer.alloc(0) } = entry;
  if (entry.is === "file") throw new Error("a file has content");
  seen.set(path, { statKey: entryKeyOf(entry), mode });
  const hash = async (): Promise<string> => hashOf(leadsTo).toString("hex");
  const shared = { sizeBytes: leadsTo.length, mode, links: 1, fingerprint: inodeFingerprint(identity), hash };
  return { kind: "file", is: entry.is, ...shared };
}

/** Hard links to it that a killed process of ours left in the folder; the next change there removes them. */
async function leftoversOf(path: string, { device, inode }: Identity, { disk }: ToolContext): Promise<number> {
  const folder = nodePath.dirname(path);
  const above = disk.lookup(folder);
  if (above.seen !== "node") return 0;
  using _handle = above.handle;
  const entries = await disk.list(above);
  if ("errno" in entries) return 0;
  return entries.filter(({ name, kind }) => {
    if (kind !== "file" || !["new", "old"].includes(parseTempName(name)?.kind ?? "")) return false;
    const lookup = withHandleClosed(disk.lookup(nodePath.join(folder, name)));
    if (lookup.seen !== "node") return false;
    return lookup.handle.identity.device === device && lookup.handle.identity.inode === inode;
  }).length;
}

/** Larger files are only read if their hash is needed. */
const readAtOnceMax = 65_536;

/** Reads and closes a small file: to look it up and open it again would cost more than to read it. */
async function smallContent(file: OpenFile): Promise<Buffer | undefined> {
  using _file = file;
  try {
    return await wholeFile(file, readAtOnceMax);
  } catch (error) {
    // The content may not be needed. If it is, reading fails again and is reported.
    if (error instanceof ReadFailed || error instanceof FileTruncated) return undefined;
    throw error;
  }
}

/** "absent" if a file can be created there; something else may have taken its name or that of a folder above it. */
async function missingState(
  path: string,
  { disk }: Pick<ToolContext, "disk">,
  isKnown: (path: string) => boolean,
): Promise<CurrentState> {
  const above = nodePath.dirname(path);
  const lookup = disk.lookup(above);
  if (lookup.seen === "missing") return above === path ? { kind: "absent" } : missingState(above, { disk }, isKnown);
  if (lookup.seen !== "node") return { kind: "other", what: lookup.seen === "outside" ? "outside" : "refused" };
  using _handle = lookup.handle;
  if (lookup.real !== above) return { kind: "other", what: "link" };
  // A file whose history is kept may be the folder of this one again, before this one is restored.
  if (lookup.kind === "file" && isKnown(above)) return { kind: "absent" };
  if (lookup.kind !== "directory") return { kind: "other", what: "special" };
  const entries = await disk.list(lookup);
  if ("errno" in entries) return { kind: "other", what: "refused" };
  // The name is listed, but its lookup found nothing: a dangling symlink.
  return entries.some(({ name }) => name === nodePath.basename(path))
    ? { kind: "other", what: "link" }
    : { kind: "absent" };
}

async function hashOfPath(path: string, context: ToolContext): Promise<string> {
  const lookup = context.disk.lookup(path);
  if (lookup.seen !== "node") return "";
  const file: OpenFile | { readonly errno: string } = context.disk.open(lookup);
  lookup.handle.close();
  if ("errno" in file) return "";
  using _file = file;
  const bytes = await wholeFile(file, limits.editBytesMax);
  return bytes === undefined ? "" : hashOf(bytes).toString("hex");
}

function damageOf(history: SessionHistory): Pick<RewindOutcome, "damaged"> {
  const damaged = history.faults().length;
  return damaged === 0 ? {} : { damaged };
}

const didByAction = { restore: "updated", create: "created", delete: "deleted" } as const;

interface Planned {
  readonly to: string;
  readonly plan: Extract<RewindPlan, { readonly found: "turn" }>;
  readonly passed: readonly string[];
  readonly seen: ReadonlyMap<string, Seen>;
}

/** The plan for the turn that the call names, or for the last turn that left something to restore. */
async function planned(request: RewindRequest, history: SessionHistory, context: ToolContext): Promise<Planned> {
  const files = request.files?.map((path) => realOf(path, context));
  const way = typeof request.to === "string" ? undefined : request.to.last;
  const planFor = async (to: string): Promise<Omit<Planned, "passed">> => {
    const seen = new Map<string, Seen>();
    const slices = timeSlices(context.signal);
    let known: ReadonlySet<string> | undefined;
    const isKnown = (path: string): boolean => (known ??= new Set(history.tracked().keys())).has(path);
    const current = async (path: string): Promise<CurrentState> => {
      if (slices.isOver()) await slices.next();
      return currentState(path, context, seen, isKnown);
    };
    // Planning is all the work of a dry run; otherwise it counts as no progress.
    const onProgress = (done: number, total: number): void => {
      context.signal.throwIfAborted();
      context.onProgress?.(context.dryRun ? done : 0, total);
    };
    const plan = await history.plan(to, { current, files, way, onProgress });
    if (plan.found !== "turn") throw new Problem({ code: "NO_TURN", asked: to, reason: plan.found });
    return { to, plan, seen };
  };
  if (typeof request.to === "string") return { ...(await planFor(request.to)), passed: [] };
  const { last } = request.to;
  const targets = history.undoTargets();
  const [newest, ...older] = targets[last];
  const nothingLeft = (): Problem => {
    const reason = last === "undo" && targets.forgotten ? "undo forgotten" : (`nothing to ${last}` as const);
    return new Problem({ code: "NO_TURN", asked: last, reason });
  };
  if (newest === undefined) throw nothingLeft();
  const first = await planFor(newest);
  if (files !== undefined || first.plan.files.some(isOpen)) return { ...first, passed: [] };
  const passed = [newest];
  for (const to of older) {
    context.signal.throwIfAborted();
    const next = await planFor(to);
    if (next.plan.files.some(isOpen)) return { ...next, passed };
    passed.push(to);
  }
  // Every file already has its old state, so there is nothing to undo.
  if (first.plan.files.every(({ step }) => step.does === "nothing")) throw nothingLeft();
  return { ...first, passed: [] };
}

/** Can the file still be restored? A content that was never stored, or is gone, cannot. */
function isOpen({ step }: RewindFile): boolean {
  if (step.does === "nothing") return false;
  return step.does !== "unavailable" || !neverKept.includes(step.why);
}

type WhyUnavailable = Extract<RewindFile["step"], { readonly does: "unavailable" }>["why"];
const neverKept: readonly WhyUnavailable[] = ["secret", "too large", "failed", "pruned", "damaged", "damaged record"];

const placeOf = ({ path, relative }: RewindFile): Place => ({ asked: relative, absolute: path, relative });

const shown = (
  file: RewindFile,
  action: RewindAction | undefined,
  came: RewoundFile["came"],
  lost?: Loss,
): RewoundFile => ({ ...file, action, came, ...(lost === undefined ? {} : { lost }) });

const foreseenLoss = ({ step }: RewindFile): Loss | undefined => (step.does === "conflict" ? step.loses : undefined);

function actionOf({ step }: RewindFile, { force }: RewindRequest): RewindAction | undefined {
  if (step.does === "conflict") return force ? step.forced : undefined;
  return step.does === "nothing" || step.does === "unavailable" ? undefined : step;
}

/** The refusals that a dry run can foresee without asking a person. */
async function foreseen(
  { path, step }: RewindFile,
  seen: Seen | undefined,
  context: ToolContext,
): Promise<RewoundFile["came"]> {
  try {
    const action = step.does === "conflict" ? step.forced : step;
    if (action.does !== "nothing" && action.does !== "unavailable" && isEntryAction(action)) {
      const place = targetAt(path, "file", context);
      const denial = context.guard.denied("edit", [path], action.is === "folder" ? "folder" : "file");
      if (denial !== undefined) throw deniedBy(denial, place);
      return "planned";
    }
    const changeTarget = await resolveChangeTarget(path, context);
    const { target: place } = changeTarget;
    const mode = changeTarget.is === "there" ? seen?.mode : undefined;
    handleOf(changeTarget)?.close();
    const rule = context.guard.denied("edit", [path], "file");
    if (rule !== undefined) throw deniedBy(rule, place);
    const isReadOnly = mode !== undefined && (mode & 0o222) === 0;
    return isReadOnly ? { problem: { code: "ACCESS_DENIED", place, reason: "read-only" } } : "planned";
  } catch (error) {
    if (error instanceof Problem) return { problem: error.data };
    throw error;
  }
}

function realOf(path: string, context: ToolContext): string {
  const resolved = context.guard.resolve(path);
  if (resolved.seen === "node") resolved.node.handle.close();
  return resolved.seen === "outside" ? path : (resolved.target?.real ?? path);
}
