/** Why a file was not changed, and what to do: clauses that follow `Cannot edit "x": ` in every dialect. */

import type { DifferenceKind, MatchedBy, NearestRegion } from "../contract/edit.ts";
import type {
  CellFault,
  EditFault,
  LineSpan,
  NumberedLines,
  ProblemData,
  ProblemOf,
  WhichEdit,
} from "../contract/problem.ts";
import type { Place, Target } from "../contract/target.ts";
import type { DeliveredLine, Verb } from "../contract/call.ts";
import { cutChars, escapeName } from "../text/text.ts";
import { counted, type Names, numberedText, quoted } from "./words.ts";

export const doing = {
  read: "read",
  ls: "list",
  glob: "search",
  grep: "search",
  outline: "outline",
  lsp: "ask about",
  rename: "rename in",
  edit: "edit",
  "edit-lines": "edit",
  "edit-files": "edit",
  write: "write",
  "notebook-edit": "edit",
  patch: "patch",
  delete: "delete",
  move: "move",
  copy: "copy",
  "make-folder": "make",
  rewind: "rewind",
  history: "look at the history of",
  cost: "read",
} satisfies Readonly<Record<Verb | "cost", string>>;

export type Doing = keyof typeof doing;

/** How a match was found that is not exact. */
export const stepWords = {
  exact: "exactly",
  "line ends": "line ends aside",
  quotes: "the style of quotes aside",
  "look-alikes": "characters that look alike taken as the same",
  "trailing whitespace": "ignoring trailing whitespace",
  indentation: "with another indentation",
  "line numbers": "without the line numbers of Read",
  escapes: "with its escapes resolved",
} satisfies Readonly<Record<MatchedBy, string>>;

const differenceWords = {
  "tab or space": "tabs and spaces differ",
  indentation: "the indentation differs",
  "trailing whitespace": "trailing whitespace differs",
  "whitespace inside the line": "whitespace inside the line differs",
  "line end": "the line end differs",
  "final newline": "the file does not end with a newline",
  "newline in front": "the call begins with a newline, and nothing stands before the first line",
  "undecoded byte": "the file has a byte there that cannot be decoded, so no text fits it",
  quote: "the quotes differ",
  "look-alike": "a character only looks the same",
  escape: "one has an escape where the other has the character",
  case: "upper and lower case differ",
  number: "a number differs",
  "missing line": "the call has a line that the file has not",
  "extra line": "the call lacks a line that the file has",
  text: "the text differs",
} satisfies Readonly<Record<DifferenceKind, string>>;

export function notReadWords(problem: ProblemOf<"NOT_READ">, names: Names): string {
  if (problem.reason === "never") return "it was not read in this session, read it first and then try again";
  const { unit } = problem;
  const shown = problem.shown.length === 0 ? `none of its ${unit}s were` : `only ${spans(problem.shown, unit)}`;
  if (problem.reason === "partly") {
    if (problem.cut.length === 0) return `not all of it was shown (${shown}), read the rest before it is overwritten`;
    const { line, column, more } = problem.cutRest ?? { line: problem.cut[0]?.from ?? 1, column: 1, more: false };
    const part = more ? "a part" : "the beginning";
    const reading = column > 1 ? names.readingRest(line, column) : names.reading(line, 1);
    return `not all of it was shown (${shown}, and of ${spans(problem.cut, unit)} only ${part}), read on with ${reading}, or change the parts that you know instead`;
  }
  const { needed } = problem;
  const isOne = needed.length === 1 && needed[0]?.from === needed[0]?.to;
  return `${spans(needed, unit, neededMax)} ${isOne ? "was" : "were"} not shown (${shown}), read ${isOne ? "it" : "them"} first with ${readingWords(needed, names)}`;
}

/** How to read these lines: with offset 5 and limit 2 and offset 300 and limit 1. */
function readingWords(needed: readonly LineSpan[], names: Names): string {
  const reads = readsOf(needed);
  const reading = reads.slice(0, readsMax).map(({ from, to }) => names.reading(from, to - from + 1));
  const more = reads.length > readsMax ? [`${reads.length - readsMax} more reads`] : [];
  return enumeration([...reading, ...more]);
}

/** A column past the end of its line. */
export const columnWords = ({ line, charsTotal }: ColumnProblem): string =>
  `line ${line} has ${counted(charsTotal, "character")}, all of them before this column, use a smaller one or leave column out`;

type ColumnProblem = Extract<ProblemOf<"INVALID_PARAM">, { readonly reason: "column" }>;

/** Parts of a file that a refusal names. */
const neededMax = 40;
/** Reads that a refusal proposes: a model would not make more before it tries again. */
const readsMax = 8;
/** Up to so many lines between two parts are read along, which is cheaper than one more call. */
const gapLinesMax = 100;

/** What to read so that all parts are shown, with few calls. */
function readsOf(needed: readonly LineSpan[]): readonly LineSpan[] {
  const reads: { from: number; to: number }[] = [];
  for (const { from, to } of needed) {
    const last = reads.at(-1);
    if (last !== undefined && from - last.to <= gapLinesMax) last.to = to;
    else reads.push({ from, to });
  }
  return reads;
}

/** Lines 1 to 20, 40 and 50 to 60. */
export function spans(list: readonly LineSpan[], unit: "line" | "cell", partsMax = 8): string {
  const shown = list.slice(0, partsMax).map(({ from, to }) => (from === to ? `${from}` : `${from} to ${to}`));
  const more = list.length > shown.length ? [`${list.length - shown.length} more parts`] : [];
  const one = list.length === 1 && list[0]?.from === list[0]?.to;
  return `${unit}${one ? "" : "s"} ${enumeration([...shown, ...more])}`;
}

export function enumeration(parts: readonly string[]): string {
  const last = parts.at(-1) ?? "";
  return parts.length < 2 ? last : `${parts.slice(0, -1).join(", ")} and ${last}`;
}

export function staleWords(problem: ProblemOf<"STALE">, names: Names): string {
  switch (problem.reason) {
    case "changed": {
      const { lines = [] } = problem;
      if (lines.length > 0) {
        const isOne = lines.length === 1 && lines[0]?.from === lines[0]?.to;
        return `somebody else changed ${spans(lines, "line")} since ${isOne ? "it was" : "they were"} shown, nothing was written, read ${isOne ? "it" : "them"} again with ${readingWords(lines, names)}`;
      }
      const sizes =
        problem.sizeThen === undefined
          ? `it has ${problem.sizeNow} bytes now`
          : problem.sizeThen === problem.sizeNow
            ? `it has other content, ${problem.sizeNow} bytes as before`
            : `it had ${problem.sizeThen} bytes then and has ${problem.sizeNow} now`;
      return `somebody else changed it since it was read (${sizes}), nothing was written, read it again and work on what is there now`;
    }
    case "deleted":
      return "somebody else deleted it since it was read, nothing was written; if it shall be there again, write it once more";
    case "while changing it":
      return "somebody else changed it at the same moment, nothing was written, read it again and work on what is there now";
  }
}

export function noMatchWords(problem: ProblemOf<"NO_MATCH">, names: Names): string {
  const { which, nearest, searched, hunk } = problem;
  const what = hunk === undefined ? `${names.old} was` : `the old lines of hunk ${which.index} were`;
  const shown = nearest === undefined ? "" : `. ${nearestWords(nearest, names)}`;
  if (hunk?.why === "header not found") {
    return `the line ${quoted(hunk.header)} behind @@ in hunk ${which.index} was not found, nothing was changed, take a line of the file${shown}`;
  }
  if (hunk?.why === "out of order") {
    return `hunk ${which.index} belongs at line ${hunk.line}, above what the hunk before it changed; nothing was changed, give the hunks in the file's order and without overlaps${shown}`;
  }
  if (hunk?.why === "no context") {
    return `hunk ${which.index} has only added lines and a line number, and nothing shows that the number is right; nothing was changed, give unchanged lines around the change`;
  }
  const start = `${ofMany(which)}${what} not found, nothing was changed`;
  const exactly =
    searched === "exactly" ? "; a file of this size is searched for the exact text only, copy it from the file" : "";
  if (nearest === undefined || nearest.isExpectedPlace === true) {
    const next = exactly === "" ? ", read the file again and copy the text from it" : exactly;
    return `${start}${next}${others(which)}${shown}`;
  }
  return `${start}${exactly}${others(which)}. ${nearestWords(nearest, names)}`;
}

function nearestWords(nearest: NearestRegion, names: Names): string {
  const { from: first, lines, linesTotal, difference } = nearest;
  const region = numberedText(
    lines.map((line) => cutChars(line, lineCharsMax)),
    first,
    names.numbers,
  );
  const more = linesTotal > lines.length ? `\n(${linesTotal - lines.length} more lines)` : "";
  if (nearest.isExpectedPlace === true) {
    return `Nothing there is like it. The lines where it was expected:\n${region}${more}`;
  }
  const { kind, line, asked, actual } = difference;
  // If only a newline before or after them differs, the lines are equal: show that newline, too.
  const [front, behind] = [kind === "newline in front" ? "\n" : "", kind === "final newline" ? "\n" : ""];
  const sent = asked === undefined ? undefined : front + asked + behind;
  // The lines of a hunk may exist although its header does not, or above the previous hunk.
  if (sent === actual && kind !== "undecoded byte") return `The nearest text:\n${region}${more}`;
  const from = shownFrom(sent, actual);
  const sides = [
    ...(actual === undefined ? [] : [`the file has ${visible(actual, from)}`]),
    ...(sent === undefined ? [] : [`the call has ${visible(sent, from)}`]),
  ].join(", ");
  return `The nearest text, where line ${line} is the first to differ (${differenceWords[kind]}): ${sides}\n${region}${more}`;
}

/** The lines that the words of a refused change show whole. */
export function linesOfRefusal(problem: ProblemData): readonly DeliveredLine[] {
  if (problem.code === "WRONG_LINES") {
    const [now] = problem.now;
    return problem.reason === "moved" && now !== undefined ? shownWhole(problem.place, now) : [];
  }
  if (problem.code !== "NO_MATCH" || problem.nearest === undefined || problem.hunk?.why === "no context") return [];
  return shownWhole(problem.place, problem.nearest);
}

const shownWhole = (
  place: Place | Target,
  { from, lines }: Pick<NumberedLines, "from" | "lines">,
): readonly DeliveredLine[] =>
  lines.flatMap((text, at) =>
    text.length <= lineCharsMax ? [{ path: "real" in place ? place.real : place.absolute, line: from + at, text }] : [],
  );

/** Of each of the two lines that differ: enough to see the difference. */
const lineCharsMax = 300;

/** The column from which two long lines are shown, so that their difference is visible. */
function shownFrom(one = "", other = ""): number {
  let same = 0;
  while (same < one.length && same < other.length && one[same] === other[same]) same += 1;
  if (same < lineCharsMax - 1) return 0;
  const from = same - 20;
  return /[\udc00-\udfff]/.test(one.charAt(from)) ? from - 1 : from;
}

/** A line with visible tabs and spaces. */
const visible = (line: string, from: number): string =>
  (from > 0 ? "..." : "") + JSON.stringify(cutChars(line.slice(from), lineCharsMax));

export function ambiguousWords({ which, matchedBy, lines, total, hunk }: ProblemOf<"AMBIGUOUS">, names: Names): string {
  const how = matchedBy === "exact" ? "" : `, ${stepWords[matchedBy]},`;
  const each = [...new Set(lines)];
  const left = total - lines.length;
  // Places that are left out are as many lines only where each of the others has a line of its own.
  const first = left > 0 && each.length < lines.length ? `the first ${lines.length} ` : "";
  const more = left > 0 && first === "" ? ` and ${left} more` : "";
  const where = `${total} places (${first}at ${each.length === 1 ? "line" : "lines"} ${each.join(", ")}${more})`;
  if (hunk === true) {
    return `hunk ${which.index} fits${how} ${where}, nothing was changed, give more lines around it or a line behind @@`;
  }
  return `${ofMany(which)}${names.old} fits${how} ${where}, nothing was changed, add lines around it until it fits one, or ${names.allPlaces}${others(which)}`;
}

export function wrongLinesWords({ reason, which, asked, first, now }: ProblemOf<"WRONG_LINES">, names: Names): string {
  const lines = spans([asked], "line");
  const start = ofMany(which);
  const numbered = ({ lines: texts }: NumberedLines, from: number): string =>
    numberedText(
      texts.map((text) => cutChars(text, lineCharsMax)),
      from,
      names.numbers,
    );
  const [one = { ...asked, lines: [] }] = now;
  switch (reason) {
    case "moved":
      return `${start}somebody else changed the file, and ${lines} ${asked.from === asked.to ? "is" : "are"} now ${spans([one], "line")}; nothing was changed, use the new numbers and give the first line with them:\n${numbered(one, one.from)}`;
    case "first differs":
      // Under the number that the model was shown, whatever the line's number is now.
      return `${start}line ${asked.from} is not ${quoted(cutChars(first ?? "", lineCharsMax))}, nothing was changed; what you were shown as ${lines}:\n${numbered(one, asked.from)}`;
    case "shown twice": {
      const texts = now.map((each) => quoted(cutChars(each.lines[0] ?? "", lineCharsMax)));
      return `${start}before and after your edits you were shown different lines as ${lines} (${enumeration(texts)}), nothing was changed, say which one with first`;
    }
  }
}

export function alreadyWords({ which, line }: ProblemOf<"ALREADY_APPLIED">, names: Names): string {
  return `${ofMany(which)}the text of ${names.new} is already there at line ${line}, so nothing was changed and this edit need not be made again${others(which)}`;
}

const ofMany = ({ index, of }: Pick<WhichEdit, "index" | "of">): string => (of > 1 ? `edit ${index} of ${of}: ` : "");

function others({ of, othersFound }: WhichEdit): string {
  if (of < 2 || othersFound.length === 0) return "";
  const which = othersFound.length === 1 ? `edit ${othersFound[0]}` : `edits ${enumeration(runsOf(othersFound))}`;
  return `; ${which} would have been made`;
}

/** Keeps the list within one line. */
const runsShownMax = 8;

/** Ascending numbers: three and more in a row as one part, and only so many parts. */
function runsOf(numbers: readonly number[]): readonly string[] {
  const runs: { readonly from: number; to: number }[] = [];
  for (const number of numbers) {
    const last = runs.at(-1);
    if (last?.to === number - 1) last.to = number;
    else runs.push({ from: number, to: number });
  }
  const parts = runs.flatMap(({ from, to }) => {
    if (to - from > 1) return [{ words: `${from} to ${to}`, count: to - from + 1 }];
    return from === to ? [{ words: `${from}`, count: 1 }] : [from, to].map((one) => ({ words: `${one}`, count: 1 }));
  });
  const left = parts.slice(runsShownMax).reduce((sum, { count }) => sum + count, 0);
  return [...parts.slice(0, runsShownMax).map(({ words }) => words), ...(left > 0 ? [`${left} more`] : [])];
}

export function editFaultWords({ fault, which }: EditProblem, names: Names): string {
  return `${which === undefined ? "" : ofMany(which)}${faultWords(fault, names)}`;
}

type EditProblem = Extract<ProblemOf<"INVALID_PARAM">, { readonly reason: "edit" }>;

function faultWords(fault: EditFault, names: Names): string {
  switch (fault) {
    case "same text":
      return `${names.old} and ${names.new} are the same, so nothing would change`;
    case "empty old text":
      return `${names.old} is empty, which only makes a new file or fills an empty one, give the text that is to be replaced`;
    case "lone surrogate":
      return "the text holds half of a surrogate pair, which no file can hold, send whole characters";
    case "notebook":
      return names.notebookTool === undefined
        ? "it is a notebook, which is edited by its cells"
        : `it is a notebook, use ${names.notebookTool} for its cells`;
    case "overlapping lines":
      return "two edits of the call change the same line, send each line in one edit only";
    case "text and lines":
      return `the edits of one file name either ${names.old} or lines, send them in two calls`;
    case "stub":
      return "this is the notice that stands for the content of an unchanged file, not its content, send the content";
  }
}

export const cellFaultWords = {
  "not a notebook": "it is not a notebook, edit it as text",
  "empty file": "it is empty, write a notebook into it first",
  "no cell named": "a cell must be named by its id, read the notebook to see the ids",
  renumbered:
    "cells were put in or taken out since it was read, so this number may mean another cell now, read it again",
  "same source": "the cell has this source already, so nothing would change",
} satisfies Readonly<Record<CellFault, string>>;

export function noCellWords({ cellId, known }: ProblemOf<"NO_CELL">): string {
  const ids = known.length === 0 ? "it has no cells" : `it has ${enumeration(known.map((id) => quoted(id)))}`;
  return `there is no cell ${quoted(cellId)}, ${ids}`;
}

export function encodingWords({ encoding, character }: ProblemOf<"ENCODING">): string {
  const point = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  return `it is encoded as ${encoding}, which has no ${quoted(character)} (U+${point}), nothing was written, use other characters`;
}

/** With the path inside a folder, where that may have been meant. */
export const existsClause = ({ reason, inside }: ProblemOf<"EXISTS">): string =>
  inside === undefined
    ? existsWords[reason]
    : `there is a folder of that name, nothing was written, to put it into that folder name the whole new path: ${quoted(inside)}`;

export const existsWords = {
  file: "there is a file of that name already, nothing was written, change that file instead",
  folder: "there is a folder of that name, nothing was written, use another name",
  link: "there is a link of that name that leads nowhere, nothing was written, use another name",
} satisfies Readonly<Record<ProblemOf<"EXISTS">["reason"], string>>;

export const lockedWords = (problem: ProblemOf<"LOCKED">): string =>
  problem.reason === "busy"
    ? `${escapeName(problem.holder)} holds it, nothing was written, try again`
    : `files cannot be locked against other processes (${escapeName(problem.fault)}), nothing was written, ask the user to ${escapeName(problem.remedy)}`;

export const tooLargeWords = ({
  limit,
  remedy,
}: Extract<ProblemOf<"TOO_LARGE">, { readonly kind: "text" }>): string => {
  const way =
    remedy === "one by one"
      ? "make each edit in a call of its own"
      : remedy === "convert"
        ? "ask the user to convert it to UTF-8 or to change it by other means"
        : "ask the user to change it by other means or to raise the limit";
  return `it is over the limit (${limit}), nothing was written, ${way}`;
};

/** System errors that a person can fix. */
const errnoWords: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the quota of the disk is used up",
  EROFS: "the file system is read-only",
  EFBIG: "the file would be larger than the process may write",
  EMFILE: "the process has no file descriptors left",
  ENFILE: "the system has no file descriptors left",
  EIO: "the disk reports an error",
  EBUSY: "the system is using it",
  ENOTEMPTY: "the folder is not empty",
  ENAMETOOLONG: "the name is too long",
};

/** The remedy for errors that a retry does not fix. */
const errnoRemedies: Readonly<Record<string, string>> = {
  ENOSPC: "ask the user to make room on it",
  EDQUOT: "ask the user to make room or to raise it",
  EROFS: "ask the user to make it writable, or use a path elsewhere",
  EFBIG: "ask the user to raise that limit",
  ENAMETOOLONG: "use a shorter one",
};

/** What to do about a system error, as the end of a sentence. */
export function errnoRemedy(errno: string, during: string): string {
  // Only while writing in place is EMLINK about the file's own hard links; a folder can reach its limit of links, too.
  if (errno === "EMLINK" && during.startsWith("writing in place")) {
    return 'ask the user to separate them, or to set hardLinks to "keep"';
  }
  return errnoRemedies[errno] ?? "try again";
}

/** A system error in a sentence: `the disk is full (ENOSPC) while writing`. */
export const errnoIn = (errno: string, during: string): string =>
  errnoWords[errno] === undefined ? `${errno} while ${during}` : `${errnoWords[errno]} (${errno}) while ${during}`;
