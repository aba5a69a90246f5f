/** Several ranges in one call: the dialect words each page as it would alone, and the replies are put together. */

import type { Reply } from "./contract/call.ts";
import type { Outcome } from "./contract/verb.ts";
import type { Facts, Words } from "./dialects/dialect.ts";

export function renderPages(words: Words, outcome: Outcome, facts: Facts): Reply {
  if (outcome.kind !== "text" || outcome.pages.length === 1) return words.render(outcome, facts);
  const replies = outcome.pages.map((page, index) => {
    const last = index === outcome.pages.length - 1;
    return words.render({ ...outcome, pages: [page] }, { ...facts, reminder: facts.reminder && last });
  });
  return {
    content: replies.flatMap((reply) => reply.content),
    structured: { ranges: replies.map((reply) => reply.structured) },
    isError: false,
  };
}
