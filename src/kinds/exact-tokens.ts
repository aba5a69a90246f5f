/**
 * Tokens counted by a real tokenizer, for decisions near a limit. No public one is exact for every model; this one is
 * much nearer than the estimate. It is an optional package: without it the estimate stands.
 */

/** All such counters need quadratic time on long runs of one character; in pieces they do not. */
const pieceChars = 2_048;

let loading: Promise<((text: string) => number) | undefined> | undefined;

/** Undefined when the tokenizer is not installed. */
export async function countTokens(text: string): Promise<number | undefined> {
  loading ??= import("gpt-tokenizer/encoding/o200k_base").then(
    ({ countTokens: count }) =>
      (piece: string) =>
        count(piece),
    () => undefined,
  );
  const count = await loading;
  if (count === undefined) return undefined;
  let total = 0;
  for (let at = 0; at < text.length; at += pieceChars) total += count(text.slice(at, at + pieceChars));
  return total;
}
