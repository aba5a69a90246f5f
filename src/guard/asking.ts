/** The question to a person: what it holds, and what becomes of the answer. */

import type { Asker, Keep, RuleKeeper } from "../contract/ask.ts";
import { Problem } from "../contract/problem.ts";
import type { Place } from "../contract/target.ts";
import type { PathName } from "./group.ts";
import type { Offered } from "./offers.ts";
import type { RulePermission } from "./patterns.ts";
import { covers, type SessionState } from "./session-state.ts";

export interface Asking {
  readonly permission: RulePermission;
  readonly place: Place;
  /** What the question is about, without links. */
  readonly real: string;
  readonly name: PathName;
  /** The rule that asks; empty if it is asked by default. */
  readonly rule: string;
  /** The rule that would allow it, if one could. */
  readonly remedy: string | undefined;
  readonly everyTime: boolean;
  readonly offered: Pick<Offered, "rules" | "keep">;
  readonly metadata: () => Promise<Readonly<Record<string, unknown>>>;
}

export interface AskContext {
  readonly asker: Asker | undefined;
  readonly keepRule: RuleKeeper | undefined;
  readonly state: SessionState;
  readonly home: string | undefined;
}

/** Throws a Problem unless somebody says yes. Says how long that yes holds. */
export async function ask(asking: Asking, context: AskContext, signal: AbortSignal): Promise<"once" | "always"> {
  const { permission, place, rule, remedy, everyTime, offered } = asking;
  const refused = { code: "ACCESS_DENIED", place, rule, remedy, everyTime } as const;
  const { asker } = context;
  const nobody = { ...refused, reason: "nobody to ask", feedback: undefined } as const;
  if (asker === undefined) throw new Problem(nobody);
  const metadata = { path: place.absolute, rule, ...(await asking.metadata()) };
  const always = offered.rules.map(({ here }) => here);
  const question = { permission, patterns: [asking.real], always, keep: offered.keep, metadata };
  const answer = await asker(question, signal);
  if (answer.reply === "nobody") throw new Problem(answer.closed === true ? { ...nobody, closed: true } : nobody);
  if (answer.reply === "reject") throw new Problem({ ...refused, reason: "rejected", feedback: answer.feedback });
  // A host without types may answer anything. What is no yes is none.
  if (answer.reply !== "once" && answer.reply !== "always") throw new TypeError(noAnswer(answer));
  if (answer.reply === "once" || offered.rules.length === 0) return "once";
  const chosen = answer.rule ?? always[0] ?? "";
  // A rule of the host's own making may have nothing to do with the question.
  if (!covers(chosen, permission, asking.name, context.home)) return "once";
  context.state.keep(chosen);
  await store(chosen, answer.keep ?? "session", offered, context);
  return "always";
}

const noAnswer = (answer: never): string =>
  `an asker must answer { reply: "once" | "always" | "reject" | "nobody" }, not ${JSON.stringify(answer)}`;

/** What cannot be stored holds for the session all the same; the keeper tells its own people why. */
async function store(chosen: string, keep: Keep, offered: Asking["offered"], { keepRule }: AskContext): Promise<void> {
  if (keep === "session" || !offered.keep.includes(keep)) return;
  const offer = offered.rules.find(({ here }) => here === chosen);
  await keepRule?.(keep === "user" ? (offer?.anywhere ?? chosen) : chosen, keep);
}
