/** Where a folder stands in a glob: the set of steps that its path has come to. Sets are made once and kept. */

import type { Glob, GlobStep, GlobTest } from "./glob.ts";
import { testName } from "./name.ts";

/** Names that begin with a dot are found only where a dot is written, unless hidden ones are to be counted too. */
export type Sight = "visible" | "all";

export interface GlobState {
  /** Does a file of this name match, in a folder that stands here? */
  accepts(name: string, sight: Sight): boolean;
  /** Where a folder of this name stands, in a folder that stands here; undefined if nothing below it can match. */
  enter(name: string, sight: Sight): GlobState | undefined;
  /** Is this very name written in the pattern for this very place? */
  names(name: string): boolean;
  /** The one name that can come next, if there is only one and it is written out. */
  readonly only: string | undefined;
}

/** Sets of steps that are kept: a tree may lead to more of them than there is memory for. */
const statesMax = 1_000;

export function startState(glob: Glob): GlobState {
  const known = new Map<string, GlobState>();
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
    let state = known.get(key);
    if (state === undefined) {
      if (known.size >= statesMax) known.clear();
      known.set(key, (state = newState([...new Set(all)], stateOf)));
    }
    return state;
  };
  return stateOf([glob.start]) ?? newState([glob.start], stateOf);
}

const withDeep = (steps: readonly GlobStep[]): readonly GlobStep[] =>
  steps.flatMap((step) => (step.deep === undefined ? [step] : [step, ...withDeep([step.deep])]));

/** Can anything come after this step? */
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
    // After `**` a name is looked for, not named.
    names: (name) => steps.some((step) => !step.loops && step.literals.has(name)),
    accepts(name, sight) {
      const hidden = sight === "visible" && name.charCodeAt(0) === 46;
      if (anyFile && !hidden) return true;
      for (const { test, dotted } of fileTests) if ((dotted || !hidden) && testName(test, name)) return true;
      return fileNames.has(name);
    },
    enter(name, sight) {
      const hidden = sight === "visible" && name.charCodeAt(0) === 46;
      const written = folderNames.get(name);
      const tested = folderTests.filter(({ test, dotted }) => (dotted || !hidden) && testName(test, name));
      if (written === undefined && tested.length === 0) {
        // Nearly every folder below `**`.
        if (hidden) return undefined;
        if (looped === "unknown") looped = stateOf(loops);
        return looped;
      }
      return stateOf([...(hidden ? [] : loops), ...(written ?? []), ...tested.map(({ next }) => next)]);
    },
  };
}
