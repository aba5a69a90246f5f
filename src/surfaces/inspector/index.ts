/** The inspector's server: the page, and the answers to its requests. It is a bundle of its own; see `mcp/index.ts`. */

import type { IncomingMessage, ServerResponse } from "node:http";
import * as nodePath from "node:path";
import { fileURLToPath } from "node:url";
import type { CallDetail, CallEvent } from "../../contract/event.ts";
import type { ReplayResult } from "../../contract/replay.ts";
import { readNamedFile } from "../../settings/settings.ts";
import { parseJson, tooManyParts } from "../../text/text.ts";
import { createRate, readBody } from "../http/exchange.ts";
import type { Log } from "../mcp/mcp-workspace.ts";
import { type Parts, answerSeenBy, workAt } from "./addresses.ts";
import { infoOf } from "./calls.ts";
import { type Inspected, type InspectedWorkspace, relativeOf } from "./inspected.ts";
import { createDiffs } from "./diffs.ts";
import { cookieIn, cookieName, cookieSeconds, createLogin, setCookie } from "./login.ts";
import { bad, fieldsOf, isFailure, numberIn, RequestRefused, text } from "./input.ts";
import { openReportSocket } from "./report-socket.ts";
import { type Board, createQuestions } from "./questions.ts";
import { createStream, type StreamLimits } from "./stream.ts";
import type { CallView, Exchanged, ProcessInfo, Refused } from "./wire.ts";

export { isReplayResult } from "./replayed.ts";

// The static files of the page, which the build put next to the program. A name is looked up only if it can be one of them.

/** Relative to the bundle `dist/cli/inspector.cjs`. `argv` would not do: npm starts the program through a symlink. */
export const builtPage = (): string => fileURLToPath(new URL("../web", import.meta.url));

const fileBytesMax = 8_388_608; // far above any file of the page
/** Dots only between other characters, so that no name leads to another folder. */
const namePattern = /^\/(?:assets\/)?[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*\.(js|css|html|svg|png|ico|woff2|webmanifest)$/;

const types: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  html: "text/html; charset=utf-8",
  svg: "image/svg+xml",
  png: "image/png",
  ico: "image/x-icon",
  woff2: "font/woff2",
  webmanifest: "application/manifest+json",
};

/** For a build without the page. */
const placeholder = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Filehand</title></head>
<body><h1>Filehand</h1><p>The inspector's page is not part of this build. Run <code>npm run build</code>, then start again.</p></body></html>
`;

function staticFiles(folder: string | undefined) {
  const known = new Map<string, ReturnType<typeof load>>();
  const load = (path: string) => {
    const name = path === "/" ? "/index.html" : path;
    const extension = namePattern.exec(name)?.[1];
    if (extension === undefined) return undefined;
    const read = folder === undefined ? undefined : readNamedFile(nodePath.join(folder, name), fileBytesMax);
    const bytes = read === undefined || "why" in read ? undefined : read;
    if (bytes === undefined && name !== "/index.html") return undefined;
    const type = types[extension] ?? "application/octet-stream";
    // The name of an asset contains a hash of its content, so it can be cached.
    return { bytes: bytes ?? Buffer.from(placeholder), type, isFixed: name.startsWith("/assets/") };
  };
  return (path: string) => {
    // Only existing files are cached: the number of other names is unlimited.
    const found = known.get(path) ?? load(path);
    if (found !== undefined) known.set(path, found);
    return found;
  };
}

export type Inspector = ReturnType<typeof createInspector>;

interface InspectorOptions {
  readonly version: string;
  readonly folder: string | undefined;
  readonly log: Log;
  /** A key was used, so a new address must be shown. */
  readonly onEntered?: () => void;
  readonly limits?: Partial<typeof inspectorLimits & StreamLimits>;
  readonly replay?: ReplayResult | undefined;
}

const inspectorLimits = {
  callsMax: 10_000,
  repliesBytesMax: 67_108_864,
  bodyBytesMax: 1_048_576,
  /** Requests of one browser, and of an IP address that is not logged in. */
  perSecondMax: 200,
  strangersPerSecondMax: 10,
  /** Running requests of browsers that are logged in. */
  atOnceMax: 64,
  /** Bytes and time for a body of a browser that is not logged in. */
  strangersBodyBytesMax: 4_096,
  strangersBodyMsMax: 5_000,
  /** How long a question stays open. */
  waitMsMax: 300_000,
};

export function createInspector({ version, folder, log, onEntered, limits: given, replay }: InspectorOptions) {
  const limits = { ...inspectorLimits, ...given };
  const login = createLogin();
  const stream = createStream(given);
  const files = staticFiles(folder);
  const workspaces = new Map<string, Inspected>();
  const rate = createRate(limits.perSecondMax, limits.perSecondMax * 5);
  const strangers = createRate(limits.strangersPerSecondMax, limits.strangersPerSecondMax * 3);
  const unlisten: (() => void)[] = [];
  let underWay = 0;
  let closeReportSocket: (() => void) | undefined;

  const questions = createQuestions({
    isWatched: () => stream.isWatched,
    waitMsMax: limits.waitMsMax,
    relativeOf: (workspace, path) => {
      const inspected = workspaces.get(workspace);
      return inspected === undefined ? path : relativeOf(inspected, path);
    },
    onAsked: (question) => stream.emit({ type: "question", question }),
    onAnswered: (id, answered) =>
      stream.emit((browser) => ({ type: "answered", id, answered: answerSeenBy(browser, answered) })),
  });
  const parts: Parts = {
    version,
    startedMs: Date.now(),
    workspaces,
    questions,
    diffs: createDiffs(questions),
    lastEvent: () => stream.last,
    emit: (event) => stream.emit(event),
    limits: { callsMax: limits.callsMax, repliesBytesMax: limits.repliesBytesMax },
    isListening: () => closeReportSocket !== undefined,
    replay,
  };

  /** Numbers the calls of all processes in the order in which they arrive. */
  const keep = (inspected: Inspected, event: CallEvent, detail: CallDetail | Missing, process?: ProcessInfo): void => {
    const { workspace, timeline, origins } = inspected;
    const numbered = { ...event, client: event.client ?? null, id: timeline.ever().calls + 1 };
    if (process !== undefined) origins.set(numbered, process);
    timeline.record(numbered, detail);
    // Serialised only if a page listens: most calls are never looked at.
    stream.emit(() => ({ type: "call", call: infoOf(numbered, inspected) }));
    const { session, turn } = event;
    if (turn !== null) stream.emit({ type: "turn", workspace: workspace.name, session, turn });
  };

  const answerApi = async (req: IncomingMessage, res: ServerResponse, path: string): Promise<void> => {
    requireSameOrigin(req);
    if (path === "/exchange") return exchange(req, res);
    const name = cookieName(req.socket.localPort ?? 0);
    const page = req.headers["filehand-page"];
    const browser = login.browser(cookieIn(req.headers.cookie, name), typeof page === "string" ? page : undefined);
    if (browser === undefined) {
      if (!strangers.take(req.socket.remoteAddress ?? "")) throw tooMany();
      throw new RequestRefused(401, "NOT_IN", "This browser was not let in: open the address that the terminal shows");
    }
    if (!rate.take(browser) || underWay >= limits.atOnceMax) throw tooMany();
    underWay += 1;
    try {
      if (path === "/events") return listen(req, res, browser);
      if (path === "/leave") return await leave(req, res, browser);
      const work = workAt(path, req.method ?? "", parts);
      const asked = { query: queryOf(req), body: req.method === "POST" ? await bodyOf(req) : {}, browser };
      return sendJson(res, 200, await work(asked));
    } finally {
      underWay -= 1;
    }
  };

  const exchange = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    requirePost(req);
    const entered = login.exchange(text(await bodyOf(req, "stranger"), "key", 200));
    if (entered === undefined) {
      // The right key works, however many wrong ones were tried from the same address.
      if (!strangers.take(req.socket.remoteAddress ?? "")) throw tooMany();
      const words = "The key in this address was used already or is too old: the terminal shows a new address";
      throw new RequestRefused(401, "BAD_KEY", words);
    }
    const name = cookieName(req.socket.localPort ?? 0);
    const exchanged: Exchanged = { page: entered.page };
    sendJson(res, 200, exchanged, { "set-cookie": setCookie(name, entered.cookie, cookieSeconds, req.headers.origin) });
    onEntered?.();
  };

  const leave = async (req: IncomingMessage, res: ServerResponse, browser: string): Promise<void> => {
    requirePost(req);
    await bodyOf(req);
    login.leave(browser);
    stream.leave(browser);
    const name = cookieName(req.socket.localPort ?? 0);
    sendJson(res, 200, {}, { "set-cookie": setCookie(name, "", 0, req.headers.origin) });
  };

  const listen = (req: IncomingMessage, res: ServerResponse, browser: string): void => {
    if (req.method !== "GET") throw new RequestRefused(405, "METHOD", "This address is asked with GET");
    const header = req.headers["last-event-id"];
    const last = typeof header === "string" && /^\d{1,15}$/.test(header) ? Number(header) : undefined;
    const after = last ?? numberIn(queryOf(req), "after", 0, Number.MAX_SAFE_INTEGER);
    if (stream.join(res, browser, after, apiHeaders)) return;
    throw new RequestRefused(503, "TOO_MANY_STREAMS", "Too many pages are open already, close one of them");
  };

  const bodyOf = async (req: IncomingMessage, sender: "let in" | "stranger" = "let in") => {
    if (!/^application\/json\s*(;|$)/i.test(req.headers["content-type"] ?? "")) {
      throw new RequestRefused(415, "NOT_JSON", "Content-Type must be application/json");
    }
    const isStranger = sender === "stranger";
    const bytesMax = isStranger ? limits.strangersBodyBytesMax : limits.bodyBytesMax;
    const body = await readBody(req, bytesMax, isStranger ? limits.strangersBodyMsMax : undefined);
    if ("gone" in body) throw bad("The body did not come to its end");
    if ("tooLate" in body) throw bad("The body did not come in time, send it again");
    if ("tooLarge" in body) throw new RequestRefused(413, "TOO_LARGE", `A body has at most ${bytesMax} bytes`);
    if ("notUtf8" in body) throw bad("The body is not text in UTF-8");
    return fieldsOf(parsed(body.text), "The body");
  };

  const sendPage = (req: IncomingMessage, res: ServerResponse, path: string): void => {
    if (req.method !== "GET" && req.method !== "HEAD") return refuse(res, new RequestRefused(405, "METHOD", "Use GET"));
    const file = files(path);
    if (file === undefined)
      return refuse(res, new RequestRefused(404, "NO_SUCH_ADDRESS", "There is nothing at this address"));
    const kept = file.isFixed ? "public, max-age=31536000, immutable" : "no-cache";
    const own = { "content-type": file.type, "content-length": file.bytes.length, "cache-control": kept };
    res.writeHead(200, { ...pageHeaders, ...own });
    res.end(req.method === "HEAD" ? undefined : file.bytes);
  };

  return {
    board: questions as Board,
    async add(workspace: InspectedWorkspace): Promise<void> {
      const timeline = workspace.filehand.timeline({ callsMax: limits.callsMax, bytesMax: limits.repliesBytesMax });
      const own = workspace.filehand.session({ dialect: workspace.dialect, id: "inspector" });
      const hasHistory = (await workspace.filehand.history()) !== undefined;
      const inspected: Inspected = { workspace, timeline, own, hasHistory, origins: new WeakMap(), processes: [] };
      workspaces.set(workspace.name, inspected);
      unlisten.push(workspace.filehand.listen((event, detail) => keep(inspected, event, detail)));
    },
    /** Starts to receive calls of other processes that work in one of the workspaces and have this state folder. */
    async listenToOthers(stateDir: string): Promise<void> {
      closeReportSocket = await openReportSocket({
        stateDir,
        workspaces: [...workspaces].map(([name, { workspace }]) => ({ name, roots: workspace.filehand.roots })),
        onCall: (event, detail, { workspace, pid, program, roots }) => {
          const inspected = workspaces.get(workspace);
          if (inspected === undefined) return;
          const seen = seenFrom(inspected, event, roots);
          keep(inspected, seen, shownOf(inspected, event, detail), { pid, program });
        },
        ask: async ({ session, principal, client = null, tool, question }, { workspace }, signal) =>
          questions.isWatched
            ? questions.ask({ workspace, session, principal, client, tool, question }, signal)
            : { reply: "nobody" },
        onReporting: (all) => {
          for (const [workspace, inspected] of workspaces) {
            const own = all.filter((one) => one.workspace === workspace);
            const processes = own.map(({ pid, program }) => ({ pid, program }));
            if (JSON.stringify(processes) === JSON.stringify(inspected.processes)) continue;
            inspected.processes = processes;
            stream.emit({ type: "processes", workspace, processes });
          }
        },
        log,
      });
    },
    handles: (path: string): boolean => path === "/" || path.startsWith("/api/") || files(path) !== undefined,
    async handle(req: IncomingMessage, res: ServerResponse, path: string): Promise<void> {
      if (!path.startsWith("/api/")) return sendPage(req, res, path);
      try {
        await answerApi(req, res, path.slice("/api".length));
      } catch (error) {
        if (res.headersSent) throw error;
        if (error instanceof RequestRefused) return refuse(res, error);
        // The engine refused, for example because the store cannot be read.
        if (isFailure(error)) return refuse(res, new RequestRefused(422, "REFUSED", error.message));
        const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
        log("error", "internal error, this is a bug in Filehand", { stack });
        return refuse(res, new RequestRefused(500, "INTERNAL", "Filehand failed by a fault of its own, see its log"));
      }
    },
    /** A key for the fragment of the address; works once. */
    newKey: (): string => login.newKey(),
    close(): void {
      for (const stop of unlisten) stop();
      closeReportSocket?.();
      stream.close();
      questions.close();
    },
  };
}

const tooMany = (): RequestRefused => new RequestRefused(429, "TOO_MANY", "Too many requests: wait a moment");

/** The HTTP server has checked the `Host`; the `Origin` must be exactly this address. */
function requireSameOrigin({ headers }: IncomingMessage): void {
  const { origin, host } = headers;
  const site = headers["sec-fetch-site"];
  const isOwn = origin === undefined || origin === `http://${host}` || origin === `https://${host}`;
  if (isOwn && (site === undefined || site === "same-origin")) return;
  throw new RequestRefused(403, "FORBIDDEN", "Requests are taken from this server's own page only");
}

function requirePost(req: IncomingMessage): void {
  if (req.method !== "POST") throw new RequestRefused(405, "METHOD", "This address is asked with POST");
}

const queryOf = (req: IncomingMessage): URLSearchParams => {
  const at = (req.url ?? "").indexOf("?");
  return new URLSearchParams(at < 0 ? "" : (req.url ?? "").slice(at + 1));
};

function parsed(body: string): unknown {
  const result = parseJson(body);
  if (!("fault" in result)) return result.value;
  throw bad(result.fault === "not json" ? "The body is not valid JSON" : `The body ${tooManyParts}`);
}

// Answers of the interface: JSON with common headers.

function refuse(res: ServerResponse, { status, code, message, more }: RequestRefused): void {
  const refused: Refused = { error: { code, message, ...more } };
  const close = status === 413 ? { connection: "close" } : {};
  sendJson(res, status, refused, { ...close, ...(status === 429 ? { "retry-after": "1" } : {}) });
}

type Headers = Readonly<Record<string, string>>;

function sendJson(res: ServerResponse, status: number, value: object, more: Headers = {}): void {
  const body = Buffer.from(JSON.stringify(value));
  const own = { "content-type": "application/json; charset=utf-8", "content-length": body.length };
  res.writeHead(status, { ...apiHeaders, ...more, ...own }).end(body);
}

/** Everything from this server, nothing inline, nothing framed. Images of replies are in the JSON. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join("; ");

const everywhere = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "x-frame-options": "DENY",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-embedder-policy": "require-corp",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
} as const;

const pageHeaders = { ...everywhere, "content-security-policy": policy } as const;

/** An answer that is opened as a page can do nothing. */
const apiHeaders = {
  ...everywhere,
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
  "cache-control": "no-store",
} as const;

// Calls of other processes, shown with the roots and the rules of this server.

type Missing = NonNullable<CallView["missing"]>;

/** The other process may have a root inside ours: then its paths are relative to that. */
function seenFrom(inspected: Inspected, event: CallEvent, roots: readonly string[]): CallEvent {
  const own = inspected.workspace.filehand.roots;
  if (roots.length === own.length && roots.every((root) => own.includes(root))) return event;
  return {
    ...event,
    path: event.real === null ? event.path : relativeOf(inspected, event.real),
    changes: event.changes.map((change) => ({ ...change, relative: relativeOf(inspected, change.path) })),
  };
}

/** A rule of this server also hides what another process was allowed to read. */
function shownOf(
  { workspace }: Inspected,
  { real, changes }: CallEvent,
  detail: CallDetail | Missing,
): CallDetail | Missing {
  const paths = [...(real === null ? [] : [real]), ...changes.map(({ path }) => path)];
  const isDenied = (path: string): boolean => workspace.filehand.permissions.explain("Read", path).verdict === "deny";
  return paths.some(isDenied) ? "hidden" : detail;
}
