/** How far a long call is, told to a client that wants to know: not too often, and never backwards. */

const everyMs = 100;

export interface ProgressNote {
  readonly method: "notifications/progress";
  readonly params: { readonly progressToken: string | number; readonly progress: number; readonly total: number };
}

/** Undefined for a client that gave no token: it wants none. */
export function progressFor(
  token: unknown,
  send: (note: ProgressNote) => Promise<void>,
  nowMs: () => number = () => performance.now(),
): ((done: number, total: number) => void) | undefined {
  if (typeof token !== "string" && typeof token !== "number") return undefined;
  let toldMs = Number.NEGATIVE_INFINITY;
  let told = -1;
  return (done, total) => {
    if (done <= told || nowMs() - toldMs < everyMs) return;
    told = done;
    toldMs = nowMs();
    const params = { progressToken: token, progress: done, total };
    // A client that is gone hears nothing more, and that is all.
    send({ method: "notifications/progress", params }).catch(() => undefined);
  };
}
