/**
 * Matches one name against one part of a pattern: `*`, `?`, `[…]` and, in globs, the groups `?(…)`, `*(…)`, `+(…)`,
 * `@(…)` and `!(…)`. A name is read once from left to right with the set of all reachable instructions (Thompson's NFA
 * simulation), without backtracking: a name of n characters takes at most n times as many steps as the pattern has
 * instructions. Only the content of `!(…)` is matched from each position where it may begin, so the length of such a
 * group is limited.
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
  | { readonly is: "general"; readonly program: Program; readonly charsMin: number };

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
      return matchesProgram(test.program, name, meter);
  }
}

/** Steps of a test for each character of a name, at most. */
export const stepsPerCharacter = (test: NameTest): number =>
  test.is === "general" ? programSize(test.program) : test.is === "parts" ? test.inner.length + 1 : 1;

type GroupMark = "?" | "*" | "+" | "@" | "!";

type Step =
  | { readonly is: "letter"; readonly letter: string }
  | { readonly is: "one" }
  | { readonly is: "star" }
  | { readonly is: "set"; readonly set: CharacterSet }
  | { readonly is: "group"; readonly how: GroupMark; readonly choices: readonly (readonly Step[])[] };

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
    letter: letterCase === "any" ? letter.replace(/[A-Z]/, (upper) => upper.toLowerCase()) : letter,
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
  // Without a repetition the excluded text is short, wherever it begins. Nested exclusions cost more.
  if (how === "!" && choices.some((choice) => choice.some(repeats))) {
    reading.excluded += (reading.at - from) * (choices.some((choice) => choice.some(excludes)) ? 4 : 1);
  }
  if (reading.excluded > limits.globExcludedCharsMax) return "long negation";
  return { is: "group", how, choices };
}

const repeats = (step: Step): boolean =>
  step.is === "star" ||
  (step.is === "group" && ("*+!".includes(step.how) || step.choices.some((choice) => choice.some(repeats))));

const excludes = (step: Step): boolean =>
  step.is === "group" && (step.how === "!" || step.choices.some((choice) => choice.some(excludes)));

function simplest(steps: readonly Step[], letterCase: "exact" | "any"): NameTest {
  if (steps.length === 1 && steps[0]?.is === "star") return { is: "anything" };
  const isPlain = steps.every(({ is }) => is === "star" || is === "letter");
  if (!isPlain) {
    const program = programOf([steps], letterCase);
    return { is: "general", program, charsMin: charsMinOf(steps) };
  }
  const parts: string[][] = [[]];
  for (const step of steps) {
    if (step.is === "star") parts.push([]);
    else if (step.is === "letter") parts.at(-1)?.push(step.letter);
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

type Instruction =
  | { readonly is: "letter"; readonly code: number }
  | { readonly is: "one" }
  | { readonly is: "star" }
  | { readonly is: "set"; readonly set: CharacterSet }
  /** Continues at each of these instructions, without reading a character. */
  | { readonly is: "goto"; readonly to: readonly number[] }
  /** Continues with the next instruction after every text that the program does not match. */
  | { readonly is: "not"; readonly program: Program; readonly sets: PlaceSets | undefined };

/** A pattern as a list of instructions. The index after the last one means: matched. */
export interface Program {
  readonly code: readonly Instruction[];
  readonly letterCase: "exact" | "any";
  /** No groups: `matchesPlain` can match it. */
  readonly isPlain: boolean;
}

function programOf(choices: readonly (readonly Step[])[], letterCase: "exact" | "any"): Program {
  const code: Instruction[] = [];
  const [only] = choices;
  if (choices.length === 1 && only !== undefined) emit(only, code, letterCase);
  else emitChoices(choices, "@", code, letterCase);
  return { code, letterCase, isPlain: code.every(({ is }) => is !== "goto" && is !== "not") };
}

/** Every choice ends with a `goto` to what follows; that index is known only after all choices are emitted. */
function emitChoices(
  choices: readonly (readonly Step[])[],
  how: Exclude<GroupMark, "!">,
  code: Instruction[],
  letterCase: "exact" | "any",
): void {
  const start = code.length;
  const starts: number[] = [];
  const after: number[] = [];
  code.push({ is: "goto", to: starts });
  for (const choice of choices) {
    starts.push(code.length);
    emit(choice, code, letterCase);
    code.push({ is: "goto", to: after });
  }
  const end = code.length;
  if (how === "?" || how === "*") starts.push(end);
  if (how === "*" || how === "+") after.push(start);
  if (how !== "*") after.push(end);
}

function emit(steps: readonly Step[], code: Instruction[], letterCase: "exact" | "any"): void {
  for (const step of steps) {
    if (step.is === "letter") code.push({ is: "letter", code: step.letter.codePointAt(0) ?? 0 });
    else if (step.is !== "group") code.push(step);
    else if (step.how === "!") {
      const program = programOf(step.choices, letterCase);
      const sets = program.code.some(({ is }) => is === "not") ? undefined : new PlaceSets(program);
      code.push({ is: "not", program, sets });
    } else emitChoices(step.choices, step.how, code, letterCase);
  }
}

const programSize = ({ code }: Program): number =>
  code.reduce((sum, one) => sum + (one.is === "not" ? programSize(one.program) : 1), 1);

/** The instructions that a program has reached after a text. */
interface PlaceSet {
  readonly places: readonly number[];
  /** The program matches the text. */
  readonly ends: boolean;
  /** By the next character: the set after it, as far as computed. */
  readonly next: Map<number, PlaceSet>;
}

/** Cached transitions; then the whole cache is cleared. */
const knownMax = 500;

/**
 * The states of the DFA of a program without `not`, built on demand: texts that begin at different positions and reach
 * the same set continue as one.
 */
class PlaceSets {
  readonly #program: Program;
  #sets = new Map<string, PlaceSet>();
  #start: PlaceSet | undefined;
  #known = 0;

  constructor(program: Program) {
    this.#program = program;
  }

  start(meter: Meter | undefined): PlaceSet {
    return (this.#start ??= this.#setOf([0], meter));
  }

  after(set: PlaceSet, character: number, meter: Meter | undefined): PlaceSet {
    if (meter !== undefined) meter.steps += 1;
    const known = set.next.get(character);
    if (known !== undefined) return known;
    const { code, letterCase } = this.#program;
    const first: number[] = [];
    for (const place of set.places) {
      const one = code[place];
      if (one?.is === "star") first.push(place);
      else if (one !== undefined && fits(one, character, letterCase)) first.push(place + 1);
    }
    this.#known += 1;
    if (this.#known > knownMax) {
      this.#known = 0;
      for (const each of this.#sets.values()) each.next.clear();
      this.#sets = new Map();
    }
    const next = this.#setOf(first, meter);
    set.next.set(character, next);
    return next;
  }

  #setOf(first: readonly number[], meter: Meter | undefined): PlaceSet {
    const { code } = this.#program;
    const reached = new Set<number>();
    const waiting = [...first];
    for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
      if (reached.has(place)) continue;
      reached.add(place);
      const one = code[place];
      if (one?.is === "goto") waiting.push(...one.to);
      else if (one?.is === "star") waiting.push(place + 1);
    }
    if (meter !== undefined) meter.steps += reached.size;
    const ends = reached.has(code.length);
    const places = [...reached].filter((place) => place < code.length && code[place]?.is !== "goto");
    const key = `${ends ? "." : ""}${places.toSorted((a, b) => a - b).join(" ")}`;
    const known = this.#sets.get(key);
    if (known !== undefined) return known;
    const made: PlaceSet = { places, ends, next: new Map() };
    this.#sets.set(key, made);
    return made;
  }
}

interface Comparing {
  readonly codes: readonly number[];
  readonly meter: Meter | undefined;
  /** By program and start: the positions where a text ends that the program of a `not` matches. */
  readonly known: Map<Program, (Uint8Array | undefined)[]>;
}

/** For each instruction the last generation in which it was reached. Generations are unique, so nothing is cleared. */
const generationsByDepth: Float64Array[] = [];
let generation = 0;

function generationsFor(depth: number, size: number): Float64Array {
  const made = generationsByDepth[depth];
  if (made !== undefined && made.length >= size) return made;
  return (generationsByDepth[depth] = new Float64Array(size * 2));
}

function matchesProgram(program: Program, name: string, meter: Meter | undefined): boolean {
  if (program.isPlain) return matchesPlain(program, name, meter);
  const codes: number[] = [];
  for (let at = 0; at < name.length; at += 1) {
    const code = name.codePointAt(at) ?? 0;
    if (code > 0xffff) at += 1;
    codes.push(code);
  }
  return endsOf(program, 0, 0, { codes, meter, known: new Map() })[codes.length] === 1;
}

/** Without groups it is enough to backtrack to the last star: at most one step per instruction for each character. */
function matchesPlain({ code, letterCase }: Program, name: string, meter: Meter | undefined): boolean {
  let place = 0;
  let at = 0;
  let star = -1;
  let resume = 0;
  let steps = 0;
  while (at < name.length) {
    steps += 1;
    const character = name.codePointAt(at) ?? 0;
    const one = code[place];
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
  while (code[place]?.is === "star") place += 1;
  return place === code.length;
}

/** The positions where a text from `from` on can end that the program matches. `depth`: of nested `not`. */
function endsOf(program: Program, from: number, depth: number, comparing: Comparing): Uint8Array {
  const { codes, meter } = comparing;
  const { code, letterCase } = program;
  const generations = generationsFor(depth, code.length + 1);
  const ends = new Uint8Array(codes.length + 1);
  /** By the instruction after a `not`: the texts that began there, or the positions at which it continues. */
  let running: Map<number, Running> | undefined;
  let later: Map<number, Uint8Array> | undefined;
  const waiting: number[] = [];
  let places: number[] = [];
  let steps = 0;

  /** Adds an instruction, and all that follow it without reading a character. */
  const reach = (first: number, at: number, now: number): void => {
    waiting.push(first);
    for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
      if (generations[place] === now) continue;
      generations[place] = now;
      steps += 1;
      const one = code[place];
      if (one === undefined) ends[at] = 1;
      else if (one.is === "goto") for (const to of one.to) waiting.push(to);
      else if (one.is === "not") {
        if (exclude(one, place + 1, at)) waiting.push(place + 1);
      } else {
        places.push(place);
        if (one.is === "star") waiting.push(place + 1);
      }
    }
  };

  /** Begins a text at a `not`. Returns whether the empty text is not excluded, so that matching continues at once. */
  const exclude = (one: Extract<Instruction, { is: "not" }>, after: number, at: number): boolean => {
    if (one.sets !== undefined) {
      const start = one.sets.start(meter);
      running ??= new Map();
      const here = running.get(after) ?? { sets: one.sets, texts: new Set(), diverged: false };
      running.set(after, here);
      here.texts.add(start);
      return !start.ends;
    }
    later ??= new Map();
    const goesOn = later.get(after) ?? new Uint8Array(codes.length + 1);
    later.set(after, goesOn);
    const excluded = excludedFrom(one.program, at, depth + 1, comparing);
    for (let end = at; end <= codes.length; end += 1) if (excluded[end] === 0) goesOn[end] = 1;
    steps += codes.length - at;
    return goesOn[at] === 1;
  };

  for (let at = from; at <= codes.length; at += 1) {
    const before = places;
    places = [];
    generation += 1;
    const now = generation;
    if (at === from) reach(0, at, now);
    else {
      const character = codes[at - 1] ?? 0;
      steps += before.length;
      // First advance the texts that have begun: others may begin here.
      if (running !== undefined) for (const one of running.values()) advance(one, character, meter);
      for (const place of before) {
        const one = code[place];
        if (one === undefined) continue;
        if (one.is === "star") reach(place, at, now);
        else if (fits(one, character, letterCase)) reach(place + 1, at, now);
      }
      if (running !== undefined) for (const [place, one] of running) if (hasUnmatched(one)) reach(place, at, now);
    }
    if (later !== undefined) for (const [place, goesOn] of later) if (goesOn[at] === 1) reach(place, at, now);
    if (places.length === 0 && later === undefined && running === undefined) break;
  }
  if (meter !== undefined) meter.steps += steps;
  return ends;
}

/** The texts that began at a `not`, as DFA states. */
interface Running {
  readonly sets: PlaceSets;
  texts: Set<PlaceSet>;
  /** One of them can no longer match, so every longer text continues after the `not`. */
  diverged: boolean;
}

function advance(running: Running, character: number, meter: Meter | undefined): void {
  const next = new Set<PlaceSet>();
  for (const text of running.texts) {
    const after = running.sets.after(text, character, meter);
    if (after.places.length === 0 && !after.ends) running.diverged = true;
    else next.add(after);
  }
  running.texts = next;
}

/** Has a text begun at the `not` that its program does not match, as far as it was read? */
function hasUnmatched({ texts, diverged }: Running): boolean {
  if (diverged) return true;
  for (const { ends } of texts) if (!ends) return true;
  return false;
}

const fits = (one: Instruction, character: number, letterCase: "exact" | "any"): boolean =>
  one.is === "letter"
    ? one.code === character
    : one.is === "one" || (one.is === "set" && hasCharacter(one.set, character, letterCase));

function excludedFrom(program: Program, from: number, depth: number, comparing: Comparing): Uint8Array {
  const byPlace = comparing.known.get(program) ?? [];
  comparing.known.set(program, byPlace);
  return (byPlace[from] ??= endsOf(program, from, depth, comparing));
}
