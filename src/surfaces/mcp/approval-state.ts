/** The state that a client carries from a question to its answer, signed and limited; and the text of the question. */

import { randomBytes } from "node:crypto";
import type { InputRequiredResult } from "@modelcontextprotocol/server";
import type { Answer, Question } from "../../contract/ask.ts";
import { diffOfText, escapeName } from "../../text/text.ts";
import { treeQuestionWords, treeVerb } from "../../dialects/dialects.ts";
import { type AskedFile, cautionWords, cutAll, filesAsked } from "../questions.ts";
import { createSeals } from "./mcp-workspace.ts";
import { answerSecondsMax, invalidParams, ProtocolFault } from "./names.ts";

type Decision = "once" | "always";

/** The choices of the form, and the words that come back. "Always" is a field of its own. */
const decisions = [
  { decision: "once", label: "allow once" },
  { decision: "no", label: "reject" },
] as const satisfies readonly { readonly decision: Decision | "no"; readonly label: string }[];
const defaultDecision = "allow once" satisfies (typeof decisions)[number]["label"];

/** Clients show the question in a dialog: a longer diff would push the choices out of sight. */
const diffLinesMax = 60;
/** Longer lines would wrap and take the room of the others. */
const diffLineCharsMax = 200;

/** Names in the head of a question about several files; further ones are counted. */
const namesMax = 20;

/** Characters of a changed line in the first line of a question. */
const firstChangeCharsMax = 60;

/**
 * What a person reads before deciding. Claude Code shows the first three lines or so, so the first one has the file, the counts and
 * the first change. Nothing in a path or a line of a file can look like another path or line.
 */
export function questionText(question: Question): string {
  const { metadata } = question;
  const { rule, diff } = metadata;
  const caution = cautionWords(metadata["caution"]);
  return [
    ...headOf(question, filesAsked(question)),
    ...(isText(rule) ? [`The rule ${escapeName(rule)} asks.`] : []),
    ...(caution === undefined ? [] : [`${escapeName(caution)}.`]),
    ...(isText(diff) ? ["", ...shownDiff(diff)] : []),
  ].join("\n");
}

function headOf(
  { permission, patterns: [real = ""], metadata: { tree, copiedFrom } }: Question,
  [file, ...others]: readonly AskedFile[],
): readonly string[] {
  if (file === undefined) return [];
  const counts = countsOf([file, ...others]);
  if (others.length > 0) {
    const names = [file, ...others].map(({ path, deletes, movedTo }) => {
      const does = deletes ? "delete " : movedTo === undefined ? "" : "move ";
      return `- ${does}"${escapeName(path)}"${movedTo === undefined ? "" : ` to "${escapeName(movedTo)}"`}`;
    });
    const rest = names.length - namesMax;
    const more = rest > 0 ? [`(${rest} more files)`] : [];
    return [`Change ${names.length} files, all of them or none?${counts}`, ...names.slice(0, namesMax), ...more];
  }
  const changes = file.deletes ? "Delete" : (treeVerb(tree) ?? "Change");
  const what = permission === "edit" ? changes : permission === "read" ? "Read" : "Go outside the workspace to";
  const through = file.path === real ? "" : ` (asked for as "${escapeName(file.path)}")`;
  return [
    `${what} "${escapeName(real)}"?${through}${counts}${counts === "" ? "" : firstChange(file)}`,
    ...(file.movedFrom === undefined ? [] : [`It is moved from "${escapeName(file.movedFrom)}".`]),
    ...(file.movedTo === undefined ? [] : [`It is moved to "${escapeName(file.movedTo)}".`]),
    ...(isText(copiedFrom) ? [`It is copied from "${escapeName(copiedFrom)}".`] : []),
    ...treeQuestionWords(tree).map((words) => `${words}.`),
  ];
}

/** ` +3 -1`, of all files; empty where no diff says it. */
function countsOf(files: readonly AskedFile[]): string {
  const diffs = files.flatMap(({ diff }) => (diff === undefined ? [] : [diffOfText(diff)]));
  const additions = diffs.reduce((sum, diff) => sum + (diff?.additions ?? 0), 0);
  const deletions = diffs.reduce((sum, diff) => sum + (diff?.deletions ?? 0), 0);
  return diffs.includes(undefined) || additions + deletions === 0 ? "" : ` +${additions} -${deletions}`;
}

/** The first line that is removed and the first that is added, cut around what differs. */
function firstChange({ diff = "" }: AskedFile): string {
  const lines = diffOfText(diff)?.hunks.flatMap((hunk) => hunk.lines) ?? [];
  const from = lines.findIndex((line) => /^[-+]/.test(line));
  const length = lines.slice(from).findIndex((line) => !/^[-+]/.test(line));
  const run = cutAll(from < 0 ? [] : lines.slice(from, length < 0 ? undefined : from + length), firstChangeCharsMax);
  const shown = ["-", "+"].flatMap((sign) => run.find((line) => line.startsWith(sign)) ?? []);
  return shown.length === 0
    ? ""
    : `: ${shown.map((line) => escapeName(line.replace(/[\s]+/g, " ").trimEnd())).join(" → ")}`;
}

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

function shownDiff(diff: string): readonly string[] {
  const lines = diff.replace(/\n$/, "").split("\n");
  const parsed = diffOfText(diff);
  if (parsed === undefined) return lines;
  // A truncated diff ends with a line that says how long it is.
  const more = parsed.complete ? [] : lines.splice(-1);
  const shown = cutAll(lines.slice(0, diffLinesMax), diffLineCharsMax).map((line) => `| ${safe(line)}`);
  const rest = lines.length - shown.length;
  return [...shown, ...(rest > 0 && parsed.complete ? [`(${rest} more lines are not shown)`] : more)];
}

/** Tabs are not escaped: a diff of a Makefile would be unreadable. */
const safe = (line: string): string => line.split("\t").map(escapeName).join("\t");

/** Digests only, nothing that the client may not see. */
export interface State {
  readonly call: string;
  /** The question that was shown, and the answers to those before it. */
  readonly shown: string;
  readonly answers: readonly (readonly [string, Answer])[];
  readonly nonce: string;
  /** The id of the same question on the page of the inspector. */
  readonly onPage?: string;
}

export type Decided = Decision | "no" | "closed";

/** A state that was made for one requester is invalid for any other. */
export interface Requester {
  readonly method: string;
  readonly principal: string;
}

/** The key of the question in `inputRequests`. */
export const questionKey = "approval";

export function createApprovalStates(secondsMax = answerSecondsMax, nowMs: () => number = Date.now) {
  const seals = createSeals();
  const nonces = createOnce(secondsMax * 1_000, undefined, nowMs);
  /** Signs a state, bound to the requester and valid for a limited time. */
  const seal = (state: object, { method, principal }: Requester): string =>
    seals.seal(JSON.stringify({ method, principal, untilMs: nowMs() + secondsMax * 1_000, state } satisfies Sealed));
  return {
    seal,
    /** Throws for a state that is forged, expired or made for another requester. */
    open(given: unknown, { method, principal }: Requester): object {
      const text = typeof given === "string" ? seals.open(given) : undefined;
      const sealed = text === undefined ? undefined : (JSON.parse(text) as Sealed); // made by `seal`
      if (sealed?.method !== method || sealed.principal !== principal || nowMs() > sealed.untilMs) throw invalidState();
      return sealed.state;
    },
    /** Throws for a state that belongs to another call, or was used before. */
    decisionFor(state: State, call: string, response: unknown): Decided {
      if (state.call !== call || !nonces.take(state.nonce)) throw invalidState();
      return decisionOf(response);
    },
    /** The result that ends a call with a question. */
    ask: (question: Question, state: Omit<State, "nonce">, requester: Requester): InputRequiredResult => ({
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

/** Only a choice in the form is a person's decision: clients without a person cancel or decline by themselves. */
export function decisionOf(response: unknown): Decided {
  const { action, content } = (response ?? {}) as { readonly action?: unknown; readonly content?: unknown }; // checked below
  if (action !== "accept") return "closed";
  const { decision: chosen, always } = (content ?? {}) as { readonly decision?: unknown; readonly always?: unknown };
  const decision = decisions.find(({ label }) => label === chosen)?.decision ?? "closed";
  return decision === "once" && always === true ? "always" : decision;
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
        enum: decisions.map(({ label }) => label),
        // So that a person can confirm with Enter alone.
        default: defaultDecision,
      },
      ...(question.always[0] === undefined
        ? {}
        : {
            always: {
              type: "boolean" as const,
              title: "Always in this session",
              description: `Allows it without a question from now on, by the rule ${escapeName(question.always[0])}`,
              default: false,
            },
          }),
    },
    required: ["decision"],
  },
});

/** Nonces that are valid once and for a limited time. */
export function createOnce(ageMsMax: number, countMax = 10_000, nowMs: () => number = Date.now) {
  const given = new Map<string, number>();
  return {
    give(): string {
      // The map is in order of age: the first nonce that has not expired ends the search.
      for (const [old, atMs] of given) {
        if (given.size < countMax && nowMs() - atMs <= ageMsMax) break;
        given.delete(old);
      }
      const nonce = randomBytes(18).toString("base64url");
      given.set(nonce, nowMs());
      return nonce;
    },
    /** True the first time that a nonce comes back in time. */
    take(nonce: string): boolean {
      const atMs = given.get(nonce);
      given.delete(nonce);
      return atMs !== undefined && nowMs() - atMs <= ageMsMax;
    },
  };
}
