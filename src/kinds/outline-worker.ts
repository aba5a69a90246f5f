/**
 * What the thread that makes outlines runs: parses one text with one grammar and sends what it declares. It is a text
 * because a thread's program must be a file of its own or a text, and the command line ships as one bundled file.
 */

import type { Grammar } from "./outline-languages.ts";
import type { CompiledWasm } from "./pdf-worker.ts";

/** How the thread is started: there is one text for each thread, so that no file reaches the next one's. */
export interface OutlineThreadData {
  /** Files of the parser and the grammar, by absolute path: a thread made of a text would look for packages elsewhere. */
  readonly library: string;
  readonly wasm: string;
  readonly grammarWasm: string;
  readonly grammar: Grammar;
  readonly text: string;
  readonly heapBytesMax: number;
  readonly itemsMax: number;
  readonly nameCharsMax: number;
}

/** A declaration as the thread found it: name, kind, first and last line (from 1), depth (from 0). */
export type FoundItem = readonly [name: string, kind: string, from: number, to: number, depth: number];

/** The only thing it sends. */
export type OutlineThreadMessage =
  | {
      readonly is: "outline";
      readonly items: readonly FoundItem[];
      readonly total: number;
      readonly faultLine: number | undefined;
      /** While somebody holds it, V8 keeps the machine code of these bytes for the next thread that compiles them. */
      readonly compiled: CompiledWasm;
    }
  | { readonly is: "failed"; readonly why: "memory" | "crash" };

export const outlineWorkerSource = String.raw`
"use strict";
const { readFileSync } = require("node:fs");
const { parentPort, workerData } = require("node:worker_threads");
const { grammar, text, heapBytesMax, itemsMax, nameCharsMax } = workerData;

const pageBytes = 65536;
const beginBytes = 33554432;
/** The limits of a thread do not count this memory, so it has one of its own. */
const memory = new WebAssembly.Memory({ initial: beginBytes / pageBytes, maximum: Math.floor(heapBytesMax / pageBytes) });

async function outline() {
  const { Parser, Language } = require(workerData.library);
  await Parser.init({ wasmMemory: memory, wasmBinary: readFileSync(workerData.wasm), print() {}, printErr() {} });
  const bytes = readFileSync(workerData.grammarWasm);
  const parser = new Parser();
  parser.setLanguage(await Language.load(bytes));
  const tree = parser.parse(text);
  return { is: "outline", ...collect(tree), faultLine: faultLineOf(tree), compiled: new WebAssembly.Module(bytes) };
}

const rules = new Map(Object.entries(grammar.rules));
const wrappers = new Set(grammar.wrappers);

/** What functions inside of them are called methods for. */
const withMethods = new Set(["class", "struct", "union", "interface", "trait", "implementation", "enum", "record"]);

/** Walks with a cursor and lists of its own, since how deep a file goes is the file's choice. */
function collect(tree) {
  const items = [];
  let total = 0;
  /** Declarations that the cursor is in: the level of the tree and the kind. */
  const around = [];
  /** Nodes around it that belong to the declaration in them: the level, and the first row. */
  const wrapped = [];
  const cursor = tree.walk();
  let level = 0;
  for (;;) {
    while (around.length > 0 && around[around.length - 1].level >= level) around.pop();
    while (wrapped.length > 0 && wrapped[wrapped.length - 1].level >= level) wrapped.pop();
    const rule = cursor.nodeIsNamed ? rules.get(cursor.nodeType) : undefined;
    const found = rule === undefined ? undefined : declared(rule, cursor.currentNode, around);
    if (found !== undefined) {
      const from = firstRow(cursor, level, wrapped) + 1;
      const to = lastRow(cursor) + 1;
      const outer = around[around.length - 1]?.kind;
      const kind = found.kind === "function" && withMethods.has(outer) ? "method" : found.kind;
      total += 1;
      if (items.length < itemsMax) items.push([found.name, kind, from, Math.max(from, to), around.length]);
      around.push({ level, kind });
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

/** Decorators and "export" are part of what they stand before. */
function firstRow(cursor, level, wrapped) {
  const outer = wrapped[wrapped.length - 1];
  return outer !== undefined && outer.level === level - 1 ? outer.row : cursor.startPosition.row;
}

/** A node that ends with a newline ends on the line before. */
function lastRow(cursor) {
  const { row, column } = cursor.endPosition;
  return column === 0 && row > cursor.startPosition.row ? row - 1 : row;
}

function declared(rule, node, around) {
  if (rule.has !== undefined && node.childForFieldName(rule.has) === null) return undefined;
  const own = rule.by?.kinds[node.childForFieldName(rule.by.field)?.type];
  if (own === undefined && rule.within !== undefined && around.some(({ kind }) => !rule.within.includes(kind))) return undefined;
  if (rule.calls === true) return calledWith(node);
  const kind = own ?? rule.kind;
  if (rule.name === "head") return { kind, name: headOf(node) };
  const named = nameNode(rule, node);
  if (named.node === null || (rule.nameType !== undefined && named.node.type !== rule.nameType)) return undefined;
  const name = short(named.node.text);
  if (name === "") return undefined;
  const is = named.isFunction ? (rule.functionKind ?? kind) : kind;
  if (is === "") return undefined;
  const owner = rule.owner === undefined ? null : node.childForFieldName(rule.owner)?.descendantsOfType("type_identifier")[0];
  return { kind: is, name: owner ? short(owner.text + "." + name) : name };
}

/** The field of the name; of C's declarators, which stand one in the other, the innermost. */
function nameNode(rule, node) {
  const field = rule.name ?? "name";
  let found = node.childForFieldName(field);
  let isFunction = false;
  for (let deeper = found; field === "declarator" && deeper !== null; ) {
    isFunction ||= deeper.type === "function_declarator";
    found = deeper;
    deeper = deeper.childForFieldName("declarator") ?? (wraps.has(deeper.type) ? deeper.lastNamedChild : null);
  }
  return { node: found, isFunction };
}
/** Declarators whose inner one has no field. */
const wraps = new Set(["reference_declarator", "parenthesized_declarator", "attributed_declarator"]);

/** What stands before the body: a selector, the two types of an implementation. Without a body, the first line. */
function headOf(node) {
  const body = node.childForFieldName("body") ?? node.namedChildren.find((child) => child !== null && /block|body|list$/.test(child.type));
  const end = Math.min(body ? body.startIndex : node.endIndex, node.startIndex + nameCharsMax * 4);
  const head = text.slice(node.startIndex, end);
  return short(body ? head : head.split("\n", 1)[0]);
}

/** A call with a text first and a function last: the tests of a suite, the routes of a server. */
function calledWith(node) {
  const callee = node.childForFieldName("function");
  const given = node.childForFieldName("arguments")?.namedChildren.filter((child) => child !== null && child.type !== "comment") ?? [];
  const [first] = given;
  const last = given[given.length - 1];
  if (callee === null || first === undefined || given.length < 2) return undefined;
  if (!/^(?:string|template_string)$/.test(first.type) || !/function/.test(last.type)) return undefined;
  if (!/^[\w.$]{1,60}$/.test(callee.text)) return undefined;
  return { kind: "call", name: short(callee.text + "(" + short(first.text) + ")") };
}

/** On one line, and no longer than a name should be. */
function short(name) {
  const line = name.slice(0, nameCharsMax * 4).replace(/\s+/g, " ").trim();
  return line.length > nameCharsMax ? line.slice(0, nameCharsMax).replace(/[\ud800-\udbff]$/, "") + "…" : line;
}

/** The first line with a node that the grammar does not know. */
function faultLineOf(tree) {
  if (!tree.rootNode.hasError) return undefined;
  const cursor = tree.walk();
  for (;;) {
    const node = cursor.currentNode;
    if (node.isError || node.isMissing) return node.startPosition.row + 1;
    if (node.hasError && cursor.gotoFirstChild()) continue;
    while (!cursor.gotoNextSibling()) if (!cursor.gotoParent()) return undefined;
  }
}

outline()
  .then((found) => parentPort.postMessage(found))
  .catch(() => {
    // It grows by parts: with less than this left, the next one had no room.
    const isFull = memory.buffer.byteLength >= heapBytesMax * 0.7;
    parentPort.postMessage({ is: "failed", why: isFull ? "memory" : "crash" });
  });
`;
