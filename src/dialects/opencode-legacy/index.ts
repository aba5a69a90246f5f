/** The `opencode-legacy` dialect: read, with lines counted from 0 in calls. */

import type { ProblemData } from "../../contract/problem.ts";
import { lateBlocks } from "../opencode-diagnostics.ts";
import type { Dialect } from "../dialect.ts";
import type { ChangeTools } from "../opencode-changes.ts";
import type { GrepTools } from "../opencode-grep.ts";
import type { HistoryTools } from "../opencode-history.ts";
import { sentenceOf } from "../opencode-sentences.ts";
import { type ReadResult } from "../opencode-words.ts";
import type { LspTools } from "../opencode-lsp.ts";
import type { SearchTools } from "../opencode-search.ts";
import { failure } from "../replies.ts";
import { cards, type ReadInput } from "./cards.ts";
import { profile } from "./profile.ts";
import { numberLine, render } from "./render.ts";

/** The tools of this dialect with their types. */
export interface Tools extends ChangeTools, HistoryTools, SearchTools, GrepTools, LspTools {
  readonly read: { readonly input: ReadInput; readonly output: ReadResult };
}

export const opencodeLegacy: Dialect = {
  name: "opencode-legacy",
  failures: "thrown",
  numbers: "lenient",
  profile,
  cards,
  render,
  renderLate: (reports) => lateBlocks(reports).join("\n"),
  renderProblem: (problem: ProblemData, { verb }) =>
    failure(problem.code, sentenceOf(problem, verb ?? "read", numberLine, 0)),
};

export type { ReadInput, ReadResult };
