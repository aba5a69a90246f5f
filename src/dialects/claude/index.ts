/** The `claude` dialect: Read, with numbered lines and a token budget. */

import type { ProblemData } from "../../contract/problem.ts";
import type { Dialect } from "../dialect.ts";
import { failure } from "../replies.ts";
import { cards, type ReadInput } from "./cards.ts";
import { sentenceOf } from "./problems.ts";
import { profile } from "./profile.ts";
import { type ReadResult, render } from "./render.ts";

/** The tools of this dialect with their types. */
export interface Tools {
  readonly Read: { readonly input: ReadInput; readonly output: ReadResult };
}

export const claude: Dialect = {
  name: "claude",
  failures: "thrown",
  profile,
  cards,
  render,
  renderProblem: (problem: ProblemData, facts) => {
    const sentence = sentenceOf(problem);
    return failure(problem.code, facts.tool === "ls" ? sentence.replace(/^Cannot read /, "Cannot list ") : sentence);
  },
};

export type { ReadInput, ReadResult };
