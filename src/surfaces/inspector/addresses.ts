/** Every address below `/api/` for browsers that are logged in, in one list. */

import type { ReplayResult } from "../../contract/replay.ts";
import type { WorkspaceUsage, Hello, QuestionList, StreamEvent } from "./wire.ts";
import { callPage, callView, explained, folderView, sessionList } from "./calls.ts";
import type { Inspected } from "./inspected.ts";
import type { Diffs } from "./diffs.ts";
import { summed } from "./usage.ts";
import { logView } from "./log.ts";
import { pastSessions, turnPage, versionList } from "./history.ts";
import { choice, counts, type Fields, maybeText, numberIn, RequestRefused, text } from "./input.ts";
import type { Questions, RecordedAnswer } from "./questions.ts";
import { doRewind, planRewind } from "./rewinds.ts";

interface InspectorRequest {
  readonly query: URLSearchParams;
  readonly body: Fields;
  readonly browser: string;
}

export interface Parts {
  readonly version: string;
  readonly startedMs: number;
  readonly workspaces: ReadonlyMap<string, Inspected>;
  readonly questions: Questions;
  readonly diffs: Diffs;
  readonly lastEvent: () => number;
  readonly emit: (event: StreamEvent) => void;
  readonly limits: Hello["limits"];
  /** What `filehand replay` counted, if the person named such a file. */
  readonly replay: ReplayResult | undefined;
  /** Can other processes report their calls? */
  readonly isListening: () => boolean;
}

type Answer = object | Promise<object>;
type Work = (asked: InspectorRequest, parts: Parts, name: string) => Answer;
type WorkspaceWork = (asked: InspectorRequest, inspected: Inspected, parts: Parts, name: string) => Answer;
type Methods<Does> = Partial<Record<"GET" | "POST", Does>>;

const common: Readonly<Record<string, Methods<Work>>> = {
  "/hello": { GET: (_asked, parts) => hello(parts) },
  "/replay": { GET: (_asked, parts) => replayed(parts) },
  "/questions": { GET: ({ browser }, { questions }) => questionList(questions, browser) },
  "/questions/*/answer": { POST: (asked, parts, id) => answer(asked, parts, id) },
};

const ofWorkspace: Readonly<Record<string, Methods<WorkspaceWork>>> = {
  "/sessions": { GET: (_asked, inspected) => sessionList(inspected) },
  "/calls": { GET: ({ query }, inspected) => callPage(query, inspected) },
  "/calls/*": { GET: (_asked, inspected, _parts, id) => callView(id, inspected) },
  "/log": { GET: ({ query }, inspected) => logView(query, inspected) },
  "/diff": { POST: ({ body }, inspected, { diffs }) => diffs.page(body, inspected) },
  "/image": { POST: ({ body }, inspected, { diffs }) => diffs.image(body, inspected) },
  "/history/sessions": { GET: (_asked, inspected) => pastSessions(inspected) },
  "/history/turns": { POST: ({ body }, inspected) => turnPage(body, inspected) },
  "/history/versions": { POST: ({ body }, inspected) => versionList(body, inspected) },
  "/history/plan": { POST: ({ body }, inspected) => planRewind(body, inspected) },
  "/history/rewind": { POST: ({ body }, inspected, parts) => rewind(body, inspected, parts) },
  "/usage": { GET: ({ query }, inspected) => usage(query, inspected) },
  "/folder": { POST: ({ body }, inspected) => folderView(body, inspected) },
  "/explain": { POST: ({ body }, inspected) => explained(body, inspected) },
};

/** `path`: the part after `/api`. Throws a refusal for an unknown address. */
export function workAt(path: string, method: string, parts: Parts): (asked: InspectorRequest) => Answer {
  const [, workspace, rest] = /^\/w\/([^/]+)(\/.*)$/.exec(path) ?? [];
  if (workspace === undefined || rest === undefined) {
    const { work, name } = found(common, path, method);
    return (asked) => work(asked, parts, name);
  }
  const inspected = parts.workspaces.get(workspace);
  if (inspected === undefined) throw new RequestRefused(404, "NO_SUCH_WORKSPACE", "There is no such workspace here");
  const { work, name } = found(ofWorkspace, rest, method);
  return (asked) => work(asked, inspected, parts, name);
}

/** At most one part of an address is a name. */
function found<Does>(
  table: Readonly<Record<string, Methods<Does>>>,
  path: string,
  method: string,
): { readonly work: Does; readonly name: string } {
  const [, start, name, end] = /^(\/(?:questions|calls))\/([A-Za-z0-9_-]{1,64})((?:\/answer)?)$/.exec(path) ?? [];
  const key = name === undefined ? path : `${start}/*${end}`;
  const methods = Object.hasOwn(table, key) ? table[key] : undefined;
  if (methods === undefined) throw new RequestRefused(404, "NO_SUCH_ADDRESS", "There is nothing at this address");
  const work = method === "GET" || method === "POST" ? methods[method] : undefined;
  if (work === undefined) {
    throw new RequestRefused(405, "METHOD", `This address is asked with ${Object.keys(methods).join(" or ")}`);
  }
  return { work, name: name ?? "" };
}

function replayed({ replay }: Parts): ReplayResult {
  if (replay === undefined) throw new RequestRefused(404, "NO_SUCH_ADDRESS", "No replay was given to this server");
  return replay;
}

function hello({ version, startedMs, workspaces, lastEvent, limits, isListening, replay }: Parts): Hello {
  return {
    version,
    nowMs: Date.now(),
    startedMs,
    lastEvent: lastEvent(),
    limits,
    replay: replay !== undefined,
    workspaces: [...workspaces.values()].map(({ workspace, hasHistory, processes }) => ({
      name: workspace.name,
      roots: workspace.filehand.roots,
      dialect: workspace.dialect,
      mode: workspace.filehand.permissions.list().mode,
      history: hasHistory,
      log: workspace.stateDir !== undefined,
      acceptsReports: isListening(),
      processes,
      tools: workspace.definitions.map(({ name, verb, readOnly }) => ({ name, verb, readOnly })),
    })),
  };
}

/** The browser that answered sees `you`; all others see `page`. */
export const answerSeenBy = (browser: string, { by, ...answer }: RecordedAnswer) => ({
  ...answer,
  by: typeof by === "string" ? by : by.browser === browser ? ("you" as const) : ("page" as const),
});

const questionList = (questions: Questions, browser: string): QuestionList => ({
  open: questions.open(),
  past: questions.past().map(({ answered, ...info }) => ({ ...info, answered: answerSeenBy(browser, answered) })),
});

const feedbackCharsMax = 2_000; // a model reads it
const hunksMax = 100_000; // more than a question offers

function answer({ body, browser }: InspectorRequest, { questions }: Parts, id: string): object {
  const keep = maybeText(body, "keep") === undefined ? undefined : choice(body, "keep", ["session", "project", "user"]);
  const given = {
    shown: text(body, "shown"),
    reply: choice(body, "reply", ["once", "always", "reject"]),
    rule: maybeText(body, "rule"),
    keep,
    feedback: maybeText(body, "feedback", feedbackCharsMax),
    hunks: counts(body, "hunks", hunksMax),
  };
  const came = questions.answer(id, given, browser);
  if ("taken" in came) return answerSeenBy(browser, came.taken);
  switch (came.refused) {
    case "unknown":
      throw new RequestRefused(404, "NO_SUCH_QUESTION", "There is no such question, or it was asked too long ago");
    case "not shown": {
      const why = "The question is another one than was shown, look at it again";
      throw new RequestRefused(409, "NOT_WHAT_WAS_SHOWN", why);
    }
    case "not offered":
      throw new RequestRefused(
        409,
        "NOT_OFFERED",
        "The question does not offer that rule, that place to keep it, or those hunks",
      );
    case "answered":
      throw new RequestRefused(409, "ANSWERED", "The question has been answered already", {
        answered: answerSeenBy(browser, came.answered),
      });
  }
}

async function rewind(body: Fields, inspected: Inspected, { questions, emit }: Parts): Promise<object> {
  const workspace = inspected.workspace.name;
  const done = await doRewind(body, inspected, questions, (job, ready, total) =>
    emit({ type: "progress", workspace, job, done: ready, total }),
  );
  if (done.turn !== null) emit({ type: "turn", workspace, session: done.session, turn: done.turn });
  return done;
}

const pastUsageMax = 200; // the number that `WorkspaceUsage` in wire.ts promises

function usage(query: URLSearchParams, { workspace, timeline }: Inspected): WorkspaceUsage {
  const session = query.get("session");
  const since = numberIn(query, "since", 0, Number.MAX_SAFE_INTEGER) ?? 0;
  const buckets = numberIn(query, "buckets", 1, 500) ?? 60;
  const calls = [...timeline.calls()].filter(
    (call) => (session === null || call.session === session) && call.startedMs >= since,
  );
  const past = workspace.filehand
    .usage()
    .slice(-pastUsageMax)
    .map(({ time, ...rest }) => ({ ...rest, timeMs: Date.parse(time) }));
  return { ...summed(calls, Date.now(), buckets), ever: timeline.ever(), past };
}
