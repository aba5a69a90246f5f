/**
 * One running server: it is told which files there are and what becomes of them, and what it says of them is kept as long as
 * it is true. Nothing here rejects or throws for what the server does.
 */

import type { Diagnostic, SourceFile, WatchedChange } from "../contract/language.ts";
import { limits } from "../contract/limits.ts";
import { answerTo, type Registered } from "./answers.ts";
import { type Capabilities, capabilitiesIn, initializeParams } from "./capabilities.ts";
import { type Answered, type Client, startClient } from "./client.ts";
import { createDocument, type Document, outdate, saidOf } from "./document.ts";
import { createHearing } from "./hearing.ts";
import type { Lines, PositionEncoding } from "./positions.ts";
import type { ServerEntry } from "./servers.ts";
import { uriOf } from "./uris.ts";
import { createWatchedFiles } from "./watched-files.ts";

export interface Server {
  readonly state: "starting" | "ready" | "ended";
  /** Did it ever get as far as being ready? */
  readonly wasReady: boolean;
  /** Kept when it is gone, with the reason. */
  readonly ended: Promise<string>;
  /** Kept when it is ready, or gone. */
  readonly started: Promise<void>;
  readonly encoding: PositionEncoding;
  offers(capability: string): boolean;
  /** Makes sure that the server knows this text of the file. */
  show(file: SourceFile, how: { readonly saved: boolean }): void;
  /** What it said of this file before is asked for anew. */
  refresh(path: string): void;
  removed(path: string): void;
  watched(changes: readonly WatchedChange[]): void;
  /** Waits until it has said what it has to say of the file as it was shown last; false when time is up or it is gone. */
  settled(path: string, wait: { readonly untilMs: number; readonly signal: AbortSignal }): Promise<boolean>;
  /**
   * What it said; undefined if that is of another state, or not all of it. `now`: also if another file has changed since, on
   * which it may depend.
   */
  said(path: string, asOf?: "now"): Said | undefined;
  /** Sees to it that there will be something said as of now. */
  askAgain(path: string): void;
  linesOf(path: string): Lines | undefined;
  /** What it has open, and in which state. */
  open(): readonly { readonly path: string; readonly stamp: string }[];
  request(method: string, params: unknown, waitMsMax: number, signal: AbortSignal): Promise<Answered>;
  stop(): Promise<void>;
}

export interface Said {
  readonly diagnostics: readonly Diagnostic[];
  /** How many more there were than are kept. */
  readonly errorsMore: number;
  readonly warningsMore: number;
  readonly lines: Lines;
  readonly stamp: string;
}

export interface StartOptions {
  readonly entry: ServerEntry;
  /** The absolute path of its program. */
  readonly program: string;
  /** The project's folder. */
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
      hearing.pull = options;
    },
    unregistered: (id) => watchedFiles.unregistered(id),
    refresh: () => {
      for (const document of documents.values()) if (document.waiting.size > 0) hearing.ask(document);
    },
  };
  const client: Client = startClient(
    { command: program, args: entry.args, cwd: root, env },
    {
      notified: (method, params) => {
        if (method === "textDocument/publishDiagnostics") hearing.published(params);
      },
      asked: (method, params) => answerTo(method, params, { root, settings: entry.settings, registered }),
    },
  );

  const hearing = createHearing({ client, documents, capabilities: () => capabilities });

  /** Tells the server the text that the document has now. */
  const send = (document: Document, saved: boolean): void => {
    const { uri, languageId, version, text } = document;
    const textDocument = { uri, version };
    if (!document.isOpen || capabilities.change === 0) {
      if (document.isOpen) client.notify("textDocument/didClose", { textDocument: { uri } });
      client.notify("textDocument/didOpen", { textDocument: { ...textDocument, languageId, text } });
      document.isOpen = true;
    } else client.notify("textDocument/didChange", { textDocument, contentChanges: [{ text }] });
    if (saved) sendSaved(document);
    hearing.sent(document);
  };
  const sendSaved = ({ uri, text }: Document): void => {
    const { save } = capabilities;
    if (save === undefined) return;
    client.notify("textDocument/didSave", { textDocument: { uri }, ...(save.includeText ? { text } : {}) });
  };

  const begin = async (): Promise<void> => {
    const options = { waitMsMax: limits.languageStartMsMax };
    const answer = await client.request("initialize", initializeParams(root, entry.initializationOptions), options);
    if (answer.is !== "result") {
      if (answer.is !== "ended") await client.stop();
      return;
    }
    capabilities = capabilitiesIn(answer.value);
    hearing.pull = capabilities.pull;
    client.notify("initialized", {});
    client.notify("workspace/didChangeConfiguration", { settings: entry.settings });
    state = "ready";
    wasReady = true;
    for (const document of documents.values()) send(document, true);
  };

  const ended = client.ended.then((why) => {
    state = "ended";
    for (const document of documents.values()) {
      outdate(document);
      for (const done of document.waiting) done();
    }
    const complaint = client.complaints().trim().split("\n").at(-1)?.slice(0, 200);
    return wasReady || complaint === undefined || complaint === "" ? why : `${why}: ${complaint}`;
  });
  const started = begin();

  const forget = (document: Document): void => {
    outdate(document);
    documents.delete(document.path);
    for (const done of document.waiting) done();
    if (state === "ready" && document.isOpen) {
      client.notify("textDocument/didClose", { textDocument: { uri: document.uri } });
    }
  };

  const documentOf = (file: SourceFile): Document => {
    const there = documents.get(file.path);
    if (there !== undefined) {
      // The last used is the last in line.
      documents.delete(file.path);
      documents.set(file.path, there);
      return there;
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

  const renew = (document: Document, how: { readonly saved: boolean; readonly isNews: boolean }): void => {
    outdate(document);
    document.version = lastVersion += 1;
    if (how.isNews) hearing.grow(document);
    document.madeAge = hearing.age;
    if (state === "ready") send(document, how.saved);
  };

  /** What it says of a text is asked for anew: it is sent once more, where nothing can be asked. */
  const refresh = (document: Document): void => {
    if (hearing.pull === undefined) return renew(document, { saved: false, isNews: false });
    document.settledVersion = 0;
    if (document.isOpen) hearing.ask(document);
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
      document.stamp = file.stamp;
      if (document.version > 0 && document.text === file.text) {
        if (saved && state === "ready") sendSaved(document);
        return;
      }
      document.text = file.text;
      document.lines = createDocument(file, "").lines;
      // A file that is only looked at is to the server what it was.
      renew(document, { saved, isNews: saved || document.version > 0 });
    },
    refresh: (path) => {
      const document = documents.get(path);
      if (document !== undefined && state === "ready") refresh(document);
    },
    askAgain: (path) => {
      const document = documents.get(path);
      if (document === undefined || state !== "ready" || document.pulling !== undefined) return;
      const isOutdated = document.settledVersion === document.version && document.settledAge !== hearing.age;
      if (isOutdated) refresh(document);
    },
    removed: (path) => {
      const document = documents.get(path);
      if (document !== undefined) forget(document);
      hearing.grow();
    },
    watched: (changes) => {
      const wanted = changes.filter((change) => watchedFiles.wants(change));
      if (state !== "ready" || wanted.length === 0) return;
      client.notify("workspace/didChangeWatchedFiles", {
        changes: wanted.map(({ path, did }) => ({ uri: uriOf(path), type: changeTypes[did] })),
      });
      hearing.grow();
    },
    settled: (path, { untilMs, signal }) =>
      new Promise((resolve) => {
        const document = documents.get(path);
        if (document === undefined || state === "ended") return resolve(false);
        let isTimeUp = false;
        const finish = (): void => {
          const isDone = hearing.isSettled(document);
          const isOver = state === "ended" || signal.aborted || documents.get(path) !== document;
          if (!isDone && !isOver && !isTimeUp) return;
          clearTimeout(timer);
          signal.removeEventListener("abort", finish);
          document.waiting.delete(finish);
          resolve(isDone);
        };
        // Not unreferenced: it is what keeps a host alive that awaits the answer.
        const timer = setTimeout(
          () => {
            isTimeUp = true;
            finish();
          },
          Math.max(0, untilMs - performance.now()),
        );
        document.waiting.add(finish);
        const isAsked = document.pulling !== undefined || !document.isOpen || hearing.isSettled(document);
        if (hearing.pull !== undefined && !isAsked) hearing.ask(document);
        signal.addEventListener("abort", finish, { once: true });
        finish();
      }),
    said: (path, asOf) => {
      const document = documents.get(path);
      if (document === undefined || !hearing.isSettled(document, asOf)) return undefined;
      const { list: diagnostics, errorsMore, warningsMore } = saidOf(document);
      return { diagnostics, errorsMore, warningsMore, lines: document.lines, stamp: document.stamp };
    },
    linesOf: (path) => documents.get(path)?.lines,
    open: () => [...documents.values()].map(({ path, stamp }) => ({ path, stamp })),
    request: (method, params, waitMsMax, signal) => client.request(method, params, { waitMsMax, signal }),
    stop: async () => {
      await client.stop();
      await ended;
    },
  };
}

const changeTypes = { created: 1, changed: 2, deleted: 3 } as const;

/** With its dot, in lower case. */
export function extensionOf(path: string): string {
  const name = path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
  const dot = name.lastIndexOf(".");
  return dot <= 0 ? "" : name.slice(dot).toLowerCase();
}
