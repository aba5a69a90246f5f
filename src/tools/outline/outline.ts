/** Outline: locate, permit, open, decode, parse. What a file declares and on which lines, without its text. */

import { limits } from "../../contract/limits.ts";
import type { CodeSymbol } from "../../contract/lsp.ts";
import type { OutlineOutcome, OutlineRequest } from "../../contract/outline.ts";
import { Problem } from "../../contract/problem.ts";
import type { Profile } from "../../contract/profile.ts";
import type { Target } from "../../contract/target.ts";
import { FileTruncated, giveBuffer, type OpenFile, ReadFailed, takeBuffer } from "../../disk/disk.ts";
import { refusal } from "../../guard/guard.ts";
import { beginningOf, type OutlineLanguage, outlineLanguageOf, outlineOf, type TextFile } from "../../kinds/kinds.ts";
import { chooseItems, type WholeItem } from "../../text/text.ts";
import { sourceOf } from "../languages.ts";
import { locatePermitted } from "../locate.ts";
import { fingerprintOf, asTextFile } from "../fingerprint.ts";
import type { ToolContext, Tool } from "../tool.ts";

export const outline: Tool<"outline"> = async (request, context) => {
  for (let tries = 1; ; tries += 1) {
    const { node, target } = await locatePermitted(request.path, "file", context);
    using _handle = node.handle;
    try {
      if (node.kind === "directory") throw new Problem({ code: "IS_DIRECTORY", place: target });
      if (node.kind !== "file") throw new Problem({ code: "SPECIAL_FILE", place: target, special: node.kind });
      const opened = context.disk.open(node);
      if ("errno" in opened) throw refusal(target, opened.errno, "opening it");
      using file = opened;
      return await outlineOfFile(file, target, request, context);
    } catch (error) {
      if (error instanceof ReadFailed) throw refusal(target, error.errno, "reading it");
      // The file was truncated or rewritten meanwhile: start over.
      if (!(error instanceof FileTruncated)) throw error;
      if (tries >= limits.lookupTriesMax) throw new Problem({ code: "CHANGED", place: target });
    }
  }
};

async function outlineOfFile(
  file: OpenFile,
  target: Target,
  request: OutlineRequest,
  context: ToolContext,
): Promise<OutlineOutcome> {
  const scratch = takeBuffer();
  try {
    const encoding = await context.ledger.encodingOf(target.real, fingerprintOf(file));
    const text = await asTextFile(file, target, request.profile, scratch, context, encoding);
    const outcome = await outlineOfText(text, request.depth ?? limits.outlineDepthMax, "asked", context);
    if (file.changed() === "rewritten") throw new FileTruncated();
    return outcome;
  } finally {
    giveBuffer(scratch);
  }
}

interface Declared extends Pick<OutlineOutcome, "language" | "by" | "total" | "faultLine"> {
  readonly items: readonly WholeItem[];
  readonly chars: number;
}

/** Throws NO_OUTLINE, with the reason, if there is none. */
async function outlineOfText(
  file: TextFile,
  depth: number,
  why: OutlineOutcome["why"],
  context: ToolContext,
): Promise<OutlineOutcome> {
  const { target } = file;
  const { sizeBytes, mtimeMs } = file.file;
  const scanning = { store: context.indexes, signal: context.signal, onProgress: context.onProgress };
  const { text, whole, linesTotal, encoding, lossy } = await beginningOf(file, limits.outlineBytesMax, scanning);
  const { items, language, by, total, faultLine, chars } = await declaredIn(text, target, why, context);
  const all = whole && chars === text.length;
  return {
    kind: "outline",
    target,
    why,
    language,
    by,
    ...chooseItems(items, depth, limits.outlineItemsMax),
    total,
    counted: all ? "all" : "at least",
    linesTotal,
    linesRead: all ? undefined : linesIn(text.slice(0, chars)),
    // In a truncated text the grammar reports a fault in lines that are correct.
    faultLine: all ? faultLine : undefined,
    sizeBytes,
    mtimeMs,
    encoding,
    lossy,
  };
}

/** By the grammar, which answers at once and always the same; else, if the call asks for an outline, by a language server. */
async function declaredIn(
  text: string,
  target: Target,
  why: OutlineOutcome["why"],
  context: ToolContext,
): Promise<Declared> {
  const language = outlineLanguageOf(target.real, firstLineOf(text));
  const use = why === "asked" ? "asked" : "instead";
  const parse = (part: string) => (language === undefined ? undefined : outlineOf(part, language, context.signal, use));
  let part = text;
  let found = await parse(part);
  // For a call that asks for an outline, one of the beginning is better than none; a Read has the page.
  if (found?.is === "failed" && why === "asked" && text.length > limits.outlineAgainCharsMax) {
    part = text.slice(0, text.lastIndexOf("\n", limits.outlineAgainCharsMax) + 1);
    found = part === "" ? found : await parse(part);
  }
  if (language !== undefined && found?.is === "outline") {
    const items = found.items.map(([name, kind, from, to, depth, hidden = 0]) => ({
      name,
      kind,
      from,
      to,
      depth,
      hidden,
    }));
    const { total, faultLine } = found;
    return { items, language, by: "grammar", total, faultLine, chars: part.length };
  }
  const served = why === "asked" ? await outlineServed(target, context) : undefined;
  if (served !== undefined) {
    const { items, server } = served;
    return {
      items,
      language: server,
      by: "language server",
      total: items.length,
      faultLine: undefined,
      chars: text.length,
    };
  }
  if (found === undefined || found.is === "outline") {
    throw new Problem({ code: "NO_OUTLINE", place: target, reason: "language" });
  }
  if (found.is === "failed") throw new Problem({ code: "NO_OUTLINE", place: target, reason: found.why });
  throw new Problem({ code: "NO_OUTLINE", place: target, reason: "not installed", install: found.install });
}

interface Served {
  readonly server: string;
  readonly items: readonly WholeItem[];
}

/** The outline by a language server, for languages without a grammar; undefined if no server answers. */
async function outlineServed(target: Target, context: ToolContext): Promise<Served | undefined> {
  const languages = await context.languages?.();
  if (languages?.serves(target.real) !== true) return undefined;
  const source = await sourceOf(target.real, context);
  if (source === undefined) return undefined;
  const answer = await languages.documentSymbols(source, { signal: context.signal });
  context.signal.throwIfAborted();
  if (answer.answer !== "given") return undefined;
  return { server: answer.server, items: flat(answer.value, 0) };
}

const flat = (symbols: readonly CodeSymbol[], depth: number): readonly WholeItem[] =>
  symbols.flatMap(({ name, kind, range, children }) => {
    const from = range.start.line;
    // A range that ends at the beginning of a line does not include that line.
    const to = range.end.column === 1 && range.end.line > from ? range.end.line - 1 : range.end.line;
    return [{ name: name.slice(0, limits.outlineNameCharsMax), kind, from, to, depth }, ...flat(children, depth + 1)];
  });

/**
 * The outline that replaces the first page of a long code file; undefined if the page is better: there is no outline, the file
 * declares nothing, or all declarations are on one line, so that the outline would not say which lines to read.
 */
export async function outlineInstead(
  file: OpenFile,
  target: Target,
  profile: Profile,
  context: ToolContext,
): Promise<OutlineOutcome | undefined> {
  if (quickLanguage(target) === undefined && !mayHaveInterpreter(target)) return undefined;
  const scratch = takeBuffer();
  try {
    const encoding = await context.ledger.encodingOf(target.real, fingerprintOf(file));
    const text = await asTextFile(file, target, profile, scratch, context, encoding);
    const outcome = await outlineOfText(text, limits.outlineDepthMax, "over budget", context);
    return outcome.items.some(({ from }) => from !== outcome.items[0]?.from) ? outcome : undefined;
  } catch (error) {
    if (error instanceof Problem) return undefined;
    throw error;
  } finally {
    giveBuffer(scratch);
  }
}

export const hasOutline = (target: Target): boolean => quickLanguage(target) !== undefined;

const quickLanguage = (target: Target): OutlineLanguage | undefined => outlineLanguageOf(target.real, "");

/** A script without an extension names its language in its first line. */
const mayHaveInterpreter = (target: Target): boolean => !/\.[^/\\]*$/.test(target.real);

const firstLineOf = (text: string): string => text.slice(0, 200).split("\n", 1)[0] ?? "";

function linesIn(text: string): number {
  let lines = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines += 1;
  return text === "" || text.endsWith("\n") ? lines : lines + 1;
}
