/** Answers to changes in the `claude` dialect: the fields that programs expect, and a few lines for the model. */

import type { Reply } from "../../contract/call.ts";
import type { ChangedFile, ChangeOutcome, Hunk, MatchedBy, PartAccepted } from "../../contract/edit.ts";
import { type CheckedFile, checkedIn, diagnosticLines } from "../lsp-text.ts";
import { bounded, changeLines, hunksFor, originalFor, partOf } from "../change-text.ts";
import type { Facts } from "../dialect.ts";
import { successReply } from "../words.ts";
import type { EditPart } from "../inputs.ts";

/** Diagnostics of the files that a language server covers. */
interface Checked {
  readonly diagnostics?: readonly CheckedFile[];
}

/** Of a change that the user accepted only in part. */
interface Partly {
  readonly partial?: PartAccepted;
}

interface Edited extends Checked, Partly {
  readonly filePath: string;
  /** Null for a new file, and where it is too long. */
  readonly originalFile: string | null;
  readonly structuredPatch: readonly Hunk[];
  /** The user accepted only a part of the change: `partial` has the hunks. */
  readonly userModified: boolean;
}

/** What `Edit` answers for programs. */
export interface EditResult extends Edited {
  readonly oldString: string;
  readonly newString: string;
  readonly replaceAll: boolean;
  readonly matchedBy: MatchedBy;
}

/** What `MultiEdit` answers for programs. */
export interface MultiEditResult extends Edited {
  readonly edits: readonly Required<EditPart>[];
  readonly matchedBy: readonly MatchedBy[];
}

/** What `Write` answers for programs. */
export interface WriteResult extends Checked, Partly {
  readonly type: "create" | "update";
  readonly filePath: string;
  readonly content: string | null;
  readonly structuredPatch: readonly Hunk[];
  readonly originalFile: string | null;
}

/** What `NotebookEdit` answers for programs. */
export interface NotebookEditResult extends Checked {
  readonly notebookPath: string;
  readonly cellId: string;
  /** Counted from 0. */
  readonly cellIndex: number;
  readonly cellType: string;
  readonly language: string;
  readonly editMode: string;
  readonly newSource: string | null;
  readonly oldSource: string | null;
  readonly cellsTotal: number;
  readonly structuredPatch: readonly Hunk[];
}

/** A patch by a person; the dialect has no tool for it. */
export interface PatchResult extends Checked {
  readonly files: readonly ({
    readonly filePath: string;
    readonly did: string;
    readonly movedFrom: string | null;
    readonly structuredPatch: readonly Hunk[];
  } & Partly)[];
  /** Files whose change the user refused. */
  readonly refused?: readonly string[];
}

export type ChangeResult = EditResult | MultiEditResult | WriteResult | NotebookEditResult | PatchResult;

export function renderChange(outcome: ChangeOutcome, facts: Facts): Reply<ChangeResult> {
  const lines = [...changeLines(outcome, facts.numbers), ...diagnosticLines(outcome)];
  return successReply(lines.join("\n"), { ...resultOf(outcome, facts), ...checkedIn(outcome) });
}

function resultOf(outcome: ChangeOutcome, facts: Facts): ChangeResult {
  if (outcome.kind === "patch") {
    const files = outcome.files.map((file) => ({
      filePath: file.target.absolute,
      did: file.did,
      movedFrom: file.movedFrom?.absolute ?? null,
      structuredPatch: hunksFor(file, facts),
      ...partly(file),
    }));
    const { refused } = outcome;
    return { files, ...(refused && { refused: refused.map(({ absolute }) => absolute) }) };
  }
  const { file } = outcome;
  const filePath = file.target.absolute;
  const structuredPatch = hunksFor(file, facts);
  switch (outcome.kind) {
    case "edit": {
      const { edits, found } = outcome;
      const part = partly(file);
      const userModified = part.partial !== undefined;
      const shared = { originalFile: originalFor(file, facts), structuredPatch, userModified, ...part };
      const [only] = edits;
      if (facts.tool !== "MultiEdit" && edits.length === 1) {
        const asked = { oldString: only.oldText, newString: only.newText };
        const matchedBy = found[0]?.matchedBy ?? "exact";
        return { filePath, ...asked, ...shared, replaceAll: only.all, matchedBy };
      }
      return {
        filePath,
        ...shared,
        edits: edits.map((one) => ({ old_string: one.oldText, new_string: one.newText, replace_all: one.all })),
        matchedBy: found.map(({ matchedBy }) => matchedBy),
      };
    }
    case "write":
      return {
        type: file.did === "created" ? "create" : "update",
        filePath,
        content: bounded(outcome.content, facts),
        structuredPatch,
        originalFile: originalFor(file, facts),
        ...partly(file),
      };
    case "notebook-edit": {
      const { cell, mode, source, cellsTotal } = outcome;
      return {
        notebookPath: filePath,
        cellId: cell.id,
        cellIndex: cell.index,
        cellType: cell.type,
        language: cell.language,
        editMode: mode,
        newSource: mode === "delete" ? null : bounded(source, facts),
        oldSource: cell.oldSource === undefined ? null : bounded(cell.oldSource, facts),
        cellsTotal,
        structuredPatch,
      };
    }
  }
}

function partly(file: ChangedFile): Partly {
  const partial = partOf(file);
  return partial === undefined ? {} : { partial };
}
