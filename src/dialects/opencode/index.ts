/** The `opencode` dialect: read, for files and folders. */

import type { ProblemData } from "../../contract/problem.ts";
import { type ChangeResult, type ChangeTools, lateBlocks } from "./changes.ts";
import type { Dialect } from "../dialect.ts";
import type { GrepTools, SearchTools } from "./search.ts";
import type { HistoryTools, LspTools } from "./history.ts";
import { type ReadResult, sentenceOf } from "./sentences.ts";
import { failureReply } from "../words.ts";
import { specs } from "./tools.ts";
import type { MultiEditInput, ReadInput } from "./inputs.ts";
import { numberLine, profile, render } from "./render.ts";

/** The tools of this dialect with their types. */
export interface Tools extends ChangeTools, HistoryTools, SearchTools, GrepTools, LspTools {
  readonly read: { readonly input: ReadInput; readonly output: ReadResult };
  readonly multiedit: { readonly input: MultiEditInput; readonly output: ChangeResult };
}

export const opencode: Dialect = {
  name: "opencode",
  failures: "thrown",
  numbers: "lenient",
  profile,
  specs,
  render,
  renderLate: (reports) => lateBlocks(reports).join("\n"),
  renderProblem: (problem: ProblemData, { verb }) =>
    failureReply(problem.code, sentenceOf(problem, verb ?? "read", numberLine, 1)),
};

export type { ReadInput, ReadResult };
