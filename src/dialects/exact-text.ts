/** A text as it stands in the file, for hosts that hand it on: no numbers, nothing cut, line ends as they are. */

import type { Outcome, Reply } from "../contract/call.ts";
import type { Words } from "./dialect.ts";

export interface ExactText {
  /** Whole lines with their ends, so that one page and the next make up the file. */
  readonly text: string;
  /** Is it all that was asked for? */
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
