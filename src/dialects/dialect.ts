/** What a dialect is: how a call is written, which rules hold, how an answer is worded. */

import type { JsonSchema, Outcome, Reply, Request, Verb } from "../contract/call.ts";
import type { FileTool } from "../contract/edit.ts";
import type { DiagnosticsReport } from "../contract/lsp.ts";
import type { ProblemData } from "../contract/problem.ts";
import type { Profile } from "../contract/profile.ts";
import type { ParameterTable } from "./parameters.ts";

/** What is known about a call besides its outcome. */
export interface Facts {
  readonly tool: string;
  /** What the call was about to do; undefined if that is unknown. */
  readonly verb: Verb | "cost" | undefined;
  /** The raw input, untouched. */
  readonly input: unknown;
  readonly elapsedMs: number;
  /** Where relative paths start, below the root; "." for the root itself. */
  readonly cwd: string;
  /** The shortest spelling of an absolute path that means the same file when a later call uses it. */
  readonly spell: (absolute: string) => string;
  /** Whether to append the reminder about malware, if the dialect has one. False for exempt models. */
  readonly reminder: boolean;
  /** The model that reads the answer, if it is known. */
  readonly model: string | undefined;
  /** Whether an answer for programs includes large parts whatever their size. */
  readonly full: boolean;
  /** Ids for an answer and its attachments. */
  readonly ids: { readonly session: string; readonly message: string; readonly next: () => string };
}

/** One way to word an outcome for each of its kinds. */
type ByKind<Worded> = {
  readonly [Kind in Outcome["kind"]]: (outcome: Extract<Outcome, { readonly kind: Kind }>, facts: Facts) => Worded;
};

export const byKind =
  <Worded>(table: ByKind<Worded>) =>
  (outcome: Outcome, facts: Facts): Worded =>
    (table[outcome.kind] as (outcome: Outcome, facts: Facts) => Worded)(outcome, facts); // the table pairs them by kind

/** Groups of tools that are offered only if the operator has enabled them. */
export type OptIn = "history" | "lsp" | "rename" | FileTool;

/** A tool as the dialect offers it to a model, made of its literal by `tool` (tool.ts). */
export interface ToolSpec {
  readonly name: string;
  readonly verb: Verb;
  readonly description: string;
  readonly readOnly: boolean;
  readonly input: ParameterTable;
  readonly inputSchema: JsonSchema;
  /** Set for a tool that is offered only if the operator has enabled its group. */
  readonly optIn?: OptIn;
  /** Returns the neutral request, or throws a Problem that names every wrong argument. */
  toRequest(input: unknown, profile: Profile): Request;
}

export interface Words {
  render(outcome: Outcome, facts: Facts): Reply;
  renderProblem(problem: ProblemData, facts: Facts): Reply;
  /** Diagnostics that arrived after the answers to their changes. */
  renderLate(reports: readonly DiagnosticsReport[]): string;
}

export interface Dialect extends Words {
  readonly name: string;
  /** `thrown`: the typed functions throw a failure. `returned`: a failure is an answer like any other. */
  readonly failures: "thrown" | "returned";
  /** `lenient`: "10" means 10, and 0 means the first line if lines count from 1. */
  readonly numbers: "lenient" | "literal";
  readonly profile: Profile;
  readonly specs: readonly ToolSpec[];
}

/** The options that decide about marked lines of a description. */
export interface GuardOptions {
  readonly readFirst: boolean;
  readonly staleness: "refuse" | "content-match";
  /** Does a move update imports? */
  readonly updateImports?: boolean;
}

/**
 * The description of a tool promises only what is configured: a line that begins with the mark `[read first]`,
 * `[stale refused]`, `[stale matched]` or `[imports]` is kept only if that option is on.
 */
export function descriptionFor(text: string, { readFirst, staleness, updateImports = false }: GuardOptions): string {
  const holds: Readonly<Record<string, boolean>> = {
    "read first": readFirst,
    "stale refused": readFirst && staleness === "refuse",
    "stale matched": readFirst && staleness === "content-match",
    imports: updateImports,
  };
  return text
    .split("\n")
    .flatMap((line) => {
      const [, mark, rest] = /^\[([a-z ]+)\] (.*)$/.exec(line) ?? [];
      if (mark === undefined || rest === undefined) return [line];
      return holds[mark] === true ? [rest] : [];
    })
    .join("\n");
}
