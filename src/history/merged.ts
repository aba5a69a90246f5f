/**
 * Several sessions as one history, merged by time. What they did is listed, shown and taken back as if one session had
 * done it, so a file that two of them changed in turn is in conflict only with others. A rewind is recorded in each
 * session whose turns it takes back; so every journal still says by itself which of its turns are in effect.
 */

import { contains } from "../contract/common.ts";
import { beginning, type ChangeRecord, type FileVersion, type Rewinds } from "../contract/history.ts";
import { isKnownSame } from "../text/text.ts";
import { type IsUndone, undoneIn } from "./effect.ts";
import type { KeepingRules, Kept } from "./keeping.ts";
import { changedSince, type Found } from "./rewind-plan.ts";
import {
  statsOf,
  endsOf,
  type OpenedHistory,
  once,
  planOf,
  type SessionHistory,
  turnChanges,
} from "./session-history.ts";
import {
  byPath,
  byTurn,
  type Changes,
  changesIn,
  snapshotsOf,
  type Story,
  type TurnRecord,
  turnsWithChanges,
  undoTargets,
  type UndoTargets,
} from "./snapshots.ts";
import type { HistoryStore } from "../state/state.ts";

/** A session to be merged, as far as merging needs it. */
export interface Member {
  readonly id: string;
  readonly story: Story;
}

/** A turn of one member, by the id that it has there. */
interface Origin {
  readonly member: number;
  readonly messageId: string;
}

export interface Merged {
  /** Of all members. Its ids are unique: one that several members use is written `<session>/<id>`. */
  readonly story: Story;
  /** For each step of the story: the members that recorded it. */
  readonly recordedBy: readonly (readonly number[])[];
  /** By id in the story; several for a rewind over several members. */
  readonly origins: ReadonlyMap<string, readonly Origin[]>;
  /** By id: the index of the turn among the steps. */
  readonly places: ReadonlyMap<string, number>;
}

interface Step {
  readonly step: TurnRecord | ChangeRecord;
  readonly member: number;
  /** Consecutive steps of one message in one member. */
  readonly piece: number;
  /** Never decreases within a member, whatever the clock did. */
  readonly timeMs: number;
}

/** Pure. `within`: leaves out turns that changed nothing below these folders. */
export function merged(members: readonly Member[], within?: readonly string[]): Merged {
  const keyOf = keysFor(members);
  const isVisible = visibleIn(members, keyOf, within);
  const all: Step[] = [];
  for (const [member, { story }] of members.entries()) {
    let timeMs = Number.NEGATIVE_INFINITY;
    let last: string | undefined;
    let piece = all.length;
    for (const step of story.steps) {
      timeMs = Math.max(timeMs, step.timeMs);
      if (step.messageId !== last) piece = all.length;
      last = step.messageId;
      if (isVisible(member, step)) all.push({ step, member, piece, timeMs });
    }
  }
  // The sort is stable, so the steps of a member stay in their order.
  const placed = gathered(all.toSorted((a, b) => a.timeMs - b.timeMs || a.member - b.member));
  const steps: (TurnRecord | ChangeRecord)[] = [];
  const recordedBy: number[][] = [];
  const origins = new Map<string, Origin[]>();
  const places = new Map<string, number>();
  /** What a rewind over several members recorded in each of them is one step. */
  const known = new Map<string, number>();
  for (const { step, member } of placed) {
    const key = keyOf(member, step.messageId);
    const isRequired = step.messageId !== "" && isTold(key, member, origins);
    const same = JSON.stringify([key, step.type === "change" ? step.path : ""]);
    const at = isRequired ? known.get(same) : undefined;
    if (step.type === "turn") origins.set(key, [...(origins.get(key) ?? []), { member, messageId: step.messageId }]);
    if (at !== undefined) {
      if (recordedBy[at]?.includes(member) === false) recordedBy[at]?.push(member);
      continue;
    }
    if (!known.has(same)) known.set(same, steps.length);
    if (step.type === "turn") places.set(key, steps.length);
    recordedBy.push([member]);
    steps.push(renamed(step, key, (to) => (to === beginning ? to : keyOf(member, to))));
  }
  const pruned = members.flatMap(({ story }) => story.pruned);
  return { story: { start: undefined, steps, pruned }, recordedBy, origins, places };
}

/** Whether another member has recorded this turn already. */
const isTold = (key: string, member: number, origins: ReadonlyMap<string, readonly Origin[]>): boolean =>
  origins.get(key)?.[0]?.member !== undefined && origins.get(key)?.[0]?.member !== member;

const renamed = <Any extends TurnRecord | ChangeRecord>(step: Any, key: string, keyOf: (id: string) => string): Any => {
  const rewinds =
    step.type === "turn" && step.rewinds ? { rewinds: { ...step.rewinds, to: keyOf(step.rewinds.to) } } : {};
  return key === step.messageId && !("rewinds" in rewinds) ? step : { ...step, messageId: key, ...rewinds };
};

/** Hosts choose ids, so two sessions may use the same one. A rewind over both has one id on purpose. */
function keysFor(members: readonly Member[]): (member: number, messageId: string) => string {
  const users = new Map<string, { readonly member: number; readonly rewinds: Rewinds | undefined }[]>();
  for (const [member, { story }] of members.entries()) {
    for (const step of story.steps) {
      if (step.type !== "turn") continue;
      const { messageId, rewinds } = step;
      const known = users.get(messageId);
      if (known === undefined) users.set(messageId, [{ member, rewinds }]);
      else known.push({ member, rewinds });
    }
  }
  const ambiguous = new Set<string>();
  for (const [messageId, list] of users) {
    const isOne = list.every(({ rewinds }) =>
      list.every(({ member }) => rewinds?.sessions?.includes(members[member]?.id ?? "") === true),
    );
    if (list.length > 1 && !isOne) ambiguous.add(messageId);
  }
  return (member, messageId) => (ambiguous.has(messageId) ? `${members[member]?.id ?? ""}/${messageId}` : messageId);
}

type KeyOf = ReturnType<typeof keysFor>;

function visibleIn(
  members: readonly Member[],
  keyOf: KeyOf,
  within: readonly string[] | undefined,
): (member: number, step: TurnRecord | ChangeRecord) => boolean {
  if (within === undefined) return () => true;
  const isWithin = ({ path }: ChangeRecord): boolean => within.some((folder) => contains(folder, path));
  const visible = new Set<string>();
  for (const [member, { story }] of members.entries()) {
    for (const change of changesIn(story.steps)) if (isWithin(change)) visible.add(keyOf(member, change.messageId));
  }
  return (member, step) =>
    step.messageId === "" ? step.type === "change" && isWithin(step) : visible.has(keyOf(member, step.messageId));
}

/** Puts a change beside the earlier ones of its message, unless another turn changed the same file in between. */
function gathered(steps: readonly Step[]): readonly Step[] {
  const blocks: Step[][] = [];
  const blockOf = new Map<number, number>();
  const touched = new Map<string, number>();
  for (const one of steps) {
    const own = blockOf.get(one.piece);
    const isFree = one.step.type === "turn" || own === undefined || (touched.get(one.step.path) ?? -1) <= own;
    const at = own !== undefined && isFree ? own : blocks.length;
    if (at === blocks.length) blocks.push([one]);
    else blocks[at]?.push(one);
    blockOf.set(one.piece, at);
    if (one.step.type === "change") touched.set(one.step.path, at);
  }
  return blocks.flat();
}

/** The newest turn in effect, whichever member it belongs to, is the next to be undone. A new change of any member ends redo. */
export function mergedTargets(members: readonly Member[], { story, origins, places }: Merged): UndoTargets {
  const keys = members.map(() => new Map<string, string>());
  for (const [key, list] of origins) for (const { member, messageId } of list) keys[member]?.set(messageId, key);
  const targets = members.map((member) => undoTargets(member.story));
  const placeOf = (key: string): number => places.get(key) ?? -1;
  const joined = (way: "undo" | "redo"): readonly string[] => {
    const own = targets.flatMap((target, member) => target[way].flatMap((id) => keys[member]?.get(id) ?? []));
    return [...new Set(own)].toSorted((a, b) => placeOf(b) - placeOf(a));
  };
  const changed = new Set(turnsWithChanges(story));
  const newest = story.steps.findLastIndex(
    (step) => step.type === "turn" && !isRewind(step) && changed.has(step.messageId),
  );
  return {
    undo: joined("undo"),
    redo: joined("redo").filter((key) => placeOf(key) > newest),
    forgotten: targets.some(({ forgotten }) => forgotten),
  };
}

const isRewind = ({ rewinds }: TurnRecord): boolean => rewinds !== undefined && rewinds.as !== "partial";

/** What a rewind records where. */
interface Scope {
  readonly rewinds: Rewinds;
  readonly ownersOf: (path: string) => readonly number[];
  /** The oldest turn of a member that it takes back, and the newest that it knows. */
  readonly toOf: (member: number) => string;
  readonly upToOf: (member: number) => string | undefined;
  readonly sessions: readonly string[];
  readonly begun: Set<number>;
}

function scopeOf(rewinds: Rewinds, view: Merged, members: readonly Member[]): Scope {
  const { story, recordedBy, origins, places } = view;
  const from = places.get(rewinds.to) ?? 0;
  const inEffect = new Set([...mergedTargets(members, view).undo, rewinds.to]);
  const concerned = new Set<number>();
  const touching = new Map<string, Set<number>>();
  const oldest = new Map<number, string>();
  for (const [index, step] of story.steps.slice(from).entries()) {
    const own = recordedBy[from + index] ?? [];
    if (step.type === "change") {
      const known = touching.get(step.path) ?? new Set();
      touching.set(step.path, known);
      for (const member of own) known.add(member);
    }
    for (const member of own) {
      const messageId = origins.get(step.messageId)?.find((one) => one.member === member)?.messageId;
      if (messageId !== undefined && !oldest.has(member)) oldest.set(member, messageId);
      if (inEffect.has(step.messageId)) concerned.add(member);
    }
  }
  const ownersOf = (path: string): readonly number[] => {
    const all = [...(touching.get(path) ?? [])];
    const some = all.filter((member) => concerned.has(member));
    return some.length > 0 ? some : all;
  };
  const owners = new Set([...touching.keys()].flatMap(ownersOf));
  return {
    rewinds,
    ownersOf,
    toOf: (member) => (rewinds.to === beginning ? beginning : (oldest.get(member) ?? rewinds.to)),
    upToOf: (member) => members[member]?.story.steps.findLast((step) => step.type === "turn")?.messageId,
    sessions: [...owners].flatMap((member) => members[member]?.id ?? []),
    begun: new Set(),
  };
}

interface View extends Merged {
  readonly members: readonly Member[];
  readonly turns: () => ReadonlyMap<string, Changes>;
}

/** `own` keeps changes that are no rewind. Lists and plans read the journals again; what is asked about their turns does not. */
export function mergeHistories(
  own: OpenedHistory,
  sessions: readonly OpenedHistory[],
  within: readonly string[] | undefined,
  store: HistoryStore,
  rules: KeepingRules,
): SessionHistory {
  let last: View | undefined;
  const read = (): View => {
    const members = sessions.map((one) => ({ id: one.id, story: one.story() }));
    if (last !== undefined && members.every(({ story }, at) => story === last?.members[at]?.story)) return last;
    const view = merged(members, within);
    last = { ...view, members, turns: once(() => byTurn(changesIn(view.story.steps))) };
    return last;
  };
  const seen = (): View => last ?? read();
  const changesOf = (key: string): readonly ChangeRecord[] => seen().turns().get(key) ?? [];
  const faults = () => sessions.flatMap((one) => one.faults());
  const planned = new Map<string, View>();
  const scopes = new Map<string, Scope>();
  const parts = new WeakMap<Kept, ReadonlyMap<OpenedHistory, Kept>>();

  /** Writes the turn of a rewind into a journal before the first change there. */
  const begin = async (scope: Scope, member: number, messageId: string): Promise<void> => {
    if (scope.begun.has(member)) return;
    scope.begun.add(member);
    const { as } = scope.rewinds;
    const upTo = scope.upToOf(member);
    const several = scope.sessions.length > 1 ? { sessions: scope.sessions } : {};
    const known = upTo === undefined ? {} : { upTo };
    const rewinds = { to: scope.toOf(member), as, ...known, ...several, state: "begun" } as const;
    await sessions[member]?.checkpoint(messageId, rewinds);
  };

  return {
    id: own.id,
    isRequired: own.isRequired,
    async checkpoint(messageId, rewinds, about) {
      if (rewinds === undefined) return own.checkpoint(messageId, undefined, about);
      if (rewinds.state === "ended") {
        const scope = scopes.get(messageId);
        for (const member of scope?.begun ?? []) await sessions[member]?.checkpoint(messageId, rewinds);
        return { failed: undefined };
      }
      const view = planned.get(rewinds.to) ?? read();
      scopes.clear();
      planned.clear();
      scopes.set(messageId, scopeOf(rewinds, view, view.members));
      return { failed: undefined };
    },
    async keep(keeping) {
      const scope = scopes.get(keeping.messageId);
      const owners = scope?.ownersOf(keeping.path) ?? [];
      if (scope === undefined || owners.length === 0) return own.keep(keeping);
      const { instead, ...rest } = keeping;
      const kept = new Map<OpenedHistory, Kept>();
      for (const member of owners) {
        const session = sessions[member];
        if (session === undefined) continue;
        await begin(scope, member, keeping.messageId);
        const before = instead && parts.get(instead)?.get(session);
        kept.set(session, await session.keep({ ...rest, ...(before && { instead: before }) }));
      }
      const [first, ...others] = kept.values();
      if (first === undefined) return own.keep(keeping);
      const whole: Kept = { ...first, failed: [first, ...others].find(({ failed }) => failed !== undefined)?.failed };
      parts.set(whole, kept);
      return whole;
    },
    done(kept, identity, mode) {
      const recorded = parts.get(kept);
      if (recorded === undefined) return own.done(kept, identity, mode);
      for (const [session, part] of recorded) session.done(part, identity, mode);
    },
    undone(kept) {
      const recorded = parts.get(kept);
      if (recorded === undefined) return own.undone(kept);
      for (const [session, part] of recorded) session.undone(part);
    },
    keepObserved: (messageId, changes) => own.keepObserved(messageId, changes),
    note: (file, path, bytes) => own.note(file, path, bytes),
    noted: own.noted,
    unkept: (path, sizeBytes) => own.unkept(path, sizeBytes),
    snapshots: () => snapshotsOf(read().story),
    turns() {
      const view = read();
      return turnChanges(view.story, sessionIn(view), undoneOver(view));
    },
    faults,
    async diffStats(messageId) {
      const changes = changesOf(messageId);
      return changes.length === 0 ? undefined : statsOf(changes, store);
    },
    versionOf(messageId, path, when) {
      const changes = changesOf(messageId).filter((change) => change.path === path);
      return when === "before" ? changes[0]?.before : changes.at(-1)?.after;
    },
    changes(messageId, upTo = messageId) {
      const ids = turnsWithChanges(seen().story);
      const [from, to] = [ids.indexOf(messageId), ids.indexOf(upTo)];
      const all = from < 0 || to < 0 ? [] : ids.slice(from, to + 1).flatMap(changesOf);
      return [...byPath(all).values()].map(endsOf);
    },
    tracked: () => new Map(changesIn(read().story.steps).map(({ path, after }) => [path, after])),
    changedByAnySince: (timeMs) => own.changedByAnySince(timeMs),
    open: (content) => store.openBlob(content),
    plan(messageId, given) {
      const view = read();
      planned.set(messageId, view);
      const isDamaged = faults().length > 0;
      const since = changedSince(view.story, messageId);
      const open = (): Found => {
        if (given.way !== undefined) return onlyPaths(since, takenBy(given.way, messageId, view));
        if (isDamaged || messageId === beginning) return since;
        return withoutClosed(since, new Set([...(given.files ?? []), ...changesOf(messageId).map(({ path }) => path)]));
      };
      return planOf(messageId, open(), isDamaged, given, store, rules);
    },
    undoTargets() {
      const view = read();
      return mergedTargets(view.members, view);
    },
    async refresh() {
      for (const one of sessions) await one.refresh();
    },
    async prepare(signal) {
      for (const one of sessions) await one.prepare(signal);
    },
    tidy: () => own.tidy(),
  };
}

/**
 * The files of the turn, and those of later turns that an undo or a redo should have restored and could not. What was undone
 * since, of older turns of another session, is no part of this turn.
 */
function takenBy(way: "undo" | "redo", messageId: string, view: View): ReadonlySet<string> {
  const { steps } = view.story;
  const isUndone = undoneOver(view);
  const isTaken = (id: string): boolean => {
    const turn = steps[view.places.get(id) ?? -1];
    const rewinds = turn?.type === "turn" && isRewind(turn) ? turn.rewinds : undefined;
    return way === "undo" ? rewinds === undefined : rewinds !== undefined && rewinds.as !== "redo";
  };
  const later = changesIn(steps.slice(view.places.get(messageId) ?? 0));
  const taken = later.filter(
    ({ messageId: id, path }) => id === messageId || (id !== "" && isTaken(id) && !isUndone(id, path)),
  );
  return new Set(taken.map(({ path }) => path));
}

const onlyPaths = (since: Found, paths: ReadonlySet<string>): Found =>
  since.found === "turn" ? { ...since, files: since.files.filter(({ path }) => paths.has(path)) } : since;

/** Leaves out files that later turns changed and took back: nothing of them is in effect. */
function withoutClosed(since: Found, asked: ReadonlySet<string>): Found {
  if (since.found !== "turn") return since;
  const modeOf = (version: FileVersion): number | undefined => (version.kind === "file" ? version.mode : undefined);
  return {
    ...since,
    files: since.files.filter(
      ({ path, base, ours }) => asked.has(path) || !isKnownSame(base, ours) || modeOf(base) !== modeOf(ours),
    ),
  };
}

const sessionIn =
  ({ origins, members }: View) =>
  (key: string): string =>
    members[origins.get(key)?.[0]?.member ?? -1]?.id ?? "";

function undoneOver({ members, origins }: View): IsUndone {
  const own = members.map(({ story }) => once(() => undoneIn(story)));
  return (key, path) =>
    (origins.get(key) ?? []).some(({ member, messageId }) => own[member]?.()(messageId, path) === true);
}
