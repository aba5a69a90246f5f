/** The verbs of the engine, each with its request and its outcome. */

import type { LsOutcome, LsRequest, ReadOutcome, ReadRequest } from "./read.ts";

export interface Verbs {
  readonly read: { readonly request: ReadRequest; readonly outcome: ReadOutcome };
  readonly ls: { readonly request: LsRequest; readonly outcome: LsOutcome };
}

export type Verb = keyof Verbs;
export type Request = Verbs[Verb]["request"];
export type Outcome = Verbs[Verb]["outcome"];
