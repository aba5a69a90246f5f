/** Documents, notebooks and pages of text for a model, in words that dialects share. */

import type { ReplyPart } from "../contract/call.ts";
import type { NoImage, NotebookCell, NotebookOutput } from "../contract/notebook.ts";
import type { NumberStyle } from "../contract/profile.ts";
import type { CutLine, ImageOutcome, NotebookOutcome, Page, PdfOutcome, TextOutcome } from "../contract/read.ts";
import { escapeName, numberLines } from "../text/text.ts";

type ShownImage = Pick<ImageOutcome, "original" | "display" | "frames" | "originalMime" | "mime" | "base64"> &
  Partial<Pick<ImageOutcome, "steps">>;

/** A picture and, where it is not shown as it is, a line that says so. */
export function imageParts(image: ShownImage): readonly ReplyPart[] {
  const note = imageNote(image);
  const picture: ReplyPart = { type: "image", data: image.base64, mimeType: image.mime };
  return note === "" ? [picture] : [picture, text(note)];
}

/** An answer that is a picture has a line of text in any case: some clients drop pictures, and their model would get nothing. */
export function imageAnswer(image: ShownImage): readonly ReplyPart[] {
  const [picture, ...notes] = imageParts(image);
  const { width, height } = image.original;
  const line = text(`[Image: ${width}x${height} pixels, ${image.mime}]`);
  return [...(picture === undefined ? [] : [picture]), ...(notes.length > 0 ? notes : [line])];
}

/** How a picture was changed for display; empty if it was not. */
export function imageNote({ original, display, frames, originalMime, mime, steps }: ShownImage): string {
  const notes: string[] = [];
  if (original.width !== display.width || original.height !== display.height) {
    notes.push(`${original.width}x${original.height} pixels, shown at ${display.width}x${display.height}`);
  }
  if (originalMime !== mime) notes.push(`converted from ${originalMime}`);
  else if (steps === "compressed" || steps === "last resort") notes.push("compressed further than the file is");
  if (frames > 1) notes.push(`the first of ${frames} frames`);
  return notes.length === 0 ? "" : `[Image: ${notes.join(", ")}]`;
}

/** Text and pictures of the pages, in order. `parameter`: what chooses pages in a call, if anything does. */
export function pdfParts(outcome: PdfOutcome, parameter?: "pages"): readonly ReplyPart[] {
  const shown = outcome.pages.map(({ page }) => page);
  const which =
    shown.length === outcome.pagesTotal ? "" : `, here ${shown.length === 1 ? "page" : "pages"} ${span(shown)}`;
  const parts: ReplyPart[] = [
    text(`[PDF, ${outcome.pagesTotal} ${outcome.pagesTotal === 1 ? "page" : "pages"}${which}]`),
  ];
  if (!outcome.hasText && !outcome.pages.some(({ image }) => image !== undefined)) {
    const next = parameter === undefined ? "" : `. Read it with ${parameter} to see the pages as pictures`;
    parts.push(text(`[No page has text: the document is scanned${next}]`));
  }
  for (const { page, text: words, cutChars = 0, image, error } of outcome.pages) {
    const body = error === undefined ? words : `[This page cannot be read: ${error}]`;
    parts.push(text(`--- page ${page} ---\n${body}`));
    if (cutChars > 0) {
      parts.push(
        text(`[PARTIAL view, page ${page} alone is over the budget: its last ${cutChars} characters are left out]`),
      );
    }
    if (image !== undefined) parts.push({ type: "image", data: image.base64, mimeType: image.mime });
  }
  return joined(parts, "\n\n");
}

/** "3-7" for consecutive numbers. */
const span = (numbers: readonly number[]): string =>
  numbers.length < 2 ? String(numbers[0] ?? "") : `${numbers[0]}-${numbers[numbers.length - 1]}`;

/** Sources and outputs of the cells in order, with pictures in their places. */
export function notebookParts(outcome: NotebookOutcome): readonly ReplyPart[] {
  const { cells, cellsTotal, language, next } = outcome;
  const parts: ReplyPart[] = [text(`[Notebook, ${cellsTotal} ${cellsTotal === 1 ? "cell" : "cells"}, ${language}]`)];
  for (const cell of cells) parts.push(...cellParts(cell));
  if (next !== undefined) parts.push(text(`[Cells up to ${next - 1} of ${cellsTotal}, go on with offset ${next}]`));
  return joined(parts, "\n\n");
}

function cellParts(cell: NotebookCell): readonly ReplyPart[] {
  const count = cell.executionCount === null ? "" : `, run ${cell.executionCount}`;
  const id = cell.ownId ? `id "${cell.id}"` : `no id of its own, here "${cell.id}"`;
  const head = `--- cell ${cell.index + 1}, ${cell.type}${count}, ${id} ---`;
  const left = cell.outputsLeftOut;
  const more = left === 0 ? [] : [text(`[${left} more ${left === 1 ? "output is" : "outputs are"} not shown]`)];
  const cut = cell.sourceCutChars ?? 0;
  const sourceNote =
    cut === 0
      ? []
      : [
          text(
            `[PARTIAL view, cell ${cell.index + 1} alone is over the budget: the last ${cut} characters of its source are left out, find lines of it by searching the file]`,
          ),
        ];
  return [text(`${head}\n${cell.source}`), ...sourceNote, ...cell.outputs.flatMap(outputParts), ...more];
}

function outputParts(output: NotebookOutput): readonly ReplyPart[] {
  switch (output.type) {
    case "text":
      return [text(`[${output.name}]\n${output.text}${cutNote(output.cutChars)}`)];
    case "error":
      return [text(`[error ${output.name}: ${output.message}]\n${output.text}${cutNote(output.cutChars)}`)];
    case "image":
      return imageParts(output);
    case "no image":
      return [text(`[picture of type ${output.mime}, not shown: ${noImageWords(output)}]`)];
    case "other":
      return [text(`[output of type ${output.mimes.join(", ")}, ${output.bytes} bytes, not shown]`)];
  }
}

function noImageWords(image: NoImage): string {
  switch (image.why) {
    case "damaged":
      return `it is damaged (${escapeName(image.detail)})`;
    case "too large":
      return `it is over the limit (${image.limit})`;
    case "no codec":
      return `it needs a package that is not installed, ask the user to run npm install ${image.install}`;
    case "budget":
      return `it has about ${Math.round(image.tokens)} tokens, more than this cell leaves of the budget of ${image.tokensMax}`;
  }
}

const cutNote = (chars: number): string =>
  chars === 0
    ? ""
    : `\n[${chars} characters of this output are left out, read the file as text in another dialect to see them]`;

const text = (words: string): ReplyPart => ({ type: "text", text: words });

function joined(parts: readonly ReplyPart[], separator: string): readonly ReplyPart[] {
  const result: ReplyPart[] = [];
  for (const part of parts) {
    const last = result[result.length - 1];
    if (part.type === "text" && last?.type === "text")
      result[result.length - 1] = text(last.text + separator + part.text);
    else result.push(part);
  }
  return result;
}

/** The text of a reply; pictures become their type. */
export const textOfParts = (parts: readonly ReplyPart[]): string =>
  parts.map((part) => (part.type === "text" ? part.text : `[${part.mimeType}]`)).join("\n\n");

// Numbered lines. Pages are cached between calls, and a rendered text is cached with its page.

/**
 * The numbered lines between the dialect's own `before` and `after`, built as one text because adding them later would copy all
 * lines. `style` is a constant of its dialect and the cache key.
 */
export const numberedLines = (page: Page, style: NumberStyle | undefined, before: string, after: string): string => {
  if (page.count === 0) return before + after;
  if (style === undefined) return before + joinedLines(page) + after;
  return kept(page, style, before, after, () =>
    numberLines(joinedLines(page), page.from, style, page.ascii, before, after),
  );
};

export const joinedLines = (page: Page): string =>
  page.joined ?? kept(page, joinedLines, "", "", () => page.lines.join("\n"));

/**
 * Cached in the page and not in a WeakMap: entries of a WeakMap outlive the page by many garbage collections, each of which copies
 * these texts.
 */
function kept(page: Page, as: object, before: string, after: string, make: () => string): string {
  const known = page.forms.get(as);
  if (known !== undefined && known.before === before && known.after === after) return known.text;
  const text = make();
  page.forms.set(as, { before, after, text });
  return text;
}

/** The column, counted from 1, from which on a call shows the rest of a cut line. */
export const restOfCutLine = ({ from, column = 1 }: Page, { line, charsShown }: CutLine): number =>
  (line === from ? column : 1) + charsShown;

/** At most `linesMax` lines; does not split the whole page for them. */
export function firstLinesOfPage(page: Page, linesMax: number): readonly string[] {
  const { joined } = page;
  if (joined === undefined || page.count <= linesMax) return page.lines.slice(0, linesMax);
  let end = -1;
  for (let line = 0; line < linesMax; line += 1) end = joined.indexOf("\n", end + 1);
  return joined.slice(0, end).split("\n");
}

// Notices below a page of text.

/**
 * Each notice is a line without a number, after a line that has one unless the host wants none: so no file can fake one. `ends`:
 * what is said of a page that ends where the call wanted it to; `short` if the numbers tell the rest. `outlineTool`: its name, if
 * the notices may name it.
 */
export function pageNotices(
  outcome: TextOutcome,
  page: Page,
  { ends, outlineTool }: { readonly ends: "short" | "long"; readonly outlineTool?: string },
): readonly string[] {
  const notes: string[] = [];
  const last = page.from + page.count - 1;
  // The total is unknown for a page from the end, but only an empty file has no last line.
  const isEmpty = page.linesTotal === 0 || (page.linesTotal === undefined && page.count === 0);
  if (isEmpty) notes.push("[The file exists and is empty]");
  if (page.next !== undefined) {
    const why = page.stopped === "answer" ? "this is all that one answer holds" : "the file is over the budget";
    const partial = page.stopped === "lines" ? "" : `PARTIAL view, ${why}: `;
    const parts = outcome.hasOutline && outlineTool !== undefined ? ` or list its parts with ${outlineTool}` : "";
    const total = page.linesTotal === undefined ? "" : ` of ${page.linesTotal}`;
    notes.push(
      ends === "short" && page.stopped === "lines" && page.linesTotal !== undefined
        ? `[${page.linesTotal} lines]`
        : `[${partial}lines ${page.from} to ${last}${total}, go on with offset ${page.next}${parts}]`,
    );
  }
  if (page.column !== undefined && page.cut.length === 0) {
    notes.push(`[Line ${page.from} is shown from character ${page.column} to its end]`);
  }
  for (const cut of page.cut.slice(0, 5)) {
    const { line, charsShown, by } = cut;
    const rest = restOfCutLine(page, cut);
    const what =
      page.column !== undefined
        ? `Line ${line} is shown from character ${page.column} to ${rest - 1}`
        : by === "tokens"
          ? `PARTIAL view, line ${line} alone is over the budget: its first ${charsShown} characters are shown`
          : `Line ${line} is cut after ${charsShown} characters`;
    notes.push(`[${what}, see the rest with column ${rest} and offset ${line}]`);
  }
  if (page.cut.length > 5) notes.push(`[${page.cut.length - 5} more lines are cut]`);
  if (outcome.converted !== undefined) {
    notes.push(
      `[Converted from ${outcome.converted.from}${outcome.converted.notes.map((note) => `; ${note}`).join("")}]`,
    );
  }
  if (outcome.encoding !== "utf-8") notes.push(`[Decoded from ${outcome.encoding}]`);
  if (outcome.lossy) notes.push("[Some bytes could not be decoded and are shown as U+FFFD]");
  for (const path of outcome.instructions ?? []) {
    notes.push(
      `[Instructions that hold for this file stand in ${escapeName(path)}, read them before you change anything here]`,
    );
  }
  return notes;
}
