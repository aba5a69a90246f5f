/** An MCP server in the configuration file of a client: where it stands and what it says. */

/** A plain value, as JSON and TOML both can hold it. */
export type EntryValue = string | boolean | readonly string[];

export interface Entry {
  /** The key under which the client keeps its servers. */
  readonly under: string;
  readonly name: string;
  readonly value: Readonly<Record<string, EntryValue>>;
}

/** What would become of a file. `same`: there is nothing to do. `other`: its name is taken by something else. */
export type Merged =
  | { readonly merged: "text"; readonly text: string }
  | { readonly merged: "same" | "other" }
  /** As words that stand behind `Cannot change "x": `. */
  | { readonly merged: "refused"; readonly why: string };

/** What shall be done with the entry. `put` leaves another one of that name alone, `replace` does not. */
export type EntryWish = "put" | "replace" | "remove";

export const refused = (why: string): Merged => ({ merged: "refused", why });

export const isTable = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);

/** The parsers' objects have no prototype, ours have; only then they can be compared. */
export function plain<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(plain) as Value; // the same list
  if (!isTable(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, plain(one)])) as Value; // the same keys
}

/** What the file shall mean. It and its servers were looked at: both are objects, or the servers are missing. */
export function meant(old: Readonly<Record<string, unknown>>, { under, name, value }: Entry, wish: EntryWish): unknown {
  const servers = { ...(old[under] as Readonly<Record<string, unknown>> | undefined) };
  if (wish === "remove") delete servers[name];
  else servers[name] = value;
  return { ...old, [under]: servers };
}
