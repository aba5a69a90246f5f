/** The states of a glob during a walk: a state is the set of steps that a folder's path leads to. States are cached. */

import type { Glob, GlobStep, GlobTest } from "./glob.ts";
import { testName } from "./name.ts";

/** `visible`: wildcards do not match names that begin with a dot. `all`: they do, to count hidden files. */
export type HiddenNames = "visible" | "all";

export interface GlobState {
  accepts(name: string, hiddenNames: HiddenNames): boolean;
  /** The state of a subfolder; undefined if nothing below it can match. */
  enter(name: string, hiddenNames: HiddenNames): GlobState | undefined;
  /** Does the pattern contain this exact name at this position? */
  names(name: string): boolean;
  /** The only name that can match next, if it has no wildcards. */
  readonly only: string | undefined;
}

/** States in the cache: a tree may lead to more than fit into memory. */
const statesMax = 1_000;

export function startGlobState(glob: Glob): GlobState {
  const states = new Map<string, GlobState>();
  const numbers = new Map<GlobStep, number>();
  const numberOf = (step: GlobStep): number => {
    const number = numbers.get(step) ?? numbers.size;
    numbers.set(step, number);
    return number;
  };
  const stateOf = (steps: readonly GlobStep[]): GlobState | undefined => {
    const all = withDeep(steps);
    if (!all.some(leadsOn)) return undefined;
    const key = [...new Set(all.map(numberOf))].toSorted((a, b) => a - b).join(" ");
    let state = states.get(key);
    if (state === undefined) {
      if (states.size >= statesMax) states.clear();
      states.set(key, (state = newState([...new Set(all)], stateOf)));
    }
    return state;
  };
  return stateOf([glob.start]) ?? newState([glob.start], stateOf);
}

const withDeep = (steps: readonly GlobStep[]): readonly GlobStep[] =>
  steps.flatMap((step) => (step.deep === undefined ? [step] : [step, ...withDeep([step.deep])]));

const leadsOn = (step: GlobStep): boolean =>
  step.literals.size > 0 || step.tests.size > 0 || step.deep !== undefined || step.loops;

function newState(
  steps: readonly GlobStep[],
  stateOf: (steps: readonly GlobStep[]) => GlobState | undefined,
): GlobState {
  const anyFile = steps.some((step) => step.loops && step.ends);
  const fileNames = new Set<string>();
  const fileTests: GlobTest[] = [];
  const folderTests: GlobTest[] = [];
  const folderNames = new Map<string, GlobStep[]>();
  for (const step of steps) {
    for (const [name, next] of step.literals) {
      if (next.ends) fileNames.add(name);
      if (!leadsOn(next)) continue;
      const folders = folderNames.get(name);
      if (folders === undefined) folderNames.set(name, [next]);
      else folders.push(next);
    }
    for (const one of step.tests.values()) {
      if (one.next.ends) fileTests.push(one);
      if (leadsOn(one.next)) folderTests.push(one);
    }
  }
  const loops = steps.filter((step) => step.loops);
  let looped: GlobState | undefined | "unknown" = "unknown";
  const [first] = steps;
  const single = steps.length === 1 && first !== undefined && first.tests.size === 0 && first.literals.size === 1;

  return {
    only: single && !first.loops ? [...first.literals.keys()][0] : undefined,
    // After `**` a name is searched for, not named at a position.
    names: (name) => steps.some((step) => !step.loops && step.literals.has(name)),
    accepts(name, hiddenNames) {
      const hidden = hiddenNames === "visible" && name.charCodeAt(0) === 46;
      if (anyFile && !hidden) return true;
      for (const { test, dotted } of fileTests) if ((dotted || !hidden) && testName(test, name)) return true;
      return fileNames.has(name);
    },
    enter(name, hiddenNames) {
      const hidden = hiddenNames === "visible" && name.charCodeAt(0) === 46;
      const written = folderNames.get(name);
      const tested = folderTests.filter(({ test, dotted }) => (dotted || !hidden) && testName(test, name));
      if (written === undefined && tested.length === 0) {
        // The most frequent case: a folder below `**`.
        if (hidden) return undefined;
        if (looped === "unknown") looped = stateOf(loops);
        return looped;
      }
      return stateOf([...(hidden ? [] : loops), ...(written ?? []), ...tested.map(({ next }) => next)]);
    },
  };
}
