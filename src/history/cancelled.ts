/** Rewinds that a later one took back at once: without both, the story is the same. Pure. */

import type { ChangeRecord } from "../contract/history.ts";
import type { Story, TurnRecord } from "./snapshots.ts";
import { isKnownSame } from "./versions.ts";

/** Names of turns that are no longer known one by one. */
export const prunedMax = 1_000;

/** A turn that goes back, but for one of some files only, which is a change like others. */
export const isRewind = (step: TurnRecord | ChangeRecord): step is TurnRecord =>
  step.type === "turn" && step.rewinds !== undefined && step.rewinds.as !== "partial";

/** A turn with all that stands behind it, up to the next one. */
interface Block {
  readonly turn: TurnRecord | undefined;
  readonly changes: ChangeRecord[];
}

/** `outcomes`: what changes came to, as far as that is known. */
export function withoutCancelled(story: Story, outcomes: ReadonlyMap<ChangeRecord, ChangeRecord>): Story {
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
      named.get(last.turn.messageId) === 1 && // nobody else goes back before one of them
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

/** Are the changes of a block those of its turn, and is none of them elsewhere? */
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

/** Is every file again what it was, for sure? */
function areBack(changes: readonly ChangeRecord[], outcomes: ReadonlyMap<ChangeRecord, ChangeRecord>): boolean {
  const ends = new Map<string, { readonly first: ChangeRecord; readonly last: ChangeRecord }>();
  for (const change of changes) {
    if (outcomes.get(change) !== change || change.broken === true) return false;
    const first = ends.get(change.path)?.first;
    const before = ends.get(change.path)?.last;
    if (before !== undefined && !isKnownSame(before.after, change.before)) return false;
    ends.set(change.path, { first: first ?? change, last: change });
  }
  return [...ends.values()].every(({ first: { before }, last: { after } }) => {
    const [a, b] = [before, after].map((version) =>
      version.kind === "file" ? `${version.mode} ${version.links}` : "absent",
    );
    return a === b && isKnownSame(before, after);
  });
}
