/** Rename: a language server lists the places that a new name changes; all files are changed or none. */

import type { MatchedBy } from "../../contract/edit.ts";
import { limits } from "../../contract/limits.ts";
import type { FileEdits, FoundPlace, Position, RenameRequest, SourceFile } from "../../contract/lsp.ts";
import { Problem, type RenameFault } from "../../contract/problem.ts";
import type { Profile } from "../../contract/profile.ts";
import { runInSlices } from "../../disk/disk.ts";
import { changesOfEdits, type Steps, wordAt } from "../../text/text.ts";
import type { Plan, Planned } from "../change/change.ts";
import type { CurrentFile } from "../change/current-file.ts";
import { changeMany, type FilePlan } from "../change/change-many.ts";
import { knownAfter, linesChanged, movedAlong, planOfChanges, shownOf } from "../edit/edit-text.ts";
import { sourceOf } from "../languages.ts";
import type { ToolContext, Tool } from "../tool.ts";
import { askedFile, type AskedFile, placeOf, standingOf, valueOf } from "./lsp.ts";

export const rename: Tool<"rename"> = async (request, context) => {
  const asked = await askedFile(request.path, context);
  const at = placeOf(asked, request.at);
  const refuse = (reason: RenameFault, count = 0): Problem =>
    new Problem({ code: "NO_RENAME", place: asked.target, reason, count });
  const oldName = nameAt(asked.source, at);
  if (oldName === "") {
    const fault = { why: "nothing named" } as const;
    throw new Problem({ code: "INVALID_PARAM", reason: "code place", place: asked.target, fault });
  }
  if (!isName(request.newName)) throw refuse("name");
  if (request.newName === oldName) throw refuse("same name");

  const { source, position } = (await definedAt(asked, at, oldName, context)) ?? { source: asked.source, position: at };
  const answer = await asked.languages.renameEdits(source, position, request.newName, { signal: context.signal });
  const { server, value } = valueOf(answer, asked, context);
  if (value.fileOperations.length > 0) throw refuse("files", value.fileOperations.length);
  // Renaming only some of the places would break the program.
  if (!value.whole) throw refuse("incomplete");
  const files = merged(value.files);
  const own = files.find(({ path }) => path === source.path);
  // The server has this very text, so a place without the old name means that the server renames something else.
  if (own !== undefined && changesOfEdits(source.text, own.edits, oldName).are === "stale") throw refuse("other name");
  const standings = files.map(({ path }) => (path === asked.target.real ? "shown" : standingOf(path, context)));
  const outside = standings.filter((standing) => standing === "outside").length;
  if (outside > 0) throw refuse("outside", outside);
  // The error gives their number only.
  const hiddenByRules = standings.filter((standing) => standing === "hidden by rules").length;
  if (hiddenByRules > 0) throw refuse("hidden by rules", hiddenByRules);
  const [first, ...others] = files.map((file) => partOf(file, asked, oldName, request, context));
  if (first === undefined) throw refuse("nothing");

  const outcome = await changeMany([first, ...others], request.profile, context);
  const places = files.reduce((sum, { edits }) => sum + edits.length, 0);
  return { ...outcome, renamed: { from: oldName, to: request.newName, places, server } };
};

/** For a rename at an import TypeScript makes an alias in that file; at the definition it changes every file. */
async function definedAt(
  { languages, source, target }: AskedFile,
  at: FoundPlace,
  oldName: string,
  context: ToolContext,
): Promise<{ readonly source: SourceFile; readonly position: Position } | undefined> {
  const answer = await languages.definition(source, at, { signal: context.signal });
  const [only, ...others] = answer.answer === "given" ? answer.value : [];
  if (only === undefined || others.length > 0 || only.path === target.real) return undefined;
  if (only.path.split(/[\\/]/).includes("node_modules") || standingOf(only.path, context) !== "shown") return undefined;
  const other = await sourceOf(only.path, context);
  const position = only.range.start;
  const isSame = other !== undefined && nameAt(other, position) === oldName;
  return isSame ? { source: other, position } : undefined;
}

const nameAt = ({ text }: SourceFile, { line, column }: Position): string =>
  wordAt(text.split("\n")[line - 1] ?? "", column);

/** Excludes only what is a name in no language; the server decides the rest. */
const isName = (name: string): boolean =>
  name !== "" && name.length <= limits.nameCharsMax && !/[\p{Cc}\s()[\]{}<>,;:"`\\/|=+*%^&~]/u.test(name);

function merged(files: readonly FileEdits[]): readonly FileEdits[] {
  const all = new Map<string, FileEdits["edits"]>();
  for (const { path, edits } of files) all.set(path, [...(all.get(path) ?? []), ...edits]);
  return [...all].flatMap(([path, edits]) => (edits.length === 0 ? [] : [{ path, edits }]));
}

const partOf = (
  { path, edits }: FileEdits,
  { target }: AskedFile,
  oldName: string,
  { path: asked, profile }: RenameRequest,
  { signal }: ToolContext,
): FilePlan => ({
  path: path === target.real ? asked : path,
  does: "update",
  plan: planOfRename(edits, oldName, profile, signal),
  moveTo: undefined,
});

/** The server has read the file, so the session need not have. If the old name is not at the places, the file has changed. */
const planOfRename = (
  edits: FileEdits["edits"],
  oldName: string,
  profile: Profile,
  signal: AbortSignal,
): Plan<MatchedBy> => ({
  wants: "text",
  profile,
  overwrites: false,
  unseen: "permitted",
  there: (current) => runInSlices(planned(current, edits, oldName), signal),
});

function* planned(current: CurrentFile, edits: FileEdits["edits"], oldName: string): Steps<Planned<MatchedBy>> {
  const { target: place } = current;
  if (current.bytes === undefined) {
    throw new Problem({ code: "TOO_LARGE", place, kind: "text", limit: "32 MB in a rename" });
  }
  const { text } = current.source();
  const changes = changesOfEdits(text, edits, oldName);
  switch (changes.are) {
    case "stale":
      throw new Problem({ code: "STALE", place, reason: "while changing it" });
    case "overlapping":
      throw new Problem({ code: "NO_RENAME", place, reason: "overlap", count: 0 });
    case "fine":
      break;
  }
  yield;
  // Lines that were shown still count as shown: only a name changed in them.
  const shown = movedAlong(shownOf(current.seen), yield* linesChanged(text, changes.changes));
  return yield* planOfChanges(current, changes.changes, knownAfter(current, shown), "exact");
}
