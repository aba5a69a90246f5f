/** Every verb of the toolkit. What a dialect offers of it is that dialect's list of cards. */

import type { Outcome, Request, Verb } from "../contract/verb.ts";
import { ls } from "./ls.ts";
import { read } from "./read.ts";
import type { Bench, Tool } from "./tool.ts";

export const tools = { read, ls } satisfies { readonly [V in Verb]: Tool<V> };

export function runTool(request: Request, bench: Bench): Promise<Outcome> {
  switch (request.verb) {
    case "read":
      return tools.read(request, bench);
    case "ls":
      return tools.ls(request, bench);
  }
}
