/** What a client carries from a question to its answer: signed, for one call, one principal, one use, a limited time. */

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
import type { Question } from "../../contract/ask.ts";
import { answerSecondsMax } from "./names.ts";
import { createOnce } from "./once.ts";
import { type Decision, decisions, questionText } from "./question-text.ts";

/** What travels through the client: digests only, nothing that it may not see. */
export interface State {
  /** The call. */
  readonly call: string;
  /** The question that was shown, and those that were answered before it. */
  readonly shown: string;
  readonly yes: readonly string[];
  readonly no: readonly string[];
  /** Those that were closed without an answer. */
  readonly closed: readonly string[];
  readonly nonce: string;
  /** The same question on the page. */
  readonly onPage?: string;
}

export type Decided = Decision | "no" | "closed";

export interface ApprovalStates {
  seal(state: object, ctx: ServerContext): Promise<string>;
  verify(state: string, ctx: ServerContext): Promise<unknown>;
  /** What was answered. Throws for a state that belongs to another call, or was used. */
  decisionFor(state: State, call: string, ctx: ServerContext): Decided;
  /** The question as the end of a call. */
  ask(question: Question, state: Omit<State, "nonce">, ctx: ServerContext): Promise<InputRequiredResult>;
}

const responseKey = "approval";

export function createApprovalStates(
  principalOf: (ctx: ServerContext) => string,
  secondsMax = answerSecondsMax,
): ApprovalStates {
  const codec = createRequestStateCodec<object>({
    key: randomBytes(32),
    ttlSeconds: secondsMax,
    bind: (ctx) => `${ctx.mcpReq.method}\0${principalOf(ctx)}`,
  });
  const nonces = createOnce(secondsMax * 1_000);
  return {
    seal: (state, ctx) => codec.mint(state, ctx),
    verify: (state, ctx) => codec.verify(state, ctx),
    decisionFor(state, call, ctx) {
      if (state.call !== call || !nonces.take(state.nonce)) throw invalidState();
      return decisionOf(ctx);
    },
    ask: async (question, state, ctx) =>
      inputRequired({
        inputRequests: { [responseKey]: inputRequired.elicit(form(question)) },
        requestState: await codec.mint({ ...state, nonce: nonces.give() } satisfies State, ctx),
      }),
  };
}

const invalidState = (): ProtocolError =>
  new ProtocolError(ProtocolErrorCode.InvalidParams, "Invalid or expired requestState", {
    reason: "invalid_request_state",
  });

/**
 * A no is what the form says. Programs without a person cancel or decline by themselves, and what no form of ours has was
 * chosen by nobody; none of that is a yes, and none is told as a person's word.
 */
function decisionOf(ctx: ServerContext): Decided {
  const response = inputResponse(ctx.mcpReq.inputResponses, responseKey);
  if (response.kind !== "elicit" || response.action !== "accept") return "closed";
  const chosen = response.content?.["decision"];
  return decisions.find(({ label }) => label === chosen)?.decision ?? "closed";
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
