/** What a tool is: a request in, an outcome out, or a Problem. It gets everything it works with from its bench. */

import type { Verb, Verbs } from "../contract/verb.ts";
import type { Disk } from "../disk/disk.ts";
import type { Guard } from "../guard/guard.ts";
import type { Restricted } from "../kinds/restricted.ts";

export interface Bench {
  readonly disk: Disk;
  readonly guard: Guard;
  readonly restricted: Restricted;
  readonly signal: AbortSignal;
}

export type Tool<V extends Verb> = (request: Verbs[V]["request"], bench: Bench) => Promise<Verbs[V]["outcome"]>;
