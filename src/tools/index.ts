/**
 * Every verb of the toolkit. What a dialect offers of it is that dialect's list of cards. What changes files is loaded by
 * the first change: most sessions of the command line only read.
 */

import type { Outcome, Request, Verb } from "../contract/verb.ts";
import { ls } from "./ls.ts";
import { read } from "./read.ts";
import type { Bench, Tool } from "./tool.ts";

const tools: { readonly [V in Verb]: Tool<V> } = {
  read,
  ls,
  edit: async (request, bench) => (await import("./edit.ts")).edit(request, bench),
  write: async (request, bench) => (await import("./write.ts")).write(request, bench),
  "notebook-edit": async (request, bench) => (await import("./notebook-edit.ts")).notebookEdit(request, bench),
  patch: async (request, bench) => (await import("./patch.ts")).patch(request, bench),
};

export function runTool(request: Request, bench: Bench): Promise<Outcome> {
  const tool = tools[request.verb] as Tool<Verb>; // the table pairs them by verb
  return tool(request, bench);
}
