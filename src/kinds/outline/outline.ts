/**
 * Finds the declarations of a text: with the grammar of its language, in a worker with limits of time and memory; or with a
 * scanner of our own, in time slices.
 */

import { limits } from "../../contract/limits.ts";
import type { EncodingName } from "../../contract/read.ts";
import { runInSlices } from "../../disk/disk.ts";
import { ItemCollector } from "../../text/text.ts";
import { type Scanning, startReading, type TextFile } from "../text-file.ts";
import { lastNewline } from "../text.ts";
import { hasFailed, runInWorker, packageFiles } from "../worker/host.ts";
import { grammars, isScanned, type OutlineLanguage, type ScannedLanguage, scanners } from "./languages.ts";
import type { OutlineItems } from "./worker.ts";

export type OutlineResult =
  /** `total` also counts the items after the last one that was sent. */
  | ({ readonly is: "outline" } & OutlineItems)
  | { readonly is: "failed"; readonly why: "time" | "memory" | "crash" }
  | { readonly is: "not installed"; readonly install: string };

const parserName = "web-tree-sitter";
const grammarsName = "@vscode/tree-sitter-wasm";

export async function outlineOf(
  text: string,
  language: OutlineLanguage,
  signal: AbortSignal,
  /** What needs it: a call for an outline, or a Read that shows an outline instead of a page and must not be slow. */
  use: "asked" | "instead" = "asked",
): Promise<OutlineResult> {
  signal.throwIfAborted();
  if (isScanned(language)) return scanned(text, language, signal);
  const grammar = grammars[language];
  const files = packageFiles({
    library: parserName,
    wasm: `${parserName}/web-tree-sitter.wasm`,
    grammarWasm: `${grammarsName}/wasm/tree-sitter-${grammar.wasm}.wasm`,
  });
  if (files === undefined) return { is: "not installed", install: `${parserName} ${grammarsName}` };
  const { outlineItemsFoundMax: itemsMax, outlineNameCharsMax: nameCharsMax } = limits;
  const isAsked = use === "asked";
  const charsPerCpuMs = limits.outlineCharsPerCpuMs * (isAsked ? 1 : 2);
  const found = await runInWorker(
    "outline",
    { ...files, grammar, text, itemsMax, nameCharsMax },
    {
      signal,
      msMax: Math.max(limits.outlineCpuMsMin, text.length / charsPerCpuMs),
      wallMsMax: isAsked ? limits.outlineMsMax : limits.outlineInsteadMsMax,
      megabytesMax: limits.outlineMegabytesMax,
    },
  );
  return hasFailed(found) ? { is: "failed", why: found.failed } : { is: "outline", ...found };
}

async function scanned(text: string, language: ScannedLanguage, signal: AbortSignal): Promise<OutlineResult> {
  const items = new ItemCollector({
    itemsMax: limits.outlineItemsFoundMax,
    depthMax: limits.outlineDepthMax,
    nameCharsMax: limits.outlineNameCharsMax,
  });
  const faultLine = await runInSlices(scanners[language](text, items), signal);
  const found = items.items.map(
    ({ name, kind, from, to, depth, hidden }) => [name, kind, from, to, depth, hidden] as const,
  );
  return { is: "outline", items: found, total: items.total, faultLine };
}

// The beginning of a text file, decoded: whole lines, up to the limit of the parser.

export interface Beginning {
  readonly text: string;
  readonly whole: boolean;
  readonly linesTotal: number;
  readonly encoding: EncodingName;
  readonly lossy: boolean;
}

export async function beginningOf(file: TextFile, bytesMax: number, scanning: Scanning): Promise<Beginning> {
  const { source, newline, decoder, firstByte } = await startReading(file, scanning);
  const bytes = await source.bytes(firstByte, Math.max(0, Math.min(source.sizeBytes - firstByte, bytesMax)));
  const whole = firstByte + bytes.length >= source.sizeBytes;
  const to = whole ? bytes.length : lastNewline(bytes, newline);
  const isCut = to === 0 && !whole;
  const text = isCut ? await decoder.beginning(bytes) : (await decoder.text(bytes.subarray(0, to))).text;
  const { count, last } = await source.newlines();
  const linesTotal = count + (last || source.sizeBytes === firstByte ? 0 : 1);
  return { text, whole, linesTotal, encoding: decoder.encoding, lossy: decoder.lossy };
}
