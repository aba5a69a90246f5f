/** What was changed, in words that dialects share, and the fields of a reply to a change. */

import type {
  ChangedFile,
  ChangeNote,
  ChangeOutcome,
  EditOutcome,
  Hunk,
  NotebookEditOutcome,
  PatchOutcome,
  Renamed,
  WriteOutcome,
} from "../contract/edit.ts";
import { limits } from "../contract/limits.ts";
import { cutChars } from "../text/encoding.ts";
import { escapeName } from "../text/escape.ts";
import { unified } from "../text/unified.ts";
import { stepWords } from "./change-words.ts";
import type { Facts } from "./dialect.ts";
import { quoted } from "./words.ts";

/** A diff for programs, its lines without their ends; what would be too long is not cut in the middle but left out. */
export const hunksFor = (file: ChangedFile, facts: Facts): readonly Hunk[] => withoutEnds(boundedHunks(file, facts));

/** Programs that know `structuredPatch` know these fields. */
export const withoutEnds = (hunks: readonly Hunk[]): readonly Hunk[] =>
  hunks.map(({ oldStart, oldLines, newStart, newLines, lines }) => ({ oldStart, oldLines, newStart, newLines, lines }));

function boundedHunks(file: ChangedFile, { full }: Facts): readonly Hunk[] {
  const chars = file.hunks.reduce((sum, { lines }) => sum + lines.reduce((all, line) => all + line.length + 1, 0), 0);
  return full || (file.diffComplete && chars <= limits.changeCharsMax) ? file.hunks : [];
}

/** A text for programs, or null where it is too long. */
export const bounded = (text: string, { full }: Facts): string | null =>
  full || text.length <= limits.changeCharsMax ? text : null;

/** The old content for programs; null for a new file, and where it is too long to be given back. */
export const originalFor = ({ before }: ChangedFile, facts: Facts): string | null =>
  before === undefined ? null : bounded(before, facts);

export function patchFor(file: ChangedFile, facts: Facts): string {
  const kind = file.did === "created" ? "create" : file.did === "deleted" ? "delete" : "update";
  return unified(file.target.relative, boundedHunks(file, facts), kind, file.movedFrom?.relative);
}

/** A line with its number, as the dialect shows it. */
type NumberLine = (number: number, text: string) => string;

/** What was done, then what is worth knowing about it; a line each. */
export function changeLines(outcome: ChangeOutcome, numberLine: NumberLine): readonly string[] {
  const files = outcome.kind === "patch" ? outcome.files : [outcome.file];
  const say: Say = outcome.dryRun ? (_, would) => would : (done) => done;
  const notes = files.flatMap((file) => file.notes.flatMap((note) => noteWords(note, numberLine, say)));
  return [...headlines(outcome, say), ...notes, ...closerLook(outcome, numberLine, say)];
}

/** Of what was done and what a dry run would do, that which is true. */
type Say = (done: string, would: string) => string;

function headlines(outcome: ChangeOutcome, say: Say): readonly string[] {
  const dry = say("", "Dry run, nothing was written. ");
  switch (outcome.kind) {
    case "edit":
      return [dry + editLine(outcome, say)];
    case "write":
      return [dry + writeLine(outcome, say)];
    case "notebook-edit":
      return [dry + cellLine(outcome, say)];
    case "patch":
      return patchLines(outcome, dry, say);
  }
}

const counts = ({ additions, deletions, uncounted }: ChangedFile): string =>
  uncounted === true ? "lines not counted" : `+${additions} -${deletions}`;

function editLine({ file, found, edits }: EditOutcome, say: Say): string {
  const path = quoted(file.target.asked);
  if (file.did === "created") return `${say("Created", "Would create")} ${path} (${counts(file)}).`;
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

function patchLines({ files, renamed }: PatchOutcome, dry: string, say: Say): readonly string[] {
  const lines = files.map((file) => {
    const from = file.movedFrom === undefined ? "" : `${quoted(file.movedFrom.asked)} to `;
    return `${say(...fileVerbs[file.did])} ${from}${quoted(file.target.asked)} (${counts(file)}).`;
  });
  const named = renamed === undefined ? [] : [renamedLine(renamed, files.length, say)];
  const [head = "", ...rest] = [...named, ...lines];
  if (dry === "") return [head, ...rest];
  return named.length > 0 ? [dry + head, ...rest] : [dry.trimEnd(), head, ...rest];
}

function renamedLine({ from, to, places, server }: Renamed, files: number, say: Say): string {
  const many = `${places} ${places === 1 ? "place" : "places"} in ${files} ${files === 1 ? "file" : "files"}`;
  return `${say("Renamed", "Would rename")} ${quoted(from)} to ${quoted(to)} at ${many}, as ${escapeName(server)} found them.`;
}

function noteWords(note: ChangeNote, numberLine: NumberLine, say: Say): readonly string[] {
  switch (note.note) {
    case "links separated":
      return [
        `The file ${say("had", "has")} other names (hard links); they ${say("keep", "would keep")} the old content.`,
      ];
    case "in place":
      return [
        `It ${say("was", "would be")} written in place: it has other names that ${say("were", "are")} to be kept, or its folder does not let it be replaced.`,
      ];
    case "unconfirmed":
      return [
        `The new content is there, but the system could not confirm that it is safe on the disk (${note.errno}).`,
      ];
    case "other changes":
      return [
        "Somebody else changed the file since it was read; those changes are still there. Read it again before you go on.",
      ];
    case "line ends":
      return [`Line ends ${say("changed", "would change")} from ${note.before} to ${note.after}, as they were sent.`];
    case "metadata":
      return [`Not all about the file could be kept: ${note.detail}.`];
    case "not kept":
      return [`${notKept[note.what]}: ${escapeName(note.why)}.`];
    case "reformatted": {
      const counted = `A formatter changed the file after that (+${note.additions} -${note.deletions})`;
      if (note.hunks.length === 0) return [`${counted}. Read it again before you go on.`];
      return [`${counted}. These lines are there now:`, ...newSide(note.hunks, numberLine)];
    }
    case "formatter failed":
      return [`The change was made, but the formatter failed: ${escapeName(note.why).slice(0, 300)}.`];
    case "same content":
      return [];
  }
}

const notKept = {
  "old content": "The old content could not be kept, so this change cannot be undone",
  record: "The change could not be recorded in the history, so undo does not know of it",
  "new content": "The change is recorded and can be undone, but its new content could not be kept in the history",
} as const satisfies Record<Extract<ChangeNote, { readonly note: "not kept" }>["what"], string>;

/** After a match by anything looser than the letters, the author should see what is there now. */
function closerLook(outcome: ChangeOutcome, numberLine: NumberLine, say: Say): readonly string[] {
  const steps =
    outcome.kind === "edit"
      ? outcome.found.map(({ matchedBy }) => matchedBy)
      : outcome.kind === "patch"
        ? [outcome.matchedBy]
        : [];
  const loose = [...new Set(steps)].filter((step) => step !== "exact");
  if (loose.length === 0) return [];
  // Line ends are no difference that an author can see.
  if (loose.every((step) => step === "line ends"))
    return [`The file has other line ends than the call; its own ${say("were", "would be")} kept.`];
  const found = `The old text was found, ${loose.map((step) => stepWords[step]).join("; ")}.`;
  if (outcome.kind === "patch") return [found];
  return [
    `${found} These lines ${say("are there now", "would be there")}:`,
    ...newSide(outcome.file.hunks, numberLine),
  ];
}

const linesShownMax = limits.changeLinesMax;
/** Of one line; all that are shown together stay far below what an answer may hold. */
const lineCharsShownMax = 1_000;
const cutMark = "... (line cut)";

const cutLine = (line: string): string =>
  line.length > lineCharsShownMax ? cutChars(line, lineCharsShownMax) + cutMark : line;

function newSide(hunks: readonly Hunk[], numberLine: NumberLine): readonly string[] {
  const lines: string[] = [];
  for (const { newStart, lines: all } of hunks) {
    let number = newStart;
    for (const [at, line] of all.entries()) {
      if (line.startsWith("-") || line.startsWith("\\")) continue;
      // In a hunk with two kinds of line ends a line carries the \r of its own, which Read does not show.
      const text = all[at + 1]?.startsWith("\\") === true ? line.slice(1) : line.slice(1).replace(/\r$/, "");
      if (lines.length <= linesShownMax) lines.push(numberLine(number, cutLine(text)));
      number += 1;
    }
  }
  return lines.length > linesShownMax ? [...lines.slice(0, linesShownMax), "..."] : lines;
}
