/**
 * Replaces, inserts or deletes one cell of a notebook, as changes to the text of the file: all other text stays. A cell
 * is named by the id that Read shows, so a cell without an id, or with a duplicate one, has a name too. No id is
 * written into a cell that had none.
 */

import type { CellMode, CellType, NotebookEditOutcome, TextChange } from "../../contract/edit.ts";
import { limits } from "../../contract/limits.ts";
import type { NotebookCell } from "../../contract/notebook.ts";
import type { JsonFault } from "../json/fault.ts";
import {
  bracketed,
  changeMembers,
  colonOf,
  innerShape,
  itemsOf,
  type Member,
  memberNamed,
  type MemberPlan,
  membersOf,
  rootOf,
  type Shape,
  shapeInLine,
  shapeOf,
  sliceOf,
  type Span,
  stringWriter,
} from "../json/spans.ts";
import { cellIds, joinedText, type Notebook, type NotebookFault, parseNotebook } from "./notebook.ts";

// Replacing: the members of a cell that change with its source or type.

function planFor(
  file: NotebookText,
  cell: NotebookCell<unknown>,
  members: readonly Member[],
  shape: Shape,
  { type, source }: Pick<NewCell, "type" | "source">,
): MemberPlan {
  const { text } = file;
  const set = new Map<Member, string>();
  const add: MemberPlan["add"][number][] = [];
  const put = (name: string, value: string, after: readonly string[]): void => {
    const member = memberNamed(members, name);
    if (member === undefined) add.push({ name, value, after });
    else set.set(member, value);
  };

  const wasHeading = memberText(text, memberNamed(members, "cell_type")) === "heading";
  const heading = wasHeading && type === cell.type ? headingIn(source) : undefined;
  const retyped = type !== cell.type || (wasHeading && heading === undefined);
  if (retyped) put("cell_type", JSON.stringify(type), []);
  // A heading without a level is shown with one hash.
  if (heading !== undefined && heading.level !== cell.source.indexOf(" ")) {
    put("level", String(heading.level), ["cell_type"]);
  }

  const holder = sourceMember(text, members);
  const holderName = file.notebook.format === 3 && type === "code" ? "input" : "source";
  const written = heading?.title ?? source;
  if (memberText(text, holder) !== written) {
    const value = sourceText(file, cell.index, written, shape);
    if (holder === undefined) add.push({ name: holderName, value, after: [] });
    else set.set(holder, value);
  }

  if (type === "code") {
    for (const member of members.filter((other) => isStale(text, other))) set.set(member, emptied(member.name));
    if (retyped) add.push(...missingMembers(file, cell, members));
  }
  const renamed = retyped && file.notebook.format === 3 && holder !== undefined && holder.name !== holderName;
  return {
    set,
    rename: new Map(renamed ? [[holder, holderName]] : []),
    drop: new Set(retyped ? members.filter((member) => member !== holder && isForeign(file, type, member.name)) : []),
    add,
  };
}

/** Was it produced by running the old source? */
function isStale(text: string, { name, value }: Member): boolean {
  if (name === "outputs") return text[value.from] !== "[" || text.slice(value.from + 1, value.to - 1).trim() !== "";
  return (name === "execution_count" || name === "prompt_number") && sliceOf(text, value) !== "null";
}

const emptied = (name: string): string => (name === "outputs" ? "[]" : "null");

/** Headings of format 3 are shown as Markdown; a source that is no longer one line with hashes becomes a Markdown cell. */
function headingIn(source: string): { readonly level: number; readonly title: string } | undefined {
  const [, hashes, title] = /^(#{1,6}) ([^\n]*)$/.exec(source) ?? [];
  return hashes === undefined || title === undefined ? undefined : { level: hashes.length, title };
}

/** Members that Jupyter refuses in a cell of this type. */
function isForeign({ notebook }: NotebookText, type: CellType, name: string): boolean {
  // Only one of the two members for a source may stay, or Read might take the other one.
  const names3 = type === "code" ? ["source", "input"] : ["source", "input", "language", "collapsed"];
  const names = type === "code" ? ["attachments", "level"] : ["outputs", "execution_count", "prompt_number", "level"];
  return names.includes(name) || (notebook.format === 3 && names3.includes(name));
}

/** The members that a code cell must have, at the places where nbformat, which sorts the names, would write them. */
function missingMembers(
  file: NotebookText,
  cell: NotebookCell<unknown>,
  members: readonly Member[],
): MemberPlan["add"] {
  const language = JSON.stringify(codeLanguage(file, cell.index));
  const needed =
    file.notebook.format === 4
      ? [
          { name: "execution_count", value: "null", after: ["cell_type"] },
          { name: "outputs", value: "[]", after: ["metadata", "cell_type"] },
        ]
      : [
          { name: "language", value: language, after: ["input", "source"] },
          { name: "outputs", value: "[]", after: ["metadata", "cell_type"] },
          { name: "prompt_number", value: "null", after: ["outputs", "metadata", "cell_type"] },
        ];
  return needed.filter(({ name }) => memberNamed(members, name) === undefined);
}

// The file's layout, and new parts in the same style.

interface CellList {
  readonly span: Span;
  readonly items: readonly Span[];
}

interface NotebookText {
  readonly text: string;
  readonly notebook: Notebook;
  /** One, or in format 3 one for each worksheet. */
  readonly lists: readonly CellList[];
  /** Of all lists, in the order in which Read counts them. */
  readonly cells: readonly Span[];
  readonly shape: Shape;
  readonly colon: string;
  /** New cells get an id: nbformat 4.5 requires it, older formats forbid it. */
  readonly hasIds: boolean;
}

/** `text` MUST be the text that the notebook was parsed from. */
function parseLayout(text: string, notebook: Notebook): NotebookText {
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

/** The notebook's own list or, in format 3, those of the worksheets. */
function cellLists(text: string, root: readonly Member[]): readonly CellList[] {
  const own = memberNamed(root, "cells")?.value;
  const sheets = memberNamed(root, "worksheets")?.value;
  const isList = (span: Span | undefined): span is Span => span !== undefined && text[span.from] === "[";
  const spans = isList(own)
    ? [own]
    : (isList(sheets) ? itemsOf(text, sheets) : []).map((sheet) => memberNamed(membersOf(text, sheet), "cells")?.value);
  return spans.filter(isList).map((span) => ({ span, items: itemsOf(text, span) }));
}

/** The member that Read takes the source from, or would if it contained text. */
function sourceMember(text: string, members: readonly Member[]): Member | undefined {
  const [source, input] = [memberNamed(members, "source"), memberNamed(members, "input")];
  return [source, input].find((member) => memberText(text, member) !== undefined) ?? source ?? input;
}

function memberText(text: string, member: Member | undefined): string | undefined {
  if (member === undefined || !/["[]/.test(text.charAt(member.value.from))) return undefined;
  return joinedText(JSON.parse(sliceOf(text, member.value)));
}

/** Writes a source for the cell at `near`, or a new one next to it: as a string or a list of lines, like the nearest source. */
function sourceText(file: NotebookText, near: number, source: string, cell: Shape): string {
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
    // An empty list shows that the source is a list, but not its layout.
    if (shape !== undefined) break;
  }
  const lines = source.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const written = lines.map((line) => spellings?.get(line) ?? write(line));
  return bracketed("[]", shape ?? innerShape(cell, file.colon), written);
}

/** Lines that stay keep their escapes. */
function spellingsOf(text: string, lines: readonly Span[]): ReadonlyMap<unknown, string> {
  return new Map(lines.map((line) => [JSON.parse(sliceOf(text, line)), sliceOf(text, line)]));
}

export interface NewCell {
  readonly type: NotebookCell["type"];
  readonly source: string;
  readonly id: string | undefined;
}

/** Writes a whole cell in the style of the nearest cell of its type or, if there is none, of the nearest cell. */
function newCellText(file: NotebookText, list: CellList, near: number, cell: NewCell): string {
  const model = modelFor(file, near, cell.type);
  const colon = model === undefined ? file.colon : colonOf(file.text, model.first);
  const shape = model?.shape ?? innerShape(listShape(file, list), file.colon);
  const source = sourceText(file, near, cell.source, shape);
  const fields = fieldsOf(file.notebook.format, cell, source, codeLanguage(file, near));
  const order = new Set(model?.names.filter((name) => fields.has(name)));
  // A model that lacks a field cannot show where it belongs.
  const names = order.size === fields.size ? order : fields.keys();
  const entries = [...names].map((name) => `${JSON.stringify(name)}${colon}${fields.get(name) ?? "null"}`);
  return bracketed("{}", shape, entries);
}

function listShape(file: NotebookText, { span, items }: CellList): Shape {
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

/** The language of a new code cell: format 4 has one for the notebook, format 3 one in every cell. */
function codeLanguage(file: NotebookText, near: number): string {
  const { cells, format, language } = file.notebook;
  if (format === 4) return language;
  const [before, after] = [cells.slice(0, near + 1), cells.slice(near + 1)];
  const isCode = ({ type }: NotebookCell<unknown>): boolean => type === "code";
  return (before.findLast(isCode) ?? after.find(isCode))?.language ?? language;
}

/** Local: searching further would take long in a file of a million odd cells, and help little. */
const distanceMax = 1_000;

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

/** The members of a new cell as JSON, in the order of nbformat. */
function fieldsOf(format: 3 | 4, { type, id }: NewCell, source: string, language: string): Map<string, string> {
  const isCode = type === "code";
  const fields: Readonly<Record<string, string | undefined>> =
    format === 3 && isCode
      ? {
          cell_type: '"code"',
          collapsed: "false",
          input: source,
          language: JSON.stringify(language),
          metadata: "{}",
          outputs: "[]",
          prompt_number: "null",
        }
      : {
          cell_type: JSON.stringify(type),
          execution_count: isCode ? "null" : undefined,
          id: format === 3 || id === undefined ? undefined : JSON.stringify(id),
          metadata: "{}",
          outputs: isCode ? "[]" : undefined,
          source,
        };
  return new Map(Object.entries(fields).flatMap(([name, json]) => (json === undefined ? [] : [[name, json]])));
}

export interface CellEdit {
  readonly mode: CellMode;
  /** Insert: after this cell; undefined: as the first. */
  readonly cellId: string | undefined;
  readonly source: string;
  /** Default: an inserted cell is code, a replaced one keeps its type. */
  readonly cellType: CellType | undefined;
  /** The id of a new cell, if the notebook has ids (nbformat 4.5), it is valid and no cell has it. */
  readonly newId: string;
}

export type CellEdited =
  | {
      readonly edited: "yes";
      readonly changes: readonly TextChange[];
      /** Index and id: of a deleted cell the old ones, else as Read shows them from now on. */
      readonly cell: NotebookEditOutcome["cell"];
      /** The index, from 0, of a cell that was named by a generated id. */
      readonly numbered: number | undefined;
      readonly cellsTotal: number;
      /** Outputs or an execution count of the old source were removed. */
      readonly cleared: boolean;
      /** Later cells have no id of their own, so their generated ids have changed. */
      readonly renumbered: boolean;
    }
  | ({ readonly edited: "no" } & NotEdited);

type NotEdited =
  | ({ readonly why: "not json" } & JsonFault)
  | { readonly why: "not a notebook"; readonly detail: string }
  /** Only an insertion may name no cell. */
  | { readonly why: "empty file" | "no cell named" | "same source" }
  | { readonly why: "cell unknown"; readonly cellId: string; readonly known: readonly string[] };

/** Local: ids that the error lists. */
const knownMax = 20;

const parseLimits = { outputCharsMax: 0, outputsMax: 0, cellsMax: limits.notebookCellsMax };

export function editCell(text: string, edit: CellEdit): CellEdited {
  const notebook = parseNotebook(text, parseLimits);
  if ("fault" in notebook) return refusal(notebook);

  const { cellId } = edit;
  if (cellId === undefined && edit.mode !== "insert") return { edited: "no", why: "no cell named" };
  const cell = notebook.cells.find(({ id }) => id === cellId);
  if (cellId !== undefined && cell === undefined) {
    const known = notebook.cells.slice(0, knownMax).map(({ id }) => id);
    return { edited: "no", why: "cell unknown", cellId, known };
  }

  const file = parseLayout(text, notebook);
  const place = cell === undefined ? undefined : placeOf(file, cell);
  const made = edit.mode === "insert" ? insertCell(file, place, edit) : place && changeCell(file, place, edit);
  if (made === undefined) return { edited: "no", why: "not a notebook", detail: "it has no list of cells" };
  if (made === "same source") return { edited: "no", why: made };
  const numbered = cell?.ownId === false ? cell.index : undefined;
  return { edited: "yes", cleared: false, renumbered: false, ...made, numbered };
}

const changeCell = (file: NotebookText, place: CellPlace, edit: CellEdit): Made | "same source" =>
  edit.mode === "delete" ? deleteCell(file, place) : replaceCell(file, place, edit);

function refusal(found: NotebookFault): CellEdited {
  switch (found.fault) {
    case "not json":
      return { edited: "no", why: "not json", line: found.line, column: found.column, detail: found.detail };
    case "not a notebook":
      return { edited: "no", why: "not a notebook", detail: found.detail };
    case "empty":
      return { edited: "no", why: "empty file" };
  }
}

type Edited = Extract<CellEdited, { readonly edited: "yes" }>;
type Made = Pick<Edited, "changes" | "cell" | "cellsTotal"> & Partial<Pick<Edited, "cleared" | "renumbered">>;

interface CellPlace {
  readonly cell: NotebookCell<unknown>;
  readonly span: Span;
  readonly list: CellList;
  readonly indexInList: number;
}

function placeOf({ lists }: NotebookText, cell: NotebookCell<unknown>): CellPlace | undefined {
  let indexInList = cell.index;
  for (const list of lists) {
    const span = list.items[indexInList];
    if (span !== undefined) return { cell, span, list, indexInList };
    indexInList -= list.items.length;
  }
  return undefined;
}

function deleteCell(file: NotebookText, { cell, list, indexInList }: CellPlace): Made {
  const { index, id, type, language, source } = cell;
  return {
    changes: [{ ...spanToDelete(list, indexInList), text: "" }],
    cell: { index, id, type, language, oldSource: source },
    cellsTotal: file.cells.length - 1,
    renumbered: hasCellWithoutId(file, index + 1),
  };
}

/** Includes one comma; the whitespace of the other cells stays, and a list of one cell becomes empty. */
function spanToDelete({ span, items }: CellList, index: number): Span {
  const [before, cell, after] = [items[index - 1], items[index], items[index + 1]];
  if (cell !== undefined && after !== undefined) return { from: cell.from, to: after.from };
  if (cell !== undefined && before !== undefined) return { from: before.to, to: cell.to };
  return { from: span.from + 1, to: span.to - 1 };
}

function insertCell(file: NotebookText, after: CellPlace | undefined, edit: CellEdit): Made | undefined {
  const list = after?.list ?? file.lists[0];
  if (list === undefined) return undefined;
  const near = after?.cell.index ?? 0;
  const index = after === undefined ? 0 : near + 1;
  const type = edit.cellType ?? "code";
  const id = file.hasIds ? freeId(file, edit.newId) : undefined;
  const text = newCellText(file, list, near, { type, source: edit.source, id });
  return {
    changes: [insertion(file.text, list, (after?.indexInList ?? -1) + 1, text, listShape(file, list))],
    cell: {
      index,
      id: id ?? idShownAt(file, index),
      type,
      language: type === "code" ? codeLanguage(file, near) : type,
      oldSource: undefined,
    },
    cellsTotal: file.cells.length + 1,
    renumbered: hasCellWithoutId(file, index),
  };
}

function insertion(text: string, { span, items }: CellList, index: number, cell: string, shape: Shape): TextChange {
  const [before, after] = [items[index - 1], items[index]];
  if (before !== undefined) {
    // After the last cell there is no whitespace to copy; before it there is.
    const [left, right] = after === undefined ? [items[index - 2], before] : [before, after];
    const between = left === undefined ? shape.between : text.slice(left.to, right.from);
    return { from: before.to, to: before.to, text: between + cell };
  }
  if (after !== undefined) return { from: after.from, to: after.from, text: cell + shape.between };
  return { ...span, text: bracketed("[]", shape, [cell]) };
}

const hasCellWithoutId = ({ notebook }: NotebookText, from: number): boolean =>
  notebook.cells.slice(from).some(({ ownId }) => !ownId);

function freeId({ notebook }: NotebookText, newId: string): string {
  const taken = new Set(notebook.cells.map(({ id }) => id));
  if (/^[\w-]{1,64}$/.test(newId) && !taken.has(newId)) return newId;
  let more = taken.size;
  while (taken.has(`new-${more}`)) more += 1;
  return `new-${more}`;
}

/** The id that Read will generate for a new cell; computed by the same function, so the two cannot differ. */
function idShownAt({ notebook }: NotebookText, index: number): string {
  const cells: { readonly id?: string }[] = notebook.cells.map(({ id, ownId }) => (ownId ? { id } : {}));
  cells.splice(index, 0, {});
  return cellIds(cells)[index]?.id ?? `cell-${index}`;
}

function replaceCell(file: NotebookText, { cell, span, list }: CellPlace, edit: CellEdit): Made | "same source" {
  const { text } = file;
  const type = edit.cellType ?? cell.type;
  if (type === cell.type && edit.source === cell.source) return "same source";

  const members = membersOf(text, span);
  const colon = members[0] === undefined ? file.colon : colonOf(text, members[0]);
  const shape = shapeOf(text, span, members, colon);
  const hadOutputs = members.some((member) => member.name === "outputs" && isStale(text, member));
  const language = type === cell.type ? cell.language : type === "code" ? codeLanguage(file, cell.index) : type;
  const shown = { index: cell.index, id: cell.id, type, language, oldSource: cell.source };
  const rest = { cellsTotal: file.cells.length, cleared: cell.type === "code" && hadOutputs };
  const plan = shape && planFor(file, cell, members, shape, { type, source: edit.source });
  if (shape !== undefined && plan !== undefined && plan.drop.size < members.length) {
    return { changes: changeMembers(members, plan, shape, colon), cell: shown, ...rest };
  }
  // Nothing of the old cell stays, or it was no object: a new cell replaces it.
  const id = file.hasIds ? freeId(file, edit.newId) : undefined;
  const whole = newCellText(file, list, cell.index, { type, source: edit.source, id });
  return { changes: [{ ...span, text: whole }], cell: { ...shown, id: id ?? cell.id }, ...rest };
}
