/** What was changed, in words that dialects share, and the fields of a reply to a change. */

import type {
  ChangedFile,
  ChangeNote,
  ChangeOutcome,
  EditOutcome,
  Hunk,
  HunkLines,
  NotebookEditOutcome,
  PartAccepted,
  PatchOutcome,
  Renamed,
  TreeChange,
  ImportsUpdated,
  WriteOutcome,
} from "../contract/edit.ts";
import type { DeliveredLine, ForeignChange } from "../contract/call.ts";
import { limits } from "../contract/limits.ts";
import type { ProblemOf } from "../contract/problem.ts";
import type { NumberStyle } from "../contract/profile.ts";
import type { Target } from "../contract/target.ts";
import { cutChars, escapeName, unified } from "../text/text.ts";
import { enumeration, spans, stepWords } from "./change-words.ts";
import { treeSizeWords } from "./tree-words.ts";
import type { Facts } from "./dialect.ts";
import { counted, numberedText, quoted } from "./words.ts";

/** A diff for programs, lines without their ends; empty if it would be too long. */
export const hunksFor = (file: ChangedFile, facts: Facts): readonly Hunk[] =>
  withoutLineEnds(boundedHunks(file, facts));

export const withoutLineEnds = (hunks: readonly Hunk[]): readonly Hunk[] =>
  hunks.map(({ oldStart, oldLines, newStart, newLines, lines }) => ({ oldStart, oldLines, newStart, newLines, lines }));

function boundedHunks(file: ChangedFile, { full }: Facts): readonly Hunk[] {
  return full || (file.diffComplete && charsOf(file) <= limits.changeCharsMax) ? file.hunks : [];
}

const charsOf = ({ hunks }: ChangedFile): number =>
  hunks.reduce((sum, { lines }) => sum + lines.reduce((all, line) => all + line.length + 1, 0), 0);

/** A text for programs, or null where it is too long. */
export const bounded = (text: string, { full }: Facts): string | null =>
  full || text.length <= limits.changeCharsMax ? text : null;

/** The old content for programs; null for a new file or if it is too long. */
export const originalFor = ({ before }: ChangedFile, facts: Facts): string | null =>
  before === undefined ? null : bounded(before, facts);

/** The diff of each file; empty where it is too long, or where those before it are too long together. */
export function patchesFor(files: readonly ChangedFile[], facts: Facts): readonly string[] {
  let chars = 0;
  return files.map((file) => {
    chars += charsOf(file);
    if (!facts.full && chars > limits.patchCharsMax) return "";
    const kind = file.did === "created" ? "create" : file.did === "deleted" ? "delete" : "update";
    return unified(file.target.relative, boundedHunks(file, facts), kind, { oldPath: file.movedFrom?.relative });
  });
}

export interface ChangeWords {
  readonly done: readonly string[];
  readonly notes: readonly NoteWords[];
}

/** A note, with the lines of the file that a model should check because it does not see the diff. */
interface NoteWords {
  readonly words: string;
  readonly look?: { readonly words: string; readonly hunks: readonly Hunk[] };
}

/** `who` decided about hunks: the user for a model, you for a person. */
export function changeWords(outcome: ChangeOutcome, who: "The user" | "You" = "The user"): ChangeWords {
  const files = outcome.kind === "patch" ? outcome.files : [outcome.file];
  const say: Say = outcome.dryRun ? (_, would) => would : (done) => done;
  const notes = files.flatMap((file) => file.notes.flatMap((note) => noteWords(note, file, say, who)));
  return { done: headlines(outcome, say, who), notes: [...notes, ...closerLook(outcome, say)] };
}

/** The change, then notes about it with lines of the file. */
export function changeLines(outcome: ChangeOutcome, numbers: NumberStyle | undefined): readonly string[] {
  const { done, notes } = changeWords(outcome);
  const lines = notes.flatMap(({ words, look }) =>
    look === undefined ? [words] : [`${words} ${look.words}`, ...newSide(look.hunks, numbers)],
  );
  return [...done, ...lines];
}

/** Picks the wording for a change that was made or for a dry run. */
type Say = (done: string, would: string) => string;

function headlines(outcome: ChangeOutcome, say: Say, who: string): readonly string[] {
  const dry = say("", "Dry run, nothing was written. ");
  switch (outcome.kind) {
    case "edit":
      return [dry + editLine(outcome, say)];
    case "write":
      return [dry + writeLine(outcome, say)];
    case "notebook-edit":
      return [dry + cellLine(outcome, say)];
    case "patch":
      return patchLines(outcome, dry, say, who);
  }
}

const counts = ({ additions, deletions, uncounted }: ChangedFile): string =>
  uncounted === true ? "lines not counted" : `+${additions} -${deletions}`;

/** The hunks of a file that a person accepted, if the person refused others. */
export function partOf({ notes }: ChangedFile): PartAccepted | undefined {
  const part = notes.find((note) => note.note === "part");
  if (part === undefined) return undefined;
  const { accepted, refused, notShown } = part;
  return { accepted, refused, ...(notShown && { notShown }) };
}

/** Did a person refuse something of the change? */
export const isInPart = (outcome: ChangeOutcome): boolean =>
  outcome.kind === "patch"
    ? outcome.refused !== undefined || outcome.files.some((file) => partOf(file) !== undefined)
    : partOf(outcome.file) !== undefined;

/** Like `counts`, for a file of which only a part was changed. */
const partCounts = (file: ChangedFile, { accepted, refused, notShown }: PartAccepted): string =>
  `${accepted.length} of ${notShown === true ? "more than " : ""}${counted(accepted.length + refused.length, "hunk")}, ${counts(file)}`;

function editLine({ file, found, edits }: EditOutcome, say: Say): string {
  const path = quoted(file.target.asked);
  if (file.did === "created") return `${say("Created", "Would create")} ${path} (${counts(file)}).`;
  const part = partOf(file);
  if (part !== undefined) return `Edited ${path} in part (${partCounts(file, part)}).`;
  const replacements = found.reduce((sum, { replacements: some }) => sum + some, 0);
  const many = edits.length > 1 ? `${edits.length} edits, ` : "";
  const at = found.length === 1 && replacements === 1 ? ` at line ${found[0]?.line}` : "";
  return `${say("Edited", "Would edit")} ${path}: ${many}${replacements} ${replacements === 1 ? "replacement" : "replacements"}${at} (${counts(file)}).`;
}

function writeLine({ file }: WriteOutcome, say: Say): string {
  const path = quoted(file.target.asked);
  if (file.notes.some(({ note }) => note === "same content")) {
    return `${path} has exactly this content already${say(", so nothing was written", "")}.`;
  }
  if (file.did === "created") return `${say("Created", "Would create")} ${path} (${counts(file)}).`;
  const part = partOf(file);
  if (part !== undefined) return `Wrote ${path} in part (${partCounts(file, part)}).`;
  return `${say("Wrote", "Would write")} ${path} (${counts(file)}).`;
}

type Verbs = readonly [done: string, would: string];

const cellVerbs: Readonly<Record<NotebookEditOutcome["mode"], Verbs>> = {
  replace: ["Replaced", "Would replace"],
  insert: ["Inserted", "Would insert"],
  delete: ["Deleted", "Would delete"],
};

function cellLine(outcome: NotebookEditOutcome, say: Say): string {
  const { file, mode, cell, cellsTotal, cleared, renumbered } = outcome;
  const what = `${cell.type} cell ${quoted(cell.id)}`;
  const where = mode === "insert" ? ` as cell ${cell.index + 1} of ${cellsTotal}` : ` (cell ${cell.index + 1})`;
  const more = [
    ...(cleared
      ? [
          ` Its outputs were made by the old source and ${say(cell.type === "code" ? "are gone; run it again" : "are gone", "would go")}.`,
        ]
      : []),
    ...(renumbered
      ? [
          ` Cells behind it without ids of their own ${say("have other ids now; read the notebook again", "would get other ids")}.`,
        ]
      : []),
  ].join("");
  return `${say(...cellVerbs[mode])} ${what}${where} in ${quoted(file.target.asked)}.${more}`;
}

const fileVerbs: Readonly<Record<ChangedFile["did"], Verbs>> = {
  created: ["Added", "Would add"],
  updated: ["Updated", "Would update"],
  deleted: ["Deleted", "Would delete"],
  moved: ["Moved", "Would move"],
};

function patchLines(outcome: PatchOutcome, dry: string, say: Say, who: string): readonly string[] {
  const { files, renamed, tree, target, refused = [] } = outcome;
  if (tree !== undefined) {
    const [head = "", ...rest] = treeLines(tree, target, say);
    return [dry + head, ...rest];
  }
  const lines = files.map((file) => {
    const from = file.movedFrom === undefined ? "" : `${quoted(file.movedFrom.asked)} to `;
    const part = partOf(file);
    if (part !== undefined) return `Updated ${quoted(file.target.asked)} in part (${partCounts(file, part)}).`;
    return `${say(...fileVerbs[file.did])} ${from}${quoted(file.target.asked)} (${counts(file)}).`;
  });
  const inPart = isInPart(outcome);
  const named = renamed === undefined ? [] : [renamedLine(renamed, files.length + refused.length, inPart, say)];
  const [head = "", ...rest] = [...named, ...lines, ...refusedLine(refused, who)];
  if (dry === "") return [head, ...rest];
  return named.length > 0 ? [dry + head, ...rest] : [dry.trimEnd(), head, ...rest];
}

/** Names in one line about files that were left as they are. */
const refusedNamesMax = 20;

function refusedLine(refused: readonly Target[], who: string): readonly string[] {
  if (refused.length === 0) return [];
  const shown = refused.slice(0, refusedNamesMax).map(({ asked }) => quoted(asked));
  const more = refused.length > shown.length ? [`${refused.length - shown.length} more files`] : [];
  const [one, they] = refused.length === 1 ? ["change", "it is"] : ["changes", "they are"];
  return [`${who} refused the ${one} of ${enumeration([...shown, ...more])}; ${they} as before.`];
}

const treeVerbs: Readonly<Record<TreeChange["did"], Verbs>> = {
  deleted: ["Deleted", "Would delete"],
  moved: ["Moved", "Would move"],
  copied: ["Copied", "Would copy"],
  made: ["Made", "Would make"],
};

function treeLines({ did, is, from, size, ...more }: TreeChange, target: Target, say: Say): readonly string[] {
  const kind = is === "file" ? "" : `the ${is} `;
  const what = from === undefined ? quoted(target.asked) : `${quoted(from.asked)} to ${quoted(target.asked)}`;
  const many = is === "folder" && did !== "made" ? ` (${treeSizeWords(size)})` : "";
  const head = more.wasThere
    ? `The folder ${what} was there already.`
    : `${say(...treeVerbs[did])} ${kind}${what}${many}.`;
  const { foldersMade, notKept, remains, imports } = more;
  return [
    head,
    ...(is === "link" && did === "deleted"
      ? [say("What it led to was left as it is.", "What it leads to would stay.")]
      : []),
    ...(foldersMade.length > 0
      ? [`${say("Made", "Would make")} ${enumeration(foldersMade.map((path) => quoted(path)))} for it.`]
      : []),
    ...(notKept > 0 && did === "deleted"
      ? [
          `${counted(notKept, "file")} of it could not be kept in the history, so undo does not bring ${notKept === 1 ? "it" : "them"} back.`,
        ]
      : []),
    ...(remains
      ? ["A part of it is still on the disk under a name of Filehand's own, and is removed at its next start."]
      : []),
    ...(imports === undefined ? [] : [importsLine(imports, say)]),
  ];
}

const importsLine = (imports: ImportsUpdated, say: Say): string =>
  imports.why === undefined
    ? `${say("Updated", "Would update")} imports in ${counted(imports.files, "file")}, as ${escapeName(imports.server)} found them.`
    : `Imports in other files ${say("were", "would be")} left as they are: ${escapeName(imports.server)} failed (${escapeName(imports.why).slice(0, 300)}).`;

function renamedLine({ from, to, places, server }: Renamed, files: number, inPart: boolean, say: Say): string {
  const many = `${places} ${places === 1 ? "place" : "places"} in ${files} ${files === 1 ? "file" : "files"}`;
  if (inPart) {
    return `Renamed ${quoted(from)} to ${quoted(to)} in part: ${escapeName(server)} found ${many}, some of which were refused.`;
  }
  return `${say("Renamed", "Would rename")} ${quoted(from)} to ${quoted(to)} at ${many}, as ${escapeName(server)} found them.`;
}

function noteWords(note: ChangeNote, file: ChangedFile, say: Say, who: string): readonly NoteWords[] {
  if (note.note === "same content") return [];
  if (note.note === "part") return [partNote(note, file, who)];
  if (note.note === "reformatted") {
    const counted = `A formatter changed the file after that (+${note.additions} -${note.deletions}).`;
    if (note.hunks.length === 0) return [{ words: `${counted} Read it again before you go on.` }];
    return [{ words: counted, look: { words: "These lines are there now:", hunks: note.hunks } }];
  }
  return [{ words: noteSentence(note, say) }];
}

/** Which lines a person let be changed, and which are as before. Lines are numbered as they are after this change. */
function partNote(
  { accepted, refused, notShown, now }: PartNote,
  { target, notes }: ChangedFile,
  who: string,
): NoteWords {
  const numbering = notes.some(({ note }) => note === "reformatted") ? ", as numbered before the formatter" : "";
  const total = `${notShown === true ? "the first " : ""}${accepted.length + refused.length}`;
  const words = [
    `${who} accepted ${accepted.length} of ${total} hunks of the change of ${quoted(target.asked)}${numbering}.`,
    `Accepted: ${hunkPlaces(accepted)}.`,
    ...(refused.length === 0
      ? []
      : [`Refused: ${hunkPlaces(refused)}, which ${isOne(refused) ? "is" : "are"} as before.`]),
    ...(notShown === true ? ["The rest of the change was too long to be shown, and was not made."] : []),
  ].join(" ");
  return now.length === 0 ? { words } : { words, look: { words: "These lines are there now:", hunks: now } };
}

type PartNote = Extract<ChangeNote, { readonly note: "part" }>;

const isOne = ([first, ...others]: readonly HunkLines[]): boolean =>
  others.length === 0 && first !== undefined && first.from >= first.to;

/** Hunks in one sentence; a reply lists the others for programs. */
const hunksNamedMax = 20;

function hunkPlaces(hunks: readonly HunkLines[]): string {
  const shown = hunks.slice(0, hunksNamedMax).map(({ from, to }) => {
    if (to < from) return from === 1 ? "the place before line 1" : `the place after line ${from - 1}`;
    return from === to ? `line ${from}` : `lines ${from} to ${to}`;
  });
  const more = hunks.length > shown.length ? [`${hunks.length - shown.length} more`] : [];
  return enumeration([...shown, ...more]);
}

function noteSentence(
  note: Exclude<ChangeNote, { readonly note: "same content" | "reformatted" | "part" }>,
  say: Say,
): string {
  switch (note.note) {
    case "links separated":
      return `The file ${say("had", "has")} other names (hard links); they ${say("keep", "would keep")} the old content.`;
    case "in place":
      return `It ${say("was", "would be")} written in place: it has other names that ${say("were", "are")} to be kept, or its folder does not let it be replaced.`;
    case "unconfirmed":
      return `The new content is there, but the system could not confirm that it is safe on the disk (${note.errno}).`;
    case "other changes": {
      if (note.lines === undefined)
        return "Somebody else changed the file since it was read; those changes are still there. Read it again before you go on.";
      const where = note.lines.length === 0 ? "other parts of the file" : spans(note.lines, "line");
      return `Somebody else changed ${where} since the file was read; those changes are still there.`;
    }
    case "was deleted":
      return `Somebody else deleted the file since it was read; it ${say("was", "would be")} created again.`;
    case "places not shown":
      return `${note.places} of the ${note.of} places ${note.places === 1 ? "was" : "were"} not shown before.`;
    case "line ends":
      return `Line ends ${say("changed", "would change")} from ${note.before} to ${note.after}, as they were sent.`;
    case "metadata":
      return `Not all about the file could be kept: ${note.detail}.`;
    case "not kept":
      return `${notKept[note.what]}: ${escapeName(note.why)}.`;
    case "mode":
      return note.executable
        ? `The file ${say("is executable now", "would become executable")}.`
        : `The file ${say("is no longer", "would no longer be")} executable.`;
    case "formatter failed":
      return `The change was made, but the formatter failed: ${escapeName(note.why).slice(0, 300)}.`;
  }
}

const notKept = {
  "old content": "The old content could not be kept, so this change cannot be undone",
  record: "The change could not be recorded in the history, so undo does not know of it",
  "new content": "The change is recorded and can be undone, but its new content could not be kept in the history",
} as const satisfies Record<Extract<ChangeNote, { readonly note: "not kept" }>["what"], string>;

/** After a match that was not exact, the model should see the new lines. */
function closerLook(outcome: ChangeOutcome, say: Say): readonly NoteWords[] {
  const steps =
    outcome.kind === "edit"
      ? outcome.found.map(({ matchedBy }) => matchedBy)
      : outcome.kind === "patch"
        ? [outcome.matchedBy]
        : [];
  const loose = [...new Set(steps)].filter((step) => step !== "exact");
  if (loose.length === 0) return [];
  // A model does not see line ends.
  if (loose.every((step) => step === "line ends"))
    return [{ words: `The file has other line ends than the call; its own ${say("were", "would be")} kept.` }];
  const words = `The old text was found, ${loose.map((step) => stepWords[step]).join("; ")}.`;
  if (outcome.kind === "patch") return [{ words }];
  return [
    { words, look: { words: `These lines ${say("are there now", "would be there")}:`, hunks: outcome.file.hunks } },
  ];
}

/** Lines of a notice about changes by others. */
const foreignLinesMax = 3;

/** What somebody else did to files that the session was shown: a line for each file, or the changed lines of a single one. */
export function foreignWords(changes: readonly ForeignChange[], { spell }: Pick<Facts, "spell">): string {
  const [only, ...others] = changes.map((change) => foreignLine(change, spell));
  const lines = others.length === 0 ? (changes[0]?.now ?? []).map(({ line, text }) => `${line}: ${text}`) : [];
  const all = [only ?? "", ...lines, ...others];
  if (all.length <= foreignLinesMax) return all.join("\n");
  const left = all.length - foreignLinesMax + 1;
  return [...all.slice(0, foreignLinesMax - 1), `Somebody else changed ${left} more files that were shown.`].join("\n");
}

function foreignLine({ path, did, lines, removed = 0 }: ForeignChange, spell: Facts["spell"]): string {
  const name = quoted(spell(path));
  if (did === "deleted") return `Somebody else deleted ${name} since it was shown.`;
  if (lines === undefined) return `Somebody else changed ${name} since it was shown.`;
  const added = lines.reduce((sum, { from, to }) => sum + to - from + 1, 0);
  const where =
    lines.length === 0 ? (removed === 0 ? "parts that were not shown" : "lines were removed") : spans(lines, "line");
  return `Somebody else changed ${name} since it was shown: ${where} (+${added} -${removed}).`;
}

const linesShownMax = limits.changeLinesMax;
/** Of one line, so that all lines shown together stay far below the limit of an answer. */
const lineCharsShownMax = 1_000;
const cutMark = "... (line cut)";

const cutLine = (line: string): string =>
  line.length > lineCharsShownMax ? cutChars(line, lineCharsShownMax) + cutMark : line;

function newSide(hunks: readonly Hunk[], numbers: NumberStyle | undefined): readonly string[] {
  const { blocks, isCut } = firstLines(hunks);
  const texts = blocks.map(({ from, lines }) => numberedText(lines.map(cutLine), from, numbers));
  return isCut ? [...texts, "..."] : texts;
}

/** The new lines of the first hunks, as many as an answer shows. */
function firstLines(hunks: readonly Hunk[]) {
  const blocks: { readonly from: number; readonly lines: readonly string[] }[] = [];
  let left = linesShownMax;
  for (const hunk of hunks) {
    const lines = newLines(hunk);
    const shown = lines.slice(0, left);
    if (shown.length > 0) blocks.push({ from: hunk.newStart, lines: shown });
    if (shown.length < lines.length) return { blocks, isCut: true };
    left -= shown.length;
  }
  return { blocks, isCut: false };
}

/** The lines of changed files that `changeLines` shows whole. */
export function linesOfChange(outcome: ChangeOutcome): readonly DeliveredLine[] {
  if (outcome.dryRun) return [];
  const files = outcome.kind === "patch" ? outcome.files : [outcome.file];
  const looks = files.flatMap(({ target, notes }) =>
    notes.flatMap((note) => (note.note === "reformatted" ? [{ target, hunks: note.hunks }] : [])),
  );
  const closer = closerLook(outcome, (done) => done).flatMap(({ look }) =>
    look === undefined ? [] : [{ target: outcome.target, hunks: look.hunks }],
  );
  return [...looks, ...closer].flatMap(({ target, hunks }) =>
    firstLines(hunks).blocks.flatMap(({ from, lines }) =>
      lines.flatMap((text, at) => (cutLine(text) === text ? [{ path: target.real, line: from + at, text }] : [])),
    ),
  );
}

const newLines = ({ lines }: Hunk): readonly string[] =>
  lines.flatMap((line, at) => {
    if (line.startsWith("-") || line.startsWith("\\")) return [];
    // In a hunk with mixed line ends a line includes its \r, which Read does not show.
    return [lines[at + 1]?.startsWith("\\") === true ? line.slice(1) : line.slice(1).replace(/\r$/, "")];
  });

// Why several files were not changed together, by a patch or as a folder: clauses like those of `change-words.ts`.

/** What is wrong with a patch: the line, and what is expected there. */
export function patchFaultWords({
  fault,
  line,
  text,
}: Extract<ProblemOf<"INVALID_PARAM">, { reason: "patch" }>): string {
  const at = `line ${line} of the patch (${quoted(cutChars(text, 120))})`;
  switch (fault) {
    case "no begin":
      return "a patch begins with the line *** Begin Patch, or is a unified diff with --- and +++ lines";
    case "no end":
      return "a patch ends with the line *** End Patch, which is missing; was it cut off? Send it whole, or in parts";
    case "text after end":
      return `${at} stands behind *** End Patch`;
    case "empty":
      return "the patch names no file";
    case "unknown line":
      return `${at} is none of *** Add File:, *** Update File:, *** Delete File:, @@, or a line that begins with a blank, - or +`;
    case "no path":
      return `${at} names no file`;
    case "whitespace around path":
      return `${at}: write one blank before the path and none behind it; a file whose name begins or ends with a blank cannot be patched, change it with another tool`;
    case "add line without +":
      return `${at}: every line of an added file begins with +`;
    case "empty line without prefix":
      return `${at}: an empty line needs its mark here, a blank for a line that stays or + for a new one`;
    case "empty hunk":
      return `${at}: there is nothing behind it`;
    case "nothing changes":
      return `${at}: it neither changes a line nor moves the file`;
    case "same lines":
      return `line ${line} of the patch: the lines that are taken out and put in are the same, so nothing would change`;
    case "same file twice":
      return `${at}: the file stands in the patch before, put all its changes into one section`;
    case "two names":
      return `${quoted(cutChars(text, 120))} is a file that the patch names before by another name, put all its changes into one section`;
    case "in a new file":
      return `${quoted(cutChars(text, 120))} would lie in a file that the same patch makes, give one of them another name`;
    case "mixed forms":
      return `${at}: a patch is either *** Begin Patch with its own sections or a unified diff, not both`;
    case "not of a diff":
      return `${at} is no line of a unified diff: a line that begins with a blank, - or +, the next @@ line or the head of the next file is expected there`;
    case "binary":
      return `${at}: it changes a file that is not text, which cannot be patched here`;
    case "special file":
      return `${at}: it is about a symlink or a submodule, and only files can be patched`;
    case "names differ":
      return `${at}: --- and +++ name different files, which one is meant? Give both the same name, or add the lines rename from and rename to`;
    case "other lines deleted":
      return `line ${line} of the patch: it deletes ${quoted(cutChars(text, 120))}, which has other lines than those that the patch removes; read it again`;
  }
}

/** Why a symlink is neither deleted nor moved. */
export const linkWords = ({ leadsTo, would }: Extract<ProblemOf<"INVALID_PARAM">, { reason: "link" }>): string =>
  `it is a link, and what would ${would} is ${quoted(leadsTo)}, name that by its own path`;

/** Why something is neither deleted, moved nor copied as a whole. Does not name the files that rules hide. */
export function folderFaultWords({
  fault,
  count = 0,
}: Extract<ProblemOf<"INVALID_PARAM">, { reason: "folder" }>): string {
  switch (fault) {
    case "root":
      return "it is a root of the workspace, name something in it";
    case "into itself":
      return "its new name lies in the folder itself, use another one";
    case "special":
      return "there are things in it that are no files, do it with its files one by one";
    case "hidden by rules": {
      const many = count === 0 ? "all that is in it" : `${counted(count, "thing")} in it`;
      return `the rules do not let you work with ${many}, do it with its files one by one`;
    }
    case "too many":
      return `there are more than ${limits.wholeTreeEntriesMax} things in it, do it with its folders one by one`;
    case "unreadable":
      return "not all of it could be read, do it with its files one by one";
    case "other mount":
      return "another file system is mounted on it or in it, do it with its files one by one";
    case "not kept": {
      const many = count === 1 ? "1 file" : `${count} files`;
      return `the history cannot keep ${many} of it, so undo could not bring them back, and nobody could be asked whether they may be lost; read such a file and delete it by itself, or ask the user to delete it`;
    }
  }
}

/** One of several files could not be written: the cause, and the state of the others. */
export function rolledBackWords({ putBack, left }: ProblemOf<"ROLLED_BACK">, cause: string): string {
  const back = putBack.map(({ asked }) => quoted(asked));
  const undone = back.length === 0 ? "" : `; what was changed before (${enumeration(back)}) was put back`;
  if (left.length === 0) return `${cause}${undone}, so no file was changed`;
  return `${cause}${undone}; ${enumeration(left.map(({ asked }) => quoted(asked)))} could not be put back and must be looked at`;
}
