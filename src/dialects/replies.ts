/** The two shapes of a reply that every dialect makes. */

import type { Reply, ReplyPart } from "../contract/call.ts";

export const success = <Structured>(text: string, structured: Structured): Reply<Structured> => ({
  content: [textPart(text)],
  structured,
  isError: false,
});

/** A failure of a dialect that has no structured form for it. */
export const failure = (code: string, message: string): Reply<never> => ({
  content: [textPart(message)],
  structured: null,
  isError: true,
  error: { code, message },
});

const textPart = (text: string): ReplyPart => ({ type: "text", text });
