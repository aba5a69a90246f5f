/**
 * Every verb of the toolkit; the tool specs of a dialect say which of them it offers. Tools that change files are loaded by the
 * first change, and those that search by the first search: most sessions of the command line only read.
 */

import type { Outcome, Request, Verb } from "../contract/call.ts";
import { Problem } from "../contract/problem.ts";
import { errnoName, isOutOfDescriptors, lazily } from "../disk/disk.ts";
import { ls } from "./ls/ls.ts";
import { read } from "./read/read.ts";
import type { ToolContext, Tool } from "./tool.ts";

// The rest of this room that other rooms use.
export { refuseDenied } from "./change/change-target.ts";
export { claimed, claimsOf, everything } from "./claims.ts";
export { type Cost, costOf } from "./cost.ts";
export { noteDelivered, noteIfSame, noteShell, type ShellOutput, type ShownFile } from "./delivered-lines.ts";
export { statKeyOf } from "./fingerprint.ts";
export { lateReports, sourceOf } from "./languages.ts";
export { locate, locatePermitted } from "./locate.ts";
export type { ObserveLimits } from "./observe/contents.ts";
export type { Coverage, NotCoveredGroup } from "./observe/coverage.ts";
export type { Observed, ObservedCommand, Observer, ObserveRequest } from "./observe/observe.ts";
export type { ToolContext } from "./tool.ts";
export {
  type Content,
  contentOf,
  type EntryPage,
  type FilePage,
  filesAfter,
  folderEntries,
  pathsThatBegin,
} from "./workspace-files.ts";
export { atPath } from "./workspace-walk.ts";

/** One load for all of them, so that loading does not reorder calls. */
const changes = lazily(() => import("./changes.ts"));
const globbing = lazily(() => import("./glob/glob.ts"));
const grepping = lazily(() => import("./grep/grep.ts"));
const outlining = lazily(() => import("./outline/outline.ts"));

const tools: { readonly [V in Verb]: Tool<V> } = {
  read,
  ls,
  glob: async (request, context) => (await globbing()).glob(request, context),
  grep: async (request, context) => (await grepping()).grep(request, context),
  outline: async (request, context) => (await outlining()).outline(request, context),
  lsp: async (request, context) => (await changes()).lsp(request, context),
  rename: async (request, context) => (await changes()).rename(request, context),
  edit: async (request, context) => (await changes()).edit(request, context),
  "edit-lines": async (request, context) => (await changes()).editLines(request, context),
  "edit-files": async (request, context) => (await changes()).editFiles(request, context),
  write: async (request, context) => (await changes()).write(request, context),
  "notebook-edit": async (request, context) => (await changes()).notebookEdit(request, context),
  rewind: async (request, context) =>
    request.byModel === undefined
      ? (await changes()).rewind(request, context)
      : (await changes()).rewindByModel(request, context),
  history: async (request, context) => (await changes()).history(request, context),
  patch: async (request, context) => (await changes()).patch(request, context),
  delete: async (request, context) => (await changes()).remove(request, context),
  move: async (request, context) => (await changes()).move(request, context),
  copy: async (request, context) => (await changes()).copy(request, context),
  "make-folder": async (request, context) => (await changes()).makeFolder(request, context),
};

export async function runTool(request: Request, context: ToolContext): Promise<Outcome> {
  const tool = tools[request.verb] as Tool<Verb>; // the table pairs request and tool by verb
  try {
    return await tool(request, context);
  } catch (error) {
    // Too many open files: an import() failed, or a child process could not be started.
    if (!isOutOfDescriptors(error)) throw error;
    const asked = "path" in request && typeof request.path === "string" ? request.path : ".";
    const place = { asked, absolute: asked, relative: asked };
    const errno = errnoName(error) ?? "EMFILE";
    throw new Problem({ code: "IO_ERROR", place, errno, during: "loading what it needs" });
  }
}
