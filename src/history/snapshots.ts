/** Turns and their changes, from a session's records. Pure: entries in, data out. */

import {
  beginning,
  type ChangeRecord,
  type FileVersion,
  type HistoryRecord,
  type Snapshot,
  type StartRecord,
} from "../contract/history.ts";
import { type Entry, entriesPerStep, type Rewrite } from "../state/state.ts";
import { finish, isKnownSame, isSameContent, type Steps } from "../text/text.ts";

export type TurnRecord = Extract<HistoryRecord, { readonly type: "turn" }>;

export interface Story {
  readonly start: StartRecord | undefined;
  /** Each message once, at its first record; changes in the order in which they were made. */
  readonly steps: readonly (TurnRecord | ChangeRecord)[];
  /** Messages of turns that are no longer stored one by one; the latest of them. */
  readonly pruned: readonly string[];
}

export const storyOf = (entries: readonly Entry[]): Story => finish(tellingStory(entries));

export function* tellingStory(entries: readonly Entry[]): Steps<Story> {
  let start: StartRecord | undefined;
  let pruned: readonly string[] = [];
  const steps: (TurnRecord | ChangeRecord | undefined)[] = [];
  const places = new Map<string, number>();
  const known = new Set<string>();
  /** By message, the step of its turn. */
  const rewinding = new Map<string, number>();
  /** The steps before which a message was announced again. */
  const resumed = new Map<number, string>();
  const add = (id: string, step: TurnRecord | ChangeRecord): void => {
    places.set(id, steps.length);
    steps.push(step);
  };
  for (const [index, { id, record }] of entries.entries()) {
    if (index % entriesPerStep === entriesPerStep - 1) yield;
    switch (record.type) {
      case "start":
        // A session that an earlier version began has no client; a later process names it.
        start ??= record;
        if (start.client === undefined && record.client !== undefined) start = { ...start, client: record.client };
        break;
      case "base":
        pruned = record.pruned;
        break;
      case "turn":
        if (!known.has(record.messageId)) {
          rewinding.set(record.messageId, steps.length);
          add(id, record.rewinds?.state === "ended" ? withEnd(record) : record);
        } else if (record.rewinds?.state === "ended") {
          const place = rewinding.get(record.messageId) ?? -1;
          const turn = steps[place];
          if (turn?.type === "turn") steps[place] = withEnd(turn);
        } else resumed.set(steps.length, record.messageId);
        known.add(record.messageId);
        break;
      case "change":
        for (const turn of unannounced(record, known)) add(`${id} turn`, turn);
        add(id, record);
        break;
      case "after": {
        const place = places.get(record.of) ?? -1;
        const change = steps[place];
        if (change?.type === "change") steps[place] = { ...change, after: record.after };
        break;
      }
      case "void": {
        const place = places.get(record.of) ?? -1;
        if (steps[place]?.type === "change") steps[place] = undefined;
        break;
      }
    }
  }
  return { start, steps: yield* gathered(steps, resumed), pruned };
}

/** A rewind that came to its end. */
function withEnd({ rewinds, ...turn }: TurnRecord): TurnRecord {
  if (rewinds === undefined) return turn;
  const { state: _, ...rest } = rewinds;
  return { ...turn, rewinds: rest };
}

/**
 * Gathers the changes of each turn. Those of concurrent calls are mixed in the journal; together, a turn can be undone
 * alone. A change stays in place if another turn changed the same file in between, if a rewind came in between, or if
 * its message was announced again: then the message continued later.
 */
function* gathered(
  steps: readonly (TurnRecord | ChangeRecord | undefined)[],
  resumed: ReadonlyMap<number, string>,
): Steps<Story["steps"]> {
  const blocks: (TurnRecord | ChangeRecord)[][] = [];
  /** By message, and by path: the last block with a part of it. */
  const blockOf = new Map<string, number>();
  const touched = new Map<string, number>();
  const rewinding = new Set<string>();
  let rewound = -1;
  for (const [index, step] of steps.entries()) {
    if (index % entriesPerStep === entriesPerStep - 1) yield;
    blockOf.delete(resumed.get(index) ?? "");
    if (step === undefined) continue;
    const { messageId } = step;
    const own = step.type === "change" ? blockOf.get(messageId) : undefined;
    const joins = own !== undefined && step.type === "change" && Math.max(touched.get(step.path) ?? -1, rewound) <= own;
    const at = joins ? own : blocks.length;
    if (joins) blocks[at]?.push(step);
    else blocks.push([step]);
    blockOf.set(messageId, at);
    if (step.type === "change") touched.set(step.path, at);
    else if (step.rewinds !== undefined) rewinding.add(messageId);
    if (rewinding.has(messageId)) rewound = at;
  }
  return blocks.flat();
}

/** A turn for a change that has none, because its line was damaged or its turn pruned; else it could not be undone. */
function unannounced(change: ChangeRecord, known: Set<string>): readonly TurnRecord[] {
  const { messageId } = change;
  if (messageId === "" || known.has(messageId)) return [];
  known.add(messageId);
  return [{ type: "turn", messageId, timeMs: change.timeMs }];
}

/** Factor of the limit for turns including rewinds: each turn may be undone, and that be redone. */
const withRewindsMax = 3;

/**
 * The same story with at most `snapshotsMax` turns that changed something. Rewinds do not count, because an undo must
 * not drop the turn to be undone next; they have a limit of their own, and those that cancel each other go first. Of
 * older turns each file's first version stays, so that one can still go back to the beginning.
 */
export const pruneStory = (whole: Story, snapshotsMax: number): Story => finish(pruningStory(whole, snapshotsMax));

/** The same in steps, as long as there is nothing to prune; what is pruned is short, since it was pruned before. */
export function* pruningStory(whole: Story, snapshotsMax: number): Steps<Story> {
  const messages = new Set<string>();
  for (const [index, step] of whole.steps.entries()) {
    if (index % entriesPerStep === entriesPerStep - 1) yield;
    if (step.type === "change") messages.add(step.messageId);
  }
  return messages.size <= snapshotsMax ? whole : prunedStory(whole, snapshotsMax);
}

function prunedStory(whole: Story, snapshotsMax: number): Story {
  const hasMany = turnsWithChanges(whole).length > (withRewindsMax - 1) * snapshotsMax;
  const story = hasMany ? withoutCancelled(whole, outcomesIn(whole)) : whole;
  const turns = turnsWithChanges(story);
  const rewinding = new Set(story.steps.flatMap((step) => (isRewind(step) ? [step.messageId] : [])));
  const counted = turns.filter((messageId) => !rewinding.has(messageId));
  if (counted.length <= snapshotsMax && turns.length <= withRewindsMax * snapshotsMax) return story;
  const kept = Math.max(0, snapshotsMax);
  const places = [
    counted.length <= kept ? 0 : kept === 0 ? turns.length : turns.indexOf(counted.at(-kept) ?? ""),
    turns.length - withRewindsMax * kept,
  ];
  const keptFrom = Math.max(...places);
  const oldestKept = turns[keptFrom]; // undefined if none is kept
  const cut = story.steps.findIndex((step) => step.type === "turn" && step.messageId === oldestKept);
  const from = cut < 0 ? story.steps.length : cut;
  const old = story.steps.slice(0, from);
  const gone = old.flatMap((step) => (step.type === "turn" ? [step.messageId] : []));
  const outcome = outcomesIn(story);
  const first = [...byPath(changesIn(old)).values()].flatMap((changes) => {
    const [one, ...more] = changes.flatMap((change) => outcome.get(change) ?? []);
    const merged = one === undefined ? changes : [mergedChange([one, ...more]), ...changes.slice(more.length + 1)];
    return merged.map((change) => ({ ...change, messageId: "" }));
  });
  const known = new Set(turns.slice(keptFrom));
  const young = story.steps.slice(from);
  const later = young.flatMap((step) => (step.type === "change" ? [...unannounced(step, known), step] : [step]));
  const short: Story = {
    start: story.start,
    steps: [...first, ...later],
    pruned: [...story.pruned, ...gone.filter((messageId) => !known.has(messageId))].slice(-prunedMax),
  };
  // A message that continued later is a turn again from there on, which changes which turns are the oldest.
  return later.length > young.length ? prunedStory(short, snapshotsMax) : short;
}

/** The compaction of a journal to the turns within the limit; it changes nothing that is short enough. */
export const shortenTo =
  (snapshotsMax: number): Rewrite =>
  (entries) =>
    finish(shortening(entries, snapshotsMax));

/** The same in steps, as long as nothing is pruned. */
export function* shortening(
  entries: readonly Entry[],
  snapshotsMax: number,
): Steps<readonly HistoryRecord[] | undefined> {
  const story = yield* tellingStory(entries);
  const short = yield* condensingStory(yield* pruningStory(story, snapshotsMax));
  return short.steps.length < story.steps.length ? recordsOf(short) : undefined;
}

/** Joins several changes of a file within one turn, unless others changed it in between. */
export const condenseStory = (story: Story): Story => finish(condensingStory(story));

function* condensingStory(story: Story): Steps<Story> {
  const outcome = yield* findingOutcomes(story);
  const steps: (TurnRecord | ChangeRecord)[] = [];
  let places = new Map<string, number>();
  for (const [index, step] of story.steps.entries()) {
    if (index % entriesPerStep === entriesPerStep - 1) yield;
    if (step.type === "turn") {
      places = new Map(); // a change must not move before the beginning of a turn
      steps.push(step);
      continue;
    }
    const settled = outcome.get(step);
    const place = places.get(step.path);
    const last = place === undefined ? undefined : steps[place];
    const isOne = last?.type === "change" && last.messageId === step.messageId && follows(step, last);
    if (place !== undefined && isOne && settled !== undefined) steps[place] = mergedChange([last, settled]);
    else {
      places.set(step.path, steps.length);
      steps.push(step);
    }
  }
  return { ...story, steps };
}

/** After a crash only a file's next change shows whether one was made, so its last change has no outcome yet. */
const outcomesIn = (story: Story): ReadonlyMap<ChangeRecord, ChangeRecord> => finish(findingOutcomes(story));

function* findingOutcomes({ steps }: Story): Steps<ReadonlyMap<ChangeRecord, ChangeRecord>> {
  const outcomes = new Map<ChangeRecord, ChangeRecord>();
  /** By path: its last change so far. */
  const lasts = new Map<string, ChangeRecord>();
  for (const [index, next] of steps.entries()) {
    if (index % entriesPerStep === entriesPerStep - 1) yield;
    if (next.type !== "change") continue;
    const change = lasts.get(next.path);
    lasts.set(next.path, next);
    if (change === undefined) continue;
    const { before, after } = change;
    const happened = isSameContent(next.before, after) || !isSameContent(next.before, before);
    outcomes.set(change, happened ? change : { ...change, after: before });
  }
  return outcomes;
}

const recordsOf = ({ start, steps, pruned }: Story): readonly HistoryRecord[] => [
  { type: "base", absorbed: [], ids: [], pruned },
  ...(start === undefined ? [] : [start]),
  ...steps,
];

export const turnsWithChanges = (story: Story): readonly string[] => turnsIn(story).map(([{ messageId }]) => messageId);

export const changesIn = (steps: Story["steps"]): readonly ChangeRecord[] =>
  steps.filter((step): step is ChangeRecord => step.type === "change");

export type Changes = readonly [ChangeRecord, ...ChangeRecord[]];

export const lastOf = (changes: Changes): ChangeRecord => changes.at(-1) ?? changes[0];

export const byPath = (changes: readonly ChangeRecord[]): ReadonlyMap<string, Changes> =>
  grouped(changes, ({ path }) => path);

export const byTurn = (changes: readonly ChangeRecord[]): ReadonlyMap<string, Changes> =>
  grouped(changes, ({ messageId }) => messageId);

function grouped(
  changes: readonly ChangeRecord[],
  keyOf: (change: ChangeRecord) => string,
): ReadonlyMap<string, Changes> {
  const groups = new Map<string, [ChangeRecord, ...ChangeRecord[]]>();
  for (const change of changes) {
    const key = keyOf(change);
    const list = groups.get(key);
    if (list === undefined) groups.set(key, [change]);
    else list.push(change);
  }
  return groups;
}

/** Whether the file was as the session had left it. A change that never happened left it as before. */
export const follows = (next: ChangeRecord, last: ChangeRecord): boolean =>
  isSameContent(next.before, last.after) || isSameContent(next.before, last.before);

export const isBroken = (changes: readonly ChangeRecord[]): boolean =>
  changes.some((change, index) => {
    const last = changes[index - 1];
    return change.broken === true || (last !== undefined && !follows(change, last));
  });

function mergedChange(changes: Changes): ChangeRecord {
  const [first, last] = [changes[0], lastOf(changes)];
  const { movedFrom: _from, movedTo: _to, broken: _broken, ...rest } = last;
  return {
    ...rest,
    before: first.before,
    timeMs: first.timeMs,
    ...(first.movedFrom === undefined ? {} : { movedFrom: first.movedFrom }),
    ...(last.movedTo === undefined ? {} : { movedTo: last.movedTo }),
    ...(isBroken(changes) ? { broken: true as const } : {}),
  };
}

export function turnsIn({ steps }: Story): readonly (readonly [TurnRecord, Changes])[] {
  const changes = byTurn(changesIn(steps));
  return steps.flatMap((step) => {
    const own = step.type === "turn" ? changes.get(step.messageId) : undefined;
    return step.type === "turn" && own !== undefined ? [[step, own] as const] : [];
  });
}

export const snapshotsOf = (story: Story): readonly Snapshot[] =>
  turnsIn(story).map(([{ messageId, rewinds, timeMs }, changes]) => {
    const trackedFileBackups: Record<string, FileVersion> = Object.create(null); // a path may be named `__proto__`
    for (const { path, before } of changes) trackedFileBackups[path] ??= before;
    return { messageId, trackedFileBackups, timestamp: new Date(timeMs), rewinds };
  });

export function contentsOf(story: Story): readonly string[] {
  return changesIn(story.steps).flatMap(({ before, after }) =>
    [before, after].flatMap((version) =>
      version.kind === "file" && version.content !== undefined && version.notKept === undefined
        ? [version.content]
        : [],
    ),
  );
}

export function* collectingContents(entries: readonly Entry[]): Steps<ReadonlySet<string>> {
  const { steps, ...rest } = yield* tellingStory(entries);
  const contents = new Set<string>();
  for (let from = 0; from < steps.length; from += entriesPerStep) {
    yield;
    for (const content of contentsOf({ ...rest, steps: steps.slice(from, from + entriesPerStep) }))
      contents.add(content);
  }
  return contents;
}

// Drops rewinds that a later rewind undid directly: without both, the story is the same. Pure.

/** Keeps the list of pruned turns short; an older turn is reported as unknown instead of pruned. */
const prunedMax = 1_000;

/** A rewind of the whole session. One of some files only is a change like others. */
const isRewind = (step: TurnRecord | ChangeRecord): step is TurnRecord =>
  step.type === "turn" && step.rewinds !== undefined && step.rewinds.as !== "partial";

interface Block {
  readonly turn: TurnRecord | undefined;
  readonly changes: ChangeRecord[];
}

/** `outcomes`: those of changes that have one. */
function withoutCancelled(story: Story, outcomes: ReadonlyMap<ChangeRecord, ChangeRecord>): Story {
  const blocks = blocksOf(story);
  const isAlone = aloneIn(blocks);
  const named = new Map<string, number>();
  for (const { turn } of blocks) {
    const to = turn?.rewinds?.to;
    if (to !== undefined) named.set(to, (named.get(to) ?? 0) + 1);
  }
  const kept: Block[] = [];
  const gone: string[] = [];
  for (const block of blocks) {
    const last = kept.at(-1);
    const isTakenBack =
      isCandidate(last) &&
      isCandidate(block) &&
      block.turn.rewinds?.to === last.turn.messageId &&
      named.get(last.turn.messageId) === 1 && // no other rewind goes back before one of them
      !named.has(block.turn.messageId) &&
      isAlone(last) &&
      isAlone(block) &&
      areBack([...last.changes, ...block.changes], outcomes);
    if (!isTakenBack) {
      kept.push(block);
      continue;
    }
    kept.pop();
    gone.push(last.turn.messageId, block.turn.messageId);
  }
  if (gone.length === 0) return story;
  const steps = kept.flatMap(({ turn, changes }) => (turn === undefined ? changes : [turn, ...changes]));
  return { ...story, steps, pruned: [...story.pruned, ...gone].slice(-prunedMax) };
}

type Candidate = Block & { readonly turn: TurnRecord };

const isCandidate = (block: Block | undefined): block is Candidate =>
  block?.turn !== undefined && isRewind(block.turn) && block.changes.length > 0;

function blocksOf({ steps }: Story): readonly Block[] {
  const blocks: Block[] = [{ turn: undefined, changes: [] }];
  for (const step of steps) {
    if (step.type === "turn") blocks.push({ turn: step, changes: [] });
    else blocks.at(-1)?.changes.push(step);
  }
  return blocks;
}

/** Whether a block contains exactly the changes of its turn, with none elsewhere. */
function aloneIn(blocks: readonly Block[]): (block: Candidate) => boolean {
  const places = new Map<string, Set<Block>>();
  for (const block of blocks) {
    for (const { messageId } of block.changes) {
      const known = places.get(messageId) ?? new Set();
      places.set(messageId, known.add(block));
    }
  }
  return ({ turn: { messageId }, changes }) =>
    changes.every((change) => change.messageId === messageId) && places.get(messageId)?.size === 1;
}

/** Whether every file certainly is what it was. */
function areBack(changes: readonly ChangeRecord[], outcomes: ReadonlyMap<ChangeRecord, ChangeRecord>): boolean {
  const modeOf = (version: FileVersion) => (version.kind === "file" ? `${version.mode} ${version.links}` : "absent");
  if (changes.some((change) => outcomes.get(change) !== change || change.broken === true)) return false;
  return [...byPath(changes).values()].every((own) => {
    const [{ before }, { after }] = [own[0], lastOf(own)];
    const isJoined = own.every(
      (change, index) => index === 0 || isKnownSame((own[index - 1] ?? change).after, change.before),
    );
    return isJoined && modeOf(before) === modeOf(after) && isKnownSame(before, after);
  });
}

// The turns that an undo or a redo can go back to.

export interface UndoTargets {
  readonly undo: readonly string[];
  /** Rewinds that no new change has followed, the latest first: going back before one restores what it undid. */
  readonly redo: readonly string[];
  readonly forgotten: boolean;
}

/**
 * Two stacks, as in an editor: a new change empties the second. To go back before a turn means to have those turns in
 * effect that were when it began, as in `effect.ts` for single files; so going back before a rewind restores what it
 * undid, even if changes came since.
 */
export function undoTargets(story: Story): UndoTargets {
  const changed = new Set(changesIn(story.steps).map(({ messageId }) => messageId));
  const hasForgotten = changesIn(story.steps).some(
    ({ messageId, before: then, after }) => messageId === "" && !isSameContent(then, after),
  );
  const before = new Map<string, Pick<UndoTargets, "forgotten"> & { readonly done: Done | undefined }>();
  const rewinding = new Set<string>();
  const goesTo = new Map<string, string>();
  /** Rewinds that were made or taken back in part, since a process was killed, with the turn that each goes back before. */
  const inPart = new Map<string, string>();
  const places = new Map<string, number>();
  const inEffect = new Set<string>();
  let done: Done | undefined;
  let forgotten = hasForgotten;
  const redo: string[] = [];
  const redoable = new Set<string>();
  const offer = (messageId: string): void => {
    redo.push(messageId);
    redoable.add(messageId);
  };
  const add = (messageId: string): void => {
    if (inEffect.has(messageId)) return;
    inEffect.add(messageId);
    const newest = Math.max(places.get(messageId) ?? 0, done?.newest ?? -1);
    done = { messageId, before: done, count: (done?.count ?? 0) + 1, newest };
  };
  for (const step of story.steps) {
    const { messageId } = step;
    if (step.type === "turn") {
      before.set(messageId, { done, forgotten });
      places.set(messageId, places.size);
    }
    if (!changed.has(messageId) || messageId === "") continue;
    const rewinds = isRewind(step) ? step.rewinds : undefined;
    if (rewinds === undefined) {
      // A message that continues after it was undone is in effect again.
      if (rewinding.has(messageId)) continue;
      add(messageId);
      redo.length = 0;
      redoable.clear();
      continue;
    }
    rewinding.add(messageId);
    const again = redoable.has(rewinds.to) ? redo.lastIndexOf(rewinds.to) : -1;
    const last = redo.at(-1);
    const continues = last !== undefined && inPart.get(last) === rewinds.to;
    goesTo.set(messageId, rewinds.to);
    if (rewinds.state === "begun") {
      const parted = again < 0 ? messageId : rewinds.to;
      inPart.set(parted, goesTo.get(parted) ?? "");
      // A part of it was made: the same can be done again, and the part be taken back.
      if (again < 0) {
        if (!continues) offer(messageId);
        continue;
      }
    }
    // Turns that began after the rewind was planned, in another process, are still in effect.
    const known = places.get(rewinds.upTo ?? messageId) ?? Number.POSITIVE_INFINITY;
    const unseen: string[] = [];
    for (let one = done; one !== undefined && one.newest > known; one = one.before) {
      if ((places.get(one.messageId) ?? 0) > known) unseen.push(one.messageId);
    }
    // Otherwise the state before everything still known; only the beginning is before the pruned turns too.
    const then = before.get(rewinds.to) ?? { done: undefined, forgotten: hasForgotten && rewinds.to !== beginning };
    exchange(done, then.done, inEffect);
    ({ done, forgotten } = then);
    for (const one of unseen.toReversed()) add(one);
    if (again < 0 && !continues) offer(messageId);
    const cut = again < 0 ? redo.length : rewinds.state === "begun" ? again + 1 : again;
    for (const gone of redo.splice(cut)) redoable.delete(gone);
  }
  const undo: string[] = [];
  for (let one = done; one !== undefined; one = one.before) undo.push(one.messageId);
  return { undo, redo: redo.toReversed(), forgotten };
}

/** The turns in effect, the latest first. Lists share their ends: a copy for each turn would grow like the square of the turns. */
interface Done {
  readonly messageId: string;
  readonly before: Done | undefined;
  readonly count: number;
  /** The largest place of all turns in it. */
  readonly newest: number;
}

/** Takes the turns of one list out of a set and puts those of another in, as far as the lists differ. */
function exchange(from: Done | undefined, to: Done | undefined, set: Set<string>): void {
  const added: string[] = [];
  let [old, now] = [from, to];
  while (old !== now) {
    if ((old?.count ?? 0) >= (now?.count ?? 0)) {
      if (old !== undefined) set.delete(old.messageId);
      old = old?.before;
    } else {
      if (now !== undefined) added.push(now.messageId);
      now = now?.before;
    }
  }
  for (const messageId of added) set.add(messageId);
}
