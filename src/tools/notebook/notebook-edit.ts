/** NotebookEdit: replaces, inserts or deletes one cell; the rest of the notebook stays to the byte. */

import type { NotebookEditOutcome, NotebookEditRequest } from "../../contract/edit.ts";
import { type CellFault, Problem, type ProblemData } from "../../contract/problem.ts";
import type { Profile } from "../../contract/profile.ts";
import type { Target } from "../../contract/target.ts";
import { runInSlices, lazily } from "../../disk/disk.ts";
import { mediaOf } from "../../kinds/kinds.ts";
import { covers, type LineChange, merged, nothingShown, shifted } from "../../session/session.ts";
import type { CellEdited, Steps } from "../../text/text.ts";
import { change, type Planned } from "../change/change.ts";
import type { CurrentFile, UncheckedCurrentFile } from "../change/current-file.ts";
import { knownAfter, linesChanged, movedAlong, planOfChanges, requireShown, shownOf } from "../edit/edit-text.ts";
import type { Tool } from "../tool.ts";

const notebooks = lazily(() => import("../../kinds/notebook.ts"));

type CellResult = Pick<NotebookEditOutcome, "cell" | "cellsTotal" | "cleared" | "renumbered">;

export const notebookEdit: Tool<"notebook-edit"> = async (request, context) => {
  // One id for all times that the call is planned: the plan that is written must be the one that was approved.
  const newId = request.mode === "insert" ? context.newId() : "";
  const edited = async (current: UncheckedCurrentFile): Promise<CellEdited> => {
    if (current.bytes === undefined) {
      throw new Problem({ code: "TOO_LARGE", place: current.target, kind: "notebook", limit: "32 MB" });
    }
    const { editedCell } = await notebooks();
    const { mode, cellId, source, cellType } = request;
    const edit = { mode, cellId, source, cellType, newId };
    return editedCell(current.source().text, edit, current.target, context.signal);
  };
  const { file, extra } = await change(
    request.path,
    {
      wants: "notebook",
      profile: request.profile,
      overwrites: false,
      there: async (current) => runInSlices(planCell(current, request, await edited(current)), context.signal),
      fits: async (current) => {
        const result = await edited(current);
        if (result.edited === "no" && isFault(result)) throw new Problem(problemOf(result, current.target));
      },
    },
    context,
  );
  const { mode, source } = request;
  return { kind: "notebook-edit", target: file.target, file, mode, source, ...extra, dryRun: context.dryRun };
};

type Refused = Extract<CellEdited, { readonly edited: "no" }>;

const isFault = ({ why }: Refused): boolean => why === "not json" || why === "not a notebook";

function* planCell(current: CurrentFile, request: NotebookEditRequest, edited: CellEdited): Steps<Planned<CellResult>> {
  if (edited.edited === "no") throw new Problem(problemOf(edited, current.target));
  const { changes, cell, cellsTotal, cleared, renumbered, numbered } = edited;
  const at = cell.index + 1;
  const moved = shownOf(current.seen).movedCells ?? [];
  // Cells were renumbered since they were shown, so it is unclear whether the call means the old or the new number.
  if (numbered !== undefined && moved.some(({ from, to }) => from <= numbered + 1 && numbered + 1 <= to)) {
    const fault = "renumbered" satisfies CellFault;
    throw new Problem({ code: "INVALID_PARAM", reason: "cell", place: current.target, fault });
  }
  const lines = yield* linesChanged(current.source().text, changes);
  if (request.mode !== "insert") requireCell(current, at, lines, request.profile);
  const seen = shownOf(current.seen);
  const cellChange = {
    line: at,
    linesBefore: request.mode === "insert" ? 0 : 1,
    linesAfter: request.mode === "delete" ? 0 : 1,
  };
  const cells = shifted(seen.cells, [cellChange]);
  // Numbers beyond the old total are unambiguous: only the new state has them.
  const totalBefore = cellsTotal - cellChange.linesAfter + cellChange.linesBefore;
  const movedCells = renumbered ? merged([...moved, { from: at, to: totalBefore }]) : moved;
  // A session that was shown no lines knows none after the change either: another cell may be on the same line.
  const known = { ...(seen.shown.length === 0 ? nothingShown : movedAlong(seen, lines)), cells, movedCells };
  const after = knownAfter(current, known);
  const wrote = after === "all" && movedCells.length > 0 ? { all: { movedCells } } : after;
  // Some lines of a cell's JSON without the others are no notebook.
  const planned = yield* planOfChanges(current, changes, wrote, { cell, cellsTotal, cleared, renumbered });
  return { ...planned, indivisible: true };
}

/** Throws unless the cell was shown, as a cell or, in dialects without cells, as lines of the file. */
function requireCell(current: CurrentFile, at: number, lines: readonly LineChange[], { kinds }: Profile): void {
  const { seen, target } = current;
  const { shown, cells } = shownOf(seen);
  const needed = { from: at, to: at };
  if (covers(cells, needed)) return;
  const places = lines
    .filter(({ linesBefore }) => linesBefore > 0)
    .map(({ line, linesBefore }) => ({ from: line, to: line + linesBefore - 1 }));
  const isCovered = places.every((place) => covers(shown, place));
  if (kinds.notebook === "read" && !isCovered && seen.state === "fresh" && !seen.whole) {
    throw new Problem({
      code: "NOT_READ",
      place: target,
      reason: "elsewhere",
      unit: "cell",
      shown: cells,
      needed: [needed],
    });
  }
  requireShown(current, { shown }, places);
}

function problemOf(refused: Refused, place: Target): ProblemData {
  const isNamedSo = mediaOf(place.real, new Uint8Array()) === "notebook";
  if (isFault(refused) && !isNamedSo) return { code: "INVALID_PARAM", reason: "cell", place, fault: "not a notebook" };
  switch (refused.why) {
    case "not json": {
      const detail = `${refused.detail} at line ${refused.line}, column ${refused.column}`;
      return { code: "DAMAGED", place, kind: "notebook", detail };
    }
    case "not a notebook":
      return { code: "DAMAGED", place, kind: "notebook", detail: refused.detail };
    case "cell unknown":
      return { code: "NO_CELL", place, cellId: refused.cellId, known: refused.known };
    case "empty file":
    case "no cell named":
    case "same source":
      return { code: "INVALID_PARAM", reason: "cell", place, fault: refused.why };
  }
}
