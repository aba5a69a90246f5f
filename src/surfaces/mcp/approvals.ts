/**
 * Questions to the person behind the client. The engine asks in the middle of a call; the protocol wants the call to end
 * with "input required" and to be made again. So the call is left by a throw, before anything was done, and when it comes
 * back the answer is taken only for the very question that was shown: same tool, same arguments, same file in the same
 * state (its diff), same principal, in time, once. The deny rules hold whatever a client answers. A page of the inspector may
 * be asked beside the client, or instead of one that cannot ask.
 */

import { randomBytes } from "node:crypto";
import {
  createRequestStateCodec,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { Answer, Asker, Question } from "../../contract/ask.ts";
import type { Asked as BoardQuestion, Board } from "../inspector/questions.ts";
import { digestOf } from "./canonical.ts";
import { createOnce } from "./once.ts";
import { type Decision, decisions, questionText } from "./question-text.ts";

export interface Approvals {
  /** For the toolkit. */
  readonly asker: Asker;
  /** State for the client to carry, signed, bound to who asks and for how long it holds. */
  seal(state: object, ctx: ServerContext): Promise<string>;
  /** For the SDK: refuses state that was forged, is too old or was made for somebody else. */
  verify(state: string, ctx: ServerContext): Promise<unknown>;
  /** Makes a call in which the engine may ask. */
  during<Result>(call: Asked, work: (signal: AbortSignal) => Promise<Result>): Promise<Result | InputRequiredResult>;
}

export interface Asked {
  readonly ctx: ServerContext;
  readonly tool: string;
  readonly input: unknown;
  /** Did the client say that it can put a question to a person? */
  readonly canAsk: boolean;
  /** Whose question it is, for those who see it on the page. */
  readonly session: string;
}

/** The page beside the client, where there is one. */
export interface Beside {
  readonly board: Board;
  readonly workspace: string;
}

/** What travels through the client, signed: digests only, nothing that it may not see. */
interface State {
  /** The call. */
  readonly call: string;
  /** The question that was shown, and those that were answered with yes before it. */
  readonly shown: string;
  readonly yes: readonly string[];
  readonly nonce: string;
  /** The same question on the page. */
  readonly onPage?: string;
}

/** One round of one call. */
interface Round {
  readonly canAsk: boolean;
  readonly yes: Set<string>;
  readonly shown: string | undefined;
  readonly decision: Decision | "no";
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

const answerSecondsMax = 300;
const responseKey = "approval";

export function createApprovals(principalOf: (ctx: ServerContext) => string, beside?: Beside): Approvals {
  const codec = createRequestStateCodec<object>({
    key: randomBytes(32),
    ttlSeconds: answerSecondsMax,
    bind: (ctx) => `${ctx.mcpReq.method}\0${principalOf(ctx)}`,
  });
  const nonces = createOnce(answerSecondsMax * 1_000);
  /** The engine hands a call's signal to the asker, and every call has its own: that tells whose question it is. */
  const rounds = new WeakMap<AbortSignal, Round>();

  return {
    seal: (state, ctx) => codec.mint(state, ctx),
    verify: (state, ctx) => codec.verify(state, ctx),

    asker: async (question, signal): Promise<Answer> => {
      const board = beside?.board;
      if (board?.approved(question, signal) === true) return { reply: "once" };
      const round = rounds.get(signal);
      if (round === undefined) return { reply: "nobody" };
      if (!round.canAsk) {
        return board?.isWatched === true ? board.ask({ ...round.asks, question }, signal) : { reply: "nobody" };
      }
      const digest = digestOf([question.permission, question.patterns, question.metadata]);
      if (round.yes.has(digest)) return { reply: "once" };
      // Another question than the one that was shown, or the same about a file that has changed since: it is asked.
      if (round.shown !== digest) throw new AskFirst(question, digest);
      const said: Answer = { reply: round.decision === "no" ? "reject" : round.decision };
      // Somebody at the page may have been faster; their answer was about the same question.
      const answer = round.onPage === undefined || board === undefined ? said : board.settle(round.onPage, said);
      round.onPage = undefined;
      if (answer.reply === "once" || answer.reply === "always") round.yes.add(digest);
      return answer;
    },

    async during({ ctx, tool, input, canAsk, session }, work) {
      const digestOfCall = (): string => digestOf([ctx.mcpReq.method, tool, input]); // most calls need none
      const state = ctx.mcpReq.requestState<State>();
      // Answers without state belong to no question that was asked.
      if (state !== undefined && (state.call !== digestOfCall() || !nonces.take(state.nonce))) throw invalidState();
      const { signal } = ctx.mcpReq;
      const yes = new Set(state?.yes);
      const asks = { workspace: beside?.workspace ?? "", session, principal: principalOf(ctx), tool };
      const round: Round = {
        canAsk,
        yes,
        shown: state?.shown,
        decision: decisionOf(ctx),
        asks,
        onPage: state?.onPage,
      };
      rounds.set(signal, round);
      try {
        return await work(signal);
      } catch (error) {
        if (!(error instanceof AskFirst)) throw error;
        const onPage = beside?.board.show({ ...asks, question: error.question });
        const sent: State = {
          call: digestOfCall(),
          shown: error.digest,
          yes: [...yes],
          nonce: nonces.give(),
          ...(onPage === undefined || onPage === "" ? {} : { onPage }),
        };
        return inputRequired({
          inputRequests: { [responseKey]: inputRequired.elicit(form(error.question)) },
          requestState: await codec.mint(sent, ctx),
        });
      } finally {
        rounds.delete(signal);
        // It was about something that has changed since, or that nobody asks any more.
        if (round.onPage !== undefined) beside?.board.drop(round.onPage);
      }
    },
  };
}

const invalidState = (): ProtocolError =>
  new ProtocolError(ProtocolErrorCode.InvalidParams, "Invalid or expired requestState", {
    reason: "invalid_request_state",
  });

/** Declined, cancelled, or accepted with something that no form of ours has: no. */
function decisionOf(ctx: ServerContext): Round["decision"] {
  const response = inputResponse(ctx.mcpReq.inputResponses, responseKey);
  if (response.kind !== "elicit" || response.action !== "accept") return "no";
  const chosen = response.content?.["decision"];
  return decisions.find(({ label }) => label === chosen)?.decision ?? "no";
}

const form = (question: Question) => ({
  message: questionText(question),
  requestedSchema: {
    type: "object" as const,
    properties: {
      decision: {
        type: "string" as const,
        title: "Decision",
        enum: decisions
          .filter(({ decision }) => decision !== "always" || question.always.length > 0)
          .map(({ label }) => label),
      },
    },
    required: ["decision"],
  },
});
