/** Questions about code: a language server is asked, and of its answer only what the session may read is told. */

import type { CallHierarchyItem, CodeSymbol, LanguageAnswer, Location } from "../contract/language.ts";
import { limits } from "../contract/limits.ts";
import type { CodeResult, FoundPlace, LspOutcome, LspRequest } from "../contract/lsp.ts";
import { Problem } from "../contract/problem.ts";
import { cutChars } from "../text/encoding.ts";
import { compareCodePoints } from "../text/order.ts";
import { type AskedFile, askedFile, placeOf, valueOf } from "./lsp-file.ts";
import { codePlace, type RawPlace, tellable } from "./lsp-places.ts";
import type { Bench, Tool } from "./tool.ts";

export const lsp: Tool<"lsp"> = async (request, bench) => {
  const asked = await askedFile(request.path, bench);
  if (request.operation === "hover") return hovered(request, asked, bench);
  const at = isAboutPlace(request) ? placeOf(asked, request.at) : undefined;
  const { server, value } = await found(request, asked, at, bench);
  return answerOf(request, asked, at, server, value, bench);
};

const isAboutPlace = ({ operation }: LspRequest): boolean =>
  operation !== "documentSymbol" && operation !== "workspaceSymbol";

async function hovered(request: LspRequest, asked: AskedFile, bench: Bench): Promise<LspOutcome> {
  const at = placeOf(asked, request.at);
  const { server, value } = valueOf(
    await asked.languages.hover(asked.source, at, { signal: bench.signal }),
    asked,
    bench,
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
  withheld: 0,
  text: undefined,
  textCut: false,
});

/** A result before it is known whether it may be told. */
type Raw = RawPlace & Omit<CodeResult, "place">;

interface Found {
  readonly server: string;
  readonly value: readonly Raw[];
}

async function found(
  { operation, query }: LspRequest,
  asked: AskedFile,
  at: FoundPlace | undefined,
  bench: Bench,
): Promise<Found> {
  const { languages, source } = asked;
  const options = { signal: bench.signal };
  const take = <Value>(answer: LanguageAnswer<Value>, raw: (value: Value) => readonly Raw[]): Found => {
    const { server, value } = valueOf(answer, asked, bench);
    return { server, value: raw(value) };
  };
  const where = at ?? { line: 1, column: 1 };
  switch (operation) {
    case "definition":
      return take(await languages.definition(source, where, options), places);
    case "implementation":
      return take(await languages.implementation(source, where, options), places);
    case "references":
      return take(await languages.references(source, where, options), places);
    case "documentSymbol":
      return take(await languages.documentSymbols(source, options), (symbols) => flat(symbols, 0));
    case "workspaceSymbol": {
      if (query === undefined || query.trim() === "") throw noQuery(asked);
      return take(await languages.workspaceSymbols(query, source, options), (symbols) => flat(symbols, 0));
    }
    case "incomingCalls":
    case "outgoingCalls":
      return calls(operation, asked, where, bench);
    case "hover":
      throw new Error("a hover has no places");
  }
}

const noQuery = ({ target }: AskedFile): Problem =>
  new Problem({ code: "INVALID_PARAM", reason: "code place", place: target, fault: { why: "no query" } });

const unnamed = { name: undefined, kind: undefined, detail: undefined, container: undefined, depth: 0, lines: [] };

/** The same place is told once, and places in the order of their files and lines. */
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

/** What is inside of a symbol follows it, one deeper. */
const flat = (symbols: readonly CodeSymbol[], depth: number): readonly Raw[] =>
  symbols.flatMap(({ name, kind, detail, path, range, nameRange, container, children }) => [
    { name, kind, detail, container, path, range: { start: nameRange.start, end: range.end }, depth, lines: [] },
    ...flat(children, depth + 1),
  ]);

async function calls(
  way: "incomingCalls" | "outgoingCalls",
  asked: AskedFile,
  at: { readonly line: number; readonly column: number },
  bench: Bench,
): Promise<Found> {
  const { languages, source } = asked;
  const options = { signal: bench.signal };
  const { server, value: items } = valueOf(await languages.callHierarchy(source, at, options), asked, bench);
  const all: Raw[] = [];
  for (const item of items.slice(0, itemsMax)) {
    const answer = await languages[way](source, item, options);
    for (const call of valueOf(answer, asked, bench).value) all.push(called(call.item, call.ranges));
  }
  return { server, value: all };
}

/** What a name stands for may be several functions: overloads, methods of a union. */
const itemsMax = 10;

const called = (
  { name, kind, detail, path, range, nameRange }: CallHierarchyItem,
  ranges: readonly Location["range"][],
): Raw => ({
  name,
  kind,
  detail,
  container: undefined,
  path,
  range: { start: nameRange.start, end: range.end },
  depth: 0,
  lines: [...new Set(ranges.map(({ start }) => start.line))].toSorted((a, b) => a - b),
});

async function answerOf(
  request: LspRequest,
  asked: AskedFile,
  at: FoundPlace | undefined,
  server: string,
  raw: readonly Raw[],
  bench: Bench,
): Promise<LspOutcome> {
  const told = tellable(raw, asked, bench);
  const from = Math.min(request.from, Math.max(1, told.length));
  const shown = told.slice(from - 1, from - 1 + limits.lspResultsMax);
  const place = codePlace(bench);
  const results: CodeResult[] = [];
  for (const { name, kind, detail, container, depth, lines, ...where } of shown) {
    bench.signal.throwIfAborted();
    const at = await place(where);
    // A module is named by its path.
    const shownName = name === at.absolute ? bench.guard.spell(name) : name;
    results.push({ place: at, name: shownName, kind, detail, container, depth, lines });
  }
  const next = from + shown.length <= told.length ? from + shown.length : undefined;
  const counts = { from, total: told.length, next, withheld: raw.length - told.length };
  return { ...nothing(request, asked, at, server), results, ...counts };
}
