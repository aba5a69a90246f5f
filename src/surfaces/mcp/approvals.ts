/**
 * Questions to the person behind the client. The engine asks in the middle of a call; the newer protocol wants the call to end
 * with "input required" and to be made again. So the call is left by a throw, before anything was done, and when it comes
 * back the answer is taken only for the very question that was shown: same tool, same arguments, same file in the same
 * state (its diff), same principal, in time, once. In the older protocol the question is a request to the client, and the call
 * is made again here when it is answered. The deny rules hold whatever a client answers. A page of the inspector may be asked
 * beside the client, or instead of one that cannot ask.
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
  /** Places in the call queue of calls that were left for a question, by request. */
  readonly places: Map<string, KeptPlace>;
  readonly states: ApprovalStates;
  /** Makes a call in which the engine may ask. */
  during<Result>(call: AskingCall, work: () => Promise<Result>): Promise<Result | InputRequiredResult>;
}

export interface AskingCall {
  /** The method of the protocol. */
  readonly method: string;
  readonly tool: string;
  readonly input: unknown;
  readonly principal: string;
  /** Whose question it is, for those who see it on the page. */
  readonly session: string;
  readonly signal: AbortSignal;
  /** Did the client say that it can put a question to a person? */
  readonly canAsk: boolean;
  /** What the client brings back from a question that ended the call before. */
  readonly requestState: unknown;
  readonly inputResponses: unknown;
  readonly id: string | number;
  readonly ask: AskClient | undefined;
}

/** The older protocol: puts a question to the client in the course of a request. Rejects only if the request is cancelled. */
export type AskClient = (
  form: ReturnType<typeof questionForm>,
  request: string | number,
  signal: AbortSignal,
) => Promise<unknown>;

/** Whatever it is: only an object has a value of that name that can be an answer. */
type Responses = Readonly<Record<string, unknown>> | null | undefined;

/** The page beside the client, where there is one. */
export interface Beside {
  readonly board: Board;
  readonly workspace: string;
}

/** One round of one call. */
interface Round {
  readonly canAsk: boolean;
  readonly yes: Set<string>;
  /** A call may go on after a no, with what else it has to do. */
  readonly no: Set<string>;
  readonly closed: Set<string>;
  readonly shown: string | undefined;
  readonly decision: Decided;
  readonly asks: Omit<BoardQuestion, "question">;
  /** The question on the page, until it is known what came of it. */
  onPage: string | undefined;
}

/** Leaves the call. */
class AskFirst extends Error {
  override readonly name = "AskFirst";
  /** For the engine: no bug. */
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
  /** The engine hands a call's signal to the asker, and every call has its own: that tells whose question it is. */
  const rounds = new Map<AbortSignal, Round>();

  /** The work, or the question that it was left for. */
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
      // Another question than the one that was shown, or the same about a file that has changed since: it is asked.
      if (round.shown !== digest) throw new AskFirst(question, digest);
      const said = answerOf(round.decision);
      // Somebody at the page may have been faster; their answer was about the same question.
      const answer = round.onPage === undefined || board === undefined ? said : board.settle(round.onPage, said);
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
      // A response without state belongs to no question that was asked.
      const decision = state === undefined ? "no" : states.decisionFor(state, digestOfCall(), response);
      const [yes, no, closed] = [new Set(state?.yes), new Set(state?.no), new Set(state?.closed)];
      const asks = { workspace, session, principal, tool };
      let round: Round = { canAsk, yes, no, closed, shown: state?.shown, decision, asks, onPage: state?.onPage };
      for (;;) {
        const result = await inRound(signal, round, work);
        // It was about something that has changed since, or that nobody asks any more.
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

// One spelling for equal JSON, so that its hash says whether two calls are the same.

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
