/** Answers of read in the two opencode dialects. */

import type { Reply } from "../../contract/call.ts";
import type { OutlineOutcome } from "../../contract/outline.ts";
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
import type { Facts } from "../dialect.ts";
import { imageParts, notebookParts, pdfParts, restOfCutLine, textOfParts } from "../media-text.ts";
import { isOutlineCut, outlineEntries, type OutlineEntry, outlineLines, outlineText } from "../outline-text.ts";
import { type Names, successReply } from "../words.ts";

/** What every tool answers for programs. */
export interface Titled<Metadata> {
  readonly title: string;
  readonly output: string;
  readonly metadata: Metadata;
}

export interface ReadResult extends Titled<ReadMetadata> {
  readonly attachments?: readonly Attachment[];
}

interface ReadMetadata {
  readonly preview: string;
  readonly truncated: boolean;
  /** Present when the file is not plain UTF-8. */
  readonly encoding?: string;
  /** Present when bytes could not be decoded and are shown as U+FFFD. */
  readonly lossy?: true;
  /** Present if an outline is shown for a long code file, or on request. */
  readonly outline?: readonly OutlineEntry[];
}

export interface Attachment {
  readonly id: string;
  readonly sessionID: string;
  readonly messageID: string;
  readonly type: "file";
  readonly mime: string;
  readonly url: string;
}

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

export function renderOutline(outcome: OutlineOutcome, names: Names): Reply<ReadResult> {
  const output = outlineText(outcome, names);
  const result = resultOf(outcome.target, output, outlineLines(outcome), isOutlineCut(outcome));
  return successReply(output, { ...result, metadata: { ...result.metadata, outline: outlineEntries(outcome) } });
}

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

export const unchangedNotice = "(File is unchanged since it was last read. Read it again to get its content)";

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

export function footerOf(page: Page, pageBytesMax: number): string {
  const last = page.from + page.count - 1;
  if (page.stopped === "end") {
    return page.linesTotal === undefined ? "(End of file)" : `(End of file - total ${page.linesTotal} lines)`;
  }
  if (page.stopped === "lines") return `(File has more lines. Use 'offset' parameter to read beyond line ${last})`;
  const where = page.stopped === "answer" ? "to what one answer holds" : `at ${pageBytesMax} bytes`;
  return `(Output truncated ${where}. Use 'offset' parameter to read beyond line ${last})`;
}
