/** Answers to changes in the `claude` dialect: the fields that programs expect, and a few lines for the model. */

import type { Reply } from "../../contract/call.ts";
import type {
  ChangeOutcome,
  EditOutcome,
  Hunk,
  MatchedBy,
  NotebookEditOutcome,
  PatchOutcome,
  WriteOutcome,
} from "../../contract/edit.ts";
import { type CheckedFile, checkedIn, diagnosticLines } from "../lsp-text.ts";
import { bounded, changeLines, hunksFor, originalFor } from "../change-text.ts";
import type { Facts } from "../dialect.ts";
import { successReply } from "../words.ts";
import type { EditPart } from "./inputs.ts";
import { names } from "./problems.ts";

/** Diagnostics of the files that a language server covers. */
interface Checked {
  readonly diagnostics?: readonly CheckedFile[];
}

interface Edited extends Checked {
  readonly filePath: string;
  /** Null for a new file, and where it is too long. */
  readonly originalFile: string | null;
  readonly structuredPatch: readonly Hunk[];
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
export interface WriteResult extends Checked {
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
  readonly files: readonly {
    readonly filePath: string;
    readonly did: string;
    readonly movedFrom: string | null;
    readonly structuredPatch: readonly Hunk[];
  }[];
}

export type ChangeResult = EditResult | MultiEditResult | WriteResult | NotebookEditResult | PatchResult;

export function renderChange(outcome: ChangeOutcome, facts: Facts): Reply<ChangeResult> {
  const lines = [...changeLines(outcome, names.line), ...diagnosticLines(outcome)];
  return successReply(lines.join("\n"), { ...resultOf(outcome, facts), ...checkedIn(outcome) });
}

function resultOf(outcome: ChangeOutcome, facts: Facts): ChangeResult {
  switch (outcome.kind) {
    case "edit":
      return editResult(outcome, facts);
    case "write":
      return writeResult(outcome, facts);
    case "notebook-edit":
      return notebookResult(outcome, facts);
    case "patch":
      return patchResult(outcome, facts);
  }
}

function editResult(outcome: EditOutcome, facts: Facts): EditResult | MultiEditResult {
  const { file, edits, found } = outcome;
  const shared: Edited = {
    filePath: file.target.absolute,
    originalFile: originalFor(file, facts),
    structuredPatch: hunksFor(file, facts),
    userModified: false,
  };
  const [only] = edits;
  if (facts.tool !== "MultiEdit" && edits.length === 1) {
    const { filePath, ...rest } = shared;
    return {
      filePath,
      oldString: only.oldText,
      newString: only.newText,
      ...rest,
      replaceAll: only.all,
      matchedBy: found[0]?.matchedBy ?? "exact",
    };
  }
  return {
    ...shared,
    edits: edits.map(({ oldText, newText, all }) => ({ old_string: oldText, new_string: newText, replace_all: all })),
    matchedBy: found.map(({ matchedBy }) => matchedBy),
  };
}

function writeResult({ file, content }: WriteOutcome, facts: Facts): WriteResult {
  return {
    type: file.did === "created" ? "create" : "update",
    filePath: file.target.absolute,
    content: bounded(content, facts),
    structuredPatch: hunksFor(file, facts),
    originalFile: originalFor(file, facts),
  };
}

function notebookResult(outcome: NotebookEditOutcome, facts: Facts): NotebookEditResult {
  const { file, cell, mode, source, cellsTotal } = outcome;
  return {
    notebookPath: file.target.absolute,
    cellId: cell.id,
    cellIndex: cell.index,
    cellType: cell.type,
    language: cell.language,
    editMode: mode,
    newSource: mode === "delete" ? null : bounded(source, facts),
    oldSource: cell.oldSource === undefined ? null : bounded(cell.oldSource, facts),
    cellsTotal,
    structuredPatch: hunksFor(file, facts),
  };
}

function patchResult({ files }: PatchOutcome, facts: Facts): PatchResult {
  return {
    files: files.map((file) => ({
      filePath: file.target.absolute,
      did: file.did,
      movedFrom: file.movedFrom?.absolute ?? null,
      structuredPatch: hunksFor(file, facts),
    })),
  };
}
