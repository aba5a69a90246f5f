/** What a dialect is: how a call is written, which rules hold, how an answer is worded. */

import type { ForeignChange, JsonSchema, Outcome, Reply, Request, Verb } from "../contract/call.ts";
import type { DiagnosticsReport } from "../contract/lsp.ts";
import type { ToolName } from "../contract/offered-tools.ts";
import type { ProblemData } from "../contract/problem.ts";
import type { LineNumbers, NumberStyle, Profile } from "../contract/profile.ts";
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
  /** How the session wants lines to be numbered, in a dialect that leaves the choice. */
  readonly numbers: NumberStyle | undefined;
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

/** A tool as the dialect offers it to a model, made of its literal by `tool` (tool.ts). */
export interface ToolSpec {
  /** The name that models call it by. */
  readonly name: string;
  /** Its name in the operator's list of tools. */
  readonly tool: ToolName;
  /** Whether it is offered if the operator chooses no tools. */
  readonly offered: "always" | "if chosen";
  /** Offered only if this other tool is offered as well, or is not. */
  readonly beside?: { readonly tool: ToolName; readonly is: boolean };
  readonly verb: Verb;
  readonly description: string;
  readonly readOnly: boolean;
  readonly input: ParameterTable;
  readonly inputSchema: JsonSchema;
  /** Returns the neutral request, or throws a Problem that names every wrong argument. */
  toRequest(input: unknown, profile: Profile): Request;
}

export interface Words {
  render(outcome: Outcome, facts: Facts): Reply;
  renderProblem(problem: ProblemData, facts: Facts): Reply;
  /** Diagnostics that arrived after the answers to their changes. */
  renderLate(reports: readonly DiagnosticsReport[]): string;
  /** What somebody else did to files that the session was shown, in at most three lines. */
  renderForeign(changes: readonly ForeignChange[], facts: Pick<Facts, "spell">): string;
}

export interface Dialect extends Words {
  readonly name: string;
  /** `thrown`: the typed functions throw a failure. `returned`: a failure is an answer like any other. */
  readonly failures: "thrown" | "returned";
  /** `lenient`: "10" means 10, and 0 means the first line if lines count from 1. */
  readonly numbers: "lenient" | "literal";
  readonly profile: Profile;
  /** The form of line numbers if the host chooses none; `fixed`: the dialect's tradition has one form. */
  readonly lineNumbers: LineNumbers | "fixed";
  readonly specs: readonly ToolSpec[];
}

/** The options that decide about marked lines of a description. */
export interface GuardOptions {
  readonly readFirst: "file" | "lines" | false;
  readonly staleness: "refuse" | "content-match";
  readonly lineNumbers: Dialect["lineNumbers"];
  /** Does a move update imports? */
  readonly updateImports?: boolean;
}

/**
 * The description of a tool promises only what is configured: a line that begins with the mark `[read first]`, `[read lines]`,
 * `[stale refused]`, `[stale matched]`, `[imports]` or `[numbers <form>]` is kept only if that option is on.
 */
export function descriptionFor(
  text: string,
  { readFirst, staleness, lineNumbers, updateImports = false }: GuardOptions,
): string {
  const holds: Readonly<Record<string, boolean>> = {
    "read first": readFirst !== false,
    "read lines": readFirst === "lines",
    "stale refused": readFirst !== false && staleness === "refuse",
    "stale matched": readFirst !== false && staleness === "content-match",
    [`numbers ${lineNumbers}`]: true,
    imports: updateImports,
  };
  return text
    .split("\n")
    .flatMap((line) => {
      const [, mark, rest] = /^\[([a-z0-9 -]+)\] (.*)$/.exec(line) ?? [];
      if (mark === undefined || rest === undefined) return [line];
      return holds[mark] === true ? [rest] : [];
    })
    .join("\n");
}
