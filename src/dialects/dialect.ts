/** What a dialect is: how a call is written, which rules hold, how an answer is worded. */

import type { JsonSchema, Outcome, Reply, Request, Verb } from "../contract/call.ts";
import type { DiagnosticsReport } from "../contract/lsp.ts";
import type { ProblemData } from "../contract/problem.ts";
import type { Profile } from "../contract/profile.ts";
import type { ParameterTable } from "./parameters.ts";

/** What is known about a call besides its outcome. */
export interface Facts {
  readonly tool: string;
  /** What the call was about to do; undefined where that could not be told. */
  readonly verb: Verb | "cost" | undefined;
  /** The raw input, untouched. */
  readonly input: unknown;
  readonly elapsedMs: number;
  /** Where relative paths start, below the root; "." for the root itself. */
  readonly cwd: string;
  /** How to name an absolute path so that it means the same when a call gives it back: as short as that allows. */
  readonly spell: (absolute: string) => string;
  /** Shall the reminder about malware be appended, where the dialect has one? Not for a model that is exempt. */
  readonly reminder: boolean;
  /** The model that reads the answer, if it is known. */
  readonly model: string | undefined;
  /** Shall large parts of an answer for programs be there whatever their size? */
  readonly full: boolean;
  /** Names for what an answer carries along. */
  readonly ids: { readonly session: string; readonly message: string; readonly next: () => string };
}

/** Tools that are offered only where the operator has switched them on: those that look back, ask language servers, rename. */
export type OptIn = "history" | "lsp" | "rename";

/** A tool as the dialect offers it to a model, made of its literal by `tool` (tool.ts). */
export interface ToolSpec {
  readonly name: string;
  readonly verb: Verb;
  readonly description: string;
  readonly readOnly: boolean;
  readonly input: ParameterTable;
  readonly inputSchema: JsonSchema;
  /** A tool that is offered only where the operator has switched such tools on. */
  readonly optIn?: OptIn;
  /** Answers with the neutral request; throws a Problem that names every argument that is wrong. */
  toRequest(input: unknown, profile: Profile): Request;
}

/** How answers are worded. */
export interface Words {
  render(outcome: Outcome, facts: Facts): Reply;
  renderProblem(problem: ProblemData, facts: Facts): Reply;
  /** What language servers said of files after the answers to their changes had been given. */
  renderLate(reports: readonly DiagnosticsReport[]): string;
}

export interface Dialect extends Words {
  readonly name: string;
  /** `thrown`: the typed functions throw a failure. `returned`: a failure is an answer like any other. */
  readonly failures: "thrown" | "returned";
  /** `lenient`: "10" is taken for 10, and 0 for the first line where lines count from 1. */
  readonly numbers: "lenient" | "literal";
  readonly profile: Profile;
  readonly specs: readonly ToolSpec[];
}

/**
 * What a model is told of a tool promises just the guard that is configured. A line of a description that begins with a
 * mark stands only where the option is so: `[read first]`, `[stale refused]`, `[stale matched]`.
 */

export interface GuardOptions {
  readonly readFirst: boolean;
  readonly staleness: "refuse" | "content-match";
}

export function descriptionFor(text: string, { readFirst, staleness }: GuardOptions): string {
  const holds: Readonly<Record<string, boolean>> = {
    "read first": readFirst,
    "stale refused": readFirst && staleness === "refuse",
    "stale matched": readFirst && staleness === "content-match",
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
