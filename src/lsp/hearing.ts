/**
 * What a server says of its documents, and when that is all of it: servers that push are waited for until they are quiet, others
 * are asked. What is said of an older text is not heard.
 */

import { limits } from "../contract/limits.ts";
import { type Capabilities, fieldsOf } from "./capabilities.ts";
import type { Client } from "./client.ts";
import { diagnosticsIn } from "./diagnostics.ts";
import type { Document } from "./document.ts";
import { pathOf } from "./uris.ts";

export interface Hearing {
  /** How it is asked for diagnostics; undefined if it pushes them. May change when it registers something. */
  pull: Capabilities["pull"];
  /** Grows with every change the server hears of: what it said before may depend on what was then. */
  readonly age: number;
  /** Something is other than it was. Those who wait for another document want to know what is so now. */
  grow(but?: Document): void;
  /** The server was sent a text. */
  sent(document: Document): void;
  /** Asks for what is said of the document now. */
  ask(document: Document): void;
  /** Takes `textDocument/publishDiagnostics`. */
  published(params: unknown): void;
  /** Has all been said of the text that it has? `now`: also after another file has changed, on which it may depend. */
  isSettled(document: Document, asOf?: "now"): boolean;
}

export interface HearingOptions {
  readonly client: Client;
  readonly documents: ReadonlyMap<string, Document>;
  readonly capabilities: () => Capabilities;
}

const serverCancelled = -32_802;
const contentModified = -32_801;
const retriesMax = 10;
const retryMs = 40;

export function createHearing({ client, documents, capabilities }: HearingOptions): Hearing {
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
        // Another file has changed since, and somebody wants to know what is so now.
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

  /** Without versions: what came after the server had read the change is of it; what came before may be of the old text. */
  const quietMsOf = (document: Document): number =>
    document.readVersion === document.version ? limits.languageUnversionedSettleMs : limits.languageUnreadSettleMs;

  const settleWhenQuiet = (document: Document, quietMs: number): void => {
    clearTimeout(document.settling);
    const { version, madeAge } = document;
    document.settling = setTimeout(() => {
      if (document.version === version) settle(document, madeAge);
    }, quietMs).unref();
  };

  /** Messages are read in their order, so whoever answers this has read what was sent before. */
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
    get pull() {
      return pull;
    },
    set pull(options) {
      pull = options;
      if (options === undefined) return;
      for (const document of documents.values()) if (document.isOpen) ask(document);
    },
    get age() {
      return age;
    },
    grow: (but) => {
      age += 1;
      if (pull === undefined) return;
      for (const document of documents.values()) {
        if (document !== but && document.waiting.size > 0 && document.isOpen) ask(document);
      }
    },
    sent: (document) => {
      if (pull !== undefined) ask(document);
      else if (!pushesVersions) askWhetherRead(document);
    },
    ask,
    published: (params) => {
      const { uri, version, diagnostics } = fieldsOf(params);
      const path = pathOf(uri);
      const document = path === undefined ? undefined : documents.get(path);
      if (document === undefined || !document.isOpen) return;
      const hasVersion = typeof version === "number";
      if (hasVersion ? version !== document.version : pull !== undefined) return;
      document.pushed = diagnosticsIn(diagnostics, document.path, document.lines, capabilities().encoding);
      // One that is asked says all there is when it answers.
      if (pull !== undefined) return;
      if (!hasVersion && pushesVersions) {
        pushesVersions = false;
        askWhetherRead(document);
      }
      settleWhenQuiet(document, hasVersion ? limits.languageSettleMs : quietMsOf(document));
    },
    isSettled: (document, asOf) =>
      document.settledVersion === document.version &&
      (document.settledAge === age || (pull === undefined && asOf === undefined)),
  };
}
