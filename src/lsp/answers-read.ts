/** Answers of servers, made into neutral nouns. Everything is checked: a server may send anything. */

import type {
  CallHierarchyItem,
  CodeSymbol,
  FileEdits,
  HierarchyCall,
  Location,
  RenameEdits,
  SymbolKind,
  TextRange,
} from "../contract/language.ts";
import { limits } from "../contract/limits.ts";
import { fieldsOf } from "./capabilities.ts";
import { type Lines, linesOf, rangeIn } from "./positions.ts";
import type { Server } from "./server.ts";
import { pathOf } from "./uris.ts";
import type { World } from "./world.ts";

export interface Reader {
  locations(value: unknown): readonly Location[];
  hover(value: unknown): string | undefined;
  /** `path`: the file that they are of, where they do not say so themselves. */
  symbols(value: unknown, path: string | undefined): readonly CodeSymbol[];
  callItems(value: unknown): readonly CallHierarchyItem[];
  calls(value: unknown, way: "incoming" | "outgoing", path: string): readonly HierarchyCall[];
  edits(value: unknown): RenameEdits;
}

export function createReader(server: Server, world: World): Reader {
  const known = new Map<string, Lines | undefined>();
  let left: number = limits.languageItemsMax;
  /** Was something left out? */
  let isWhole = true;

  /** Only where columns are counted in bytes does the text of a file matter. */
  const linesAt = (path: string): Lines | undefined => {
    if (server.encoding === "utf-16") return undefined;
    if (!known.has(path)) {
      const text = server.linesOf(path) === undefined ? world.textOf(path) : undefined;
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
    // A symbol of the workspace may name its file alone.
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
    locations: (value) => listIn(value).flatMap(location),
    hover: (value) => {
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
    symbols: (value, path) => listIn(value).flatMap((each) => symbol(each, path, 0)),
    callItems: (value) => listIn(value).flatMap(callItem),
    calls: (value, way, path) =>
      listIn(value).flatMap((each) => {
        const { from, to, fromRanges } = fieldsOf(each);
        const [item] = callItem(way === "incoming" ? from : to);
        if (item === undefined) return [];
        const inFile = way === "incoming" ? item.path : path;
        return [{ item, ranges: listIn(fromRanges).flatMap((one) => rangeAt(inFile, one) ?? []) }];
      }),
    edits: (value) => {
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

const depthMax = 50;

const cut = (text: string): string => text.slice(0, limits.languageMessageCharsMax);
const textOrNone = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? cut(value) : undefined;

function markedText(value: unknown): string {
  if (typeof value === "string") return value;
  const { value: text } = fieldsOf(value);
  return typeof text === "string" ? text : "";
}

/** In the order of the protocol, which counts them from 1. */
const symbolKinds: readonly SymbolKind[] = [
  "file",
  "module",
  "namespace",
  "package",
  "class",
  "method",
  "property",
  "field",
  "constructor",
  "enum",
  "interface",
  "function",
  "variable",
  "constant",
  "string",
  "number",
  "boolean",
  "array",
  "object",
  "key",
  "null",
  "enum member",
  "struct",
  "event",
  "operator",
  "type parameter",
];

const kindOf = (value: unknown): SymbolKind =>
  (typeof value === "number" ? symbolKinds[value - 1] : undefined) ?? "other";
