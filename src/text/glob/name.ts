/**
 * Matches one name against one part of a pattern: `*`, `?`, `[…]` and, in globs, the groups `?(…)`, `*(…)`, `+(…)`,
 * `@(…)` and `!(…)`. Nothing is tried twice: without groups only the last star is backtracked to, and with groups each
 * step of the pattern turns the set of positions that are reached into the next one (32 positions to a word). A group
 * that repeats or excludes is worked out once, from all positions of the name.
 */

import { limits } from "../../contract/limits.ts";
import type { PatternFault } from "../../contract/problem.ts";
import { type CharacterSet, parseCharacterSet, hasCharacter } from "./character-set.ts";

/** The cheapest test that a part of a pattern allows. Names MUST be in NFC. */
export type NameTest =
  | { readonly is: "literal"; readonly text: string }
  | { readonly is: "anything" }
  /** Only stars and literal text: `a*b*c`. */
  | {
      readonly is: "parts";
      readonly first: string;
      readonly inner: readonly string[];
      readonly last: string;
      readonly charsMin: number;
    }
  | (Steps & { readonly is: "general"; readonly charsMin: number });

type NameFault = Extract<
  PatternFault,
  | "unclosed bracket"
  | "unclosed group"
  | "trailing backslash"
  | "reversed range"
  | "unknown class"
  | "too many groups"
  | "long negation"
>;

export interface NameSyntax {
  /** `glob` has groups; `ignore` (ignore files, permission rules) has none. */
  readonly syntax: "glob" | "ignore";
  /** `any`: A to Z match in either case. Names MUST then come with these letters in lower case. */
  readonly letterCase?: "exact" | "any";
}

/** Counts matching steps. A step is one instruction at one character, or about as much work. */
export interface Meter {
  steps: number;
}

export function compileName(
  text: string,
  { syntax, letterCase = "exact" }: NameSyntax,
): NameTest | { readonly fault: NameFault } {
  const reading: Reading = { letters: Array.from(text), at: 0, syntax, letterCase, groups: 0, excluded: 0 };
  const steps = readSteps(reading, "top");
  return typeof steps === "string" ? { fault: steps } : simplest(steps, letterCase);
}

export function testName(test: NameTest, name: string, meter?: Meter): boolean {
  switch (test.is) {
    case "literal":
      return name === test.text;
    case "anything":
      return true;
    case "parts":
      if (meter !== undefined) meter.steps += 1 + test.inner.length;
      return hasParts(test, name);
    case "general":
      if (meter !== undefined) meter.steps += 1;
      // A character takes one or two UTF-16 units.
      if (name.length < test.charsMin) return false;
      return test.hasGroups ? matchesGroups(test, name, meter) : matchesPlain(test, name, meter);
  }
}

/** Steps of a test for each character of a name, at most. */
export const stepsPerCharacter = (test: NameTest): number =>
  test.is === "general" ? sizeOf(test.steps) : test.is === "parts" ? test.inner.length + 1 : 1;

/** A group that repeats or excludes takes about as long as this many steps, if the name is as long as names can be. */
const groupSize = 100;

const sizeOf = (steps: readonly Step[]): number =>
  steps.reduce((sum, step) => {
    if (step.is !== "group") return sum + 1;
    return step.choices.reduce(
      (all, choice) => all + sizeOf(choice),
      sum + (step.how === "?" || step.how === "@" ? 1 : groupSize),
    );
  }, 1);

type GroupMark = "?" | "*" | "+" | "@" | "!";

type Step =
  | { readonly is: "letter"; readonly code: number }
  | { readonly is: "one" }
  | { readonly is: "star" }
  | { readonly is: "set"; readonly set: CharacterSet }
  | Group;

interface Group {
  readonly is: "group";
  readonly how: GroupMark;
  readonly choices: readonly (readonly Step[])[];
}

interface Steps {
  readonly steps: readonly Step[];
  readonly letterCase: "exact" | "any";
  readonly hasGroups: boolean;
}

interface Reading {
  readonly letters: readonly string[];
  at: number;
  readonly syntax: NameSyntax["syntax"];
  readonly letterCase: "exact" | "any";
  groups: number;
  /** Characters in `!(…)` groups that contain a repetition. */
  excluded: number;
}

function readSteps(reading: Reading, inside: "top" | "group"): Step[] | NameFault {
  const { letters, letterCase } = reading;
  const steps: Step[] = [];
  const letterOf = (letter: string): Step => ({
    is: "letter",
    code: (letterCase === "any" && /[A-Z]/.test(letter) ? letter.toLowerCase() : letter).codePointAt(0) ?? 0,
  });
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
      steps.push(letterOf(escaped));
      reading.at += 1;
    } else if (letter === "[") {
      const set = parseCharacterSet(letters, reading.at, reading.syntax === "glob" ? "unicode" : "ascii");
      if (typeof set === "string") return set;
      steps.push({ is: "set", set });
      reading.at = set.end;
    } else if (letter === "*") {
      if (steps.at(-1)?.is !== "star") steps.push({ is: "star" });
    } else steps.push(letter === "?" ? { is: "one" } : letterOf(letter));
  }
  return steps;
}

const isGroupMark = (letter: string): letter is GroupMark => letter.length === 1 && "?*+@!".includes(letter);

function readGroup(reading: Reading, how: GroupMark): Step | NameFault {
  reading.groups += 1;
  if (reading.groups > limits.globGroupsMax) return "too many groups";
  const from = reading.at;
  reading.at += 2;
  const choices: Step[][] = [];
  for (;;) {
    const choice = readSteps(reading, "group");
    if (typeof choice === "string") return choice;
    choices.push(choice);
    const end = reading.letters[reading.at];
    if (end === undefined) return "unclosed group";
    reading.at += 1;
    if (end === ")") break;
  }
  if (how === "!" && choices.some((choice) => choice.some(repeats))) reading.excluded += reading.at - from;
  return reading.excluded > limits.globExcludedCharsMax ? "long negation" : { is: "group", how, choices };
}

const repeats = (step: Step): boolean =>
  step.is === "star" ||
  (step.is === "group" && ("*+!".includes(step.how) || step.choices.some((choice) => choice.some(repeats))));

function simplest(steps: readonly Step[], letterCase: "exact" | "any"): NameTest {
  if (steps.length === 1 && steps[0]?.is === "star") return { is: "anything" };
  if (!steps.every(({ is }) => is === "star" || is === "letter")) {
    const hasGroups = steps.some(({ is }) => is === "group");
    return { is: "general", steps, letterCase, hasGroups, charsMin: charsMinOf(steps) };
  }
  const parts: string[][] = [[]];
  for (const step of steps) {
    if (step.is === "star") parts.push([]);
    else if (step.is === "letter") parts.at(-1)?.push(String.fromCodePoint(step.code));
  }
  const [first = "", ...inner] = parts.map((letters) => letters.join(""));
  const last = inner.pop();
  if (last === undefined) return { is: "literal", text: first };
  const charsMin = inner.reduce((sum, part) => sum + part.length, first.length + last.length);
  return { is: "parts", first, inner, last, charsMin };
}

function charsMinOf(steps: readonly Step[]): number {
  return steps.reduce((sum, step) => {
    if (step.is === "star") return sum;
    if (step.is !== "group") return sum + 1;
    const least = (): number => Math.min(...step.choices.map(charsMinOf));
    return step.how === "@" || step.how === "+" ? sum + least() : sum;
  }, 0);
}

/** Matches each inner part at its first position: a later one can never help the rest. */
function hasParts({ first, inner, last, charsMin }: Extract<NameTest, { is: "parts" }>, name: string): boolean {
  if (name.length < charsMin || !name.endsWith(last) || !name.startsWith(first)) return false;
  let at = first.length;
  for (const part of inner) {
    const found = name.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return at <= name.length - last.length;
}

/** Without groups it is enough to backtrack to the last star: at most one step per instruction for each character. */
function matchesPlain({ steps: pattern, letterCase }: Steps, name: string, meter: Meter | undefined): boolean {
  let place = 0;
  let at = 0;
  let star = -1;
  let resume = 0;
  let steps = 0;
  while (at < name.length) {
    steps += 1;
    const character = name.codePointAt(at) ?? 0;
    const one = pattern[place];
    if (one?.is === "star") {
      star = place;
      place += 1;
      resume = at;
    } else if (one !== undefined && fits(one, character, letterCase)) {
      place += 1;
      at += character > 0xffff ? 2 : 1;
    } else if (star >= 0) {
      resume += (name.codePointAt(resume) ?? 0) > 0xffff ? 2 : 1;
      at = resume;
      place = star + 1;
    } else break;
  }
  if (meter !== undefined) meter.steps += steps;
  if (at < name.length) return false;
  while (pattern[place]?.is === "star") place += 1;
  return place === pattern.length;
}

const fits = (one: Step, character: number, letterCase: "exact" | "any"): boolean =>
  one.is === "letter"
    ? one.code === character
    : one.is === "one" || (one.is === "set" && hasCharacter(one.set, character, letterCase));

/** Sets of positions in a name, a bit for each. A row of words is one set. */
type Rows = Uint32Array;

/** No file system has longer names. */
const nameCharsMax = 512;

function matchesGroups({ steps, letterCase }: Steps, name: string, meter: Meter | undefined): boolean {
  if (name.length > nameCharsMax) return false;
  const positions = new Positions(name, letterCase);
  const matches = positions.leadToEnd(steps);
  if (meter !== undefined) meter.steps += positions.count;
  return matches;
}

/** The positions of one name that steps lead to. Each operation takes any number of rows, and returns as many. */
class Positions {
  count = 0;
  readonly #codes: number[] = [];
  readonly #letterCase: "exact" | "any";
  readonly #end: number;
  readonly #width: number;
  /** By step: the positions after a character that fits. By group: for each position a row, where it leads to. */
  readonly #tables = new Map<Step, Rows>();
  /** For each position a row with itself. */
  #start: Rows | undefined;

  constructor(name: string, letterCase: "exact" | "any") {
    for (const letter of name) this.#codes.push(letter.codePointAt(0) ?? 0);
    this.#letterCase = letterCase;
    this.#end = this.#codes.length;
    this.#width = (this.#end >> 5) + 1;
  }

  leadToEnd(steps: readonly Step[]): boolean {
    const first = new Uint32Array(this.#width);
    first[0] = 1;
    return this.#has(this.#through(steps, first), 0, this.#end);
  }

  #through(steps: readonly Step[], from: Rows): Rows {
    let rows = from;
    for (const step of steps) {
      if (isEmpty(rows)) break;
      this.count += rows.length / this.#width;
      if (step.is === "star") rows = this.#onwards(rows);
      else rows = step.is === "group" ? this.#afterGroup(step, rows) : this.#afterOne(step, rows);
    }
    return rows;
  }

  #afterGroup(group: Group, from: Rows): Rows {
    if (group.how !== "?" && group.how !== "@") {
      const table = this.#tables.get(group) ?? this.#tableOf(group);
      return from === this.#start ? table : this.#leap(from, table, group.how);
    }
    const reached = this.#afterChoices(group, from);
    if (group.how === "?") merge(reached, from);
    return reached;
  }

  #afterChoices({ choices }: Group, from: Rows): Rows {
    const reached = new Uint32Array(from.length);
    for (const choice of choices) merge(reached, this.#through(choice, from));
    return reached;
  }

  #afterOne(step: Step, from: Rows): Rows {
    const ends = this.#tables.get(step) ?? this.#endsOf(step);
    const reached = new Uint32Array(from.length);
    for (let row = 0; row < from.length; row += this.#width) {
      let carried = 0;
      for (let word = 0; word < this.#width; word += 1) {
        const bits = from[row + word] ?? 0;
        reached[row + word] = ((bits << 1) | carried) & (ends[word] ?? 0);
        carried = bits >>> 31;
      }
    }
    return reached;
  }

  #endsOf(step: Step): Rows {
    const ends = new Uint32Array(this.#width);
    for (let at = 0; at < this.#end; at += 1) {
      if (fits(step, this.#codes[at] ?? 0, this.#letterCase)) this.#add(ends, 0, at + 1);
    }
    this.#tables.set(step, ends);
    return ends;
  }

  /** From the first position of a row, to that and all later ones. */
  #onwards(from: Rows): Rows {
    const reached = new Uint32Array(from.length);
    const lastWord = -1 >>> (31 - (this.#end & 31));
    for (let row = 0; row < from.length; row += this.#width) {
      let bits = 0;
      for (let word = row; word < row + this.#width; word += 1) {
        const found = from[word] ?? 0;
        bits = bits === 0 ? found | -found : -1;
        reached[word] = bits;
      }
      reached[row + this.#width - 1] = bits & lastWord;
    }
    return reached;
  }

  /** From each position, to where a group that repeats or excludes leads. */
  #leap(from: Rows, table: Rows, how: GroupMark): Rows {
    const reached = new Uint32Array(from.length);
    for (let row = 0; row * this.#width < from.length; row += 1) this.#addRows(reached, row, from, table, how);
    return reached;
  }

  #addRows(into: Rows, row: number, from: Rows, table: Rows, how: GroupMark): void {
    const start = row * this.#width;
    for (let word = 0; word < this.#width; word += 1) {
      // What repetition leads to is complete, so a position that is reached already brings nothing new.
      const skipped = (): number => (how === "!" ? 0 : (into[start + word] ?? 0));
      for (let rest = (from[start + word] ?? 0) & ~skipped(); rest !== 0; rest &= (rest - 1) & ~skipped()) {
        const at = word * 32 + 31 - Math.clz32(rest & -rest);
        this.count += 1;
        for (let one = 0; one < this.#width; one += 1) {
          into[start + one] = (into[start + one] ?? 0) | (table[at * this.#width + one] ?? 0);
        }
      }
    }
  }

  #tableOf(group: Group): Rows {
    if (this.#start === undefined) {
      this.#start = new Uint32Array((this.#end + 1) * this.#width);
      for (let at = 0; at <= this.#end; at += 1) this.#add(this.#start, at, at);
    }
    const once = this.#afterChoices(group, this.#start);
    let table = group.how === "!" ? this.#onwards(this.#start) : this.#start.slice();
    if (group.how === "!") for (let at = 0; at < table.length; at += 1) table[at] = (table[at] ?? 0) & ~(once[at] ?? 0);
    // Backwards: the rows of later positions are complete.
    else for (let at = this.#end; at >= 0; at -= 1) this.#addRows(table, at, once, table, group.how);
    if (group.how === "+") table = this.#leap(once, table, "+");
    this.#tables.set(group, table);
    return table;
  }

  #has(rows: Rows, row: number, at: number): boolean {
    return ((rows[row * this.#width + (at >> 5)] ?? 0) & (1 << (at & 31))) !== 0;
  }

  #add(rows: Rows, row: number, at: number): void {
    const word = row * this.#width + (at >> 5);
    rows[word] = (rows[word] ?? 0) | (1 << (at & 31));
  }
}

function merge(into: Rows, from: Rows): void {
  for (let at = 0; at < from.length; at += 1) into[at] = (into[at] ?? 0) | (from[at] ?? 0);
}

function isEmpty(rows: Rows): boolean {
  for (let at = 0; at < rows.length; at += 1) if (rows[at] !== 0) return false;
  return true;
}
