/** One spelling for equal JSON, so that its hash says whether two calls are the same. */

import { createHash } from "node:crypto";

/** Keys in order; what JSON has no word for is left out, as it would be on the wire. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, field]) => `${JSON.stringify(name)}:${canonical(field)}`);
  return `{${fields.join(",")}}`;
}

export const digestOf = (value: unknown): string => createHash("sha256").update(canonical(value)).digest("base64url");
