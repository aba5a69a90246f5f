/** The turn that a model means: its id, or as much of it as History shows. */

import { limits } from "../contract/limits.ts";
import { Problem } from "../contract/problem.ts";
import type { SessionHistory } from "../history/session-history.ts";
import { shortCharsMin, shortNames } from "../text/turn-names.ts";

/**
 * Names for turns. Only ids that we made ourselves are random, so that a beginning stays the name of one turn; those
 * of a host are told whole: `message-1` must never become `message-12`.
 */
export function turnNames(ids: readonly string[]): ReadonlyMap<string, string> {
  const short = shortNames(ids.filter(isRandom));
  return new Map(ids.map((id) => [id, short.get(id) ?? id]));
}

const isRandom = (id: string): boolean => /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/.test(id);

/** Answers with the id. Throws a Problem that names the turns there are. */
export async function namedTurn(asked: string, past: SessionHistory): Promise<string> {
  // Without files nothing is looked at: it only tells what is known of the turn.
  const { found } = await past.plan(asked, { current: async () => ({ kind: "absent" }), files: [] });
  if (found === "turn") return asked;
  const ids = past.snapshots().map(({ messageId }) => messageId);
  const long = asked.length >= shortCharsMin && found === "unknown";
  const [only, second] = long ? ids.filter((id) => isRandom(id) && id.startsWith(asked)) : [];
  if (only !== undefined && second === undefined) return only;
  const names = turnNames(ids);
  const known = ids
    .slice(-limits.turnsNamedMax)
    .toReversed()
    .map((id) => names.get(id) ?? id);
  throw new Problem({ code: "NO_TURN", asked, reason: found, known });
}
