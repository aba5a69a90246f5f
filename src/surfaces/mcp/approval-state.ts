/** What a client carries from a question to its answer: signed, for one call, one principal, one use, a limited time. */

import { randomBytes } from "node:crypto";
import type { InputRequiredResult } from "@modelcontextprotocol/server";
import type { Question } from "../../contract/ask.ts";
import { diffOfText, escapeName } from "../../text/text.ts";
import { cautionWords, cutAll } from "../questions.ts";
import { createSeals } from "./mcp-workspace.ts";
import { answerSecondsMax, invalidParams, ProtocolFault } from "./names.ts";

// What a person reads before they decide. A path stands on one line in quotes with everything escaped that could make it
// look like another; of a change there is the diff, with a mark before each line that no line of a file can imitate.

type Decision = "once" | "always";

/** The choices of the form, by the words that come back. */
const decisions = [
  { decision: "once", label: "allow once" },
  { decision: "always", label: "always allow in this session" },
  { decision: "no", label: "reject" },
] as const satisfies readonly { readonly decision: Decision | "no"; readonly label: string }[];

const diffLinesMax = 60;
const diffLineCharsMax = 200;

export function questionText({ permission, patterns, always, metadata }: Question): string {
  const [real = ""] = patterns;
  const path = typeof metadata["path"] === "string" ? metadata["path"] : real;
  const changes = metadata["deletes"] === true ? "Delete" : "Change";
  const what = permission === "edit" ? changes : permission === "read" ? "Read" : "Go outside the workspace to";
  const through = path === real ? "" : ` (asked for as "${escapeName(path)}")`;
  const { rule, diff, movedFrom, movedTo } = metadata;
  const caution = cautionWords(metadata["caution"]);
  return [
    `${what} "${escapeName(real)}"?${through}`,
    ...(isText(movedFrom) ? [`It is moved from "${escapeName(movedFrom)}".`] : []),
    ...(isText(movedTo) ? [`It is moved to "${escapeName(movedTo)}".`] : []),
    ...(isText(rule) ? [`The rule ${escapeName(rule)} asks.`] : []),
    ...(caution === undefined ? [] : [`${escapeName(caution)}.`]),
    ...(always[0] === undefined ? [] : [`"Always" means the rule ${escapeName(always[0])}.`]),
    ...(isText(diff) ? ["", ...shownDiff(diff)] : []),
  ].join("\n");
}

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

function shownDiff(diff: string): readonly string[] {
  const lines = diff.replace(/\n$/, "").split("\n");
  const told = diffOfText(diff);
  if (told === undefined) return lines;
  // A diff that is not all of it ends with a line that says so, and how much there is.
  const more = told.complete ? [] : lines.splice(-1);
  const shown = cutAll(lines.slice(0, diffLinesMax), diffLineCharsMax).map((line) => `| ${safe(line)}`);
  const rest = lines.length - shown.length;
  return [...shown, ...(rest > 0 && told.complete ? [`(${rest} more lines are not shown)`] : more)];
}

/** Tabs stay: with marks in their place no Makefile could be read. */
const safe = (line: string): string => line.split("\t").map(escapeName).join("\t");

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

/** Who sends a request: a state that was made for one request holds for no other. */
export interface Requester {
  /** The method of the protocol. */
  readonly method: string;
  readonly principal: string;
}

export interface ApprovalStates {
  /** State for the client to carry: signed, bound to who asks, and good for a limited time. */
  seal(state: object, requester: Requester): string;
  /** Throws for a state that was forged, is too old or was made for another requester. */
  open(state: unknown, requester: Requester): object;
  /** What was answered. Throws for a state that belongs to another call, or was used. */
  decisionFor(state: State, call: string, response: unknown): Decided;
  /** The question as the end of a call. */
  ask(question: Question, state: Omit<State, "nonce">, requester: Requester): InputRequiredResult;
}

/** The name of our question among the inputs that a result may ask for. */
export const questionKey = "approval";

export function createApprovalStates(secondsMax = answerSecondsMax, nowMs: () => number = Date.now): ApprovalStates {
  const seals = createSeals();
  const nonces = createOnce(secondsMax * 1_000, undefined, nowMs);
  const seal: ApprovalStates["seal"] = (state, { method, principal }) =>
    seals.seal(JSON.stringify({ method, principal, untilMs: nowMs() + secondsMax * 1_000, state } satisfies Sealed));
  return {
    seal,
    open(given, { method, principal }) {
      const text = typeof given === "string" ? seals.open(given) : undefined;
      const sealed = text === undefined ? undefined : (JSON.parse(text) as Sealed); // made by `seal`
      if (sealed?.method !== method || sealed.principal !== principal || nowMs() > sealed.untilMs) throw invalidState();
      return sealed.state;
    },
    decisionFor(state, call, response) {
      if (state.call !== call || !nonces.take(state.nonce)) throw invalidState();
      return decisionOf(response);
    },
    ask: (question, state, requester) => ({
      resultType: "input_required",
      inputRequests: { [questionKey]: { method: "elicitation/create", params: questionForm(question) } },
      requestState: seal({ ...state, nonce: nonces.give() } satisfies State, requester),
    }),
  };
}

interface Sealed extends Requester {
  readonly untilMs: number;
  readonly state: object;
}

const invalidState = (): ProtocolFault =>
  new ProtocolFault(invalidParams, "Invalid or expired requestState", { reason: "invalid_request_state" });

/**
 * A no is what the form says. Programs without a person cancel or decline by themselves, and what no form of ours has was
 * chosen by nobody; none of that is a yes, and none is told as a person's word.
 */
export function decisionOf(response: unknown): Decided {
  const { action, content } = (response ?? {}) as { readonly action?: unknown; readonly content?: unknown }; // looked at below
  if (action !== "accept") return "closed";
  const { decision: chosen } = (content ?? {}) as { readonly decision?: unknown };
  return decisions.find(({ label }) => label === chosen)?.decision ?? "closed";
}

/** The parameters of `elicitation/create`. */
export const questionForm = (question: Question) => ({
  mode: "form" as const,
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

// Numbers that work once: given out, taken back a single time, and forgotten after a while.

export interface Once {
  give(): string;
  /** True for the first who brings it back in time. */
  take(nonce: string): boolean;
}

export function createOnce(ageMsMax: number, countMax = 10_000, nowMs: () => number = Date.now): Once {
  const given = new Map<string, number>();
  return {
    give() {
      // In the order in which they were given: the first that is young enough ends the search.
      for (const [old, atMs] of given) {
        if (given.size < countMax && nowMs() - atMs <= ageMsMax) break;
        given.delete(old);
      }
      const nonce = randomBytes(18).toString("base64url");
      given.set(nonce, nowMs());
      return nonce;
    },
    take(nonce) {
      const atMs = given.get(nonce);
      given.delete(nonce);
      return atMs !== undefined && nowMs() - atMs <= ageMsMax;
    },
  };
}
