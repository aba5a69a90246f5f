/** Questions to servers about code, and their answers in neutral nouns. What is malformed in an answer is left out. */

import type {
  AskOptions,
  CallHierarchyItem,
  CodeSymbol,
  HierarchyCall,
  LanguageAnswer,
  Languages,
  Location,
  Position,
  RenameEdits,
  SourceFile,
} from "../contract/language.ts";
import { limits } from "../contract/limits.ts";
import { createReader, type Reader } from "./answers-read.ts";
import { linesOf, wirePosition } from "./positions.ts";
import type { Server } from "./server.ts";
import type { Slot } from "./slot.ts";
import { uriOf } from "./uris.ts";
import type { World } from "./world.ts";

type Questions = Pick<
  Languages,
  | "definition"
  | "implementation"
  | "references"
  | "hover"
  | "documentSymbols"
  | "workspaceSymbols"
  | "callHierarchy"
  | "incomingCalls"
  | "outgoingCalls"
  | "renameEdits"
>;

interface Question<Value> {
  readonly method: string;
  readonly capability: string;
  readonly params: (server: Server) => object;
  readonly read: (value: unknown, reader: Reader) => Value;
}

/** `show`: tells servers the file as it is, and says which are in charge. */
export function questionsTo(show: (file: SourceFile) => readonly Slot[], world: World): Questions {
  const ask = async <Value>(
    file: SourceFile,
    { method, capability, params, read }: Question<Value>,
    { signal, waitMsMax = limits.languageAnswerMsMax }: AskOptions,
  ): Promise<LanguageAnswer<Value>> => {
    let answer: LanguageAnswer<Value> = { answer: "no server" };
    const untilMs = performance.now() + waitMsMax;
    // The first that offers it; with several servers for a file that is seldom the first of all.
    for (const slot of show(file)) {
      const name = slot.entry.name;
      const server = slot.server();
      if (server === undefined || !(await inTime(server.started, untilMs, signal))) {
        answer =
          server === undefined || server.state === "ended"
            ? { answer: "failed", server: name, why: slot.why ?? "it did not start" }
            : { answer: "too slow", server: name, waitedMs: waitMsMax };
        continue;
      }
      if (server.state === "ended") {
        answer = { answer: "failed", server: name, why: await server.ended };
        continue;
      }
      if (!server.offers(capability)) {
        if (answer.answer === "no server") answer = { answer: "not offered", server: name };
        continue;
      }
      const leftMs = Math.max(1, untilMs - performance.now());
      const got = await server.request(method, params(server), leftMs, signal);
      switch (got.is) {
        case "result":
          return { answer: "given", server: name, value: read(got.value, createReader(server, world)) };
        case "error":
          answer = { answer: "failed", server: name, why: got.message };
          break;
        case "ended":
          answer = { answer: "failed", server: name, why: got.why };
          break;
        case "timeout":
        case "cancelled":
          answer = { answer: "too slow", server: name, waitedMs: waitMsMax };
          break;
      }
    }
    return answer;
  };

  const at =
    (file: SourceFile, position: Position, more: object = {}) =>
    (server: Server): object => ({
      textDocument: { uri: uriOf(file.path) },
      position: wirePosition(linesOf(file.text), position, server.encoding),
      ...more,
    });
  const locations = (method: string, capability: string, more?: object) => ({
    capability,
    method: `textDocument/${method}`,
    params: (file: SourceFile, position: Position) => at(file, position, more),
    read: (value: unknown, reader: Reader): readonly Location[] => reader.locations(value),
  });
  const kinds = {
    definition: locations("definition", "definitionProvider"),
    implementation: locations("implementation", "implementationProvider"),
    references: locations("references", "referencesProvider", { context: { includeDeclaration: true } }),
  };
  const askForPlaces = (
    kind: keyof typeof kinds,
  ): ((file: SourceFile, position: Position, options: AskOptions) => Promise<LanguageAnswer<readonly Location[]>>) => {
    const { method, capability, params, read } = kinds[kind];
    return (file, position, options) =>
      ask(file, { method, capability, params: params(file, position), read }, options);
  };
  const calls = (way: "incoming" | "outgoing") => {
    const method = `callHierarchy/${way}Calls`;
    return (file: SourceFile, item: CallHierarchyItem, options: AskOptions) =>
      ask<readonly HierarchyCall[]>(
        file,
        {
          method,
          capability: "callHierarchyProvider",
          params: () => ({ item: item.handle }),
          read: (value, reader) => reader.calls(value, way, item.path),
        },
        options,
      );
  };

  return {
    definition: askForPlaces("definition"),
    implementation: askForPlaces("implementation"),
    references: askForPlaces("references"),
    hover: (file, position, options) =>
      ask<string | undefined>(
        file,
        {
          method: "textDocument/hover",
          capability: "hoverProvider",
          params: at(file, position),
          read: (value, reader) => reader.hover(value),
        },
        options,
      ),
    documentSymbols: (file, options) =>
      ask<readonly CodeSymbol[]>(
        file,
        {
          method: "textDocument/documentSymbol",
          capability: "documentSymbolProvider",
          params: () => ({ textDocument: { uri: uriOf(file.path) } }),
          read: (value, reader) => reader.symbols(value, file.path),
        },
        options,
      ),
    workspaceSymbols: (query, near, options) =>
      ask<readonly CodeSymbol[]>(
        near,
        {
          method: "workspace/symbol",
          capability: "workspaceSymbolProvider",
          params: () => ({ query }),
          read: (value, reader) => reader.symbols(value, undefined),
        },
        options,
      ),
    callHierarchy: (file, position, options) =>
      ask<readonly CallHierarchyItem[]>(
        file,
        {
          method: "textDocument/prepareCallHierarchy",
          capability: "callHierarchyProvider",
          params: at(file, position),
          read: (value, reader) => reader.callItems(value),
        },
        options,
      ),
    incomingCalls: calls("incoming"),
    outgoingCalls: calls("outgoing"),
    renameEdits: (file, position, newName, options) =>
      ask<RenameEdits>(
        file,
        {
          method: "textDocument/rename",
          capability: "renameProvider",
          params: at(file, position, { newName }),
          read: (value, reader) => reader.edits(value),
        },
        options,
      ),
  };
}

/** Whether a promise was kept before the time is up. */
function inTime(promise: Promise<void>, untilMs: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const finish = (kept: boolean): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      resolve(kept);
    };
    const onAbort = (): void => finish(false);
    const timer = setTimeout(() => finish(false), Math.max(0, untilMs - performance.now()));
    signal.addEventListener("abort", onAbort, { once: true });
    void promise.then(() => finish(true));
    if (signal.aborted) finish(false);
  });
}
