/** Who wants to hear of which file. One watch a URI, however many listen; a burst of changes is told once. */

import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import type { Session } from "../../api.ts";
import { pathOf, told } from "./resources.ts";

export interface Subscriptions {
  /** Throws for a file that this session may not read, and when there are too many. */
  add(uri: string, session: Session): Promise<void>;
  remove(uri: string): void;
  removeAll(): void;
  readonly size: number;
}

/** Of one connection. */
const subscriptionsMax = 256;
/** A program that writes a file touches it several times. */
const quietMs = 25;

interface Entry {
  stop: () => void;
  timer: NodeJS.Timeout | undefined;
}

export function createSubscriptions(notify: (uri: string) => void): Subscriptions {
  const entries = new Map<string, Entry>();
  const remove = (uri: string): void => {
    const entry = entries.get(uri);
    entries.delete(uri);
    clearTimeout(entry?.timer);
    entry?.stop();
  };
  return {
    async add(uri, session) {
      if (entries.has(uri)) return;
      if (entries.size >= subscriptionsMax) {
        throw new ProtocolError(
          ProtocolErrorCode.InvalidParams,
          `Cannot subscribe to more than ${subscriptionsMax} files, unsubscribe from others first`,
        );
      }
      const entry: Entry = { stop: () => undefined, timer: undefined };
      entries.set(uri, entry);
      const onChange = (): void => {
        entry.timer ??= setTimeout(() => {
          entry.timer = undefined;
          notify(uri);
        }, quietMs);
      };
      try {
        const watching = await told(uri, () => session.workspace.watch(pathOf(uri), onChange));
        entry.stop = () => watching.stop();
        // Somebody may have changed their mind meanwhile.
        if (entries.get(uri) !== entry) watching.stop();
      } catch (error) {
        entries.delete(uri);
        throw error;
      }
    },
    remove,
    removeAll: () => [...entries.keys()].forEach(remove),
    get size() {
      return entries.size;
    },
  };
}
