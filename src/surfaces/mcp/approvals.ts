/**
 * Questions to the person who uses the client. The engine asks in the middle of a call, but the newer protocol wants the call to
 * end with "input required" and to be repeated. So the question leaves the call by a throw, before anything was changed. When the
 * call is repeated, the answer only counts for exactly the question that was shown: same tool, same arguments, same file in the
 * same state (its diff), same principal, in time, once. In the older protocol the question is a request to the client, and the
 * call is repeated here when it is answered. Deny rules apply whatever a client answers. The page of the inspector shows the
 * question too, or instead of a client that cannot ask.
 */

import { createHash } from "node:crypto";
import type { InputRequiredResult } from "@modelcontextprotocol/server";
import type { Answer, Asker, Question } from "../../contract/ask.ts";
import type { KeptPlace } from "../../options.ts";
import type { InspectorQuestion as BoardQuestion, Board } from "../inspector/questions.ts";
import {
  type ApprovalStates,
  createApprovalStates,
  type Decided,
  decisionOf,
  questionForm,
  questionKey,
  type State,
} from "./approval-state.ts";

export interface Approvals {
  /** For the toolkit. */
  readonly asker: Asker;
  /** By request: the places in the call queue of calls that wait for an answer. */
  readonly places: Map<string, KeptPlace>;
  readonly states: ApprovalStates;
  /** Runs a call in which the engine may ask. */
  during<Result>(call: AskingCall, work: () => Promise<Result>): Promise<Result | InputRequiredResult>;
}

export interface AskingCall {
  readonly method: string;
  readonly tool: string;
  readonly input: unknown;
  readonly principal: string;
  /** The id of the session, which the page shows with the question. */
  readonly session: string;
  readonly signal: AbortSignal;
  /** Did the client say that it can show a question to a person? */
  readonly canAsk: boolean;
  /** What the client brings back from a question that ended the call before. */
  readonly requestState: unknown;
  readonly inputResponses: unknown;
  readonly id: string | number;
  readonly ask: AskClient | undefined;
}

/** The older protocol: sends a question to the client during a request. Rejects only if the request is cancelled. */
export type AskClient = (
  form: ReturnType<typeof questionForm>,
  request: string | number,
  signal: AbortSignal,
) => Promise<unknown>;

/** Unchecked: a value of another type has no answer under the key. */
type Responses = Readonly<Record<string, unknown>> | null | undefined;

/** The page of the inspector, if there is one. */
export interface Beside {
  readonly board: Board;
  readonly workspace: string;
}

/** One run of one call, until it ends or a question leaves it. */
interface Round {
  readonly canAsk: boolean;
  readonly yes: Set<string>;
  /** A call may go on after a no, with its other files. */
  readonly no: Set<string>;
  readonly closed: Set<string>;
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

export function createApprovals(beside?: Beside): Approvals {
  const board = beside?.board;
  const workspace = beside?.workspace ?? "";
  const states = createApprovalStates();
  /** By the signal of the call, which the engine passes to the asker: every call has its own. */
  const rounds = new Map<AbortSignal, Round>();

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
    places: new Map(),
    states,

    asker: async (question, signal): Promise<Answer> => {
      const round = rounds.get(signal);
      if (board?.approved(question, signal) === true) return { reply: "once" };
      if (round === undefined) return { reply: "nobody" };
      if (!round.canAsk) {
        return board?.isWatched === true ? board.ask({ ...round.asks, question }, signal) : { reply: "nobody" };
      }
      const digest = digestOf([question.permission, question.patterns, question.metadata]);
      if (round.yes.has(digest)) return { reply: "once" };
      if (round.no.has(digest)) return { reply: "reject" };
      if (round.closed.has(digest)) return unanswered;
      // Another question than the one that was shown, or the file has changed since.
      if (round.shown !== digest) throw new AskFirst(question, digest);
      const given = answerOf(round.decision);
      // A person at the page may have answered the same question earlier.
      const answer = round.onPage === undefined || board === undefined ? given : board.settle(round.onPage, given);
      round.onPage = undefined;
      if (answer.reply === "once" || answer.reply === "always") round.yes.add(digest);
      else (answer.reply === "reject" ? round.no : round.closed).add(digest);
      return answer;
    },

    async during(call, work) {
      const { method, tool, input, principal, session, signal, canAsk, requestState, ask } = call;
      const digestOfCall = (): string => digestOf([method, tool, input]); // most calls need none
      const state =
        requestState === undefined ? undefined : (states.open(requestState, { method, principal }) as State); // sealed below
      const response = (call.inputResponses as Responses)?.[questionKey];
      // A response without a state answers no question of ours.
      const decision = state === undefined ? "no" : states.decisionFor(state, digestOfCall(), response);
      const [yes, no, closed] = [new Set(state?.yes), new Set(state?.no), new Set(state?.closed)];
      const asks = { workspace, session, principal, tool };
      let round: Round = { canAsk, yes, no, closed, shown: state?.shown, decision, asks, onPage: state?.onPage };
      for (;;) {
        const result = await inRound(signal, round, work);
        // The call did not ask the question again, so it is obsolete.
        if (round.onPage !== undefined) board?.drop(round.onPage);
        if (!(result instanceof AskFirst)) return result;
        const { question, digest: shown } = result;
        const shownAs = board?.show({ workspace, session, principal, tool, question });
        const onPage = shownAs === "" ? undefined : shownAs;
        if (ask === undefined) {
          const sent = { call: digestOfCall(), shown, yes: [...yes], no: [...no], closed: [...closed] };
          return states.ask(question, onPage === undefined ? sent : { ...sent, onPage }, { method, principal });
        }
        try {
          const answered = decisionOf(await ask(questionForm(question), call.id, signal));
          round = { canAsk, yes, no, closed, shown, decision: answered, asks, onPage };
        } catch (error) {
          if (onPage !== undefined) board?.drop(onPage);
          throw error;
        }
      }
    },
  };
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
