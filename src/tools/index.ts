/**
 * Every verb of the toolkit. What a dialect offers of it is that dialect's list of cards. What changes files is loaded by
 * the first change, and what searches by the first search: most sessions of the command line only read.
 */

import type { Outcome, Request, Verb } from "../contract/verb.ts";
import type * as Changes from "./changes.ts";
import { ls } from "./ls.ts";
import { read } from "./read.ts";
import type { Bench, Tool } from "./tool.ts";

/** One load for all of them, so that calls stay in the order in which they came. */
let loaded: Promise<typeof Changes> | undefined;
/** Asked for again, a module costs a look-up by its name. */
const changes = () =>
  (loaded ??= import("./changes.ts").catch((error: unknown) => {
    loaded = undefined; // too many open files, perhaps: the next call may have more luck
    throw error;
  }));

const tools: { readonly [V in Verb]: Tool<V> } = {
  read,
  ls,
  glob: async (request, bench) => (await import("./glob.ts")).glob(request, bench),
  grep: async (request, bench) => (await import("./grep.ts")).grep(request, bench),
  outline: async (request, bench) => (await import("./outline.ts")).outline(request, bench),
  lsp: async (request, bench) => (await changes()).lsp(request, bench),
  rename: async (request, bench) => (await changes()).rename(request, bench),
  edit: async (request, bench) => (await changes()).edit(request, bench),
  write: async (request, bench) => (await changes()).write(request, bench),
  "notebook-edit": async (request, bench) => (await changes()).notebookEdit(request, bench),
  rewind: async (request, bench) =>
    request.byModel === undefined
      ? (await changes()).rewind(request, bench)
      : (await changes()).rewindByModel(request, bench),
  history: async (request, bench) => (await changes()).history(request, bench),
  patch: async (request, bench) => (await changes()).patch(request, bench),
  delete: async (request, bench) => (await changes()).remove(request, bench),
  move: async (request, bench) => (await changes()).move(request, bench),
};

export function runTool(request: Request, bench: Bench): Promise<Outcome> {
  const tool = tools[request.verb] as Tool<Verb>; // the table pairs them by verb
  return tool(request, bench);
}
