/** The question to a person: what it holds, and what becomes of the answer. */

import type { Answer, Asker, Keep, RuleKeeper } from "../contract/ask.ts";
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
  const answer: Partial<Answer> | undefined | null = await asker(question, signal);
  // A host without types may answer anything. What is no yes is none.
  if (!isAnswer(answer)) throw new TypeError(notAnAnswer(place.asked, answer));
  if (answer.reply === "nobody") throw new Problem(answer.closed === true ? { ...nobody, closed: true } : nobody);
  if (answer.reply === "reject") throw new Problem({ ...refused, reason: "rejected", feedback: answer.feedback });
  if (answer.reply === "once" || offered.rules.length === 0) return "once";
  const chosen = answer.rule ?? always[0] ?? "";
  // A rule of the host's own making may have nothing to do with the question.
  if (!covers(chosen, permission, asking.name, context.home)) return "once";
  context.state.keep(chosen);
  await store(chosen, answer.keep ?? "session", offered, context);
  return "always";
}

const replies: readonly unknown[] = ["once", "always", "reject", "nobody"] satisfies readonly Answer["reply"][];

const isAnswer = (answer: Partial<Answer> | undefined | null): answer is Answer => replies.includes(answer?.reply);

function notAnAnswer(asked: string, answer: Partial<Answer> | undefined | null): string {
  const said =
    typeof answer === "object" && answer !== null
      ? `an object whose reply is ${spelled(answer.reply)}`
      : spelled(answer);
  const way = 'let it answer { reply: "once" | "always" | "reject" | "nobody" }';
  return `Cannot ask about ${JSON.stringify(asked)}: the host's asker answered ${said} and nothing was done, ${way}`;
}

const spelled = (value: unknown): string => (typeof value === "string" ? JSON.stringify(value) : typeof value);

/** What cannot be stored holds for the session all the same; the keeper tells its own people why. */
async function store(chosen: string, keep: Keep, offered: Asking["offered"], { keepRule }: AskContext): Promise<void> {
  if (keep === "session" || !offered.keep.includes(keep)) return;
  const offer = offered.rules.find(({ here }) => here === chosen);
  await keepRule?.(keep === "user" ? (offer?.anywhere ?? chosen) : chosen, keep);
}
