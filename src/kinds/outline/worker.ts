/** Runs in a worker: parses one text with one grammar and finds its declarations. */

import type { Language, Node, Parser, Tree, TreeCursor } from "web-tree-sitter";
import { shortName } from "../../text/text.ts";
import type { WorkerContext } from "../worker/worker.ts";
import type { Grammar, SymbolRule } from "./languages.ts";

export interface OutlineTask {
  readonly library: string;
  readonly wasm: string;
  readonly grammarWasm: string;
  readonly grammar: Grammar;
  readonly text: string;
  readonly itemsMax: number;
  readonly nameCharsMax: number;
}

/** A declaration: name, kind, first and last line (from 1), depth (from 0), and how many are inside that were only counted. */
export type FoundItem = readonly [
  name: string,
  kind: string,
  from: number,
  to: number,
  depth: number,
  hidden?: number | undefined,
];

export interface OutlineItems {
  readonly items: readonly FoundItem[];
  readonly total: number;
  readonly faultLine: number | undefined;
}

const quiet = { print: () => undefined, printErr: () => undefined };
const pageBytes = 65_536;
const initialBytes = 33_554_432;

interface WasmMemory {
  readonly buffer: ArrayBuffer;
}
declare const WebAssembly: {
  readonly Memory: new (size: { readonly initial: number; readonly maximum: number }) => WasmMemory;
};

export async function outlineText(task: OutlineTask, context: WorkerContext): Promise<OutlineItems> {
  const { Parser: Parsing, Language: Languages } = context.load(task.library) as {
    readonly Parser: typeof Parser;
    readonly Language: typeof Language;
  };
  const wasmMemory = new WebAssembly.Memory({
    initial: initialBytes / pageBytes,
    maximum: Math.floor(context.memory.bytesMax / pageBytes),
  });
  await Parsing.init({ ...quiet, wasmMemory, wasmBinary: context.bytesOf(task.wasm) });
  const parser = new Parsing();
  parser.setLanguage(await Languages.load(context.bytesOf(task.grammarWasm)));
  context.compiled(task.grammarWasm);
  const tree = parser.parse(task.text);
  if (tree === null) throw new Error("the parser has no answer");
  return { ...collect(tree, task), faultLine: faultLineOf(tree) };
}

interface Enclosing {
  readonly level: number;
  readonly kind: string;
}
interface Wrapped {
  readonly level: number;
  readonly row: number;
}

const kindsWithMethods = new Set("class struct union interface trait implementation enum record".split(" "));

/** Walks with a cursor and explicit stacks, not by recursion: a hostile file can be nested to any depth. */
function collect(tree: Tree, task: OutlineTask): Pick<OutlineItems, "items" | "total"> {
  const rules = new Map<string, SymbolRule>(Object.entries(task.grammar.rules));
  const wrappers = new Set(task.grammar.wrappers);
  const items: FoundItem[] = [];
  let total = 0;
  const enclosing: Enclosing[] = [];
  const wrapped: Wrapped[] = [];
  const cursor = tree.walk();
  let level = 0;
  for (;;) {
    while ((enclosing.at(-1)?.level ?? -1) >= level) enclosing.pop();
    while ((wrapped.at(-1)?.level ?? -1) >= level) wrapped.pop();
    const rule = cursor.nodeIsNamed ? rules.get(cursor.nodeType) : undefined;
    const found = rule === undefined ? undefined : declarationIn(rule, cursor.currentNode, enclosing, task);
    if (found !== undefined) {
      const from = firstRow(cursor, level, wrapped) + 1;
      const to = lastRow(cursor) + 1;
      const outer = enclosing.at(-1)?.kind ?? "";
      const kind = found.kind === "function" && kindsWithMethods.has(outer) ? "method" : found.kind;
      total += 1;
      if (items.length < task.itemsMax) items.push([found.name, kind, from, Math.max(from, to), enclosing.length]);
      enclosing.push({ level, kind });
    }
    if (wrappers.has(cursor.nodeType)) wrapped.push({ level, row: firstRow(cursor, level, wrapped) });
    if (cursor.gotoFirstChild()) {
      level += 1;
      continue;
    }
    while (!cursor.gotoNextSibling()) {
      if (!cursor.gotoParent()) return { items, total };
      level -= 1;
    }
  }
}

/** Decorators and "export" are part of the declaration after them. */
function firstRow(cursor: TreeCursor, level: number, wrapped: readonly Wrapped[]): number {
  const outer = wrapped.at(-1);
  return outer !== undefined && outer.level === level - 1 ? outer.row : cursor.startPosition.row;
}

/** A node that ends with a newline ends on the line before. */
function lastRow(cursor: TreeCursor): number {
  const { row, column } = cursor.endPosition;
  return column === 0 && row > cursor.startPosition.row ? row - 1 : row;
}

interface Declaration {
  readonly kind: string;
  readonly name: string;
}

function declarationIn(
  rule: SymbolRule,
  node: Node,
  enclosing: readonly Enclosing[],
  task: OutlineTask,
): Declaration | undefined {
  if (rule.has !== undefined && node.childForFieldName(rule.has) === null) return undefined;
  const own = rule.by?.kinds[node.childForFieldName(rule.by.field)?.type ?? ""];
  const { within } = rule;
  if (own === undefined && within !== undefined && enclosing.some(({ kind }) => !within.includes(kind)))
    return undefined;
  if (rule.calls === true) return calledWith(node, task);
  const kind = own ?? rule.kind;
  if (rule.name === "head") return { kind, name: headOf(node, task) };
  const named = nameNode(rule, node);
  if (named.node === null || (rule.nameType !== undefined && named.node.type !== rule.nameType)) return undefined;
  const name = shortName(named.node.text, task.nameCharsMax);
  if (name === "") return undefined;
  const is = named.isFunction ? (rule.functionKind ?? kind) : kind;
  if (is === "") return undefined;
  const owner =
    rule.owner === undefined ? null : node.childForFieldName(rule.owner)?.descendantsOfType("type_identifier")[0];
  return { kind: is, name: owner ? shortName(`${owner.text}.${name}`, task.nameCharsMax) : name };
}

/** The node of the name; C's declarators are nested, so the innermost of them. */
function nameNode(rule: SymbolRule, node: Node): { readonly node: Node | null; readonly isFunction: boolean } {
  const field = rule.name ?? "name";
  let found = node.childForFieldName(field);
  let isFunction = false;
  let deeper = field === "declarator" ? found : null;
  while (deeper !== null) {
    isFunction ||= deeper.type === "function_declarator";
    found = deeper;
    deeper = deeper.childForFieldName("declarator") ?? (wraps.has(deeper.type) ? deeper.lastNamedChild : null);
  }
  return { node: found, isFunction };
}
/** Declarators whose inner declarator has no field. */
const wraps = new Set(["reference_declarator", "parenthesized_declarator", "attributed_declarator"]);

/** The text before the body: a selector, the two types of an implementation. Without a body, the first line. */
function headOf(node: Node, task: OutlineTask): string {
  const body =
    node.childForFieldName("body") ??
    node.namedChildren.find((child) => child !== null && /block|body|list$/.test(child.type));
  const end = Math.min(body ? body.startIndex : node.endIndex, node.startIndex + task.nameCharsMax * 4);
  const head = task.text.slice(node.startIndex, end);
  return shortName(body ? head : (head.split("\n", 1)[0] ?? ""), task.nameCharsMax);
}

/** A call with a text first and a function last, such as a test of a suite or a route of a server. */
function calledWith(node: Node, task: OutlineTask): Declaration | undefined {
  const callee = node.childForFieldName("function");
  const given =
    node.childForFieldName("arguments")?.namedChildren.filter((child) => child !== null && child.type !== "comment") ??
    [];
  const [first] = given;
  const last = given.at(-1);
  if (callee === null || first === undefined || given.length < 2) return undefined;
  if (!/^(?:string|template_string)$/.test(first.type) || !/function/.test(last?.type ?? "")) return undefined;
  if (!/^[\w.$]{1,60}$/.test(callee.text)) return undefined;
  return {
    kind: "call",
    name: shortName(`${callee.text}(${shortName(first.text, task.nameCharsMax)})`, task.nameCharsMax),
  };
}

function faultLineOf(tree: Tree): number | undefined {
  if (!tree.rootNode.hasError) return undefined;
  const cursor = tree.walk();
  for (;;) {
    const node = cursor.currentNode;
    if (node.isError || node.isMissing) return node.startPosition.row + 1;
    if (node.hasError && cursor.gotoFirstChild()) continue;
    while (!cursor.gotoNextSibling()) if (!cursor.gotoParent()) return undefined;
  }
}
