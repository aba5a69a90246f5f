/**
 * One name against one part of a pattern: `*`, `?`, `[…]` and, in globs, the groups `?(…)`, `*(…)`, `+(…)`, `@(…)` and
 * `!(…)`. Nothing here goes back on its steps, so that no pattern takes more than a power of its length.
 */

import { limits } from "../contract/limits.ts";
import type { PatternFault } from "../contract/problem.ts";
import { type CharacterSet, charactersOf, hasCharacter } from "./character-set.ts";

/** A test of a name, by the cheapest way there is. Names come in NFC. */
export type NameTest =
  | { readonly is: "literal"; readonly text: string }
  | { readonly is: "anything" }
  /** Stars and letters only: `a*b*c`. */
  | { readonly is: "parts"; readonly first: string; readonly inner: readonly string[]; readonly last: string }
  | { readonly is: "general"; readonly steps: readonly Step[] };

/** What is wrong with a part of a pattern. */
type WildcardFault = Extract<
  PatternFault,
  "unclosed bracket" | "unclosed group" | "trailing backslash" | "reversed range" | "unknown class" | "too many groups"
>;

type Step =
  | { readonly is: "letter"; readonly letter: string }
  | { readonly is: "one" }
  | { readonly is: "star" }
  | { readonly is: "set"; readonly set: CharacterSet }
  | { readonly is: "group"; readonly how: GroupMark; readonly choices: readonly (readonly Step[])[] };

type GroupMark = "?" | "*" | "+" | "@" | "!";

/** `glob` knows groups; `ignore` (the lines of ignore files) does not. */
export type Syntax = "glob" | "ignore";

export function compileName(text: string, syntax: Syntax): NameTest | { readonly fault: WildcardFault } {
  const reading: Reading = { letters: Array.from(text), at: 0, syntax, groups: 0 };
  const steps = readSteps(reading, "top");
  return typeof steps === "string" ? { fault: steps } : simplest(steps);
}

export function testName(test: NameTest, name: string): boolean {
  switch (test.is) {
    case "literal":
      return name === test.text;
    case "anything":
      return true;
    case "parts":
      return hasParts(test, name);
    case "general": {
      const letters = Array.from(name);
      return reach(test.steps, 0, { letters, known: new Map() })[letters.length] === 1;
    }
  }
}

interface Reading {
  readonly letters: readonly string[];
  at: number;
  readonly syntax: Syntax;
  groups: number;
}

function readSteps(reading: Reading, inside: "top" | "group"): Step[] | WildcardFault {
  const { letters } = reading;
  const steps: Step[] = [];
  while (reading.at < letters.length) {
    const letter = letters[reading.at] ?? "";
    if (inside === "group" && (letter === "|" || letter === ")")) return steps;
    if (reading.syntax === "glob" && letters[reading.at + 1] === "(" && isGroupMark(letter)) {
      const group = readGroup(reading, letter);
      if (typeof group === "string") return group;
      steps.push(group);
      continue;
    }
    reading.at += 1;
    if (letter === "\\") {
      const escaped = letters[reading.at];
      if (escaped === undefined) return "trailing backslash";
      steps.push({ is: "letter", letter: escaped });
      reading.at += 1;
    } else if (letter === "[") {
      const set = charactersOf(letters, reading.at);
      if (typeof set === "string") return set;
      steps.push({ is: "set", set });
      reading.at = set.end;
    } else if (letter === "*") {
      if (steps.at(-1)?.is !== "star") steps.push({ is: "star" });
    } else steps.push(letter === "?" ? { is: "one" } : { is: "letter", letter });
  }
  return steps;
}

const isGroupMark = (letter: string): letter is GroupMark => letter.length === 1 && "?*+@!".includes(letter);

function readGroup(reading: Reading, how: GroupMark): Step | WildcardFault {
  reading.groups += 1;
  if (reading.groups > limits.globGroupsMax) return "too many groups";
  reading.at += 2;
  const choices: Step[][] = [];
  for (;;) {
    const choice = readSteps(reading, "group");
    if (typeof choice === "string") return choice;
    choices.push(choice);
    const end = reading.letters[reading.at];
    if (end === undefined) return "unclosed group";
    reading.at += 1;
    if (end === ")") return { is: "group", how, choices };
  }
}

function simplest(steps: readonly Step[]): NameTest {
  if (steps.length === 1 && steps[0]?.is === "star") return { is: "anything" };
  const parts = [""];
  for (const step of steps) {
    if (step.is === "star") parts.push("");
    else if (step.is === "letter") parts.push((parts.pop() ?? "") + step.letter);
    else return { is: "general", steps };
  }
  const [first = "", ...inner] = parts;
  const last = inner.pop();
  return last === undefined ? { is: "literal", text: first } : { is: "parts", first, inner, last };
}

/** Each inner part at its first place: no later one could serve the rest better. */
function hasParts({ first, inner, last }: Extract<NameTest, { is: "parts" }>, name: string): boolean {
  if (name.length < first.length + last.length || !name.endsWith(last) || !name.startsWith(first)) return false;
  let at = first.length;
  for (const part of inner) {
    const found = name.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return at <= name.length - last.length;
}

interface Matching {
  readonly letters: readonly string[];
  /** Where a group leads from a place, once found out. */
  readonly known: Map<Step, Map<number, Uint8Array>>;
}

/** The places that the steps can lead to from one place, as marks. */
function reach(steps: readonly Step[], from: number, matching: Matching): Uint8Array {
  const { letters } = matching;
  let places = new Uint8Array(letters.length + 1);
  places[from] = 1;
  for (const step of steps) {
    const next = new Uint8Array(letters.length + 1);
    if (step.is === "star") {
      const first = places.indexOf(1);
      if (first !== -1) next.fill(1, first);
    } else if (step.is === "group") {
      for (let at = 0; at < places.length; at += 1) if (places[at] === 1) merge(next, reachGroup(step, at, matching));
    } else {
      for (let at = 0; at < letters.length; at += 1) {
        if (places[at] === 1 && fits(step, letters[at] ?? "")) next[at + 1] = 1;
      }
    }
    places = next;
  }
  return places;
}

function fits(step: Exclude<Step, { is: "star" | "group" }>, letter: string): boolean {
  if (step.is === "one") return true;
  return step.is === "letter" ? step.letter === letter : hasCharacter(step.set, letter);
}

function reachGroup(group: Extract<Step, { is: "group" }>, from: number, matching: Matching): Uint8Array {
  let known = matching.known.get(group);
  if (known === undefined) matching.known.set(group, (known = new Map()));
  const before = known.get(from);
  if (before !== undefined) return before;
  const places = reachAnew(group, from, matching);
  known.set(from, places);
  return places;
}

function reachAnew(group: Extract<Step, { is: "group" }>, from: number, matching: Matching): Uint8Array {
  const once = (at: number): Uint8Array => {
    const places = new Uint8Array(matching.letters.length + 1);
    for (const choice of group.choices) merge(places, reach(choice, at, matching));
    return places;
  };
  const places = once(from);
  if (group.how === "!") return places.map((mark, at) => (at >= from && mark === 0 ? 1 : 0));
  if (group.how === "*" || group.how === "+") {
    // Every repetition goes on from a place behind the last one, so one pass over the places is enough.
    for (let at = from + 1; at < places.length; at += 1) if (places[at] === 1) merge(places, once(at));
  }
  if (group.how === "?" || group.how === "*") places[from] = 1;
  return places;
}

function merge(into: Uint8Array, from: Uint8Array): void {
  for (let at = 0; at < from.length; at += 1) if (from[at] === 1) into[at] = 1;
}
