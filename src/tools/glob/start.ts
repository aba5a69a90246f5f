/** Where a glob starts: the folder to search, and the rest of the pattern. */

import * as nodePath from "node:path";
import { HandleStack, withHandleClosed } from "../../disk/disk.ts";
import type { GlobRequest } from "../../contract/glob.ts";
import { type PatternFault, Problem, type Suggestion } from "../../contract/problem.ts";
import type { Place, Target } from "../../contract/target.ts";
import { deniedBy } from "../../guard/guard.ts";
import { type Glob, type GlobState, parseGlob, startGlobState } from "../../text/text.ts";
import { type Located, locatePermitted, notFound } from "../locate.ts";
import type { ToolContext } from "../tool.ts";

export interface GlobStart extends Located {
  readonly state: GlobState;
  readonly foldersOnly: boolean;
}

/** The pattern begins with folders that do not exist, below the one that does. */
export interface GlobNowhere {
  readonly target: Target;
  readonly missing: { readonly place: Place; readonly suggestions: readonly Suggestion[] };
}

export async function startOf(request: GlobRequest, context: ToolContext): Promise<GlobStart | GlobNowhere> {
  const { folder, rest } = splitAbsolute(request);
  // A malformed pattern is refused before any lookup.
  const parsed = parseGlob(rest);
  const fault = "fault" in parsed ? parsed.fault : undefined;
  if (fault !== undefined && isShape(fault)) throw faultOf(request, fault);
  const outer = await folderAt(folder, context);
  using handles = new HandleStack();
  handles.use(outer.node.handle);
  const start =
    "fault" in parsed
      ? literally(request, rest, parsed.fault, outer, context)
      : await peeled(folder, outer, parsed, context);
  if (!("missing" in start) && start.node === outer.node) handles.move();
  return start;
}

/** Faults that rule out that the pattern is the literal name of a file. */
const isShape = (fault: PatternFault): boolean => ["empty", "nul", "parent", "no name", "too long"].includes(fault);

const faultOf = ({ pattern }: GlobRequest, fault: PatternFault): Problem =>
  new Problem({ code: "INVALID_PARAM", reason: "pattern", pattern, fault });

/** An absolute pattern starts at the last folder before its first wildcard. */
function splitAbsolute({ pattern, path = "." }: GlobRequest): { readonly folder: string; readonly rest: string } {
  if (!nodePath.isAbsolute(pattern)) return { folder: path, rest: pattern };
  const slashed = nodePath.sep === "\\" ? pattern.replaceAll("\\", "/") : pattern;
  const names = slashed.split("/");
  const first = names.findIndex((name, at) => at === names.length - 1 || /[*?[\]{}()\\]/.test(name) || name === "..");
  return { folder: names.slice(0, first).join("/") || "/", rest: `./${names.slice(first).join("/")}` };
}

async function folderAt(path: string, context: ToolContext): Promise<Located> {
  const located = await locatePermitted(path, "anything", context);
  if (located.node.kind === "directory") return located;
  located.node.handle.close();
  throw new Problem({ code: "NOT_DIRECTORY", place: located.target });
}

/** An invalid pattern may still be the name of a file: `a[1.txt`. */
function literally(
  request: GlobRequest,
  rest: string,
  fault: PatternFault,
  outer: Located,
  context: ToolContext,
): GlobStart {
  const parsed = isNameOfFile(rest, outer.target, context) ? parseGlob(`./${escapeGlob(rest)}`) : { fault };
  if ("fault" in parsed) throw faultOf(request, fault);
  return { ...outer, state: startGlobState(parsed), foldersOnly: false };
}

/** Is there a file of exactly this name? False for a denied one. */
export function isNameOfFile(name: string, folder: Target, { disk, guard }: ToolContext): boolean {
  if (name.includes("\0")) return false;
  const lookup = withHandleClosed(disk.lookup(nodePath.join(folder.real, name)));
  if (lookup.seen !== "node") return false;
  return lookup.kind === "file" && guard.denied("read", [lookup.real], "file") === undefined;
}

/** Makes every character of a path literal. */
export const escapeGlob = (path: string): string => path.replace(/[\\*?[\]{}()!+@|,\s]/g, "\\$&");

/** Enters the folders that the pattern names literally, so that their siblings are not listed. Symlinks are followed there. */
async function peeled(
  path: string,
  outer: Located,
  glob: Glob,
  context: ToolContext,
): Promise<GlobStart | GlobNowhere> {
  const { foldersOnly } = glob;
  const names: string[] = [];
  let state = startGlobState(glob);
  // Other than ASCII names have several Unicode forms, so they are compared by listing.
  for (let name = state.only; name !== undefined && isPlain(name); name = state.only) {
    const next = state.enter(name, "visible");
    if (next === undefined) break;
    names.push(name);
    state = next;
  }
  if (state.only !== undefined) refuseIfDenied(nodePath.join(path, ...names, state.only), context);
  if (names.length === 0) return { ...outer, state, foldersOnly };
  const inner = nodePath.join(path, ...names);
  const resolved = context.guard.resolve(inner);
  if (resolved.seen === "missing") {
    const problem = await notFound(resolved, "anything", context);
    const suggestions = problem.data.code === "NOT_FOUND" ? problem.data.suggestions : [];
    return { target: outer.target, missing: { place: resolved.place, suggestions } };
  }
  if (resolved.seen === "node") resolved.node.handle.close();
  const located = await locatePermitted(inner, "anything", context);
  if (located.node.kind === "directory") return { ...located, state, foldersOnly };
  located.node.handle.close();
  return { target: outer.target, missing: { place: located.target, suggestions: [] } };
}

/** A pattern that names a denied file is refused. Otherwise denied files are only counted. */
function refuseIfDenied(path: string, { guard }: ToolContext): void {
  // For a missing path `resolve` itself refuses what is denied.
  const resolved = guard.resolve(path);
  if (resolved.seen !== "node") return;
  resolved.node.handle.close();
  const { target } = resolved;
  const rule = guard.denied("read", [target.absolute, target.real], target.is);
  if (rule !== undefined) throw deniedBy(rule, target);
}

const isPlain = (name: string): boolean => /^[\x20-\x7e]+$/.test(name);
