/** Why there is no such turn: parts of sentences that dialects share. */

import type { ProblemOf } from "../contract/problem.ts";
import { noTurnWords } from "./rewind-text.ts";
import { quoted, spelled } from "./words.ts";

/** What a call that names no turn was about to do. */
export const noTurnDoing = ({ asked, reason }: ProblemOf<"NO_TURN">): string => {
  if (asked === "" && reason === "no history") return "look back";
  if (reason === "nothing to undo" || reason === "undo forgotten") return "undo";
  if (reason === "nothing to redo") return "redo";
  return reason === "unknown" || reason === "pruned" ? `find the turn ${quoted(asked)}` : `go back to ${quoted(asked)}`;
};

/** Why there is no such turn, and which there are. */
export function noTurnClause({ reason, known }: ProblemOf<"NO_TURN">): string {
  if (known === undefined) return noTurnWords[reason];
  const why = reason === "unknown" ? "there is no such turn in this session" : noTurnWords[reason];
  if (known.length === 0) return `${why}, it has changed nothing yet`;
  return `${why}, the latest are ${known.map(spelled).join(", ")} (newest first)`;
}
