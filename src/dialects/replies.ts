/** The two shapes of a reply that every dialect makes. */

import type { Reply, ReplyPart } from "../contract/call.ts";
import { cutChars } from "../text/encoding.ts";

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

/** What stands for the rest of an answer that is too long and has no pages. */
const cutNote = "\n[The answer is cut here: it is longer than one answer may be]";

/** The first characters of a reply's texts, as many as `fits` lets through. Pictures stay, and so does what programs read. */
export function cutReply(reply: Reply, fits: (reply: Reply) => boolean): Reply {
  if (fits(reply)) return reply;
  const texts = reply.content.flatMap((part) => (part.type === "text" ? [part.text] : []));
  const pictures = reply.content.filter(({ type }) => type !== "text");
  const whole = texts.join("\n\n");
  const cutAt = (chars: number): Reply => ({
    ...reply,
    content: [textPart(cutChars(whole, chars) + cutNote), ...pictures],
  });
  let [most, tooMany] = [0, whole.length];
  while (tooMany - most > 1) {
    const middle = Math.floor((most + tooMany) / 2);
    if (fits(cutAt(middle))) most = middle;
    else tooMany = middle;
  }
  return cutAt(most);
}

const textPart = (text: string): ReplyPart => ({ type: "text", text });
