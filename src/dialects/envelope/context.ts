/** The envelope around every answer. */

import type { Reply } from "../../contract/call.ts";
import type { Facts } from "../dialect.ts";

export interface Context {
  readonly cwd: string;
  readonly params_input: unknown;
  readonly path_resolved?: string;
}

export const contextOf = (facts: Facts, resolved: string | undefined): Context => ({
  cwd: facts.cwd,
  params_input: facts.input,
  ...(resolved === undefined ? {} : { path_resolved: resolved || "." }),
});

export const roundedElapsed = (facts: Facts): number => Math.round(facts.elapsedMs);

/** The line that every text has. */
export const took = (facts: Facts): string => `(Took ${roundedElapsed(facts)}ms)`;

/** Whether the answer has all that was asked for. */
type Status = "success" | "partial";

export const statusOf = (partial: boolean): Status => (partial ? "partial" : "success");

interface Parts<Data, Stats, Said> {
  readonly status: Said;
  readonly data: Data;
  readonly text: readonly string[];
  readonly stats: Stats;
  readonly resolved: string | undefined;
  /** What the model sees below the text. */
  readonly body?: string;
}

export interface Envelope<Data, Stats = unknown, Said = Status> {
  readonly status: Said;
  readonly data: Data;
  readonly text: string;
  readonly stats: { readonly time_ms: number } & Stats;
  readonly context: Context;
}

export function envelopeReply<Data, Stats, Said extends Status>(
  facts: Facts,
  { status, data, text: lines, stats, resolved, body = "" }: Parts<Data, Stats, Said>,
): Reply<Envelope<Data, Stats, Said>> {
  const text = lines.join("\n");
  return {
    content: [{ type: "text", text: body === "" ? text : `${text}\n\n${body}` }],
    structured: {
      status,
      data,
      text,
      stats: { time_ms: roundedElapsed(facts), ...stats },
      context: contextOf(facts, resolved),
    },
    isError: false,
  };
}

/** Fields that all dialects share, in this dialect's spelling: `nextOffset` is `next_offset`. */
export type Snaked<Value> = Value extends readonly (infer Item)[]
  ? readonly Snaked<Item>[]
  : Value extends object
    ? { readonly [Key in keyof Value & string as SnakeKey<Key>]: Snaked<Value[Key]> }
    : Value;

type SnakeKey<Key extends string> = Key extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeKey<Rest>}`
  : Key;

export const snaked = <Value>(value: Value): Snaked<Value> => snakedValue(value) as Snaked<Value>; // as the type says, key by key

function snakedValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakedValue);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [
    key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    snakedValue(inner),
  ]);
  return Object.fromEntries(entries);
}
