/** What the two opencode dialects say alike: their failures and the reply they wrap a text in. */

import type { OutlineOutcome } from "../contract/outline.ts";
import type { Code, ProblemData, ProblemOf, Suggestion } from "../contract/problem.ts";
import type {
  ImageOutcome,
  NotebookOutcome,
  Page,
  PdfOutcome,
  TextOutcome,
  UnchangedOutcome,
} from "../contract/read.ts";
import type { Place } from "../contract/target.ts";
import type { Reply } from "../contract/call.ts";
import {
  alreadyWords,
  ambiguousWords,
  cellFaultWords,
  type Doing,
  doing,
  editFaultWords,
  encodingWords,
  errnoIn,
  existsWords,
  lockedWords,
  type Names,
  noCellWords,
  noMatchWords,
  notReadWords,
  folderFaultWords,
  patchFaultWords,
  rolledBackWords,
  staleWords,
  tooLargeWords,
} from "./change-words.ts";
import type { Facts } from "./dialect.ts";
import { patternFaults } from "./glob-words.ts";
import { type GrepNames, noRipgrepWords, searchFaultWords } from "./grep-text.ts";
import { codePlaceWords, languageServerWords, type LspNames, noRenameWords } from "./lsp-text.ts";
import { notebookParts, pdfParts, textOf } from "./media-text.ts";
import {
  noOutlineWords,
  type OutlineEntry,
  outlineEntries,
  outlineLines,
  outlineMeasure,
  type OutlineNames,
  outlineNotes,
} from "./outline-text.ts";
import { noTurnDoing, noTurnClause } from "./turn-words.ts";
import { escapeName } from "../text/escape.ts";
import { success } from "./replies.ts";
import {
  argumentFault,
  denial,
  mediaFault,
  noValueHint,
  pagesFault,
  pathFaults,
  quoted,
  specialWords,
  spelled,
} from "./words.ts";

/** What `read` answers for programs. */
export interface ReadResult {
  readonly title: string;
  readonly output: string;
  readonly metadata: {
    readonly preview: string;
    readonly truncated: boolean;
    /** Present when the file is not plain UTF-8. */
    readonly encoding?: string;
    /** Present when bytes could not be decoded and stand as U+FFFD. */
    readonly lossy?: true;
    /** Present where it stands for the text of a long code file, or was asked for. */
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

/** What can be changed in a call of `grep`. */
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

/** What a file declares. `firstLine`: what the first line of a file is called in a call. */
export function renderOutline(outcome: OutlineOutcome, firstLine: 0 | 1): Reply<ReadResult> {
  const lines = outlineLines(outcome);
  const notes = outlineNotes(outcome, outlineNames(firstLine)).map(
    (note) => `(${note.charAt(0).toUpperCase()}${note.slice(1)})`,
  );
  const head = `<path>${escapeName(outcome.target.absolute)}</path>\n<type>outline</type>\n<content>`;
  const output = [head, ...lines, "", ...notes, `(Outline - ${outlineMeasure(outcome)})`, "</content>"].join("\n");
  const truncated = outcome.why === "over budget" || outcome.items.length < outcome.total || outcome.counted !== "all";
  const result = resultOf(outcome.target, output, lines, truncated);
  return success(output, { ...result, metadata: { ...result.metadata, outline: outlineEntries(outcome) } });
}

const outlineNames = (firstLine: 0 | 1): OutlineNames => ({
  reading: (from, lines) => `offset ${from - 1 + firstLine} and limit ${lines}`,
  search: "grep",
});

/** A picture or a document that is handed out as it is. */
export function attached(place: Place, words: string, mime: string, base64: string, { ids }: Facts): Reply<ReadResult> {
  const attachment: Attachment = {
    id: ids.next(),
    sessionID: ids.session,
    messageID: ids.message,
    type: "file",
    mime,
    url: `data:${mime};base64,${base64}`,
  };
  const result = { ...resultOf(place, words, [words], false), attachments: [attachment] };
  const image = mime.startsWith("image/") ? [{ type: "image" as const, data: base64, mimeType: mime }] : [];
  return { content: [{ type: "text", text: words }, ...image], structured: result, isError: false };
}

/** Stands for content that the session has already. */
export const unchangedNotice = "(File is unchanged since it was last read. Read it again to get its content)";

/** What both dialects make of the kinds that are not text. */
export function renderMedia(
  outcome: ImageOutcome | PdfOutcome | NotebookOutcome | UnchangedOutcome,
  facts: Facts,
): Reply<ReadResult> {
  const { target } = outcome;
  switch (outcome.kind) {
    case "image":
      return attached(target, "Image read successfully", outcome.mime, outcome.base64, facts);
    case "pdf":
      return outcome.base64 === undefined
        ? worded(target, pdfParts(outcome))
        : { ...attached(target, "PDF read successfully", "application/pdf", outcome.base64, facts) };
    case "notebook":
      return worded(target, notebookParts(outcome));
    case "unchanged":
      return worded(target, [{ type: "text", text: unchangedNotice }]);
  }
}

function worded(place: Place, content: Reply["content"]): Reply<ReadResult> {
  const output = textOf(content);
  return { content, structured: resultOf(place, output, output.split("\n"), false), isError: false };
}

/** How a page of a file ends. */
export function footerOf(page: Page, pageBytesMax: number): string {
  const last = page.from + page.count - 1;
  if (page.stopped === "end") return `(End of file - total ${page.linesTotal} lines)`;
  if (page.stopped === "lines") return `(File has more lines. Use 'offset' parameter to read beyond line ${last})`;
  return `(Output truncated at ${pageBytesMax} bytes. Use 'offset' parameter to read beyond line ${last})`;
}

const path = (place: Place): string => spelled(place.absolute);

const meant = (suggestions: readonly Suggestion[]): string =>
  suggestions.length === 0 ? "" : `\n\nDid you mean one of these?\n${suggestions.map(suggested).join("\n")}`;

/** A folder ends in a slash, as in its listing. */
const suggested = ({ absolute, kind }: Suggestion): string =>
  `${escapeName(absolute)}${kind === "directory" ? "/" : ""}`;

/** How a line is shown with its number, and what the call was about to do. */
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
              ? `${issue.name} must be >= ${issue.min}`
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
    return `Access denied: ${path(problem.place)} (${denial(problem)})${more}`;
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
    `Cannot ${doing} ${path(problem.place)}: ${problem.kind === "text" ? tooLargeWords(problem.limit) : mediaFault(problem, names.repair)}`,
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

/** `firstLine`: what the first line of a file is called in a call. */
export function sentenceOf(problem: ProblemData, about: Doing, line: Names["line"], firstLine: 0 | 1): string {
  const names: Names = {
    old: "oldString",
    new: "newString",
    all: "replaceAll",
    reading: (from, lines) => `offset ${from - 1 + firstLine} and limit ${lines}`,
    line,
    notebookTool: undefined,
    repair: "repair its JSON with edit",
  };
  return said(problem, { names, doing: doing[about] });
}
