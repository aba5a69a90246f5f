/** The tools of the two opencode dialects that change files: how they are called, and what they answer. */

import * as z from "zod/mini";
import type { Reply } from "../contract/call.ts";
import type { ChangedFile, ChangeOutcome, MatchedBy } from "../contract/edit.ts";
import { escapeName } from "../text/escape.ts";
import { changeLines, patchFor } from "./change-text.ts";
import type { Card, Facts } from "./dialect.ts";
import { diagnosticBlocks, type DiagnosticsByFile, diagnosticsFor } from "./opencode-diagnostics.ts";
import { unchangedNotice } from "./opencode-words.ts";
import { jsonSchemaOf, noticeAsContent, parseArguments } from "./parameters.ts";
import { success } from "./replies.ts";

const editInput = z.strictObject({
  filePath: z.string(),
  oldString: z.string(),
  newString: z.string(),
  replaceAll: z.optional(z.boolean()),
});
const writeInput = z.strictObject({ filePath: z.string(), content: z.string() });
const patchInput = z.strictObject({ patchText: z.string() });

/** What a call of `edit` may hold. */
export interface EditInput {
  readonly filePath: string;
  /** The text to replace, to the letter. */
  readonly oldString: string;
  readonly newString: string;
  /** Replace every place; otherwise there must be only one. */
  readonly replaceAll?: boolean;
}

/** What a call of `write` may hold. */
export interface WriteInput {
  readonly filePath: string;
  readonly content: string;
}

/** What a call of `patch` may hold. */
export interface PatchInput {
  /** In the `*** Begin Patch` form. */
  readonly patchText: string;
}

interface FileDiff {
  readonly file: string;
  readonly patch: string;
  readonly additions: number;
  readonly deletions: number;
}

/** What a change answers for programs. */
export interface ChangeResult {
  readonly title: string;
  readonly output: string;
  readonly metadata: {
    readonly diff: string;
    readonly diagnostics: DiagnosticsByFile;
    /** Of one file; of a patch there is one for each in `files`. */
    readonly filediff?: FileDiff;
    readonly files?: readonly FileDiff[];
    /** Of `write`: was the file there before? */
    readonly exists?: boolean;
    readonly filepath?: string;
    /** How the text of an edit was found. */
    readonly matchedBy?: MatchedBy;
  };
}

/** The tools with their types. */
export interface ChangeTools {
  readonly edit: { readonly input: EditInput; readonly output: ChangeResult };
  readonly write: { readonly input: WriteInput; readonly output: ChangeResult };
  readonly patch: { readonly input: PatchInput; readonly output: ChangeResult };
}

export function changeCards(descriptions: {
  readonly edit: string;
  readonly write: string;
  readonly patch: string;
}): readonly Card[] {
  return [
    {
      name: "edit",
      verb: "edit",
      description: descriptions.edit,
      readOnly: false,
      get inputSchema() {
        return jsonSchemaOf(editInput, {
          filePath: { description: "Path of the file" },
          oldString: { description: "The text to replace, to the letter" },
          newString: { description: "The text to put in its place" },
          replaceAll: { description: "Replace every place; otherwise there must be only one", default: false },
        });
      },
      toRequest(input, profile) {
        const { filePath, oldString, newString, replaceAll } = parseArguments(editInput, "edit", input);
        const only = { oldText: oldString, newText: newString, all: replaceAll ?? false };
        return { verb: "edit", path: filePath, edits: [only], profile };
      },
    },
    {
      name: "write",
      verb: "write",
      description: descriptions.write,
      readOnly: false,
      get inputSchema() {
        return jsonSchemaOf(writeInput, {
          filePath: { description: "Path of the file" },
          content: { description: "All of the file's content" },
        });
      },
      toRequest(input, profile) {
        const { filePath, content } = parseArguments(writeInput, "write", input);
        if (content.trim() === unchangedNotice) throw noticeAsContent(filePath);
        return { verb: "write", path: filePath, content, profile };
      },
    },
    {
      name: "patch",
      verb: "patch",
      description: descriptions.patch,
      readOnly: false,
      get inputSchema() {
        return jsonSchemaOf(patchInput, {
          patchText: { description: "The patch, from *** Begin Patch to *** End Patch" },
        });
      },
      toRequest(input, profile) {
        return { verb: "patch", patchText: parseArguments(patchInput, "patch", input).patchText, profile };
      },
    },
  ];
}

const done = {
  edit: "Edit applied successfully.",
  write: "Wrote file successfully.",
  "notebook-edit": "Edit applied successfully.",
  patch: "Patch applied successfully.",
} satisfies Readonly<Record<ChangeOutcome["kind"], string>>;

export function renderChange(
  outcome: ChangeOutcome,
  numberLine: (number: number, text: string) => string,
  facts: Facts,
): Reply<ChangeResult> {
  const [headline = "", ...notes] = changeLines(outcome, numberLine);
  // Several files have a line each; a dry run has not been applied; and what was not written was not.
  const plain = outcome.kind !== "patch" && !outcome.dryRun && !isSame(outcome.file);
  const lines =
    outcome.kind === "patch" && !outcome.dryRun && outcome.renamed === undefined
      ? [done.patch, headline]
      : [plain ? done[outcome.kind] : headline];
  const output = [...lines, ...placesLine(outcome), ...notes, ...diagnosticBlocks(outcome)].join("\n");
  return success(output, { title: escapeName(outcome.target.relative), output, metadata: metadataOf(outcome, facts) });
}

/** Who replaces every place wants to know how many there were. */
function placesLine(outcome: ChangeOutcome): readonly string[] {
  if (outcome.kind !== "edit" || outcome.dryRun || !outcome.edits.some(({ all }) => all)) return [];
  const count = outcome.found.reduce((sum, { replacements }) => sum + replacements, 0);
  return [`(${count} ${count === 1 ? "replacement" : "replacements"})`];
}

const isSame = (file: ChangedFile): boolean => file.notes.some(({ note }) => note === "same content");

function metadataOf(outcome: ChangeOutcome, facts: Facts): ChangeResult["metadata"] {
  const diagnostics = diagnosticsFor(outcome);
  if (outcome.kind === "patch") {
    const files = outcome.files.map((file) => fileDiff(file, facts));
    return { diff: files.map(({ patch }) => patch).join(""), diagnostics, files };
  }
  const filediff = fileDiff(outcome.file, facts);
  const { patch: diff, file: filepath } = filediff;
  if (outcome.kind === "write") {
    return { diff, diagnostics, filediff, exists: outcome.file.did !== "created", filepath };
  }
  const matchedBy = outcome.kind === "edit" ? outcome.found[0]?.matchedBy : undefined;
  return { diff, diagnostics, filediff, ...(matchedBy === undefined ? {} : { matchedBy }) };
}

const fileDiff = (file: ChangedFile, facts: Facts): FileDiff => ({
  file: file.target.absolute,
  patch: patchFor(file, facts),
  additions: file.additions,
  deletions: file.deletions,
});
