/**
 * Questions to the person who uses the client. In the newer protocol a question leaves the call by a throw, before anything was
 * changed, and the client repeats the call; the answer counts only for exactly the question that was shown: same tool, arguments,
 * file state and principal, in time, once. In the older protocol the call is repeated here. Deny rules apply in any case.
 */

import { createHash } from "node:crypto";
import type { InputRequiredResult } from "@modelcontextprotocol/server";
import type { Answer, Question } from "../../contract/ask.ts";
import type { KeptPlace } from "../../options.ts";
import type { InspectorQuestion as BoardQuestion, Board } from "../inspector/questions.ts";
import {
  createApprovalStates,
  type Decided,
  decisionOf,
  questionForm,
  questionKey,
  type State,
} from "./approval-state.ts";
import type { Caller } from "./caller.ts";
import { initNames } from "./client-titles.ts";
import type { CallMessage } from "./tool-call.ts";

export type Approvals = ReturnType<typeof createApprovals>;

export interface AskingCall {
  readonly message: CallMessage;
  readonly caller: Pick<Caller, "session" | "client" | "canAsk">;
  readonly principal: string;
  readonly signal: AbortSignal;
  readonly ask: AskClient | undefined;
}

/** The older protocol: sends a question to the client during a request. Rejects only if the request is cancelled. */
export type AskClient = (
  form: ReturnType<typeof questionForm>,
  request: string | number,
  signal: AbortSignal,
) => Promise<unknown>;

/** One run of one call, until it ends or a question leaves it. */
interface Round {
  readonly canAsk: boolean;
  /** By digest of the question. A call may go on after a no, with its other files. */
  readonly answers: Map<string, Answer>;
  /** The question that was shown to the person, and the decision. */
  readonly shown: string | undefined;
  readonly decision: Decided;
  readonly asks: Omit<BoardQuestion, "question">;
  /** The id of the question on the page, until it is settled. */
  onPage: string | undefined;
}

/** Leaves the call for a question. */
class AskFirst extends Error {
  override readonly name = "AskFirst";
  /** Tells the engine that this is not a bug. */
  readonly leavesCall = true;
  readonly question: Question;
  readonly digest: string;
  constructor(question: Question, digest: string) {
    super("a person must be asked first");
    this.question = question;
    this.digest = digest;
  }
}

const unanswered: Answer = { reply: "nobody", closed: true };

function answerOf(decision: Decided): Answer {
  if (decision === "closed") return unanswered;
  return { reply: decision === "no" ? "reject" : decision };
}

/** The answer if the same call asks again: what "always" adds, and the words of a rejection, count once. */
function repeated(answer: Answer): Answer {
  if (answer.reply === "nobody") return unanswered;
  // A person at the page may have chosen hunks; the same question offers the same ones.
  if (answer.reply === "once" && answer.hunks !== undefined) return { reply: "once", hunks: answer.hunks };
  return { reply: answer.reply === "reject" ? "reject" : "once" };
}

/** `beside`: the page of the inspector, if there is one. */
export function createApprovals(beside?: { readonly board: Board; readonly workspace: string }) {
  const board = beside?.board;
  const workspace = beside?.workspace ?? "";
  const states = createApprovalStates();
  /** By the signal of the call, which the engine passes to the asker: every running call has its own. */
  const rounds = new Map<AbortSignal, Round>();
  /** Calls in which nobody could be asked, with the rule that would allow what they wanted. */
  const unasked = new WeakMap<AbortSignal, string>();

  /** The result of the work, or the question that left it. */
  const inRound = async <Result>(
    signal: AbortSignal,
    round: Round,
    work: () => Promise<Result>,
  ): Promise<Result | AskFirst> => {
    rounds.set(signal, round);
    try {
      return await work();
    } catch (error) {
      if (error instanceof AskFirst) return error;
      throw error;
    } finally {
      rounds.delete(signal);
    }
  };

  return {
    /** By request: the places in the call queue of calls that wait for an answer. */
    places: new Map<string, KeptPlace>(),
    states,

    /** For the toolkit. */
    asker: async (question: Question, signal: AbortSignal): Promise<Answer> => {
      const round = rounds.get(signal);
      if (board?.approved(question, signal) === true) return { reply: "once" };
      if (round === undefined) return { reply: "nobody" };
      if (!round.canAsk) {
        if (board?.isWatched === true) return board.ask({ ...round.asks, question }, signal);
        const [rule] = question.always;
        if (rule !== undefined) unasked.set(signal, rule);
        return { reply: "nobody" };
      }
      const digest = digestOf([question.permission, question.patterns, question.metadata]);
      const known = round.answers.get(digest);
      if (known !== undefined) return known;
      // Another question than the one that was shown, or the file has changed since.
      if (round.shown !== digest) throw new AskFirst(question, digest);
      const given = answerOf(round.decision);
      // A person at the page may have answered the same question earlier.
      const answer = round.onPage === undefined || board === undefined ? given : board.settle(round.onPage, given);
      round.onPage = undefined;
      round.answers.set(digest, repeated(answer));
      return answer;
    },

    /** What a person can do about a call that was refused because its client cannot ask; undefined for any other call. */
    waysOut(signal: AbortSignal, client: string | undefined): string | undefined {
      const rule = unasked.get(signal);
      unasked.delete(signal); // signals of calls that only read are used again
      return rule === undefined ? undefined : waysOutFor(rule, client);
    },

    /** Runs a call in which the engine may ask. */
    async during<Result>(
      method: string,
      { message, caller, principal, signal, ask }: AskingCall,
      work: () => Promise<Result>,
    ): Promise<Result | InputRequiredResult> {
      const { name: tool, input, requestState } = message;
      const { session, canAsk, client = null } = caller;
      const digestOfCall = (): string => digestOf([method, tool, input]); // most calls need none
      const state =
        requestState === undefined ? undefined : (states.open(requestState, { method, principal }) as State); // sealed below
      const responses = message.inputResponses as Readonly<Record<string, unknown>> | null | undefined; // another type has no such key
      // A response without a state answers no question of ours.
      const decision = state === undefined ? "no" : states.decisionFor(state, digestOfCall(), responses?.[questionKey]);
      const answers = new Map(state?.answers);
      const asks = { workspace, session: session.id, principal, client, tool };
      let round: Round = { canAsk, answers, shown: state?.shown, decision, asks, onPage: state?.onPage };
      for (;;) {
        const result = await inRound(signal, round, work);
        // The call did not ask the question again, so it is obsolete.
        if (round.onPage !== undefined) board?.drop(round.onPage);
        if (!(result instanceof AskFirst)) return result;
        const { question, digest: shown } = result;
        const onPage = board?.show({ ...asks, question }) || undefined; // an empty id if the page does not show it
        if (ask === undefined) {
          const sent = { call: digestOfCall(), shown, answers: [...answers] };
          return states.ask(question, onPage === undefined ? sent : { ...sent, onPage }, { method, principal });
        }
        try {
          const answered = decisionOf(await ask(questionForm(question), message.id, signal));
          round = { canAsk, answers, shown, decision: answered, asks, onPage };
        } catch (error) {
          if (onPage !== undefined) board?.drop(onPage);
          throw error;
        }
      }
    },
  };
}

/** The client's own name for its configuration is `filehand init`'s matter: it writes the option into the right file. */
function waysOutFor(rule: string, client: string | undefined): string {
  const init = initNames.get(client ?? "");
  const option = `--allow "${rule.replace(/\(.*$/s, "")}"`;
  const where =
    init === undefined
      ? `add ${option} to the arguments of this server in the configuration of ${client ?? "the client"}`
      : `run filehand init ${init} ${option}`;
  return [
    `${client ?? "This client"} cannot show a question to its user. Tell the user that one of these allows it:`,
    `1. ${where}, and start the client again: every change in the workspace is then allowed, except protected files.`,
    `2. put {"permissions": {"allow": [${JSON.stringify(rule)}]}} into the user's filehand.jsonc, for this file alone.`,
    "3. run filehand inspect in the workspace and keep its page open: it then asks there.",
  ].join("\n");
}

/** One spelling for equal JSON, so that equal calls have equal hashes: keys sorted, undefined left out as on the wire. */
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
