/** The newest turns of a session; the server returns at most 200 at once. */

import type { TurnInfo, TurnPage, TurnsAsked } from "../../../src/surfaces/inspector/wire.ts";
import { inWorkspace } from "../live/desk.ts";
import { post } from "../live/request.ts";

const pageMax = 200;

export async function newestTurns(
  of: Pick<TurnsAsked, "session" | "path">,
  max: number,
  signal: AbortSignal,
): Promise<TurnPage> {
  // By id: a new turn in the meantime shifts all others by one.
  const turns = new Map<string, TurnInfo>();
  let from = 0;
  for (;;) {
    const asked: TurnsAsked = { ...of, from, max: Math.min(pageMax, max - from) };
    const page = await post<TurnPage>(inWorkspace("history/turns"), asked, signal);
    for (const turn of page.turns) turns.set(turn.id, turn);
    if (page.next === null || page.next >= max) return { ...page, turns: [...turns.values()] };
    from = page.next;
  }
}
