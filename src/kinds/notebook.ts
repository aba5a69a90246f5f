/** Reads a notebook's cells one by one within the token budget. Its images take the same path as image files. */
import { Buffer } from "node:buffer";
import { lineNumber, type Target } from "../contract/target.ts";
import { limits } from "../contract/limits.ts";
import type { ClaimedImage, ClaimedOutput, NotebookCell, NotebookOutput } from "../contract/notebook.ts";
import { Problem } from "../contract/problem.ts";
import type { NotebookOutcome, ReadRequest, TextOutcome } from "../contract/read.ts";
import {
  type CellEdit,
  type CellEdited,
  editCell,
  estimateTokens,
  fittingStart,
  type Notebook,
  type NotebookFault,
  parseNotebook,
} from "../text/text.ts";
import { hasFailed, runInWorker, type TaskFailed } from "./worker/host.ts";
import { lazily } from "../disk/disk.ts";

const images = lazily(() => import("./image/image.ts"));
const imageSizes = lazily(() => import("./image/size.ts"));

export interface NotebookFile {
  readonly bytes: Buffer;
  readonly target: Target;
  /** Reads the same file as lines. A callback, so that this module does not load the text reader. */
  readonly readAsText: () => Promise<TextOutcome>;
}

export async function readNotebook(
  { bytes, target, readAsText }: NotebookFile,
  request: ReadRequest,
  tokensMax: number,
  signal: AbortSignal,
): Promise<NotebookOutcome | TextOutcome> {
  const parsed = await parsedCells(bytes, target, signal);
  const [range] = request.ranges;
  if ("fault" in parsed) {
    const empty = parsed.fault === "empty";
    // A caller who then asks for lines wants the text, in order to repair it.
    if (!empty && ("last" in range || range.from > 1 || Number.isFinite(range.linesMax))) {
      return readAsText();
    }
    const detail =
      parsed.fault === "not json"
        ? `not JSON from line ${parsed.line}, column ${parsed.column} on`
        : empty
          ? "empty"
          : parsed.detail;
    throw new Problem({ code: "DAMAGED", place: target, kind: "notebook", detail, empty });
  }
  const total = parsed.cells.length;
  const from = "last" in range ? Math.max(1, total - range.last + 1) : range.from;
  const limit = "last" in range ? range.last : range.linesMax;
  if (from > Math.max(1, total)) {
    throw new Problem({ code: "INVALID_PARAM", reason: "range", place: target, of: "cells", from, total });
  }
  const asked = parsed.cells.slice(from - 1, from - 1 + limit);
  const { cells, tokens, isCut } = await cellsWithin(asked, tokensMax, signal);
  if (Number.isFinite(limit) && cells.length < asked.length) {
    const rest = asked.slice(cells.length + 1);
    throw new Problem({
      code: "OVER_BUDGET",
      place: target,
      tokens: rest.reduce((sum, cell) => sum + textTokens(cell), tokens),
      counted: rest.some(({ outputs }) => outputs.some(({ type }) => type === "image")) ? "at least" : "all",
      tokensMax,
      of: "cells",
      from,
      lines: asked.length,
      linesThatFit: cells.length,
    });
  }
  const next = from + cells.length;
  return {
    kind: "notebook",
    target,
    sizeBytes: bytes.length,
    language: parsed.language,
    cells,
    from: lineNumber(from),
    cellsTotal: total,
    next: next <= total ? lineNumber(next) : undefined,
    overBudget: isCut || cells.length < asked.length,
  };
}

export async function hasCells(bytes: Buffer, target: Target, signal: AbortSignal): Promise<boolean> {
  const parsed = await parsedCells(bytes, target, signal);
  return !("fault" in parsed) || parsed.fault === "empty";
}

export async function editedCell(
  text: string,
  edit: CellEdit,
  target: Target,
  signal: AbortSignal,
): Promise<CellEdited> {
  if (text.length <= parsedHereMax) return editCell(text, edit);
  const edited = await runInWorker("notebookEdit", { text, edit }, { signal, msMax: limits.notebookMsMax });
  if (hasFailed(edited)) throw failedProblem(edited, target);
  return edited;
}

/** Bytes or characters up to which parsing takes less time than sending it to a worker. */
const parsedHereMax = 65_536;

async function parsedCells(bytes: Buffer, target: Target, signal: AbortSignal): Promise<Notebook | NotebookFault> {
  const { notebookOutputCharsMax: outputCharsMax, notebookOutputsMax: outputsMax, notebookCellsMax: cellsMax } = limits;
  const within = { outputCharsMax, outputsMax, cellsMax };
  if (bytes.length <= parsedHereMax) return parseNotebook(bytes.toString("utf8"), within);
  const parsed = await runInWorker("notebook", { bytes, limits: within }, { signal, msMax: limits.notebookMsMax });
  if (hasFailed(parsed)) throw failedProblem(parsed, target);
  return parsed;
}

function failedProblem({ failed }: TaskFailed, place: Target): Problem {
  if (failed === "crash") {
    return new Problem({ code: "DAMAGED", place, kind: "notebook", detail: "its parser failed", empty: false });
  }
  const seconds = limits.notebookMsMax / 1_000;
  const limit = failed === "time" ? `${seconds} seconds` : `${limits.notebookMegabytesMax} MB of memory`;
  return new Problem({ code: "TOO_LARGE", place, kind: "notebook", limit });
}

/** The first cells that fit, at least one, which may be cut; `tokens` includes the first cell that does not fit. */
async function cellsWithin(
  asked: readonly NotebookCell<ClaimedOutput>[],
  tokensMax: number,
  signal: AbortSignal,
): Promise<{ readonly cells: readonly NotebookCell[]; readonly tokens: number; readonly isCut: boolean }> {
  const cells: NotebookCell[] = [];
  const readClaimed = createImageReader(tokensMax * imageShare, signal);
  let tokens = 0;
  let isCut = false;
  for (const cell of asked) {
    const text = textTokens(cell);
    const isFirst = cells.length === 0;
    if (!isFirst && tokens + text > tokensMax) return { cells, tokens: tokens + text, isCut };
    const read = await withImages(cell, readClaimed);
    tokens += text + read.imageTokens;
    if (tokens > tokensMax && !isFirst) return { cells, tokens, isCut };
    isCut = tokens > tokensMax;
    cells.push(isCut ? cutCell(read.cell, read.tokensOf, tokensMax) : read.cell);
  }
  return { cells, tokens, isCut };
}

const textTokens = ({ source, outputs, id }: NotebookCell<ClaimedOutput>): number =>
  outputs.reduce((sum, output) => sum + outputTokens(output), headTokens + estimateTokens(id) + estimateTokens(source));

/** Tokens of the line above a cell and above an output: an empty cell is not free. */
const headTokens = 20;
const outputHeadTokens = 6;

function outputTokens(output: ClaimedOutput | NotebookOutput): number {
  switch (output.type) {
    case "text":
      return outputHeadTokens + estimateTokens(output.text);
    case "error":
      return (
        outputHeadTokens + estimateTokens(output.name) + estimateTokens(output.message) + estimateTokens(output.text)
      );
    case "other":
      return outputHeadTokens + estimateTokens(output.mimes.join());
    case "image":
    case "no image":
      return outputHeadTokens;
  }
}

/** The share of the budget for one image: a cell of plots should not end at its first. */
const imageShare = 1 / 4;

interface CellWithImages {
  readonly cell: NotebookCell;
  readonly imageTokens: number;
  readonly tokensOf: ReadonlyMap<NotebookOutput, number>;
}

async function withImages(cell: NotebookCell<ClaimedOutput>, readClaimed: ImageReader): Promise<CellWithImages> {
  const outputs: NotebookOutput[] = [];
  const tokensOf = new Map<NotebookOutput, number>();
  let imageTokens = 0;
  for (const output of cell.outputs) {
    if (output.type !== "image") {
      outputs.push(output);
      continue;
    }
    const { shown, tokens } = await readClaimed(output);
    tokensOf.set(shown, tokens);
    imageTokens += tokens;
    outputs.push(shown);
  }
  return { cell: { ...cell, outputs }, imageTokens, tokensOf };
}

type ImageReader = (claimed: ClaimedImage) => Promise<{ readonly shown: NotebookOutput; readonly tokens: number }>;

/** Bounds the pixels of one answer: an image of few bytes, or a damaged one, can take as long as the largest. */
function createImageReader(tokensMax: number, signal: AbortSignal): ImageReader {
  let pixelsLeft: number = limits.notebookPixelsMax;
  return async (claimed) => {
    const no = { type: "no image", mime: claimed.mime } as const;
    const tooLarge = (limit: string) => ({ shown: { ...no, why: "too large", limit }, tokens: 0 }) as const;
    const sizeBytes = Math.floor((claimed.base64.length * 3) / 4);
    if (sizeBytes > limits.imageBytesMax) return tooLarge(`${sizeBytes} bytes of at most ${limits.imageBytesMax}`);
    const { imageBudget, readImage } = await images();
    const { probeImage } = await imageSizes();
    const bytes = Buffer.from(claimed.base64, "base64");
    const { width, height } = probeImage(bytes) ?? { width: 0, height: 0 };
    if (width * height <= limits.imagePixelsMax) {
      if (width * height > pixelsLeft) {
        return tooLarge(`${width}x${height} pixels, more than are left of ${limits.notebookPixelsMax} for one answer`);
      }
      pixelsLeft -= width * height;
    }
    const result = await readImage(bytes, imageBudget(tokensMax), signal);
    switch (result.kind) {
      case "image": {
        const { mime, base64, originalMime, original, display, frames, tokens } = result;
        return { shown: { type: "image", mime, base64, originalMime, original, display, frames }, tokens };
      }
      case "damaged":
        return { shown: { ...no, why: "damaged", detail: result.detail }, tokens: 0 };
      case "too large":
        return tooLarge(result.limit);
      case "no codec":
        return { shown: { ...no, why: "no codec", install: result.install }, tokens: 0 };
    }
  };
}

/** A cell that alone exceeds the budget is cut, since no page is smaller than one cell. */
function cutCell(cell: NotebookCell, tokensOf: CellWithImages["tokensOf"], tokensMax: number): NotebookCell {
  const source = fittingStart(cell.source, tokensMax);
  let left = tokensMax - estimateTokens(source);
  const outputs: NotebookOutput[] = [];
  let outputsLeftOut = cell.outputsLeftOut;
  for (const output of cell.outputs) {
    const tokens = outputTokens(output) + (tokensOf.get(output) ?? 0);
    if (tokens <= left) {
      outputs.push(output);
      left -= tokens;
    } else if (output.type === "image") {
      outputs.push({ type: "no image", mime: output.originalMime, why: "budget", tokens, tokensMax });
    } else {
      outputsLeftOut += 1;
    }
  }
  const sourceCutChars = cell.source.length - source.length;
  return { ...cell, source, ...(sourceCutChars > 0 ? { sourceCutChars } : {}), outputs, outputsLeftOut };
}
