/** Lsp: asks a language server about code. The answer contains only places in files that the session may read. */

import * as nodePath from "node:path";
import { withHandleClosed } from "../../disk/disk.ts";
import { limits } from "../../contract/limits.ts";
import type {
  AskedPlace,
  CallHierarchyItem,
  CodePlace,
  CodeResult,
  CodeSymbol,
  FoundPlace,
  LanguageAnswer,
  Languages,
  Location,
  LspOutcome,
  LspRequest,
  SourceFile,
  TextRange,
} from "../../contract/lsp.ts";
import { type CodePlaceFault, Problem } from "../../contract/problem.ts";
import type { Target } from "../../contract/target.ts";
import { relativeTo } from "../../guard/guard.ts";
import { compareCodePoints, cutChars, findCodePlace } from "../../text/text.ts";
import { sourceOf } from "../languages.ts";
import { locatePermitted } from "../locate.ts";
import type { ToolContext, Tool } from "../tool.ts";

export const lsp: Tool<"lsp"> = async (request, context) => {
  const asked = await askedFile(request.path, context);
  if (request.operation === "hover") return hovered(request, asked, context);
  const at = isAboutPlace(request) ? placeOf(asked, request.at) : undefined;
  const { server, value } = await found(request, asked, at, context);
  return answerOf(request, asked, at, server, value, context);
};

const isAboutPlace = ({ operation }: LspRequest): boolean =>
  operation !== "documentSymbol" && operation !== "workspaceSymbol";

async function hovered(request: LspRequest, asked: AskedFile, context: ToolContext): Promise<LspOutcome> {
  const at = placeOf(asked, request.at);
  const { server, value } = valueOf(
    await asked.languages.hover(asked.source, at, { signal: context.signal }),
    asked,
    context,
  );
  const text = value === undefined ? undefined : cutChars(value, limits.lspHoverCharsMax);
  const textCut = text !== undefined && text !== value;
  return { ...nothing(request, asked, at, server), text, textCut };
}

const nothing = (
  { operation, query }: LspRequest,
  { target }: AskedFile,
  at: FoundPlace | undefined,
  server: string,
): LspOutcome => ({
  kind: "lsp",
  operation,
  target,
  server,
  at,
  query,
  results: [],
  from: 1,
  total: 0,
  next: undefined,
  hiddenByRules: 0,
  text: undefined,
  textCut: false,
});

type Raw = RawPlace & Omit<CodeResult, "place">;

interface Found {
  readonly server: string;
  readonly value: readonly Raw[];
}

async function found(
  { operation, query }: LspRequest,
  asked: AskedFile,
  at: FoundPlace | undefined,
  context: ToolContext,
): Promise<Found> {
  const { languages, source } = asked;
  const options = { signal: context.signal };
  const take = <Value>(answer: LanguageAnswer<Value>, raw: (value: Value) => readonly Raw[]): Found => {
    const { server, value } = valueOf(answer, asked, context);
    return { server, value: raw(value) };
  };
  const where = at ?? { line: 1, column: 1 };
  switch (operation) {
    case "definition":
    case "implementation":
    case "references":
      return take(await languages[operation](source, where, options), places);
    case "documentSymbol":
      return take(await languages.documentSymbols(source, options), (symbols) => flat(symbols, 0));
    case "workspaceSymbol":
      if (query === undefined || query.trim() === "") throw noQuery(asked);
      return take(await languages.workspaceSymbols(source, query, options), (symbols) => flat(symbols, 0));
    case "incomingCalls":
    case "outgoingCalls":
      return calls(operation, asked, where, context);
    case "hover":
      throw new Error("a hover has no places");
  }
}

const noQuery = ({ target }: AskedFile): Problem =>
  new Problem({ code: "INVALID_PARAM", reason: "code place", place: target, fault: { why: "no query" } });

const unnamed = { name: undefined, kind: undefined, detail: undefined, container: undefined, depth: 0, lines: [] };

/** Without duplicates, in the order of files and lines. */
function places(locations: readonly Location[]): readonly Raw[] {
  const one = new Map(
    locations.map((each) => [`${each.path}\0${each.range.start.line}:${each.range.start.column}`, each]),
  );
  return [...one.values()]
    .toSorted(
      (a, b) =>
        compareCodePoints(a.path, b.path) ||
        a.range.start.line - b.range.start.line ||
        a.range.start.column - b.range.start.column,
    )
    .map(({ path, range }) => ({ ...unnamed, path, range }));
}

const flat = (symbols: readonly CodeSymbol[], depth: number): readonly Raw[] =>
  symbols.flatMap(({ name, kind, detail, path, range, nameRange, container, children }) => [
    { name, kind, detail, container, path, range: { start: nameRange.start, end: range.end }, depth, lines: [] },
    ...flat(children, depth + 1),
  ]);

async function calls(
  way: "incomingCalls" | "outgoingCalls",
  asked: AskedFile,
  at: { readonly line: number; readonly column: number },
  context: ToolContext,
): Promise<Found> {
  const { languages, source } = asked;
  const options = { signal: context.signal };
  const { server, value: items } = valueOf(await languages.callHierarchy(source, at, options), asked, context);
  const all: Raw[] = [];
  for (const item of items.slice(0, itemsMax)) {
    const answer = await languages[way](source, item, options);
    for (const call of valueOf(answer, asked, context).value) all.push(called(call.item, call.ranges));
  }
  return { server, value: all };
}

/** A name may stand for several functions (overloads, methods of a union); each costs a request to the server. */
const itemsMax = 10;

const called = (
  { name, kind, detail, path, range, nameRange }: CallHierarchyItem,
  ranges: readonly Location["range"][],
): Raw => ({
  ...unnamed,
  name,
  kind,
  detail,
  path,
  range: { start: nameRange.start, end: range.end },
  lines: [...new Set(ranges.map(({ start }) => start.line))].toSorted((a, b) => a - b),
});

async function answerOf(
  request: LspRequest,
  asked: AskedFile,
  at: FoundPlace | undefined,
  server: string,
  raw: readonly Raw[],
  context: ToolContext,
): Promise<LspOutcome> {
  const visible = visiblePlaces(raw, asked, context);
  const from = Math.min(request.from, Math.max(1, visible.length));
  const shown = visible.slice(from - 1, from - 1 + limits.lspResultsMax);
  const place = codePlace(context);
  const results: CodeResult[] = [];
  for (const { name, kind, detail, container, depth, lines, ...where } of shown) {
    context.signal.throwIfAborted();
    const at = await place(where);
    // The name of a module is its path.
    const shownName = name === at.absolute ? context.guard.spell(name) : name;
    results.push({ place: at, name: shownName, kind, detail, container, depth, lines });
  }
  const next = from + shown.length <= visible.length ? from + shown.length : undefined;
  const counts = { from, total: visible.length, next, hiddenByRules: raw.length - visible.length };
  return { ...nothing(request, asked, at, server), results, ...counts };
}

export interface AskedFile {
  readonly target: Target;
  readonly source: SourceFile;
  readonly languages: Languages;
}

export async function askedFile(path: string, context: ToolContext): Promise<AskedFile> {
  const { target, node } = await locatePermitted(path, "file", context);
  node.handle.close();
  if (node.kind === "directory") throw new Problem({ code: "IS_DIRECTORY", place: target });
  if (node.kind !== "file") throw new Problem({ code: "SPECIAL_FILE", place: target, special: node.kind });
  const languages = await context.languages?.();
  if (languages === undefined) throw new Problem({ code: "LANGUAGE_SERVER", place: target, reason: "off" });
  if (!languages.serves(target.real)) {
    throw new Problem({ code: "LANGUAGE_SERVER", place: target, reason: "unknown language" });
  }
  const source = await sourceOf(target.real, context);
  if (source === undefined) throw new Problem({ code: "LANGUAGE_SERVER", place: target, reason: "not shown" });
  return { target, source, languages };
}

export function placeOf({ source, target }: AskedFile, asked: AskedPlace): FoundPlace {
  const found = findCodePlace(source.text, asked);
  if (found.found === "yes") return found.place;
  const fault = faultOf(found, asked);
  throw new Problem({ code: "INVALID_PARAM", reason: "code place", place: target, fault });
}

function faultOf(
  found: Extract<ReturnType<typeof findCodePlace>, { readonly found: "no" }>,
  { line, column, symbol }: AskedPlace,
): CodePlaceFault {
  switch (found.why) {
    case "nothing named":
      return { why: "nothing named" };
    case "line":
      return { why: "line", line: line ?? 1, linesTotal: found.linesTotal };
    case "column":
      return { why: "column", column: column ?? 1, columnsMax: found.columnsMax };
    case "symbol":
      return { why: "symbol", symbol: symbol ?? "", line, lines: found.lines };
  }
}

/** Throws a Problem with the reason if the server gave no answer. */
export function valueOf<Value>(
  answer: LanguageAnswer<Value>,
  { target, languages }: AskedFile,
  { signal }: ToolContext,
): { readonly value: Value; readonly server: string } {
  signal.throwIfAborted();
  const problem = { code: "LANGUAGE_SERVER", place: target } as const;
  switch (answer.answer) {
    case "given":
      return answer;
    case "no server":
      throw new Problem({ ...problem, reason: "not installed", servers: languages.remedies(target.real) });
    case "failed":
      throw new Problem({ ...problem, reason: "failed", server: answer.server, why: answer.why });
    case "not offered":
      throw new Problem({ ...problem, reason: "not offered", server: answer.server });
    case "too slow":
      throw new Problem({ ...problem, reason: "too slow", server: answer.server, waitedMs: answer.waitedMs });
  }
}

interface RawPlace {
  /** As the server names it. */
  readonly path: string;
  readonly range: TextRange;
}

export type Standing = "shown" | "hidden by rules" | "outside";

/** "shown" only without a question. A file outside the roots may be named, since none of it is read. */
export function standingOf(path: string, context: ToolContext): Standing {
  const { disk, guard } = context;
  const roots = disk.roots.map(({ real }) => real);
  const lookup = withHandleClosed(disk.lookup(path));
  const real = lookup.seen === "node" ? lookup.real : path;
  if (guard.denied("read", [path, real], "file") !== undefined || guard.isSecret(real)) return "hidden by rules";
  const root = roots.find((one) => relativeTo(real, [one], nodePath) !== undefined);
  if (root === undefined) return "outside";
  const relative = relativeTo(real, [root], nodePath) ?? "";
  return guard.search(root).shows(relative) ? "shown" : "hidden by rules";
}

/** The places that the session may see. Reading the file that was asked about is permitted already. */
function visiblePlaces<Place extends RawPlace>(
  places: readonly Place[],
  { target }: AskedFile,
  context: ToolContext,
): readonly Place[] {
  const known = new Map<string, boolean>([[target.real, true]]);
  return places.filter(({ path }) => {
    const may = known.get(path) ?? standingOf(path, context) !== "hidden by rules";
    known.set(path, may);
    return may;
  });
}

/** Adds the text of the line; reads each file once. */
function codePlace(context: ToolContext): (place: RawPlace) => Promise<CodePlace> {
  const { disk } = context;
  const roots = disk.roots.flatMap(({ real, given }) => [real, given]);
  const texts = new Map<string, readonly string[]>();
  const linesOf = async (path: string): Promise<readonly string[]> => {
    const known = texts.get(path);
    if (known !== undefined) return known;
    const lines = (await sourceOf(path, context))?.text.split("\n") ?? [];
    texts.set(path, lines);
    return lines;
  };
  return async ({ path, range }) => {
    const relative = relativeTo(path, roots, nodePath);
    const { line, column } = range.start;
    const place = { absolute: path, relative, line, column, endLine: Math.max(line, range.end.line) };
    if (relative === undefined) return { ...place, text: undefined };
    const text = (await linesOf(path))[line - 1]?.trim();
    return { ...place, text: text === undefined ? undefined : cutChars(text, limits.lspLineCharsMax) };
  };
}
