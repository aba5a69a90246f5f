/** What a tool is: a request in, an outcome out, or a Problem. It gets everything it works with from its bench. */

import type { Verb, Verbs } from "../contract/verb.ts";
import type { Disk } from "../disk/disk.ts";
import type { IndexStore } from "../disk/index-store.ts";
import type { Guard } from "../guard/guard.ts";
import type { Restricted } from "../kinds/restricted.ts";

export interface Bench {
  readonly disk: Disk;
  readonly guard: Guard;
  readonly restricted: Restricted;
  readonly indexes: IndexStore;
  readonly onProgress: ((doneBytes: number, totalBytes: number) => void) | undefined;
  readonly signal: AbortSignal;
}

export type Tool<V extends Verb> = (request: Verbs[V]["request"], bench: Bench) => Promise<Verbs[V]["outcome"]>;
