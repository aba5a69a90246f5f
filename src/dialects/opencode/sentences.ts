/** Failures and the form of replies that the two opencode dialects share. */

import type { Reply } from "../../contract/call.ts";
import type { OutlineOutcome } from "../../contract/outline.ts";
import type { Code, ProblemData, ProblemOf, Suggestion } from "../../contract/problem.ts";
import type {
  ImageOutcome,
  NotebookOutcome,
  Page,
  PdfOutcome,
  TextOutcome,
  UnchangedOutcome,
} from "../../contract/read.ts";
import type { Place } from "../../contract/target.ts";
import { escapeName } from "../../text/text.ts";
import { folderFaultWords, linkWords, patchFaultWords, rolledBackWords } from "../change-text.ts";
import {
  alreadyWords,
  ambiguousWords,
  cellFaultWords,
  columnWords,
  doing,
  type Doing,
  editFaultWords,
  encodingWords,
  errnoIn,
  existsWords,
  lockedWords,
  type Names,
  noCellWords,
  noMatchWords,
  notReadWords,
  staleWords,
  tooLargeWords,
} from "../change-words.ts";
import type { Facts } from "../dialect.ts";
import { type GrepNames, noRipgrepWords, patternFaults, searchFaultWords } from "../grep-text.ts";
import { codePlaceWords, languageServerWords, type LspNames, noRenameWords } from "../lsp-text.ts";
import { imageParts, notebookParts, pdfParts, restOfCutLine, textOfParts } from "../media-text.ts";
import {
  noOutlineWords,
  outlineEntries,
  type OutlineEntry,
  outlineLines,
  outlineMeasure,
  type OutlineNames,
  outlineNotes,
} from "../outline-text.ts";
import { noTurnClause, noTurnDoing } from "../rewind-text.ts";
import {
  argumentFault,
  denialClause,
  mediaFault,
  noValueHint,
  orLeftOut,
  pagesFault,
  pathFaults,
  quoted,
  specialWords,
  spelled,
  successReply,
} from "../words.ts";

// The reply around a text that was read.

/** What `read` answers for programs. */
export interface ReadResult {
  readonly title: string;
  readonly output: string;
  readonly metadata: {
    readonly preview: string;
    readonly truncated: boolean;
    /** Present when the file is not plain UTF-8. */
    readonly encoding?: string;
    /** Present when bytes could not be decoded and are shown as U+FFFD. */
    readonly lossy?: true;
    /** Present if an outline is shown for a long code file, or on request. */
    readonly outline?: readonly OutlineEntry[];
  };
  readonly attachments?: readonly Attachment[];
}

export interface Attachment {
  readonly id: string;
  readonly sessionID: string;
  readonly messageID: string;
  readonly type: "file";
  readonly mime: string;
  readonly url: string;
}

/** The names of the parameters of `grep`. */
export const grepNames: GrepNames = { offset: undefined, glob: "include", multiline: undefined };

export const lspNames: LspNames = { search: "grep", read: "read" };

export const previewLines = 20;

export function resultOf(
  place: Place,
  output: string,
  shown: readonly string[],
  truncated: boolean,
  text?: TextOutcome,
): ReadResult {
  return {
    title: escapeName(place.relative),
    output,
    metadata: {
      preview: shown.slice(0, previewLines).join("\n"),
      truncated,
      ...(text === undefined || text.encoding === "utf-8" ? {} : { encoding: text.encoding }),
      ...(text?.lossy ? { lossy: true as const } : {}),
    },
  };
}

/** An outline. `firstLine`: the number of the first line in a call. */
export function renderOutline(outcome: OutlineOutcome, firstLine: 0 | 1): Reply<ReadResult> {
  const lines = outlineLines(outcome);
  const notes = outlineNotes(outcome, outlineNames(firstLine)).map(
    (note) => `(${note.charAt(0).toUpperCase()}${note.slice(1)})`,
  );
  const head = `<path>${escapeName(outcome.target.absolute)}</path>\n<type>outline</type>\n<content>`;
  const output = [head, ...lines, "", ...notes, `(Outline - ${outlineMeasure(outcome)})`, "</content>"].join("\n");
  const truncated = outcome.why === "over budget" || outcome.items.length < outcome.total || outcome.counted !== "all";
  const result = resultOf(outcome.target, output, lines, truncated);
  return successReply(output, { ...result, metadata: { ...result.metadata, outline: outlineEntries(outcome) } });
}

const outlineNames = (firstLine: 0 | 1): OutlineNames => ({
  reading: (from, lines) => `offset ${from - 1 + firstLine} and limit ${lines}`,
  search: "grep",
});

/**
 * A picture or a document as an attachment. A model sees the attachment only if its host and vendor pass it on, so `parts` is
 * what the model is shown.
 */
function attached(
  place: Place,
  words: string,
  { mime, base64, parts }: { readonly mime: string; readonly base64: string; readonly parts: Reply["content"] },
  { ids }: Facts,
): Reply<ReadResult> {
  const attachment: Attachment = {
    id: ids.next(),
    sessionID: ids.session,
    messageID: ids.message,
    type: "file",
    mime,
    url: `data:${mime};base64,${base64}`,
  };
  const result = { ...resultOf(place, words, [words], false), attachments: [attachment] };
  return { content: [{ type: "text", text: words }, ...parts], structured: result, isError: false };
}

/** The notice for content that the session already has. */
export const unchangedNotice = "(File is unchanged since it was last read. Read it again to get its content)";

/** Replies for the kinds that are not text. */
export function renderMedia(
  outcome: ImageOutcome | PdfOutcome | NotebookOutcome | UnchangedOutcome,
  facts: Facts,
): Reply<ReadResult> {
  const { target } = outcome;
  switch (outcome.kind) {
    case "image": {
      const { mime, base64 } = outcome;
      return attached(target, "Image read successfully", { mime, base64, parts: imageParts(outcome) }, facts);
    }
    case "pdf": {
      const { base64 } = outcome;
      const leftOut = pagesLeftOut(outcome);
      const parts = [...pdfParts(outcome), ...leftOut];
      if (base64 === undefined) return worded(target, parts, leftOut.length > 0);
      return attached(target, "PDF read successfully", { mime: "application/pdf", base64, parts }, facts);
    }
    case "notebook":
      return worded(target, notebookParts(outcome), outcome.overBudget || outcome.next !== undefined);
    case "unchanged":
      return worded(target, [{ type: "text", text: unchangedNotice }]);
  }
}

/** A call has no parameter for pages, so the next step is one for the user. */
function pagesLeftOut({ asked, pages, pagesTotal, base64 }: PdfOutcome): Reply["content"] {
  const last = pages[pages.length - 1]?.page ?? 0;
  if (asked === "pages" || last >= pagesTotal) return [];
  const text =
    base64 === undefined
      ? `(PDF has ${pagesTotal} pages and is too large to be attached: pages up to ${last} are shown. Ask the user for a smaller file with the pages that you need)`
      : `(PDF has ${pagesTotal} pages: the text of pages up to ${last} is shown, the attachment has all of them. If you cannot see the attachment, ask the user for a smaller file with the pages that you need)`;
  return [{ type: "text", text }];
}

function worded(place: Place, content: Reply["content"], truncated = false): Reply<ReadResult> {
  const output = textOfParts(content);
  return { content, structured: resultOf(place, output, output.split("\n"), truncated), isError: false };
}

/** How to see the rest of cut lines: a separate part, because the form of the text is fixed. */
export function cutNotes(page: Page, first: 0 | 1): Reply["content"] {
  const { cut, column } = page;
  const notes = cut.slice(0, cutNotesMax).map((one) => {
    const rest = restOfCutLine(page, one);
    return `(Line ${one.line} is cut after character ${rest - 1}. Use column ${rest - 1 + first} and offset ${one.line - 1 + first} to see the rest)`;
  });
  if (column !== undefined && cut.length === 0) notes.push(`(End of line ${page.from})`);
  if (cut.length > cutNotesMax) notes.push(`(${cut.length - cutNotesMax} more lines are cut)`);
  return notes.length === 0 ? [] : [{ type: "text", text: notes.join("\n") }];
}

/** Each note costs the model a line; the rest is counted. */
const cutNotesMax = 5;

/** How a page of a file ends. */
export function footerOf(page: Page, pageBytesMax: number): string {
  const last = page.from + page.count - 1;
  if (page.stopped === "end") {
    return page.linesTotal === undefined ? "(End of file)" : `(End of file - total ${page.linesTotal} lines)`;
  }
  if (page.stopped === "lines") return `(File has more lines. Use 'offset' parameter to read beyond line ${last})`;
  const where = page.stopped === "answer" ? "to what one answer holds" : `at ${pageBytesMax} bytes`;
  return `(Output truncated ${where}. Use 'offset' parameter to read beyond line ${last})`;
}

const path = (place: Place): string => spelled(place.absolute);

/** For a path with `..` after a symlink, the absolute path reveals the symlink's target, which a refusal must not. */
const deniedPath = ({ place, reason }: ProblemOf<"ACCESS_DENIED">): string =>
  reason !== "outside" && /(?:^|[\\/])\.\.(?:[\\/]|$)/.test(place.asked) ? spelled(place.asked) : path(place);

const meant = (suggestions: readonly Suggestion[]): string =>
  suggestions.length === 0 ? "" : `\n\nDid you mean one of these?\n${suggestions.map(suggested).join("\n")}`;

/** A folder ends in a slash, as in its listing. */
const suggested = ({ absolute, kind }: Suggestion): string =>
  `${escapeName(absolute)}${kind === "directory" ? "/" : ""}`;

/** How a line is shown with its number, and the intention of the call. */
interface Telling {
  readonly names: Names;
  readonly doing: string;
}

const sentences: { readonly [C in Code]: (problem: ProblemOf<C>, telling: Telling) => string } = {
  UNKNOWN_TOOL: ({ tool, known, nearest }) =>
    `Unknown tool: ${escapeName(tool)}. ${nearest === undefined ? `Use one of: ${known.join(", ")}` : `Did you mean ${nearest}?`}`,
  INVALID_PARAM: (problem, { names, doing }) => {
    switch (problem.reason) {
      case "arguments":
        return problem.issues
          .map((issue) =>
            issue.fault === "range" && issue.min !== undefined
              ? `${issue.name} must be >= ${issue.min}${issue.name === "offset" ? "" : orLeftOut(issue)}`
              : argumentFault(issue),
          )
          .join("; ");
      case "path":
        return `Invalid path ${quoted(problem.asked)}: ${pathFaults[problem.fault]}`;
      case "pattern":
        return `Invalid pattern ${quoted(problem.pattern)}: ${patternFaults[problem.fault]}`;
      case "edit":
        return `Cannot edit ${path(problem.place)}: ${editFaultWords(problem, names)}`;
      case "cell":
        return `Cannot edit ${path(problem.place)}: ${cellFaultWords[problem.fault]}`;
      case "link":
        return `Cannot ${doing} ${path(problem.place)}: ${linkWords(problem)}`;
      case "folder":
        return `Cannot ${doing} ${path(problem.place)}: ${folderFaultWords[problem.fault]}`;
      case "patch":
        return `Invalid patch: ${patchFaultWords(problem)}`;
      case "search":
        return `Invalid search: ${searchFaultWords(problem.fault, grepNames)}`;
      case "pages":
        return `Cannot read pages of ${path(problem.place)}: ${pagesFault(problem)}`;
      case "code place":
        return `Cannot ${doing} ${path(problem.place)}: ${codePlaceWords(problem.fault)}`;
      case "column":
        return `Cannot ${doing} ${path(problem.place)}: ${columnWords(problem)}`;
      case "range": {
        const kind = problem.of === "entries" ? "directory" : "file";
        return `Offset ${problem.from} is out of range for this ${kind} (${problem.total} ${problem.of})`;
      }
    }
  },
  NOT_FOUND: ({ place, suggestions }) => {
    const hint = suggestions.length === 0 ? noValueHint(place.asked) : undefined;
    return `File not found: ${path(place)}${hint === undefined ? meant(suggestions) : ` (${hint})`}`;
  },
  ACCESS_DENIED: (problem) => {
    const more = problem.reason === "outside" ? meant(problem.suggestions) : "";
    return `Access denied: ${deniedPath(problem)} (${denialClause(problem)})${more}`;
  },
  IS_DIRECTORY: ({ place }) => `Path is a directory, not a file: ${path(place)}`,
  NOT_DIRECTORY: ({ place }) => `Path is a file, not a directory: ${path(place)}`,
  LINK_LOOP: ({ place }) => `Links lead in a circle: ${path(place)}`,
  SPECIAL_FILE: ({ place, special }, { doing }) =>
    `Cannot ${doing} special file: ${path(place)} (it is ${specialWords[special]})`,
  // The path names the extension too, where that is the reason.
  BINARY_FILE: ({ place }, { doing }) => `Cannot ${doing} binary file: ${path(place)}`,
  DAMAGED: (problem, { doing, names }) =>
    `Cannot ${doing} ${path(problem.place)}: ${mediaFault(problem, names.repair)}`,
  ENCRYPTED: (problem, { doing, names }) =>
    `Cannot ${doing} ${path(problem.place)}: ${mediaFault(problem, names.repair)}`,
  TOO_LARGE: (problem, { doing, names }) =>
    `Cannot ${doing} ${path(problem.place)}: ${problem.kind === "text" ? tooLargeWords(problem) : mediaFault(problem, names.repair)}`,
  NO_CODEC: (problem, { doing, names }) =>
    `Cannot ${doing} ${path(problem.place)}: ${mediaFault(problem, names.repair)}`,
  OVER_BUDGET: ({ place, tokens, tokensMax }) =>
    `Cannot read ${path(place)}: about ${Math.round(tokens)} tokens are over the budget of ${tokensMax}, use a smaller 'limit'`,
  LANGUAGE_SERVER: (problem, { doing }) =>
    `Cannot ${doing} ${path(problem.place)}: ${languageServerWords(problem, lspNames)}`,
  NO_RENAME: (problem, { doing }) => `Cannot ${doing} ${path(problem.place)}: ${noRenameWords(problem)}`,
  NO_OUTLINE: (problem, { doing, names }) =>
    `Cannot ${doing} ${path(problem.place)}: ${noOutlineWords(problem, { reading: names.reading, search: "grep" })}`,
  CHANGED: ({ place }) => `File kept changing while it was read: ${path(place)}. Try again`,
  IO_ERROR: ({ place, errno, during }, { doing }) => `Cannot ${doing} ${path(place)}: ${errnoIn(errno, during)}`,
  NOT_READ: (problem, { names, doing }) => `Cannot ${doing} ${path(problem.place)}: ${notReadWords(problem, names)}`,
  STALE: (problem, { doing }) => `Cannot ${doing} ${path(problem.place)}: ${staleWords(problem)}`,
  NO_MATCH: (problem, { names, doing }) => `Cannot ${doing} ${path(problem.place)}: ${noMatchWords(problem, names)}`,
  AMBIGUOUS: (problem, { names, doing }) => `Cannot ${doing} ${path(problem.place)}: ${ambiguousWords(problem, names)}`,
  ALREADY_APPLIED: (problem, { names, doing }) =>
    `Cannot ${doing} ${path(problem.place)}: ${alreadyWords(problem, names)}`,
  NO_CELL: (problem, { doing }) => `Cannot ${doing} ${path(problem.place)}: ${noCellWords(problem)}`,
  ENCODING: (problem, { doing }) => `Cannot ${doing} ${path(problem.place)}: ${encodingWords(problem)}`,
  EXISTS: (problem, { doing }) => `Cannot ${doing} ${path(problem.place)}: ${existsWords[problem.reason]}`,
  NO_RIPGREP: ({ install }) => `Cannot search: ${noRipgrepWords(install)}`,
  NO_TURN: (problem) => `Cannot ${noTurnDoing(problem)}: ${noTurnClause(problem)}`,
  LOCKED: (problem, { doing }) => `Cannot ${doing} ${path(problem.place)}: ${lockedWords(problem)}`,
  ROLLED_BACK: (problem, telling) => rolledBackWords(problem, said(problem.cause, telling)),
  CANCELLED: ({ tool }) => `${tool} was cancelled`,
};

function said(problem: ProblemData, telling: Telling): string {
  const sentence = sentences[problem.code] as (problem: ProblemData, telling: Telling) => string; // the table pairs them by code
  return sentence(problem, telling);
}

/** `firstLine`: the number of the first line in a call. */
export function sentenceOf(problem: ProblemData, about: Doing, line: Names["line"], firstLine: 0 | 1): string {
  const names: Names = {
    old: "oldString",
    new: "newString",
    allPlaces: "set replaceAll to true",
    reading: (from, lines) => `offset ${from - 1 + firstLine} and limit ${lines}`,
    readingRest: (line, column) => `column ${column - 1 + firstLine} and offset ${line - 1 + firstLine}`,
    line,
    notebookTool: undefined,
    repair: "repair its JSON with edit",
  };
  return said(problem, { names, doing: doing[about] });
}
