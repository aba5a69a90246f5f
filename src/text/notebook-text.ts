/** A notebook's file as it is written, and new parts for it that look like those it has. */

import type { NotebookCell } from "../contract/notebook.ts";
import { itemsOf, type Member, memberNamed, membersOf, rootOf, type Span, sliceOf } from "./json-spans.ts";
import { bracketed, colonOf, innerShape, type Shape, shapeInLine, shapeOf, stringWriter } from "./json-style.ts";
import type { Notebook } from "./notebook.ts";

export interface CellList {
  /** With the brackets. */
  readonly span: Span;
  readonly items: readonly Span[];
}

export interface NotebookText {
  readonly text: string;
  readonly notebook: Notebook;
  /** One, or in format 3 one for each worksheet. */
  readonly lists: readonly CellList[];
  /** Of all lists, in the order in which reading counts them. */
  readonly cells: readonly Span[];
  /** Of the outermost object. */
  readonly shape: Shape;
  readonly colon: string;
  /** New cells get an id: nbformat 4.5 demands it, and what came before forbids it. */
  readonly hasIds: boolean;
}

/** MUST be the text that the notebook was read from. */
export function layOut(text: string, notebook: Notebook): NotebookText {
  const root = rootOf(text);
  const members = membersOf(text, root);
  const lists = cellLists(text, members);
  const colon = members[0] === undefined ? ": " : colonOf(text, members[0]);
  const declared = memberNamed(members, "nbformat");
  const major = declared === undefined ? 0 : Number(sliceOf(text, declared.value));
  return {
    text,
    notebook,
    lists,
    cells: lists.flatMap(({ items }) => items),
    shape: shapeOf(text, root, members, colon) ?? { lead: "", between: ", ", tail: "" },
    colon,
    hasIds: notebook.format === 4 && (major > 4 || (major === 4 && notebook.minor >= 5)),
  };
}

/** As reading finds them: the notebook's own or, in format 3, those of each worksheet that has any. */
function cellLists(text: string, root: readonly Member[]): readonly CellList[] {
  const own = memberNamed(root, "cells")?.value;
  const sheets = memberNamed(root, "worksheets")?.value;
  const isList = (span: Span | undefined): span is Span => span !== undefined && text[span.from] === "[";
  const spans = isList(own)
    ? [own]
    : (isList(sheets) ? itemsOf(text, sheets) : []).map((sheet) => memberNamed(membersOf(text, sheet), "cells")?.value);
  return spans.filter(isList).map((span) => ({ span, items: itemsOf(text, span) }));
}

/** The member that reading takes the source from, or would if it held a text. */
export function sourceMember(text: string, members: readonly Member[]): Member | undefined {
  const [source, input] = [memberNamed(members, "source"), memberNamed(members, "input")];
  return [source, input].find((member) => textOf(text, member) !== undefined) ?? source ?? input;
}

/** One string or a list of them; undefined for anything else. */
export function textOf(text: string, member: Member | undefined): string | undefined {
  if (member === undefined || !/["[]/.test(text.charAt(member.value.from))) return undefined;
  const value: unknown = JSON.parse(sliceOf(text, member.value));
  if (typeof value === "string") return value;
  return Array.isArray(value) ? value.filter((piece) => typeof piece === "string").join("") : undefined;
}

/** A source for the cell at `near`, or a new one beside it: a string or a list of lines, whichever the nearest is. */
export function sourceText(file: NotebookText, near: number, source: string, cell: Shape): string {
  const { text } = file;
  const write = stringWriter(text, source);
  let shape: Shape | undefined;
  let spellings: ReadonlyMap<unknown, string> | undefined;
  for (const { span } of nearestFirst(file, near)) {
    const member = sourceMember(text, membersOf(text, span));
    const opening = text.charAt(member?.value.from ?? text.length);
    if (member === undefined || (opening !== '"' && opening !== "[")) continue;
    if (opening === '"' && spellings === undefined) return write(source);
    const items = itemsOf(text, member.value);
    spellings ??= spellingsOf(text, items);
    shape = shapeOf(text, member.value, items, file.colon);
    // A list without lines shows that it is to be a list, but not what it should look like.
    if (shape !== undefined) break;
  }
  const lines = source.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const written = lines.map((line) => spellings?.get(line) ?? write(line));
  return bracketed("[]", shape ?? innerShape(cell, file.colon), written);
}

/** The lines that stay keep their spelling, whatever escapes they are written with. */
function spellingsOf(text: string, lines: readonly Span[]): ReadonlyMap<unknown, string> {
  return new Map(lines.map((line) => [JSON.parse(sliceOf(text, line)), sliceOf(text, line)]));
}

export interface NewCell {
  readonly type: NotebookCell["type"];
  readonly source: string;
  readonly id: string | undefined;
}

/** A whole cell that looks like the nearest of its type or, if there is none, like the nearest of any. */
export function newCellText(file: NotebookText, list: CellList, near: number, cell: NewCell): string {
  const model = modelFor(file, near, cell.type);
  const colon = model === undefined ? file.colon : colonOf(file.text, model.first);
  const shape = model?.shape ?? innerShape(listShape(file, list), file.colon);
  const source = sourceText(file, near, cell.source, shape);
  const fields = new Map(
    file.notebook.format === 4 ? fields4(cell, source) : fields3(cell, source, codeLanguage(file, near)),
  );
  const order = new Set(model?.names.filter((name) => fields.has(name)));
  // A model that lacks one of them cannot say where it belongs.
  const names = order.size === fields.size ? order : fields.keys();
  const entries = [...names].map((name) => `${JSON.stringify(name)}${colon}${fields.get(name) ?? "null"}`);
  return bracketed("{}", shape, entries);
}

export function listShape(file: NotebookText, { span, items }: CellList): Shape {
  return shapeOf(file.text, span, items, file.colon) ?? shapeInLine(file.text, span, file.shape, file.colon);
}

interface Model {
  readonly shape: Shape;
  readonly first: Member;
  readonly names: readonly string[];
}

function modelFor(file: NotebookText, near: number, type: NewCell["type"]): Model | undefined {
  let other: Model | undefined;
  for (const { span, shownType } of nearestFirst(file, near)) {
    if (shownType !== type && other !== undefined) continue;
    const members = membersOf(file.text, span);
    const [first] = members;
    const shape = first && shapeOf(file.text, span, members, colonOf(file.text, first));
    if (first === undefined || shape === undefined) continue;
    const model = { shape, first, names: members.map(({ name }) => name) };
    if (shownType === type) return model;
    other = model;
  }
  return other;
}

/** What a new cell of code is written in: format 4 says it once for the notebook, format 3 in every cell. */
export function codeLanguage(file: NotebookText, near: number): string {
  const { cells, format, language } = file.notebook;
  if (format === 4) return language;
  const [before, behind] = [cells.slice(0, near + 1), cells.slice(near + 1)];
  const isCode = ({ type }: NotebookCell<unknown>): boolean => type === "code";
  return (before.findLast(isCode) ?? behind.find(isCode))?.language ?? language;
}

/** Cells further away are not looked at: in a file of a million odd ones that would take long, and help little. */
const distanceMax = 1_000;

/** The one at `near` first. */
function* nearestFirst(
  { cells, notebook }: NotebookText,
  near: number,
): Generator<{ readonly span: Span; readonly shownType: NewCell["type"] | undefined }> {
  for (let distance = 0; distance < Math.min(cells.length, distanceMax); distance += 1) {
    for (const index of distance === 0 ? [near] : [near - distance, near + distance]) {
      const span = cells[index];
      if (span !== undefined) yield { span, shownType: notebook.cells[index]?.type };
    }
  }
}

type Fields = readonly (readonly [name: string, json: string])[];

function fields4({ type, id }: NewCell, source: string): Fields {
  const isCode = type === "code";
  return [
    ["cell_type", JSON.stringify(type)],
    ...(isCode ? ([["execution_count", "null"]] as const) : []),
    ...(id === undefined ? [] : ([["id", JSON.stringify(id)]] as const)),
    ["metadata", "{}"],
    ...(isCode ? ([["outputs", "[]"]] as const) : []),
    ["source", source],
  ];
}

function fields3({ type }: NewCell, source: string, language: string): Fields {
  if (type !== "code") {
    return [
      ["cell_type", JSON.stringify(type)],
      ["metadata", "{}"],
      ["source", source],
    ];
  }
  return [
    ["cell_type", '"code"'],
    ["collapsed", "false"],
    ["input", source],
    ["language", JSON.stringify(language)],
    ["metadata", "{}"],
    ["outputs", "[]"],
    ["prompt_number", "null"],
  ];
}
