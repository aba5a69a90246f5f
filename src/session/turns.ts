/** The turns of a conversation: which message a change belongs to, and the history that stores it. */

import { beginning, type RewindOutcome } from "../contract/history.ts";
import { FilehandError } from "../contract/problem.ts";

interface Past {
  checkpoint(messageId: string): Promise<unknown>;
}

/** `open` opens the history, on first use; it returns undefined where none is kept. */
export function createTurns<History extends Past>(open: () => Promise<History | undefined>, newId: () => string) {
  let opened: Promise<History | undefined> | undefined;
  const past = (): Promise<History | undefined> => (opened ??= open());
  /** The message that the host named last. Without one every call is a turn of its own. */
  let message: string | undefined;
  let begun: string | undefined;
  let rewinds = 0;
  return {
    past,
    turnFor(tool: string, onTurn: (messageId: string) => void) {
      let own: string | undefined;
      // The message in which the call was sent: the host may name the next one before the call runs.
      const [sentIn, rewindsThen] = [message, rewinds];
      /** The id, also of a call that changes nothing. */
      const id = (): string => (rewinds === rewindsThen ? sentIn : undefined) ?? (own ??= newId());
      /** Called before the first change. */
      const begin = async () => {
        const history = await past();
        if (history === undefined) return undefined;
        const messageId = id();
        if (begun !== messageId) await history.checkpoint(messageId);
        begun = messageId;
        onTurn(messageId);
        return { history, messageId, tool };
      };
      return { id, begin };
    },
    /** The host names the message that later changes belong to. */
    async begin(messageId: string): Promise<void> {
      // The id "start" already names the state before the first message.
      if (messageId === beginning) {
        const why = "that is the name of what was before the first one, use another id";
        throw new FilehandError("INVALID_PARAM", `Cannot begin a turn "${messageId}": ${why}`);
      }
      message = messageId;
      begun = messageId;
      await (await past())?.checkpoint(messageId);
    },
    /** After a rewind, changes no longer belong to the message that was rewound: they can be undone alone. */
    afterRewind({ turn }: RewindOutcome): void {
      if (turn === undefined) return;
      message = undefined;
      rewinds += 1;
    },
  };
}
