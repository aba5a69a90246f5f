/**
 * One cell of a notebook replaced, inserted or deleted, as changes to the text of the file: what is not named stays to
 * the letter. A cell is named by the id that reading shows for it, so a second cell with the same id, or one without,
 * has a name too, and none is ever ambiguous. No id is written into a cell that had none.
 */

import type { CellMode, CellType, TextChange } from "../contract/edit.ts";
import type { NotebookCell } from "../contract/notebook.ts";
import { membersOf, type Span } from "./json-spans.ts";
import { bracketed, changeMembers, colonOf, type Shape, shapeOf } from "./json-style.ts";
import { type NotebookFault, parseNotebook } from "./notebook.ts";
import { isStale, planFor } from "./notebook-replace.ts";
import { finish, type Steps } from "./steps.ts";
import { type CellList, codeLanguage, layOut, listShape, type NotebookText, newCellText } from "./notebook-text.ts";

export interface CellEdit {
  readonly mode: CellMode;
  /** Insert: the new cell comes behind this one; without one, it becomes the first. */
  readonly cellId: string | undefined;
  readonly source: string;
  /** Without one, an inserted cell is code, and a replaced one stays what it is. */
  readonly cellType: CellType | undefined;
  /** Asked only for the new cell of a notebook that has ids (nbformat 4.5); asked again if the id is taken. */
  readonly newId: () => string;
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

/** A cell beyond these cannot be named: reading shows no more either, unless it is set to. */
const parseLimits = { outputCharsMax: 0, outputsMax: 0, cellsMax: 100_000 };

export const editCell = (text: string, edit: CellEdit): CellEdited => finish(editingCell(text, edit));

/** The same, in steps. */
export function* editingCell(text: string, edit: CellEdit): Steps<CellEdited> {
  const notebook = parseNotebook(text, parseLimits);
  yield;
  if ("fault" in notebook) return refusal(notebook);

  const { cellId } = edit;
  if (cellId === undefined && edit.mode !== "insert") return { edited: "no", why: "no cell named" };
  const cell = notebook.cells.find(({ id }) => id === cellId);
  if (cellId !== undefined && cell === undefined) {
    const known = notebook.cells.slice(0, knownMax).map(({ id }) => id);
    return { edited: "no", why: "cell unknown", cellId, known };
  }

  const file = layOut(text, notebook);
  yield;
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

const idsAskedMax = 8;

/** An id that no cell has or is shown by. */
function freeId({ notebook }: NotebookText, newId: () => string): string {
  const taken = new Set(notebook.cells.map(({ id }) => id));
  for (let asked = 0; asked < idsAskedMax; asked += 1) {
    const id = newId();
    if (/^[\w-]{1,64}$/.test(id) && !taken.has(id)) return id;
  }
  let more = taken.size;
  while (taken.has(`new-${more}`)) more += 1;
  return `new-${more}`;
}

/** What reading will show for a new cell without an id; asked of reading itself, so that the two never differ. */
function idShownAt({ notebook }: NotebookText, index: number): string {
  const cells: { readonly id?: string }[] = notebook.cells.map(({ id, ownId }) => (ownId ? { id } : {}));
  cells.splice(index, 0, {});
  const shown = parseNotebook(JSON.stringify({ cells }), { ...parseLimits, cellsMax: index + 1 });
  return ("fault" in shown ? undefined : shown.cells[index]?.id) ?? `cell-${index}`;
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
