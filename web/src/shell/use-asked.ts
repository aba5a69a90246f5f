/** Data from the server: loaded again when its key changes; an older answer never replaces a newer one. */

import { useEffect, useState } from "preact/hooks";
import { messageOf } from "../live/request.ts";

export type Asked<Answer> =
  | { readonly is: "waiting"; readonly answer: Answer | undefined }
  | { readonly is: "there"; readonly answer: Answer }
  | { readonly is: "failed"; readonly message: string; readonly answer: undefined };

/** Loads whenever `key` changes; an undefined key loads nothing. The last answer stays until the new one comes. */
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
    // `ask` is a new function each time; the key identifies the request.
  }, [key]);
  return asked;
}
