/** The exact text of a file, for hosts that pass it on: no line numbers, nothing cut, line ends unchanged. */

import type { Outcome, Reply } from "../contract/call.ts";
import type { Words } from "./dialect.ts";

export interface ExactText {
  /** Whole lines with their ends, so that consecutive pages concatenate to the file. */
  readonly text: string;
  /** Whether it is all of the requested text. */
  readonly whole: boolean;
}

export const exactText: Pick<Words, "render"> = {
  render: (outcome): Reply<ExactText> => ({ content: [], structured: exactTextOf(outcome), isError: false }),
};

function exactTextOf(outcome: Outcome): ExactText {
  if (outcome.kind !== "text") throw new Error(`a ${outcome.kind} is no text`);
  const [page] = outcome.pages;
  const joined = page.joined ?? page.lines.join("\n");
  const text = page.next === undefined ? joined : `${joined}\n`;
  return { text, whole: page.cut.length === 0 && ["end", "lines"].includes(page.stopped) };
}
