/** What a tool is: a request in, an outcome out, or a Problem. It gets everything it works with from its bench. */

import type { Verb, Verbs } from "../contract/verb.ts";
import type { Disk } from "../disk/disk.ts";
import type { IndexStore } from "../disk/index-store.ts";
import type { Guard } from "../guard/guard.ts";
import type { Ledger } from "../session/ledger.ts";
import type { PageCache } from "../kinds/page-cache.ts";
import type { Restricted } from "../kinds/restricted.ts";

export interface Bench {
  readonly disk: Disk;
  readonly guard: Guard;
  readonly restricted: Restricted;
  readonly indexes: IndexStore;
  readonly pages: PageCache;
  readonly ledger: Ledger;
  /** Is a repeated read answered with a stub? Undefined: as the dialect has it. */
  readonly dedup: boolean | undefined;
  /** Instruction files that were named in this session; undefined if they are not to be. */
  readonly offered: Set<string> | undefined;
  readonly onProgress: ((doneBytes: number, totalBytes: number) => void) | undefined;
  readonly signal: AbortSignal;
}

export type Tool<V extends Verb> = (request: Verbs[V]["request"], bench: Bench) => Promise<Verbs[V]["outcome"]>;
