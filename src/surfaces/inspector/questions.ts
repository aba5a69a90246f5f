/** The questions on the page. The first answer counts, and it can choose only what the question offers. */

import { createHash, randomBytes } from "node:crypto";
import type { Answer, OfferedHunk, Question } from "../../contract/ask.ts";
import { treeQuestionWords } from "../../dialects/dialects.ts";
import { dropOldest } from "../../contract/common.ts";
import type { AnswerGiven, Answered, PastQuestion, QuestionFile, QuestionInfo } from "./wire.ts";
import { diffOfText, type DiffOfText } from "../../text/text.ts";
import { type AskedFile, filesAsked, modeWords, type Totals } from "../questions.ts";

export interface InspectorQuestion {
  readonly workspace: string;
  readonly session: string;
  readonly principal: string | null;
  readonly client: string | null;
  readonly tool: string;
  readonly question: Question;
}

export interface Board {
  /** Is a page open that would show a question? */
  readonly isWatched: boolean;
  /** The call waits for the answer. */
  ask(asked: InspectorQuestion, signal: AbortSignal): Promise<Answer>;
  /** For a question that the client shows too. Returns the id for `settle` and `drop`. */
  show(asked: InspectorQuestion): string;
  /** The client has answered. Returns the answer that came first. */
  settle(id: string, said: Answer): Answer;
  /** The client answered another question, or never came back. */
  drop(id: string): void;
  /** Records that a person at the page has approved changes of these files for this call. */
  approve(signal: AbortSignal, paths: ReadonlySet<string>): void;
  approved(question: Question, signal: AbortSignal): boolean;
}

/** The answer with the id of the browser: only for that browser `by` becomes `you`. */
export type RecordedAnswer = Omit<Answered, "by"> & { readonly by: Answered["by"] | { readonly browser: string } };

export interface Questions extends Board {
  open(): readonly QuestionInfo[];
  past(): readonly (Omit<PastQuestion, "answered"> & { readonly answered: RecordedAnswer })[];
  /** The diff of one of its files, counted from 0. */
  diff(id: string, file: number): DiffOfText | undefined;
  answer(id: string, given: AnswerGiven, browser: string): AnswerTaken;
  close(): void;
}

export type AnswerTaken =
  | { readonly taken: RecordedAnswer }
  | { readonly refused: "unknown" | "not shown" | "not offered" }
  | { readonly refused: "answered"; readonly answered: RecordedAnswer };

export interface QuestionsOptions {
  readonly isWatched: () => boolean;
  /** Relative to its root, for people. */
  readonly relativeOf: (workspace: string, path: string) => string;
  readonly onAsked: (question: QuestionInfo) => void;
  readonly onAnswered: (id: string, answered: RecordedAnswer) => void;
  readonly nowMs?: () => number;
  readonly waitMsMax?: number;
}

interface Open {
  readonly info: QuestionInfo;
  readonly diffs: readonly (DiffOfText | undefined)[];
  readonly end: (answered: RecordedAnswer) => void;
  readonly timer: NodeJS.Timeout;
}

/** No person answers more than this at once. */
const openMax = 200;
/** Closed questions that are remembered, so that a second answer gets the first one; and how many of them are listed. */
const pastMax = 1_000;
const pastToldMax = 100; // the number that `QuestionList` in wire.ts promises

export function createQuestions(options: QuestionsOptions): Questions {
  const { isWatched, relativeOf, onAsked, onAnswered, nowMs = Date.now, waitMsMax = 300_000 } = options;
  const open = new Map<string, Open>();
  /** The last closed ones, with their answers. `settle` looks up those of clients here. */
  const past = new Map<string, Omit<PastQuestion, "answered"> & { readonly answered: RecordedAnswer }>();
  const approvals = new WeakMap<AbortSignal, ReadonlySet<string>>();

  const put = (asked: InspectorQuestion, waits: QuestionInfo["waits"], end: Open["end"]): QuestionInfo => {
    const diffs = filesAsked(asked.question).map(({ diff }) => (diff === undefined ? undefined : diffOfText(diff)));
    const counts = diffs.map((diff) => diff && { additions: diff.additions, deletions: diff.deletions });
    const sum = (sign: keyof Totals) => counts.reduce((total, one) => total + (one?.[sign] ?? 0), 0);
    const askedMs = nowMs();
    const times = { askedMs, deadlineMs: askedMs + waitMsMax };
    const info = {
      ...shownOf(asked, counts, (path) => relativeOf(asked.workspace, path)),
      ...times,
      diff: counts.some((one) => one) ? { additions: sum("additions"), deletions: sum("deletions") } : null,
      waits,
    };
    const timer = setTimeout(() => finish(info.id, nobody("time", nowMs())), waitMsMax);
    timer.unref();
    open.set(info.id, { info, diffs, end, timer });
    onAsked(info);
    return info;
  };

  const finish = (id: string, answered: RecordedAnswer): void => {
    const found = open.get(id);
    if (found === undefined) return;
    open.delete(id);
    clearTimeout(found.timer);
    past.set(id, { ...found.info, answered });
    dropOldest(past, pastMax);
    found.end(answered);
    onAnswered(id, answered);
  };

  return {
    get isWatched() {
      return isWatched() && open.size < openMax;
    },
    async ask(asked, signal) {
      if (signal.aborted || open.size >= openMax) return { reply: "nobody" };
      return new Promise<Answer>((resolve) => {
        const cancel = (): void => finish(info.id, nobody("cancelled", nowMs()));
        const info = put(asked, "server", (answered) => {
          signal.removeEventListener("abort", cancel);
          resolve(answerOf(answered));
        });
        signal.addEventListener("abort", cancel, { once: true });
      });
    },
    show: (asked) => (open.size >= openMax ? "" : put(asked, "client", () => undefined).id),
    settle(id, said) {
      const earlier = past.get(id)?.answered;
      if (earlier !== undefined) return earlier.by === "time" ? said : answerOf(earlier);
      finish(id, { reply: said.reply, by: "client", ...bare, timeMs: nowMs() });
      return said;
    },
    drop: (id) => finish(id, nobody("cancelled", nowMs())),
    approve: (signal, paths) => void approvals.set(signal, paths),
    approved: ({ permission, patterns }, signal) => {
      const paths = approvals.get(signal);
      return paths !== undefined && permission === "edit" && patterns.every((path) => paths.has(path));
    },
    open: () => [...open.values()].map(({ info }) => info),
    past: () => [...past.values()].toReversed().slice(0, pastToldMax),
    diff: (id, file) => open.get(id)?.diffs[file],
    answer(id, given, browser) {
      const answered = past.get(id)?.answered;
      if (answered !== undefined) return { refused: "answered", answered };
      const info = open.get(id)?.info;
      if (info === undefined) return { refused: "unknown" };
      if (given.shown !== info.shown) return { refused: "not shown" };
      if (!isOffered(given, info)) return { refused: "not offered" };
      const taken = recordedOf(given, info, browser, nowMs());
      finish(id, taken);
      return { taken };
    },
    close: () => {
      for (const id of open.keys()) finish(id, nobody("cancelled", nowMs()));
    },
  };
}

const bare = { rule: null, keep: null, feedback: null, hunks: null } as const;
const nobody = (by: "time" | "cancelled", timeMs: number): RecordedAnswer => ({ reply: "nobody", by, ...bare, timeMs });

function isOffered({ reply, rule, keep, hunks }: AnswerGiven, info: QuestionInfo): boolean {
  if (hunks !== undefined) {
    const areOffered = hunks.length > 0 && hunks.every((hunk) => info.hunks[hunk] !== undefined);
    return reply === "once" && areOffered && new Set(hunks).size === hunks.length;
  }
  if (reply !== "always") return true;
  if (info.always.length === 0 || (rule !== undefined && !info.always.includes(rule))) return false;
  return keep === undefined || keep === "session" || info.keep.includes(keep);
}

function recordedOf(
  { reply, rule, keep, feedback, hunks }: AnswerGiven,
  info: QuestionInfo,
  browser: string,
  timeMs: number,
): RecordedAnswer {
  const isAlways = reply === "always";
  return {
    reply,
    by: { browser },
    rule: isAlways ? (rule ?? info.always[0] ?? null) : null,
    keep: isAlways ? (keep ?? "session") : null,
    feedback: reply === "reject" ? (feedback ?? null) : null,
    hunks: hunks ?? null,
    timeMs,
  };
}

/** For the engine. A question without an answer in time is `nobody`: then the model gets the rule that would have helped. */
function answerOf({ reply, rule, keep, feedback, hunks }: RecordedAnswer): Answer {
  switch (reply) {
    case "once":
      return hunks === null ? { reply } : { reply, hunks };
    case "nobody":
      return { reply };
    case "always":
      return { reply, ...(rule === null ? {} : { rule }), ...(keep === null ? {} : { keep }) };
    case "reject":
      return { reply, ...(feedback === null || feedback === "" ? {} : { feedback }) };
  }
}

/** The page shows hunks, and a change of the mode is in none. */
function modeCaution(asked: readonly AskedFile[], relativeOf: (path: string) => string): string | null {
  const [first, ...others] = asked.filter((file) => modeWords(file) !== "");
  if (first === undefined) return null;
  const more = others.length === 0 ? "" : `, and the mode of ${others.length} more changes`;
  return `"${relativeOf(first.path)}" ${modeWords(first)}${more}`;
}

/** Files of one question on the page; the page counts the others. */
const filesMax = 200;

function firstNotShown(hunks: readonly OfferedHunk[]): number {
  const first = hunks.findIndex(({ file }) => file >= filesMax);
  return first === -1 ? hunks.length : first;
}

/** What a person sees of a question, and a hash of it. */
function shownOf(
  { question, ...call }: InspectorQuestion,
  counts: readonly (Totals | undefined)[],
  relativeOf: (path: string) => string,
) {
  const { permission, patterns, always, keep, metadata, hunks = [] } = question;
  const [path = ""] = patterns;
  const asked = filesAsked(question);
  const files = asked.slice(0, filesMax).map((file, at): QuestionFile => {
    const { movedTo = null, deletes } = file;
    return { path: file.path, relative: relativeOf(file.path), movedTo, deletes, diff: counts[at] ?? null };
  });
  const several = asked.length > 1;
  const name = textOf(metadata["path"]);
  const visible = {
    ...call,
    permission,
    path,
    relative: relativeOf(path),
    asked: several || name === path ? null : name,
    movedFrom: several ? null : (asked[0]?.movedFrom ?? null),
    movedTo: several ? null : (asked[0]?.movedTo ?? null),
    deletes: !several && asked[0]?.deletes === true,
    files: several ? files : [],
    filesTotal: asked.length,
    size: treeQuestionWords(metadata["tree"]),
    copiedFrom: textOf(metadata["copiedFrom"]),
    rule: textOf(metadata["rule"]),
    caution: textOf(metadata["caution"]) ?? modeCaution(asked, relativeOf),
    always,
    keep,
    // Files that the page does not list cannot be chosen there.
    hunks: hunks.slice(0, firstNotShown(hunks)),
  };
  const hash = createHash("sha256").update(JSON.stringify([visible, metadata["diff"], asked.map((file) => file.path)]));
  return { id: randomBytes(12).toString("base64url"), ...visible, shown: hash.digest("base64url") };
}

const textOf = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);
