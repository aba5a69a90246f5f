/**
 * Every verb of the toolkit. What a dialect offers of it is that dialect's list of cards. What changes files is loaded by
 * the first change, and what searches by the first search: most sessions of the command line only read.
 */

import type { Outcome, Request, Verb } from "../contract/call.ts";
import { Problem } from "../contract/problem.ts";
import { errnoName } from "../disk/errno.ts";
import { isOutOfDescriptors, lazily } from "../disk/loading.ts";
import { ls } from "./ls/ls.ts";
import { read } from "./read/read.ts";
import type { Bench, Tool } from "./tool.ts";

/** One load for all of them, so that calls stay in the order in which they came. */
const changes = lazily(() => import("./changes.ts"));
const globbing = lazily(() => import("./glob/glob.ts"));
const grepping = lazily(() => import("./grep/grep.ts"));
const outlining = lazily(() => import("./outline/outline.ts"));

const tools: { readonly [V in Verb]: Tool<V> } = {
  read,
  ls,
  glob: async (request, bench) => (await globbing()).glob(request, bench),
  grep: async (request, bench) => (await grepping()).grep(request, bench),
  outline: async (request, bench) => (await outlining()).outline(request, bench),
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

export async function runTool(request: Request, bench: Bench): Promise<Outcome> {
  const tool = tools[request.verb] as Tool<Verb>; // the table pairs them by verb
  try {
    return await tool(request, bench);
  } catch (error) {
    // A part of the program could not be loaded, or a program not be started.
    if (!isOutOfDescriptors(error)) throw error;
    const asked = "path" in request && typeof request.path === "string" ? request.path : ".";
    const place = { asked, absolute: asked, relative: asked };
    throw new Problem({
      code: "IO_ERROR",
      place,
      errno: errnoName(error) ?? "EMFILE",
      during: "loading what it needs",
    });
  }
}
