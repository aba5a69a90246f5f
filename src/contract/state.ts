/** What rooms besides `state/` know of state that several machines share. */

/** The shared state cannot be reached, or refuses. The message says why, and what to do next where that is known. */
export class StateFailed extends Error {
  override readonly name = "StateFailed";
}

export interface SharedLocks {
  /**
   * Runs `work` while no other node has a lock on one of these paths. `fence` grows with every holder; a holder whose lease ran
   * out can record nothing, and so changes nothing. Rejects with `signal.reason` or StateFailed, but for what `work` throws.
   */
  exclusively<Result>(
    paths: readonly string[],
    signal: AbortSignal,
    work: (fence: bigint) => Promise<Result>,
  ): Promise<Result>;
}

/** Who changed what, and what allowed it. */
export interface AuditEntry {
  readonly timeMs: number;
  readonly principal: string;
  readonly session: string;
  readonly tool: string;
  readonly path: string;
  /** The content id before and after; null for a file that does not exist or whose content is not kept. */
  readonly before: string | null;
  readonly after: string | null;
  /** A rule, the mode, or a person. */
  readonly allowedBy: string;
}
