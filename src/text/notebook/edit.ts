/**
 * One cell of a notebook replaced, inserted or deleted, as changes to the text of the file: what is not named stays to
 * the letter. A cell is named by the id that reading shows for it, so a second cell with the same id, or one without,
 * has a name too, and none is ever ambiguous. No id is written into a cell that had none.
 */

import type { CellMode, CellType, TextChange } from "../../contract/edit.ts";
import { limits } from "../../contract/limits.ts";
import type { NotebookCell } from "../../contract/notebook.ts";
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
import { giveIds, type Notebook, type NotebookFault, parseNotebook } from "./notebook.ts";

// What becomes of the members of a cell when its source, or its type, is another. Those that need not change stay.

export interface Replacement {
  readonly file: NotebookText;
  /** As it is shown. */
  readonly cell: NotebookCell<unknown>;
  /** As it is written. */
  readonly members: readonly Member[];
  readonly shape: Shape;
  readonly type: CellType;
  readonly source: string;
}

function planFor(replacement: Replacement): MemberPlan {
  const { file, cell, members, shape, type, source } = replacement;
  const { text } = file;
  const set = new Map<Member, string>();
  const add: MemberPlan["add"][number][] = [];
  const put = (name: string, value: string, behind: readonly string[]): void => {
    const member = memberNamed(members, name);
    if (member === undefined) add.push({ name, value, behind });
    else set.set(member, value);
  };

  const wasHeading = textOf(text, memberNamed(members, "cell_type")) === "heading";
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
  if (textOf(text, holder) !== written) {
    const value = sourceText(file, cell.index, written, shape);
    if (holder === undefined) add.push({ name: holderName, value, behind: [] });
    else set.set(holder, value);
  }

  if (type === "code") {
    for (const member of members.filter((other) => isStale(text, other))) set.set(member, emptied(member.name));
    if (retyped) add.push(...lacking(replacement));
  }
  const renamed = retyped && file.notebook.format === 3 && holder !== undefined && holder.name !== holderName;
  return {
    set,
    rename: new Map(renamed ? [[holder, holderName]] : []),
    drop: new Set(retyped ? members.filter((member) => member !== holder && isForeign(file, type, member.name)) : []),
    add,
  };
}

/** Tells of a run of the old source. */
function isStale(text: string, { name, value }: Member): boolean {
  if (name === "outputs") return text[value.from] !== "[" || text.slice(value.from + 1, value.to - 1).trim() !== "";
  return (name === "execution_count" || name === "prompt_number") && sliceOf(text, value) !== "null";
}

const emptied = (name: string): string => (name === "outputs" ? "[]" : "null");

/** Headings of format 3 are shown as Markdown; what is no longer one line with hashes becomes Markdown. */
function headingIn(source: string): { readonly level: number; readonly title: string } | undefined {
  const [, hashes, title] = /^(#{1,6}) ([^\n]*)$/.exec(source) ?? [];
  return hashes === undefined || title === undefined ? undefined : { level: hashes.length, title };
}

/** Jupyter refuses a cell that has what belongs to another type. */
function isForeign({ notebook }: NotebookText, type: CellType, name: string): boolean {
  // Only one of the two that can hold a source may be left, or reading might take the other one.
  const names3 = type === "code" ? ["source", "input"] : ["source", "input", "language", "collapsed"];
  const names = type === "code" ? ["attachments", "level"] : ["outputs", "execution_count", "prompt_number", "level"];
  return names.includes(name) || (notebook.format === 3 && names3.includes(name));
}

/** What a cell of code must have. Each goes where nbformat, which sorts the names, would write it. */
function lacking({ file, cell, members }: Replacement): MemberPlan["add"] {
  const language = JSON.stringify(codeLanguage(file, cell.index));
  const needed =
    file.notebook.format === 4
      ? [
          { name: "execution_count", value: "null", behind: ["cell_type"] },
          { name: "outputs", value: "[]", behind: ["metadata", "cell_type"] },
        ]
      : [
          { name: "language", value: language, behind: ["input", "source"] },
          { name: "outputs", value: "[]", behind: ["metadata", "cell_type"] },
          { name: "prompt_number", value: "null", behind: ["outputs", "metadata", "cell_type"] },
        ];
  return needed.filter(({ name }) => memberNamed(members, name) === undefined);
}

// A notebook's file as it is written, and new parts for it that look like those it has.

interface CellList {
  /** With the brackets. */
  readonly span: Span;
  readonly items: readonly Span[];
}

interface NotebookText {
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
function layOut(text: string, notebook: Notebook): NotebookText {
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
function sourceMember(text: string, members: readonly Member[]): Member | undefined {
  const [source, input] = [memberNamed(members, "source"), memberNamed(members, "input")];
  return [source, input].find((member) => textOf(text, member) !== undefined) ?? source ?? input;
}

/** One string or a list of them; undefined for anything else. */
function textOf(text: string, member: Member | undefined): string | undefined {
  if (member === undefined || !/["[]/.test(text.charAt(member.value.from))) return undefined;
  const value: unknown = JSON.parse(sliceOf(text, member.value));
  if (typeof value === "string") return value;
  return Array.isArray(value) ? value.filter((piece) => typeof piece === "string").join("") : undefined;
}

/** A source for the cell at `near`, or a new one beside it: a string or a list of lines, whichever the nearest is. */
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
function newCellText(file: NotebookText, list: CellList, near: number, cell: NewCell): string {
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

/** What a new cell of code is written in: format 4 says it once for the notebook, format 3 in every cell. */
function codeLanguage(file: NotebookText, near: number): string {
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

export interface CellEdit {
  readonly mode: CellMode;
  /** Insert: the new cell comes behind this one; without one, it becomes the first. */
  readonly cellId: string | undefined;
  readonly source: string;
  /** Without one, an inserted cell is code, and a replaced one stays what it is. */
  readonly cellType: CellType | undefined;
  /** For the new cell of a notebook that has ids (nbformat 4.5), if it can be one and no cell has it. */
  readonly newId: string;
}

export type CellEdited =
  | {
      readonly edited: "yes";
      /** Sorted, and none touches another. */
      readonly changes: readonly TextChange[];
      readonly cell: {
        /** From 0; of a cell that was deleted, where it stood. */
        readonly index: number;
        /** As reading shows it from now on; of a cell that was deleted, as it did. */
        readonly id: string;
        readonly type: CellType;
        /** Of code what it is written in, of others the type. */
        readonly language: string;
        /** As reading shows it; undefined for a cell that is new. */
        readonly oldSource: string | undefined;
      };
      /** The cell that was named by its number, having no id of its own: where it stood, from 0. */
      readonly numbered: number | undefined;
      /** After the change. */
      readonly cellsTotal: number;
      /** Outputs or a count, made by the old source, were taken away. */
      readonly cleared: boolean;
      /** Cells behind this one have no id of their own, and are shown by another one from now on. */
      readonly renumbered: boolean;
    }
  | {
      readonly edited: "no";
      readonly why: "not json";
      readonly line: number;
      readonly column: number;
      readonly detail: string;
    }
  | { readonly edited: "no"; readonly why: "not a notebook"; readonly detail: string }
  /** Only an insertion needs no cell to be named. */
  | { readonly edited: "no"; readonly why: "empty file" | "no cell named" | "same source" }
  /** `known` are the first of the ids there are. */
  | { readonly edited: "no"; readonly why: "cell unknown"; readonly cellId: string; readonly known: readonly string[] };

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

  const file = layOut(text, notebook);
  const place = cell === undefined ? undefined : placeOf(file, cell);
  const edited = editAt(file, place, edit);
  return edited.edited === "yes" && cell?.ownId === false ? { ...edited, numbered: cell.index } : edited;
}

function editAt(file: NotebookText, place: CellPlace | undefined, edit: CellEdit): CellEdited {
  if (edit.mode === "insert") return insertCell(file, place, edit);
  if (place === undefined) return notANotebook("it has no list of cells");
  return edit.mode === "delete" ? deleteCell(file, place) : replaceCell(file, place, edit);
}

function refusal(found: NotebookFault): CellEdited {
  switch (found.fault) {
    case "not json":
      return { edited: "no", why: "not json", line: found.line, column: found.column, detail: found.detail };
    case "not a notebook":
      return notANotebook(found.detail);
    case "empty":
      return { edited: "no", why: "empty file" };
  }
}

const notANotebook = (detail: string): CellEdited => ({ edited: "no", why: "not a notebook", detail });

/** A cell as it is shown, and where it is written. */
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

function deleteCell(file: NotebookText, { cell, list, indexInList }: CellPlace): CellEdited {
  const { index, id, type, language, source } = cell;
  return {
    edited: "yes",
    changes: [{ ...spanToDelete(list, indexInList), text: "" }],
    cell: { index, id, type, language, oldSource: source },
    numbered: undefined,
    cellsTotal: file.cells.length - 1,
    cleared: false,
    renumbered: someNameless(file, index + 1),
  };
}

/** With one comma; the blanks that stay are those of the other cells, and a list that had one cell keeps none. */
function spanToDelete({ span, items }: CellList, index: number): Span {
  const [before, cell, behind] = [items[index - 1], items[index], items[index + 1]];
  if (cell !== undefined && behind !== undefined) return { from: cell.from, to: behind.from };
  if (cell !== undefined && before !== undefined) return { from: before.to, to: cell.to };
  return { from: span.from + 1, to: span.to - 1 };
}

function insertCell(file: NotebookText, after: CellPlace | undefined, edit: CellEdit): CellEdited {
  const list = after?.list ?? file.lists[0];
  if (list === undefined) return notANotebook("it has no list of cells");
  const near = after?.cell.index ?? 0;
  const index = after === undefined ? 0 : near + 1;
  const type = edit.cellType ?? "code";
  const id = file.hasIds ? freeId(file, edit.newId) : undefined;
  const text = newCellText(file, list, near, { type, source: edit.source, id });
  return {
    edited: "yes",
    changes: [insertion(file.text, list, (after?.indexInList ?? -1) + 1, text, listShape(file, list))],
    cell: {
      index,
      id: id ?? idShownAt(file, index),
      type,
      language: type === "code" ? codeLanguage(file, near) : type,
      oldSource: undefined,
    },
    numbered: undefined,
    cellsTotal: file.cells.length + 1,
    cleared: false,
    renumbered: someNameless(file, index),
  };
}

function insertion(text: string, { span, items }: CellList, index: number, cell: string, shape: Shape): TextChange {
  const [before, behind] = [items[index - 1], items[index]];
  if (before !== undefined) {
    // The last cell has none behind it to copy the blanks from; the one before it has.
    const [left, right] = behind === undefined ? [items[index - 2], before] : [before, behind];
    const between = left === undefined ? shape.between : text.slice(left.to, right.from);
    return { from: before.to, to: before.to, text: between + cell };
  }
  if (behind !== undefined) return { from: behind.from, to: behind.from, text: cell + shape.between };
  return { ...span, text: bracketed("[]", shape, [cell]) };
}

const someNameless = ({ notebook }: NotebookText, from: number): boolean =>
  notebook.cells.slice(from).some(({ ownId }) => !ownId);

/** An id that no cell has or is shown by. */
function freeId({ notebook }: NotebookText, newId: string): string {
  const taken = new Set(notebook.cells.map(({ id }) => id));
  if (/^[\w-]{1,64}$/.test(newId) && !taken.has(newId)) return newId;
  let more = taken.size;
  while (taken.has(`new-${more}`)) more += 1;
  return `new-${more}`;
}

/** What reading will show for a new cell without an id; asked of reading itself, so that the two never differ. */
function idShownAt({ notebook }: NotebookText, index: number): string {
  const cells: { readonly id?: string }[] = notebook.cells.map(({ id, ownId }) => (ownId ? { id } : {}));
  cells.splice(index, 0, {});
  return giveIds(cells)[index]?.id ?? `cell-${index}`;
}

function replaceCell(file: NotebookText, { cell, span, list }: CellPlace, edit: CellEdit): CellEdited {
  const { text } = file;
  const type = edit.cellType ?? cell.type;
  if (type === cell.type && edit.source === cell.source) return { edited: "no", why: "same source" };

  const members = membersOf(text, span);
  const colon = members[0] === undefined ? file.colon : colonOf(text, members[0]);
  const shape = shapeOf(text, span, members, colon);
  const hadOutputs = members.some((member) => member.name === "outputs" && isStale(text, member));
  const language = type === cell.type ? cell.language : type === "code" ? codeLanguage(file, cell.index) : type;
  const shown = { index: cell.index, id: cell.id, type, language, oldSource: cell.source };
  const rest = {
    numbered: undefined,
    cellsTotal: file.cells.length,
    cleared: cell.type === "code" && hadOutputs,
    renumbered: false,
  };
  const plan = shape && planFor({ file, cell, members, shape, type, source: edit.source });
  if (shape !== undefined && plan !== undefined && plan.drop.size < members.length) {
    return { edited: "yes", changes: changeMembers(members, plan, shape, colon), cell: shown, ...rest };
  }
  // Nothing of it stays, or it was no object to begin with: a new cell takes its place.
  const id = file.hasIds ? freeId(file, edit.newId) : undefined;
  const whole = newCellText(file, list, cell.index, { type, source: edit.source, id });
  return { edited: "yes", changes: [{ ...span, text: whole }], cell: { ...shown, id: id ?? cell.id }, ...rest };
}
