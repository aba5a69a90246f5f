/**
 * What a move means for the imports of other files. The language server is asked before the move and its edits are made after it,
 * in the same turn. A server that fails, or is too slow, does not stop the move: the answer says so.
 */

import * as nodePath from "node:path";
import { contains } from "../../contract/common.ts";
import type { ChangedFile, ImportsUpdated, MatchedBy } from "../../contract/edit.ts";
import { limits } from "../../contract/limits.ts";
import type { FileEdits, LanguageAnswer, Languages, RenameEdits, SourceFile } from "../../contract/lsp.ts";
import { Problem } from "../../contract/problem.ts";
import type { Profile } from "../../contract/profile.ts";
import type { Target } from "../../contract/target.ts";
import { runInSlices, type Tree } from "../../disk/disk.ts";
import type { TreeUse } from "../../guard/guard.ts";
import { changesOfEdits, hunksOfTexts, type Steps, unified } from "../../text/text.ts";
import type { Plan, Planned } from "../change/change.ts";
import { changeMany, type FilePlan } from "../change/change-many.ts";
import type { CurrentFile } from "../change/current-file.ts";
import { knownAfter, linesChanged, movedAlong, planOfChanges, shownOf } from "../edit/edit-text.ts";
import { sourceOf } from "../languages.ts";
import { standingOf } from "../lsp/lsp.ts";
import type { ToolContext } from "../tool.ts";
import { targetAt } from "./tree.ts";

interface ImportFile {
  readonly source: SourceFile;
  readonly edits: FileEdits["edits"];
  /** Its real path after the move. */
  readonly after: string;
}

export interface ImportEdits {
  /** Undefined if no server handles what is moved. */
  readonly server: string | undefined;
  readonly why?: string;
  readonly files: readonly ImportFile[];
  /** The files besides those that are moved: they need permission as well. */
  readonly uses: readonly TreeUse[];
  readonly diff: () => string;
}

const none: ImportEdits = { server: undefined, files: [], uses: [], diff: () => "" };

export async function importsFor(tree: Tree, target: Target, goal: Target, context: ToolContext): Promise<ImportEdits> {
  const languages = context.updateImports ? await context.languages?.() : undefined;
  const source = languages && (await servedIn(tree, target, languages, context));
  if (languages === undefined || source === undefined) return none;
  const moved = [{ from: target.real, to: goal.real }];
  const answer = await languages.moveEdits(source, moved, { signal: context.signal });
  context.signal.throwIfAborted();
  switch (answer.answer) {
    case "no server":
    case "not offered":
      return none;
    case "failed":
      return { ...none, server: answer.server, why: answer.why };
    case "too slow":
      return { ...none, server: answer.server, why: `it did not answer within ${answer.waitedMs} ms` };
    case "given":
      return given(answer, target, goal, context);
  }
}

/** The first file in it that a server handles: that server is asked about all of it. */
async function servedIn(
  tree: Tree,
  target: Target,
  languages: Languages,
  context: ToolContext,
): Promise<SourceFile | undefined> {
  for (const { is, below } of tree) {
    const real = nodePath.join(target.real, below);
    if (is !== "file" || !languages.serves(real)) continue;
    const source = await sourceOf(real, context);
    if (source !== undefined) return source;
  }
  return undefined;
}

async function given(
  { server, value }: Extract<LanguageAnswer<RenameEdits>, { readonly answer: "given" }>,
  target: Target,
  goal: Target,
  context: ToolContext,
): Promise<ImportEdits> {
  if (!value.whole) return { ...none, server, why: "its answer was not complete" };
  const files: ImportFile[] = [];
  const uses: TreeUse[] = [];
  for (const [path, edits] of merged(value.files)) {
    const isInside = contains(target.real, path);
    // What rules hide, and what is outside, is not the session's to change.
    if (standingOf(path, context) !== "shown") continue;
    const source = await sourceOf(path, context);
    if (source === undefined) continue;
    const after = isInside ? nodePath.join(goal.real, nodePath.relative(target.real, path)) : path;
    files.push({ source, edits, after });
    if (!isInside) uses.push({ target: targetAt(path, "file", context), permissions: ["read", "edit"], only: true });
  }
  return { server, files, uses, diff: () => diffOf(files, context) };
}

function merged(files: readonly FileEdits[]): ReadonlyMap<string, FileEdits["edits"]> {
  const all = new Map<string, FileEdits["edits"]>();
  for (const { path, edits } of files) if (edits.length > 0) all.set(path, [...(all.get(path) ?? []), ...edits]);
  return all;
}

/** For the question, of the first files. */
const diffFilesMax = 20; // local: what a person can look through

function diffOf(files: readonly ImportFile[], { guard }: ToolContext): string {
  return files
    .slice(0, diffFilesMax)
    .map(({ source: { path, text }, edits }) => {
      const found = changesOfEdits(text, edits, "");
      if (found.are !== "fine") return "";
      const parts: string[] = [];
      let at = 0;
      for (const { from, to, text: put } of found.changes) {
        parts.push(text.slice(at, from), put);
        at = to;
      }
      return unified(guard.spell(path), hunksOfTexts(text, [...parts, text.slice(at)].join("")).hunks, "update");
    })
    .join("");
}

/** Makes the edits, all or none, at the places where the files are now. The guard has permitted them before the move. */
export async function updateImports(
  { server, why, files }: ImportEdits,
  profile: Profile,
  context: ToolContext,
): Promise<{ readonly imports: ImportsUpdated; readonly files: readonly ChangedFile[] } | undefined> {
  if (server === undefined) return undefined;
  if (why !== undefined) return { imports: { server, why }, files: [] };
  const { dryRun } = context;
  const [first, ...further] = files.map(({ source, edits, after }): FilePlan => {
    const plan = planOfImports(source.text, edits, profile, context.signal);
    return { path: dryRun ? source.path : after, does: "update", plan, moveTo: undefined };
  });
  if (first === undefined) return undefined;
  const permitted = new Set(files.flatMap(({ source, after }) => [source.path, after]));
  const permitAll: ToolContext["guard"]["permitAll"] = async (permission, targets, ...more) => {
    const others = targets.filter(({ real }) => !permitted.has(real));
    return others.length === 0 ? "free" : context.guard.permitAll(permission, others, ...more);
  };
  const permit: ToolContext["guard"]["permit"] = (permission, target, ...more) =>
    permitAll(permission, [target], ...more);
  try {
    const guard = { ...context.guard, permit, permitAll };
    const { files: changed } = await changeMany([first, ...further], profile, { ...context, guard });
    return { imports: { server, files: changed.length }, files: changed.slice(0, limits.wholeTreeFilesListedMax) };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { data } = error;
    const where = "place" in data ? ` ("${data.place.relative}")` : "";
    return { imports: { server, why: `its edits could not be made: ${data.code}${where}` }, files: [] };
  }
}

/** The server has read the file, so the session need not have. It must be the very text that the server has read. */
const planOfImports = (
  text: string,
  edits: FileEdits["edits"],
  profile: Profile,
  signal: AbortSignal,
): Plan<MatchedBy> => ({
  wants: "text",
  profile,
  overwrites: false,
  unseen: "permitted",
  there: (current) => runInSlices(planned(current, text, edits), signal),
});

function* planned(current: CurrentFile, text: string, edits: FileEdits["edits"]): Steps<Planned<MatchedBy>> {
  const { target: place } = current;
  const now = current.bytes === undefined ? undefined : current.source().text;
  const found = now === text ? changesOfEdits(text, edits, "") : undefined;
  if (found?.are !== "fine") throw new Problem({ code: "STALE", place, reason: "while changing it" });
  yield;
  const shown = movedAlong(shownOf(current.seen), yield* linesChanged(text, found.changes));
  return yield* planOfChanges(current, found.changes, knownAfter(current, shown), "exact");
}
