/**
 * Shapes of text that parsers and matchers are slow at, if they are slow at anything: nesting, repetition, alternation,
 * near-matches, long runs of one character, combining marks, many small items. An input says of which parts they are made.
 */

/** From 0 to just below 1; the same for the same seed. */
export type Random = () => number;

export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export const below = (random: Random, end: number): number => Math.floor(random() * end);

export function oneOf<Item>(random: Random, items: readonly Item[]): Item {
  const item = items[below(random, items.length)];
  if (item === undefined) throw new Error("a list to choose from is not empty");
  return item;
}

/** What the shapes of an input are made of. */
export interface Grammar {
  readonly atoms: readonly string[];
  /** What opens and what closes. */
  readonly pairs: readonly (readonly [open: string, close: string])[];
  /** What stands between two items. */
  readonly joints: readonly string[];
}

export interface Shape {
  readonly name: string;
  readonly text: string;
}

const marks = ["\u0301", "\u0323", "\u0308", "\u1ab0", "\u20dd", "\ufe0f", "\u200d"];

type Make = (random: Random, grammar: Grammar, chars: number) => string;

const fill = (unit: string, chars: number): string =>
  unit === "" ? "" : unit.repeat(Math.max(1, Math.floor(chars / unit.length)));

const some = (random: Random, { atoms }: Grammar, count: number): string =>
  Array.from({ length: count }, () => oneOf(random, atoms)).join("");

const makers: Readonly<Record<string, Make>> = {
  "a run of one part": (random, { atoms }, chars) => fill(oneOf(random, atoms), chars),
  "a sequence, repeated": (random, grammar, chars) => fill(some(random, grammar, 2 + below(random, 4)), chars),
  "a run that almost matches": (random, grammar, chars) =>
    `${fill(oneOf(random, grammar.atoms), chars)}${some(random, grammar, 1 + below(random, 3))}`,
  nesting: (random, grammar, chars) => {
    const [open, close] = oneOf(random, grammar.pairs);
    const depth = Math.max(1, Math.floor(chars / (open.length + close.length)));
    return `${open.repeat(depth)}${oneOf(random, grammar.atoms)}${close.repeat(depth)}`;
  },
  "nesting that never closes": (random, { pairs }, chars) => fill(oneOf(random, pairs)[0], chars),
  "what closes and was never open": (random, { pairs }, chars) => fill(oneOf(random, pairs)[1], chars),
  alternation: (random, grammar, chars) => {
    const [open, close] = oneOf(random, grammar.pairs);
    const joint = oneOf(random, grammar.joints);
    const choices = Array.from({ length: 2 + below(random, 4) }, () => some(random, grammar, 1 + below(random, 2)));
    return `${fill(`${open}${choices.join(joint)}${close}`, chars)}${oneOf(random, grammar.atoms)}`;
  },
  "many small items": (random, grammar, chars) => {
    const joint = oneOf(random, grammar.joints);
    const items: string[] = [];
    for (let length = 0; length < chars; ) {
      const item = some(random, grammar, 1 + below(random, 3));
      items.push(item);
      length += item.length + joint.length + 1;
    }
    return items.join(joint);
  },
  "combining marks": (random, grammar, chars) =>
    `${oneOf(random, grammar.atoms)}${fill(oneOf(random, marks) + oneOf(random, marks), chars)}`,
  "a mixture": (random, grammar, chars) => {
    let text = "";
    while (text.length < chars) {
      const [open, close] = oneOf(random, grammar.pairs);
      text += oneOf(random, [open, close, oneOf(random, grammar.joints), some(random, grammar, 3)]);
    }
    return text;
  },
};

const names = Object.keys(makers);

/** Small ones often: what is exponential needs no size. */
const sizes = [20, 60, 200, 1_000, 10_000, 60_000, 200_000, 800_000];

export function shapeOf(random: Random, grammar: Grammar, charsMax = 900_000): Shape {
  const name = oneOf(random, names);
  const chars = Math.min(charsMax, oneOf(random, sizes));
  return { name: `${name}, ${chars} characters`, text: makers[name]?.(random, grammar, chars) ?? "" };
}
