/** Where a glob begins: the folder that is searched, and the rest of the pattern. */

import * as nodePath from "node:path";
import { type FileNode, HandleStack, released } from "../../disk/disk.ts";
import type { GlobRequest } from "../../contract/glob.ts";
import { type PatternFault, Problem, type Suggestion } from "../../contract/problem.ts";
import type { Place, Target } from "../../contract/target.ts";
import { type Glob, type GlobState, parseGlob, startGlobState } from "../../text/text.ts";
import { locatePermitted, notFound } from "../locate.ts";
import type { ToolContext } from "../tool.ts";

export interface GlobStart {
  readonly target: Target;
  /** Whoever asked closes `found.held`. */
  readonly node: FileNode;
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
  // Before anything is looked at: a pattern that says nothing needs no workspace.
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

interface Folder {
  readonly target: Target;
  readonly node: FileNode;
}

/** Faults of which no file can be called by the pattern itself. */
const isShape = (fault: PatternFault): boolean => ["empty", "nul", "parent", "no name", "too long"].includes(fault);

const faultOf = ({ pattern }: GlobRequest, fault: PatternFault): Problem =>
  new Problem({ code: "INVALID_PARAM", reason: "pattern", pattern, fault });

/** An absolute pattern says itself where to begin: at the last folder before its first wildcard. */
function splitAbsolute({ pattern, path = "." }: GlobRequest): { readonly folder: string; readonly rest: string } {
  if (!nodePath.isAbsolute(pattern)) return { folder: path, rest: pattern };
  const slashed = nodePath.sep === "\\" ? pattern.replaceAll("\\", "/") : pattern;
  const names = slashed.split("/");
  const first = names.findIndex((name, at) => at === names.length - 1 || /[*?[\]{}()\\]/.test(name) || name === "..");
  return { folder: names.slice(0, first).join("/") || "/", rest: `./${names.slice(first).join("/")}` };
}

async function folderAt(path: string, context: ToolContext): Promise<Folder> {
  const located = await locatePermitted(path, "anything", context);
  if (located.node.kind === "directory") return located;
  located.node.handle.close();
  throw new Problem({ code: "NOT_DIRECTORY", place: located.target });
}

/** A pattern that is none may still be the name of a file: `a[1.txt`. */
function literally(
  request: GlobRequest,
  rest: string,
  fault: PatternFault,
  outer: Folder,
  context: ToolContext,
): GlobStart {
  const parsed = isNameOfFile(rest, outer.target, context) ? parseGlob(`./${escapeGlob(rest)}`) : { fault };
  if ("fault" in parsed) throw faultOf(request, fault);
  return { ...outer, state: startGlobState(parsed), foldersOnly: false };
}

/** Is there a file of this very name? Whether a denied one has it is not told. */
export function isNameOfFile(name: string, folder: Target, { disk, guard }: ToolContext): boolean {
  if (name.includes("\0")) return false;
  const lookup = released(disk.lookup(nodePath.join(folder.real, name)));
  if (lookup.seen !== "node") return false;
  return lookup.kind === "file" && guard.denied("read", [lookup.real], "file") === undefined;
}

/** Makes every character of a path literal. */
export const escapeGlob = (path: string): string => path.replace(/[\\*?[\]{}()!+@|,\s]/g, "\\$&");

/** Goes down as far as the pattern names folders outright, so that nothing beside them is listed. Links are followed there. */
async function peeled(path: string, outer: Folder, glob: Glob, context: ToolContext): Promise<GlobStart | GlobNowhere> {
  const { foldersOnly } = glob;
  const names: string[] = [];
  let state = startGlobState(glob);
  // Names with other letters than ASCII are compared in all their forms, by listing.
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

/** Whether a denied file exists is not told to those who name it; who does not is told a number. */
function refuseIfDenied(path: string, { guard }: ToolContext): void {
  // Refuses by itself what does not exist.
  const resolved = guard.resolve(path);
  if (resolved.seen !== "node") return;
  resolved.node.handle.close();
  const { target } = resolved;
  const rule = guard.denied("read", [target.absolute, target.real], target.is);
  if (rule === undefined) return;
  throw new Problem({ code: "ACCESS_DENIED", place: target, reason: "rule", rule: rule.text, source: rule.source });
}

const isPlain = (name: string): boolean => /^[\x20-\x7e]+$/.test(name);
