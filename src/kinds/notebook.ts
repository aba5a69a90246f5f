/**
 * A notebook's cells within the budget of tokens. Its pictures pass the same door as files that are pictures: what does
 * not decode is not handed out, and what they cost counts. Cells are looked at one by one, until the budget is used.
 */

import { Buffer } from "node:buffer";
import { lineNumber } from "../contract/brand.ts";
import { limits } from "../contract/limits.ts";
import type { ClaimedImage, ClaimedOutput, NotebookCell, NotebookOutput } from "../contract/notebook.ts";
import { Problem } from "../contract/problem.ts";
import type { NotebookOutcome, ReadRequest, TextOutcome } from "../contract/read.ts";
import { parseNotebook } from "../text/notebook.ts";
import { estimateTokens, fittingStart } from "../text/tokens.ts";
import type { MediaFile } from "./read-media.ts";
import { readText } from "./text.ts";
import type { Scanning } from "./text-file.ts";

export async function readNotebook(
  bytes: Buffer,
  { target, asText }: MediaFile,
  request: ReadRequest,
  tokensMax: number,
  scanning: Scanning,
): Promise<NotebookOutcome | TextOutcome> {
  const parsed = parseNotebook(bytes.toString("utf8"), {
    outputCharsMax: limits.notebookOutputCharsMax,
    outputsMax: limits.notebookOutputsMax,
    cellsMax: limits.notebookCellsMax,
  });
  const [range] = request.ranges;
  if ("fault" in parsed) {
    const empty = parsed.fault === "empty";
    // Who names lines after that wants the text, and needs it to repair it.
    if (!empty && ("last" in range || range.from > 1 || Number.isFinite(range.linesMax))) {
      return readText(await asText(), request, scanning);
    }
    const detail =
      parsed.fault === "not json"
        ? `not JSON from line ${parsed.line}, column ${parsed.column} on`
        : empty
          ? "empty"
          : parsed.detail;
    throw new Problem({ code: "DAMAGED", place: target, kind: "notebook", detail, empty });
  }
  const total = parsed.cellsTotal;
  const from = "last" in range ? Math.max(1, total - range.last + 1) : range.from;
  const limit = "last" in range ? range.last : range.linesMax;
  if (from > Math.max(1, total)) {
    throw new Problem({ code: "INVALID_PARAM", reason: "range", place: target, of: "cells", from, total });
  }
  const asked = parsed.cells.slice(from - 1, from - 1 + limit);
  const { cells, tokens } = await cellsWithin(asked, tokensMax, scanning.signal);
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
  };
}

/** The first cells that fit, at least one; and what they and the first that does not fit would cost. */
async function cellsWithin(
  asked: readonly NotebookCell<ClaimedOutput>[],
  tokensMax: number,
  signal: AbortSignal,
): Promise<{ readonly cells: readonly NotebookCell[]; readonly tokens: number }> {
  const cells: NotebookCell[] = [];
  let tokens = 0;
  for (const cell of asked) {
    const text = textTokens(cell);
    const isFirst = cells.length === 0;
    if (!isFirst && tokens + text > tokensMax) return { cells, tokens: tokens + text };
    const looked = await withImages(cell, tokensMax, signal);
    tokens += text + looked.imageTokens;
    if (tokens > tokensMax && !isFirst) return { cells, tokens };
    cells.push(tokens > tokensMax ? cutCell(looked.cell, looked.tokensOf, tokensMax) : looked.cell);
  }
  return { cells, tokens };
}

/** Without its pictures. */
const textTokens = ({ source, outputs }: NotebookCell<ClaimedOutput>): number =>
  outputs.reduce((sum, output) => sum + outputTokens(output), estimateTokens(source));

function outputTokens(output: ClaimedOutput | NotebookOutput): number {
  return "text" in output ? estimateTokens(output.text) : 0;
}

/** One picture may take this part of the budget: a cell of plots should not end at its first. */
const imageShare = 1 / 4;

interface Looked {
  readonly cell: NotebookCell;
  readonly imageTokens: number;
  readonly tokensOf: ReadonlyMap<NotebookOutput, number>;
}

async function withImages(cell: NotebookCell<ClaimedOutput>, tokensMax: number, signal: AbortSignal): Promise<Looked> {
  const outputs: NotebookOutput[] = [];
  const tokensOf = new Map<NotebookOutput, number>();
  let imageTokens = 0;
  for (const output of cell.outputs) {
    if (output.type !== "image") {
      outputs.push(output);
      continue;
    }
    const { shown, tokens } = await lookAt(output, tokensMax * imageShare, signal);
    tokensOf.set(shown, tokens);
    imageTokens += tokens;
    outputs.push(shown);
  }
  return { cell: { ...cell, outputs }, imageTokens, tokensOf };
}

async function lookAt(
  claimed: ClaimedImage,
  tokensMax: number,
  signal: AbortSignal,
): Promise<{ readonly shown: NotebookOutput; readonly tokens: number }> {
  const no = { type: "no image", mime: claimed.mime } as const;
  const sizeBytes = Math.floor((claimed.base64.length * 3) / 4);
  if (sizeBytes > limits.imageBytesMax) {
    const limit = `${sizeBytes} bytes of at most ${limits.imageBytesMax}`;
    return { shown: { ...no, why: "too large", limit }, tokens: 0 };
  }
  const { imageBudget, readImage } = await import("./image.ts");
  const result = await readImage(Buffer.from(claimed.base64, "base64"), imageBudget(tokensMax), signal);
  switch (result.kind) {
    case "image": {
      const { mime, base64, originalMime, original, display, frames, tokens } = result;
      return { shown: { type: "image", mime, base64, originalMime, original, display, frames }, tokens };
    }
    case "damaged":
      return { shown: { ...no, why: "damaged", detail: result.detail }, tokens: 0 };
    case "too large": {
      const limit = `${result.width}x${result.height} pixels of at most ${result.pixelsMax}`;
      return { shown: { ...no, why: "too large", limit }, tokens: 0 };
    }
    case "no codec":
      return { shown: { ...no, why: "no codec", install: result.install }, tokens: 0 };
  }
}

/** There is no smaller page than one cell: of one that is over the budget by itself, as much as fits, and a word on the rest. */
function cutCell(cell: NotebookCell, tokensOf: Looked["tokensOf"], tokensMax: number): NotebookCell {
  const source = fittingStart(cell.source, tokensMax);
  let left = tokensMax - estimateTokens(source);
  const outputs: NotebookOutput[] = [];
  let outputsLeftOut = cell.outputsLeftOut;
  for (const output of cell.outputs) {
    const tokens = tokensOf.get(output) ?? outputTokens(output);
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
