/** One running server: it is sent files and changes, and its diagnostics are kept while current. Nothing rejects. */

import { limits } from "../contract/limits.ts";
import type { Diagnostic, SourceFile, WatchedChange } from "../contract/lsp.ts";
import { type GlobState, parseGlob, startGlobState } from "../text/text.ts";
import { type Capabilities, capabilitiesIn, fieldsOf, initializeParams } from "./capabilities.ts";
import { type RequestEnd, answerTo, type Client, type Registered, startClient } from "./client.ts";
import {
  diagnosticsIn,
  type Published,
  type Lines,
  linesOf,
  nothingPublished,
  pathOf,
  type PositionEncoding,
  uriOf,
} from "./diagnostics.ts";
import type { ServerEntry } from "./servers.ts";

export interface Server {
  readonly state: "starting" | "ready" | "ended";
  readonly wasReady: boolean;
  readonly ended: Promise<string>;
  readonly started: Promise<void>;
  readonly encoding: PositionEncoding;
  offers(capability: string): boolean;
  show(file: SourceFile, how: { readonly saved: boolean }): void;
  refresh(path: string): void;
  removed(path: string): void;
  watched(changes: readonly WatchedChange[]): void;
  /** Waits until the diagnostics of the file's last text are complete; false when time is up or the server is gone. */
  settled(path: string, wait: { readonly untilMs: number; readonly signal: AbortSignal }): Promise<boolean>;
  /** Undefined if they are incomplete or about another text. `now`: also newer than any change of another file. */
  diagnosticsOf(path: string, asOf?: "now"): FileDiagnostics | undefined;
  /** Requests diagnostics again if they are older than the last change of another file. */
  askAgain(path: string): void;
  linesOf(path: string): Lines | undefined;
  open(): readonly { readonly path: string; readonly fingerprint: string }[];
  request(method: string, params: unknown, waitMsMax: number, signal: AbortSignal): Promise<RequestEnd>;
  stop(): Promise<void>;
}

export interface FileDiagnostics {
  readonly diagnostics: readonly Diagnostic[];
  readonly errorsMore: number;
  readonly warningsMore: number;
  readonly lines: Lines;
  readonly fingerprint: string;
}

export interface StartOptions {
  readonly entry: ServerEntry;
  readonly program: string;
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
}

export function startServer({ entry, program, root, env }: StartOptions): Server {
  const documents = new Map<string, Document>();
  const watchedFiles = createWatchedFiles();
  let state: Server["state"] = "starting";
  let wasReady = false;
  let capabilities: Capabilities = capabilitiesIn(undefined);
  let lastVersion = 0;

  const registered: Registered = {
    watching: (id, options) => watchedFiles.registered(id, options),
    pulling: (options) => {
      feed.pull = options;
    },
    unregistered: (id) => watchedFiles.unregistered(id),
    refresh: () => {
      for (const document of documents.values()) if (document.waiting.size > 0) feed.ask(document);
    },
  };
  const client: Client = startClient(
    { command: program, args: entry.args, cwd: root, env },
    {
      notified: (method, params) => {
        if (method === "textDocument/publishDiagnostics") feed.published(params);
      },
      asked: (method, params) => answerTo(method, params, { root, settings: entry.settings, registered }),
    },
  );

  const feed = createDiagnosticsFeed(client, documents, () => capabilities);

  const send = (document: Document, saved: boolean): void => {
    const { uri, languageId, version, text } = document;
    const textDocument = { uri, version };
    if (!document.isOpen || capabilities.change === 0) {
      if (document.isOpen) client.notify("textDocument/didClose", { textDocument: { uri } });
      client.notify("textDocument/didOpen", { textDocument: { ...textDocument, languageId, text } });
      document.isOpen = true;
    } else client.notify("textDocument/didChange", { textDocument, contentChanges: [{ text }] });
    if (saved) sendSaved(document);
    feed.sent(document);
  };
  const sendSaved = ({ uri, text }: Document): void => {
    const { save } = capabilities;
    if (save === undefined) return;
    client.notify("textDocument/didSave", { textDocument: { uri }, ...(save.includeText ? { text } : {}) });
  };

  const initialize = async (): Promise<void> => {
    const options = { waitMsMax: limits.languageStartMsMax };
    const answer = await client.request("initialize", initializeParams(root, entry.initializationOptions), options);
    if (answer.is !== "result") {
      if (answer.is !== "ended") await client.stop();
      return;
    }
    capabilities = capabilitiesIn(answer.value);
    feed.pull = capabilities.pull;
    client.notify("initialized", {});
    client.notify("workspace/didChangeConfiguration", { settings: entry.settings });
    state = "ready";
    wasReady = true;
    for (const document of documents.values()) send(document, true);
  };

  const ended = client.ended.then((why) => {
    state = "ended";
    for (const document of documents.values()) {
      dropDiagnostics(document);
      for (const done of document.waiting) done();
    }
    const complaint = client.complaints().trim().split("\n").at(-1)?.slice(0, 200);
    return wasReady || complaint === undefined || complaint === "" ? why : `${why}: ${complaint}`;
  });
  const started = initialize();

  const forget = (document: Document): void => {
    dropDiagnostics(document);
    documents.delete(document.path);
    for (const done of document.waiting) done();
    if (state === "ready" && document.isOpen) {
      client.notify("textDocument/didClose", { textDocument: { uri: document.uri } });
    }
  };

  const documentOf = (file: SourceFile): Document => {
    const existing = documents.get(file.path);
    if (existing !== undefined) {
      documents.delete(file.path);
      documents.set(file.path, existing);
      return existing;
    }
    const extension = extensionOf(file.path);
    const made = createDocument(file, entry.extensions[extension] ?? "plaintext");
    documents.set(file.path, made);
    for (const document of documents.values()) {
      if (documents.size <= limits.languageDocumentsMax) break;
      if (document !== made && document.waiting.size === 0) forget(document);
    }
    return made;
  };

  const sendNewVersion = (document: Document, how: { readonly saved: boolean; readonly isNews: boolean }): void => {
    dropDiagnostics(document);
    document.version = lastVersion += 1;
    if (how.isNews) feed.countChange(document);
    document.madeAge = feed.age;
    if (state === "ready") send(document, how.saved);
  };

  /** Requests diagnostics again: by a request if the server answers one, else by sending the text once more. */
  const refresh = (document: Document): void => {
    if (feed.pull === undefined) return sendNewVersion(document, { saved: false, isNews: false });
    document.settledVersion = 0;
    if (document.isOpen) feed.ask(document);
  };

  return {
    get state() {
      return state;
    },
    get wasReady() {
      return wasReady;
    },
    ended,
    started,
    get encoding() {
      return capabilities.encoding;
    },
    offers: (capability) => capabilities.offers(capability),
    show: (file, { saved }) => {
      if (state === "ended") return;
      const document = documentOf(file);
      document.fingerprint = file.fingerprint;
      if (document.version > 0 && document.text === file.text) {
        if (saved && state === "ready") sendSaved(document);
        return;
      }
      document.text = file.text;
      document.lines = createDocument(file, "").lines;
      // A file that was only read has not changed for the server.
      sendNewVersion(document, { saved, isNews: saved || document.version > 0 });
    },
    refresh: (path) => {
      const document = documents.get(path);
      if (document !== undefined && state === "ready") refresh(document);
    },
    askAgain: (path) => {
      const document = documents.get(path);
      if (document === undefined || state !== "ready" || document.pulling !== undefined) return;
      const isOutdated = document.settledVersion === document.version && document.settledAge !== feed.age;
      if (isOutdated) refresh(document);
    },
    removed: (path) => {
      const document = documents.get(path);
      if (document !== undefined) forget(document);
      feed.countChange();
    },
    watched: (changes) => {
      const wanted = changes.filter((change) => watchedFiles.wants(change));
      if (state !== "ready" || wanted.length === 0) return;
      client.notify("workspace/didChangeWatchedFiles", {
        changes: wanted.map(({ path, did }) => ({ uri: uriOf(path), type: changeTypes[did] })),
      });
      feed.countChange();
    },
    settled: (path, { untilMs, signal }) =>
      new Promise((resolve) => {
        const document = documents.get(path);
        if (document === undefined || state === "ended") return resolve(false);
        let isTimeUp = false;
        const finish = (): void => {
          const isDone = feed.isSettled(document);
          const isOver = state === "ended" || signal.aborted || documents.get(path) !== document;
          if (!isDone && !isOver && !isTimeUp) return;
          clearTimeout(timer);
          signal.removeEventListener("abort", finish);
          document.waiting.delete(finish);
          resolve(isDone);
        };
        // Not unreferenced: this timer keeps a host alive that awaits the answer.
        const timer = setTimeout(
          () => {
            isTimeUp = true;
            finish();
          },
          Math.max(0, untilMs - performance.now()),
        );
        document.waiting.add(finish);
        const isAsked = document.pulling !== undefined || !document.isOpen || feed.isSettled(document);
        if (feed.pull !== undefined && !isAsked) feed.ask(document);
        signal.addEventListener("abort", finish, { once: true });
        finish();
      }),
    diagnosticsOf: (path, asOf) => {
      const document = documents.get(path);
      if (document === undefined || !feed.isSettled(document, asOf)) return undefined;
      const { list: diagnostics, errorsMore, warningsMore } = mergeDiagnostics(document);
      return { diagnostics, errorsMore, warningsMore, lines: document.lines, fingerprint: document.fingerprint };
    },
    linesOf: (path) => documents.get(path)?.lines,
    open: () => [...documents.values()].map(({ path, fingerprint }) => ({ path, fingerprint })),
    request: (method, params, waitMsMax, signal) => client.request(method, params, { waitMsMax, signal }),
    stop: async () => {
      await client.stop();
      await ended;
    },
  };
}

const changeTypes = { created: 1, changed: 2, deleted: 3 } as const;

export function extensionOf(path: string): string {
  const name = path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
  const dot = name.lastIndexOf(".");
  return dot <= 0 ? "" : name.slice(dot).toLowerCase();
}

// One file as one server knows it, with its diagnostics. Diagnostics count only if they are about the text that was sent
// last: they carry its version, or were requested after it, or arrived after it and were followed by silence.

interface Document {
  readonly path: string;
  readonly uri: string;
  readonly languageId: string;
  text: string;
  fingerprint: string;
  lines: Lines;
  /** Grows with every text; unique within one server. */
  version: number;
  madeAge: number;
  isOpen: boolean;
  /** The version whose diagnostics are complete; 0 if there are none. */
  settledVersion: number;
  /** The feed's `age` for which they are complete: errors may depend on other files. */
  settledAge: number;
  pulled: Published;
  pushed: Published;
  readonly waiting: Set<() => void>;
  settling: NodeJS.Timeout | undefined;
  pulling: AbortController | undefined;
  /** The version that the server has certainly read. */
  readVersion: number;
}

const createDocument = (file: SourceFile, languageId: string): Document => ({
  path: file.path,
  uri: uriOf(file.path),
  languageId,
  text: file.text,
  fingerprint: file.fingerprint,
  lines: linesOf(file.text),
  version: 0,
  madeAge: 0,
  isOpen: false,
  settledVersion: 0,
  settledAge: 0,
  pulled: nothingPublished,
  pushed: nothingPublished,
  waiting: new Set(),
  settling: undefined,
  pulling: undefined,
  readVersion: 0,
});

function dropDiagnostics(document: Document): void {
  clearTimeout(document.settling);
  document.settling = undefined;
  document.pulling?.abort();
  document.pulling = undefined;
  document.pulled = nothingPublished;
  document.pushed = nothingPublished;
  document.settledVersion = 0;
}

function mergeDiagnostics({ pulled, pushed }: Document): Published {
  if (pushed.list.length === 0) return pulled;
  if (pulled.list.length === 0) return pushed;
  const seen = new Set(pulled.list.map((one) => JSON.stringify(one)));
  return {
    list: [...pulled.list, ...pushed.list.filter((one) => !seen.has(JSON.stringify(one)))],
    errorsMore: pulled.errorsMore + pushed.errorsMore,
    warningsMore: pulled.warningsMore + pushed.warningsMore,
  };
}

// When the diagnostics of a document are complete: servers that push are complete after a silence, others answer a request.
// Diagnostics for an older version are dropped.

const serverCancelled = -32_802;
const contentModified = -32_801;
/** Retries after such an error: a busy server cancels while it loads the project. */
const retriesMax = 10;
/** Pause between them: long enough for a server to take in a change, short compared with `languageWaitMsMax`. */
const retryMs = 40;

function createDiagnosticsFeed(
  client: Client,
  documents: ReadonlyMap<string, Document>,
  capabilities: () => Capabilities,
) {
  let age = 0;
  let pull: Capabilities["pull"];
  let pushesVersions = true;

  const settle = (document: Document, settledAge: number): void => {
    document.settledVersion = document.version;
    document.settledAge = settledAge;
    for (const done of document.waiting) done();
  };

  const ask = (document: Document, tries = 0): void => {
    document.pulling?.abort();
    const pulling = new AbortController();
    document.pulling = pulling;
    const { version, uri: asked } = document;
    const askedAge = age;
    const identifier = pull?.identifier;
    const params = { textDocument: { uri: asked }, ...(identifier === undefined ? {} : { identifier }) };
    const options = { waitMsMax: limits.languageAnswerMsMax, signal: pulling.signal };
    void client.request("textDocument/diagnostic", params, options).then((answer) => {
      if (document.pulling !== pulling || document.version !== version) return;
      document.pulling = undefined;
      if (answer.is === "result") {
        const { items } = fieldsOf(answer.value);
        document.pulled = diagnosticsIn(items, document.path, document.lines, capabilities().encoding);
        settle(document, askedAge);
        // Another file has changed since, and a call waits for current diagnostics.
        if (document.waiting.size > 0 && askedAge !== age) ask(document);
        return;
      }
      const again = answer.is === "error" && (answer.code === serverCancelled || answer.code === contentModified);
      if (!again || tries >= retriesMax) return;
      document.settling = setTimeout(() => {
        if (document.version === version && document.pulling === undefined) ask(document, tries + 1);
      }, retryMs).unref();
    });
  };

  /** Without versions: diagnostics that arrive before the server has read the change may be about the old text. */
  const quietMsOf = (document: Document): number =>
    document.readVersion === document.version ? limits.languageUnversionedSettleMs : limits.languageUnreadSettleMs;

  const settleWhenQuiet = (document: Document, quietMs: number): void => {
    clearTimeout(document.settling);
    const { version, madeAge } = document;
    document.settling = setTimeout(() => {
      if (document.version === version) settle(document, madeAge);
    }, quietMs).unref();
  };

  /** A server reads messages in order, so an answer to this request proves that it has read the text before it. */
  const askWhetherRead = (document: Document): void => {
    const { version, uri } = document;
    const textDocument = { uri };
    const { offers } = capabilities();
    const [method, params] = offers("hoverProvider")
      ? ["textDocument/hover", { textDocument, position: { line: 0, character: 0 } }]
      : offers("documentSymbolProvider")
        ? ["textDocument/documentSymbol", { textDocument }]
        : ["$/filehand/read", {}];
    void client.request(method, params, { waitMsMax: limits.languageAnswerMsMax }).then((answer) => {
      if ((answer.is === "result" || answer.is === "error") && document.version === version) {
        document.readVersion = version;
      }
    });
  };

  return {
    /** How to request diagnostics; undefined if the server pushes them. A registration may change it. */
    get pull(): Capabilities["pull"] {
      return pull;
    },
    set pull(options: Capabilities["pull"]) {
      pull = options;
      if (options === undefined) return;
      for (const document of documents.values()) if (document.isOpen) ask(document);
    },
    /** Grows with every change that the server is sent: earlier diagnostics may be outdated by it. */
    get age(): number {
      return age;
    },
    /** Diagnostics of other documents that calls wait for are requested again. */
    countChange: (but?: Document): void => {
      age += 1;
      if (pull === undefined) return;
      for (const document of documents.values()) {
        if (document !== but && document.waiting.size > 0 && document.isOpen) ask(document);
      }
    },
    sent: (document: Document): void => {
      if (pull !== undefined) ask(document);
      else if (!pushesVersions) askWhetherRead(document);
    },
    ask,
    published: (params: unknown): void => {
      const { uri, version, diagnostics } = fieldsOf(params);
      const path = pathOf(uri);
      const document = path === undefined ? undefined : documents.get(path);
      if (document === undefined || !document.isOpen) return;
      const hasVersion = typeof version === "number";
      if (hasVersion ? version !== document.version : pull !== undefined) return;
      document.pushed = diagnosticsIn(diagnostics, document.path, document.lines, capabilities().encoding);
      // A server that answers requests sends everything in its answer.
      if (pull !== undefined) return;
      if (!hasVersion && pushesVersions) {
        pushesVersions = false;
        askWhetherRead(document);
      }
      settleWhenQuiet(document, hasVersion ? limits.languageSettleMs : quietMsOf(document));
    },
    /** Whether the diagnostics of the current text are complete. `now`: and newer than the last change of any other file. */
    isSettled: (document: Document, asOf?: "now"): boolean =>
      document.settledVersion === document.version &&
      (document.settledAge === age || (pull === undefined && asOf === undefined)),
  };
}

// The file changes that a server wants to hear of. Its patterns are untrusted: they are matched like Glob's, in linear
// time, and their number and length are limited.

interface Watcher {
  readonly matches: (path: string) => boolean;
  /** Bits: created 1, changed 2, deleted 4. */
  readonly kinds: number;
}

/** For all registrations of one server together. */
const watchersMax = 1_000;
/** Longer patterns are ignored: they come from the server, and real ones are short. */
const patternCharsMax = 500;
const kindBits = { created: 1, changed: 2, deleted: 4 } as const;

export function createWatchedFiles() {
  const byId = new Map<string, readonly Watcher[]>();
  return {
    registered: (id: string, options: unknown): void => {
      const { watchers } = fieldsOf(options);
      if (!Array.isArray(watchers)) return;
      byId.delete(id);
      const left = [...byId.values()].reduce((rest, { length }) => rest - length, watchersMax);
      const made = watchers.slice(0, left).flatMap(watcherOf);
      if (made.length > 0) byId.set(id, made);
    },
    unregistered: (id: string) => void byId.delete(id),
    wants: ({ path, did }: WatchedChange): boolean => {
      const name = path.replaceAll("\\", "/").normalize("NFC");
      for (const list of byId.values()) {
        if (list.some(({ matches, kinds }) => (kinds & kindBits[did]) !== 0 && matches(name))) return true;
      }
      return false;
    },
  };
}

function watcherOf(value: unknown): readonly Watcher[] {
  const { globPattern, kind } = fieldsOf(value);
  const kinds = typeof kind === "number" ? kind : 7;
  if (typeof globPattern === "string") return made("", globPattern, kinds);
  const { baseUri, pattern } = fieldsOf(globPattern);
  const base = pathOf(typeof baseUri === "string" ? baseUri : fieldsOf(baseUri)["uri"]);
  return typeof pattern === "string" && base !== undefined ? made(base, pattern, kinds) : [];
}

function made(base: string, pattern: string, kinds: number): readonly Watcher[] {
  if (pattern.length > patternCharsMax) return [];
  const folder = base.replaceAll("\\", "/").replace(/\/$/, "").normalize("NFC");
  // A bare pattern matches absolute paths, or anything below.
  const isAnchored = base !== "" || pattern.startsWith("/");
  const glob = parseGlob(isAnchored ? `./${pattern}` : `**/${pattern}`);
  if ("fault" in glob) return [];
  const start = startGlobState(glob);
  const matches = (path: string): boolean =>
    path.startsWith(`${folder}/`) ? isMatch(start, path.slice(folder.length)) : folder === "" && isMatch(start, path);
  return [{ matches, kinds }];
}

function isMatch(start: GlobState, path: string): boolean {
  const names = path.split("/").filter((name) => name !== "");
  const last = names.pop();
  if (last === undefined) return false;
  let state: GlobState | undefined = start;
  for (const name of names) state = state?.enter(name, "all");
  return state?.accepts(last, "all") ?? false;
}
