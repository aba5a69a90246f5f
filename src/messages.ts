/** Which message of the conversation a change belongs to, and the past that it is kept in. */

import { randomUUID } from "node:crypto";
import type { Ids } from "./contract/ask.ts";
import { FilehandError } from "./contract/failure.ts";
import { beginning, type RewindOutcome } from "./contract/rewind.ts";
import type { SessionHistory } from "./history/session-history.ts";
import type { Bench } from "./tools/tool.ts";

export interface Messages {
  /** Opened for the first who wants it; undefined where no past is kept. */
  readonly past: () => Promise<SessionHistory | undefined>;
  turnFor(tool: string, onTurn: (messageId: string) => void): CallTurn;
  /** The host names the message that changes belong to from here on. */
  begin(messageId: string): Promise<void>;
  /** What comes now is no part of a message that was just taken back: it must be possible to undo it alone. */
  afterRewind(outcome: RewindOutcome): void;
}

/** The turn of one call. */
export interface CallTurn {
  /** Its id, also for a call that changes nothing. */
  id(): string;
  /** Called when the first change is made. */
  readonly begin: Bench["turn"];
}

export function createMessages(open: () => Promise<SessionHistory | undefined>, ids: Ids | undefined): Messages {
  let opened: Promise<SessionHistory | undefined> | undefined;
  const past = (): Promise<SessionHistory | undefined> => (opened ??= open());
  /** The message that changes belong to, if the host names them; else every call is a turn of its own. */
  let message: string | undefined;
  let begun: string | undefined;
  let rewinds = 0;
  return {
    past,
    turnFor: (tool, onTurn) => {
      let own: string | undefined;
      // The message in which the call was sent: it may be made when the next one has begun.
      const [sentIn, rewindsThen] = [message, rewinds];
      const id = (): string => (rewinds === rewindsThen ? sentIn : undefined) ?? (own ??= ids?.next() ?? randomUUID());
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
    begin: async (messageId) => {
      // Nobody could go back to both.
      if (messageId === beginning) {
        const why = "that is the name of what was before the first one, use another id";
        throw new FilehandError("INVALID_PARAM", `Cannot begin a turn "${messageId}": ${why}`);
      }
      message = messageId;
      begun = messageId;
      await (await past())?.checkpoint(messageId);
    },
    afterRewind: ({ turn }) => {
      if (turn === undefined) return;
      message = undefined;
      rewinds += 1;
    },
  };
}
