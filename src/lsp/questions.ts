/** Questions to servers about code, with neutral answers. Malformed parts of an answer are left out. */

import { limits } from "../contract/limits.ts";
import type {
  AskOptions,
  CallHierarchyItem,
  CodeSymbol,
  FileEdits,
  LanguageAnswer,
  Location,
  Position,
  Questions,
  RenameEdits,
  SourceFile,
  TextRange,
} from "../contract/lsp.ts";
import { fieldsOf, willRename } from "./capabilities.ts";
import { type Lines, linesOf, pathOf, rangeIn, uriOf, wirePosition } from "./diagnostics.ts";
import type { Server } from "./server.ts";
import type { Supervisor, LanguageEnvironment } from "./supervisor.ts";

export function questionsTo(
  show: (file: SourceFile) => readonly Supervisor[],
  environment: LanguageEnvironment,
): Questions {
  const ask = async <Value>(
    file: SourceFile,
    { signal, waitMsMax = limits.languageAnswerMsMax }: AskOptions,
    method: string,
    capability: string,
    params: (server: Server) => object,
    read: (value: unknown, reader: Reader) => Value,
  ): Promise<LanguageAnswer<Value>> => {
    let answer: LanguageAnswer<Value> = { answer: "no server" };
    const untilMs = performance.now() + waitMsMax;
    // The first server that offers the capability answers; the others are for diagnostics.
    for (const supervisor of show(file)) {
      const { name } = supervisor.entry;
      const failed = (why: string) => ({ answer: "failed", server: name, why }) as const;
      const tooSlow = { answer: "too slow", server: name, waitedMs: waitMsMax } as const;
      const server = supervisor.server();
      if (server === undefined || !(await inTime(server.started, untilMs, signal))) {
        const isGone = server === undefined || server.state === "ended";
        answer = isGone ? failed(supervisor.why ?? "it did not start") : tooSlow;
      } else if (server.state === "ended") answer = failed(await server.ended);
      else if (server.offers(capability)) {
        const leftMs = Math.max(1, untilMs - performance.now());
        const response = await server.request(method, params(server), leftMs, signal);
        if (response.is === "result") {
          return { answer: "given", server: name, value: read(response.value, createReader(server, environment)) };
        }
        if (response.is === "error") answer = failed(response.message);
        else answer = response.is === "ended" ? failed(response.why) : tooSlow;
      } else if (answer.answer === "no server") answer = { answer: "not offered", server: name };
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
  const places =
    (kind: "definition" | "implementation" | "references", more?: object): Questions[typeof kind] =>
    (file, position, options) =>
      ask(file, options, `textDocument/${kind}`, `${kind}Provider`, at(file, position, more), (value, reader) =>
        reader.locations(value),
      );
  const calls =
    (direction: "incoming" | "outgoing"): Questions["incomingCalls"] =>
    (file, item, options) => {
      const params = () => ({ item: item.handle });
      return ask(file, options, `callHierarchy/${direction}Calls`, "callHierarchyProvider", params, (value, reader) =>
        reader.calls(value, direction, item.path),
      );
    };

  return {
    definition: places("definition"),
    implementation: places("implementation"),
    references: places("references", { context: { includeDeclaration: true } }),
    hover: (file, position, options) =>
      ask(file, options, "textDocument/hover", "hoverProvider", at(file, position), (value, reader) =>
        reader.hover(value),
      ),
    documentSymbols: (file, options) => {
      const params = () => ({ textDocument: { uri: uriOf(file.path) } });
      return ask(file, options, "textDocument/documentSymbol", "documentSymbolProvider", params, (value, reader) =>
        reader.symbols(value, file.path),
      );
    },
    workspaceSymbols: (near, query, options) =>
      ask(
        near,
        options,
        "workspace/symbol",
        "workspaceSymbolProvider",
        () => ({ query }),
        (value, reader) => reader.symbols(value, undefined),
      ),
    callHierarchy: (file, position, options) => {
      const method = "textDocument/prepareCallHierarchy";
      return ask(file, options, method, "callHierarchyProvider", at(file, position), (value, reader) =>
        reader.callItems(value),
      );
    },
    incomingCalls: calls("incoming"),
    outgoingCalls: calls("outgoing"),
    renameEdits: (file, position, newName, options) =>
      ask(file, options, "textDocument/rename", "renameProvider", at(file, position, { newName }), (value, reader) =>
        reader.edits(value),
      ),
    moveEdits: (file, moves, options) => {
      const files = moves.map(({ from, to }) => ({ oldUri: uriOf(from), newUri: uriOf(to) }));
      return ask(
        file,
        options,
        "workspace/willRenameFiles",
        willRename,
        () => ({ files }),
        (value, reader) => reader.edits(value),
      );
    },
  };
}

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

// Turns answers of servers into neutral data. Every field is checked: a server may send anything.

type Reader = ReturnType<typeof createReader>;

function createReader(server: Server, environment: LanguageEnvironment) {
  const known = new Map<string, Lines | undefined>();
  let left: number = limits.languageItemsMax;
  let isWhole = true;

  /** The text of a file matters only if columns are counted in bytes. */
  const linesAt = (path: string): Lines | undefined => {
    if (server.encoding === "utf-16") return undefined;
    if (!known.has(path)) {
      const text = server.linesOf(path) === undefined ? environment.textOf(path) : undefined;
      known.set(path, text === undefined ? server.linesOf(path) : linesOf(text));
    }
    return known.get(path);
  };
  const rangeAt = (path: string, value: unknown): TextRange | undefined =>
    rangeIn(linesAt(path), value, server.encoding);
  const listIn = (value: unknown): readonly unknown[] => {
    const list: readonly unknown[] = Array.isArray(value)
      ? value
      : value === null || value === undefined
        ? []
        : [value];
    const taken = list.slice(0, left);
    left -= taken.length;
    isWhole &&= taken.length === list.length;
    return taken;
  };

  const location = (value: unknown): readonly Location[] => {
    const { uri, range, targetUri, targetSelectionRange, targetRange } = fieldsOf(value);
    const path = pathOf(uri ?? targetUri);
    const place = path === undefined ? undefined : rangeAt(path, range ?? targetSelectionRange ?? targetRange);
    return path === undefined || place === undefined ? [] : [{ path, range: place }];
  };

  const symbol = (value: unknown, file: string | undefined, depth: number): readonly CodeSymbol[] => {
    const { name, kind, detail, range, selectionRange, location: where, containerName, children } = fieldsOf(value);
    const path = file ?? pathOf(fieldsOf(where)["uri"]);
    if (typeof name !== "string" || path === undefined) return [];
    const given = rangeAt(path, range ?? fieldsOf(where)["range"]);
    // A workspace symbol may name its file without a range.
    const whole =
      given ?? (file === undefined ? { start: { line: 1, column: 1 }, end: { line: 1, column: 1 } } : undefined);
    if (whole === undefined) return [];
    return [
      {
        name: cut(name),
        kind: kindOf(kind),
        detail: textOrNone(detail),
        path,
        range: whole,
        nameRange: rangeAt(path, selectionRange) ?? whole,
        container: textOrNone(containerName),
        children: depth >= depthMax ? [] : listIn(children).flatMap((child) => symbol(child, file, depth + 1)),
      },
    ];
  };

  const callItem = (value: unknown): readonly CallHierarchyItem[] => {
    const { name, kind, detail, uri, range, selectionRange } = fieldsOf(value);
    const path = pathOf(uri);
    const whole = path === undefined ? undefined : rangeAt(path, range);
    if (typeof name !== "string" || path === undefined || whole === undefined) return [];
    const nameRange = rangeAt(path, selectionRange) ?? whole;
    return [
      { name: cut(name), kind: kindOf(kind), detail: textOrNone(detail), path, range: whole, nameRange, handle: value },
    ];
  };

  const fileEdits = (uri: unknown, list: unknown): readonly FileEdits[] => {
    const path = pathOf(uri);
    isWhole &&= path !== undefined;
    if (path === undefined) return [];
    const edits = listIn(list).flatMap((each) => {
      const { range, newText } = fieldsOf(each);
      const place = rangeAt(path, range);
      if (place !== undefined && typeof newText === "string") return [{ range: place, text: newText }];
      isWhole = false;
      return [];
    });
    return [{ path, edits }];
  };

  return {
    locations: (value: unknown) => listIn(value).flatMap(location),
    hover: (value: unknown) => {
      const { contents } = fieldsOf(value);
      const parts = (Array.isArray(contents) ? (contents as readonly unknown[]) : [contents])
        .slice(0, 100)
        .map(markedText);
      const text = parts
        .filter((part) => part !== "")
        .join("\n\n")
        .slice(0, limits.languageHoverCharsMax);
      return text === "" ? undefined : text;
    },
    symbols: (value: unknown, path: string | undefined) => listIn(value).flatMap((each) => symbol(each, path, 0)),
    callItems: (value: unknown) => listIn(value).flatMap(callItem),
    calls: (value: unknown, direction: "incoming" | "outgoing", path: string) =>
      listIn(value).flatMap((each) => {
        const { from, to, fromRanges } = fieldsOf(each);
        const [item] = callItem(direction === "incoming" ? from : to);
        if (item === undefined) return [];
        const inFile = direction === "incoming" ? item.path : path;
        return [{ item, ranges: listIn(fromRanges).flatMap((one) => rangeAt(inFile, one) ?? []) }];
      }),
    edits: (value: unknown): RenameEdits => {
      const { changes, documentChanges } = fieldsOf(value);
      if (!Array.isArray(documentChanges)) {
        const all = Object.entries(fieldsOf(changes)).flatMap(([uri, list]) => fileEdits(uri, list));
        return { files: all, fileOperations: [], whole: isWhole };
      }
      const files: FileEdits[] = [];
      const fileOperations: string[] = [];
      for (const each of listIn(documentChanges)) {
        const { kind, textDocument, edits } = fieldsOf(each);
        if (typeof kind === "string") fileOperations.push(cut(kind));
        else files.push(...fileEdits(fieldsOf(textDocument)["uri"], edits));
      }
      return { files, fileOperations, whole: isWhole };
    },
  };
}

/** Bounds the recursion: the nesting comes from the server. */
const depthMax = 50;

const cut = (text: string): string => text.slice(0, limits.languageMessageCharsMax);
const textOrNone = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? cut(value) : undefined;

function markedText(value: unknown): string {
  if (typeof value === "string") return value;
  const { value: text } = fieldsOf(value);
  return typeof text === "string" ? text : "";
}

/** In the order of the protocol, which counts from 1. */
const symbolKinds = (
  "file,module,namespace,package,class,method,property,field,constructor,enum,interface,function,variable,constant," +
  "string,number,boolean,array,object,key,null,enum member,struct,event,operator,type parameter"
).split(",");

const kindOf = (value: unknown): string => (typeof value === "number" ? symbolKinds[value - 1] : undefined) ?? "other";
