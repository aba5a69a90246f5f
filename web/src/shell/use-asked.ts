/** Something asked of the server: asked again when its key changes, and never mixed up with an older answer. */

import { useEffect, useState } from "preact/hooks";
import { messageOf } from "../live/request.ts";

export type Asked<Answer> =
  | { readonly is: "waiting"; readonly answer: Answer | undefined }
  | { readonly is: "there"; readonly answer: Answer }
  | { readonly is: "failed"; readonly message: string; readonly answer: undefined };

/** Asks whenever `key` changes; an undefined key asks nothing. While a new answer is under way the last one is kept. */
export function useAsked<Answer>(
  key: string | undefined,
  ask: (signal: AbortSignal) => Promise<Answer>,
): Asked<Answer> {
  const [asked, setAsked] = useState<Asked<Answer>>({ is: "waiting", answer: undefined });
  useEffect(() => {
    if (key === undefined) return undefined;
    const leaving = new AbortController();
    setAsked((before) => ({ is: "waiting", answer: before.answer }));
    ask(leaving.signal).then(
      (answer) => {
        if (!leaving.signal.aborted) setAsked({ is: "there", answer });
      },
      (error: unknown) => {
        if (!leaving.signal.aborted) setAsked({ is: "failed", message: messageOf(error), answer: undefined });
      },
    );
    return () => leaving.abort();
    // `ask` is a new function each time; what it asks is told by the key.
  }, [key]);
  return asked;
}
