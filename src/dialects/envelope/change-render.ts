/** Answers to changes in the `envelope` dialect. */

import type { Reply } from "../../contract/call.ts";
import type { ChangedFile, ChangeOutcome, MatchedBy, PartAccepted } from "../../contract/edit.ts";
import { checkedFile, diagnosticLines, reportsIn, type SaidOfCode } from "../lsp-text.ts";
import { changeLines, isInPart, partOf, patchesFor } from "../change-text.ts";
import type { Facts } from "../dialect.ts";
import { type Envelope, envelopeReply, type Snaked, snaked, took } from "./context.ts";
import { names } from "./problems.ts";

/** Diagnostics of one file. Lines and columns count from 1. */
export interface CheckedEnvelope {
  readonly path: string;
  /** Not checked yet; the diagnostics come with a later answer. */
  readonly pending: boolean;
  /** Diagnostics that the change introduced; null if the file was not checked before it. */
  readonly errors: readonly (SaidEnvelope & { readonly new: boolean | null })[];
  readonly warnings: readonly SaidEnvelope[];
  readonly left_out: number;
  readonly unavailable: readonly { readonly server: string; readonly why: string }[];
}

type SaidEnvelope = Snaked<SaidOfCode>;

export type ChangeEnvelope = Envelope<
  {
    /** In the form of `diff -u`; empty if it would be too long. */
    readonly diff: string;
    readonly created: boolean;
    readonly dry_run: boolean;
    /** Of an edit: how many replacements, and how each text was found. */
    readonly replacements?: number;
    readonly matched_by?: readonly MatchedBy[];
    /** Of a notebook. */
    readonly cell?: { readonly id: string; readonly index: number; readonly type: string };
    /** Of several files. */
    readonly files?: readonly {
      readonly path: string;
      readonly did: string;
      readonly moved_from?: string;
      readonly partial?: Snaked<PartAccepted>;
    }[];
    /** Of a change that the user accepted only in part: the hunks; of several files also those that the user refused. */
    readonly partial?: Snaked<PartAccepted>;
    readonly refused?: readonly string[];
    /** Diagnostics of the files that a language server covers. */
    readonly diagnostics?: readonly CheckedEnvelope[];
  },
  { readonly additions: number; readonly deletions: number },
  "success"
>;

export function renderChange(outcome: ChangeOutcome, facts: Facts): Reply<ChangeEnvelope> {
  const files = outcome.kind === "patch" ? outcome.files : [outcome.file];
  return envelopeReply(facts, {
    status: "success",
    data: {
      diff: patchesFor(files, facts).join(""),
      created: files.every(({ did }) => did === "created"),
      dry_run: outcome.dryRun,
      ...more(outcome, facts),
      ...checked(outcome),
    },
    text: [...changeLines(outcome, names.numbers), ...diagnosticLines(outcome), took(facts)],
    stats: { additions: sum(files, "additions"), deletions: sum(files, "deletions") },
    resolved: outcome.target.realRelative,
  });
}

function checked(outcome: ChangeOutcome): Pick<ChangeEnvelope["data"], "diagnostics"> {
  const reports = reportsIn(outcome);
  if (reports.length === 0) return {};
  return {
    diagnostics: reports.map(({ name, report }) => {
      const { pending, errors, warnings, errorsLeftOut, warningsLeftOut, unavailable } = checkedFile(report);
      return {
        path: name,
        pending,
        errors: errors.map(({ isNew, ...one }) => ({ ...snaked(one), new: isNew })),
        warnings: snaked(warnings),
        left_out: errorsLeftOut + warningsLeftOut,
        unavailable,
      };
    }),
  };
}

const sum = (files: readonly ChangedFile[], what: "additions" | "deletions"): number =>
  files.reduce((all, file) => all + file[what], 0);

function more(outcome: ChangeOutcome, { spell }: Facts): Partial<ChangeEnvelope["data"]> {
  switch (outcome.kind) {
    case "edit":
      if (isInPart(outcome))
        return { matched_by: outcome.found.map(({ matchedBy }) => matchedBy), ...partly(outcome.file) };
      return {
        replacements: outcome.found.reduce((all, { replacements }) => all + replacements, 0),
        matched_by: outcome.found.map(({ matchedBy }) => matchedBy),
      };
    case "write":
      return partly(outcome.file);
    case "notebook-edit": {
      const { id, index, type } = outcome.cell;
      return { cell: { id, index, type } };
    }
    case "patch":
      return {
        files: outcome.files.map((file) => ({
          path: spell(file.target.real),
          did: file.did,
          ...(file.movedFrom === undefined ? {} : { moved_from: spell(file.movedFrom.real) }),
          ...partly(file),
        })),
        ...(outcome.refused && { refused: outcome.refused.map(({ real }) => spell(real)) }),
      };
  }
}

function partly(file: ChangedFile): Pick<ChangeEnvelope["data"], "partial"> {
  const partial = partOf(file);
  return partial === undefined ? {} : { partial: snaked(partial) };
}
