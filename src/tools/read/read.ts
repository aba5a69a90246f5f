/** Read: locate, permit, open, recognise the kind, page. No byte is read before reading is permitted. */

import * as nodePath from "node:path";
import {
  FileTruncated,
  type FolderEntry,
  giveBuffer,
  IndexWrong,
  isAtRest,
  lazily,
  type OpenFile,
  ReadFailed,
  withHandleClosed,
  takeBuffer,
} from "../../disk/disk.ts";
import { limits } from "../../contract/limits.ts";
import { type LineSpan, Problem } from "../../contract/problem.ts";
import type { Profile } from "../../contract/profile.ts";
import type {
  DirectoryOutcome,
  EncodingName,
  Page,
  ReadOutcome,
  ReadRequest,
  TextOutcome,
} from "../../contract/read.ts";
import type { LineNumber, Target } from "../../contract/target.ts";
import { refusal } from "../../guard/guard.ts";
import { readDirectory, readMedia, readText, recognise, type Recognition } from "../../kinds/kinds.ts";
import type { FileFingerprint, LinePart, ShownText, View } from "../../session/session.ts";
import { roughTokens } from "../../text/text.ts";
import { prepareServers } from "../languages.ts";
import { type Located, locatePermitted } from "../locate.ts";
import { isHashed, statKeyOf, fingerprintOf, asTextFile, viewHash } from "../fingerprint.ts";
import type { ToolContext, Tool } from "../tool.ts";

export const read: Tool<"read"> = async (request, context) => {
  const wants = request.profile.kinds.directory === "read" ? "file or folder" : "file";
  for (let tries = 1; ; tries += 1) {
    const located = await locatePermitted(request.path, wants, context);
    using _handle = located.node.handle;
    try {
      return await readLocated(located, request, context);
    } catch (error) {
      // The file was truncated or rewritten, or its line index turned out to be wrong: start over.
      if (!(error instanceof FileTruncated || error instanceof IndexWrong)) throw error;
      if (tries >= limits.lookupTriesMax) throw new Problem({ code: "CHANGED", place: located.target });
    }
  }
};

const outlining = lazily(() => import("../outline/outline.ts"));

async function readLocated(located: Located, request: ReadRequest, context: ToolContext): Promise<ReadOutcome> {
  const { node, target } = located;
  if (node.kind === "file") return readFile(located, request, context);
  if (node.kind !== "directory") throw new Problem({ code: "SPECIAL_FILE", place: target, special: node.kind });
  const [range] = request.ranges;
  if (request.profile.kinds.directory !== "read" || "last" in range) {
    throw new Problem({ code: "IS_DIRECTORY", place: target });
  }
  return listing(located, { from: range.from, entriesMax: range.linesMax }, context);
}

async function readFile(located: Located, request: ReadRequest, context: ToolContext): Promise<ReadOutcome> {
  const { node, target } = located;
  const part = JSON.stringify([request.ranges, request.pages]);
  const remembers = context.dedup ?? request.profile.repeats === "stub";

  const open = context.disk.open(node);
  if ("errno" in open) throw refusal(target, open.errno, "opening it");
  const file: OpenFile = open;
  const { identity } = file;
  const statKey = statKeyOf(identity);
  const fingerprint = fingerprintOf(file, statKey);
  using _file = file;
  try {
    const repeated = remembers ? await context.ledger.repeats(target.real, part, fingerprint) : undefined;
    if (repeated !== undefined) return { kind: "unchanged", target, tokensSaved: repeated.tokens };
    const encoding = await context.ledger.encodingOf(target.real, fingerprint);
    // Everything that shapes a page is part of its key: two sessions may have different limits.
    const key = `${statKey} ${encoding ?? ""} ${part} ${request.overBudget} ${numberOf(request.profile)}`;
    const kept = context.pages.find(key);
    const page =
      kept === undefined ? await readKind(file, target, { statKey, encoding }, request, context) : { ...kept, target };
    const instead = await outlineFor(page, file, request, context);
    const whole = instead ?? (await withOutlineKnown(page, request));
    // An answer shows one state of the file, so a file that was rewritten meanwhile is read again. A cached page is of this state.
    const changed = kept === undefined || instead !== undefined ? file.changed() : "no";
    if (changed === "rewritten") throw new FileTruncated();
    if (page.kind === "text" && kept === undefined && changed === "no" && isAtRest(identity))
      context.pages.keep(key, page);
    const outcome = context.fit(whole.kind === "text" ? withInstructions(whole, context) : whole);
    if (remembers && isWhole(outcome)) await context.ledger.shown(target.real, part, fingerprint, tokensIn(outcome));
    await recordShown(outcome, fingerprint, request.profile, context);
    if (outcome.kind === "text") prepareServers(target, context);
    return outcome;
  } catch (error) {
    if (error instanceof ReadFailed) throw refusal(target, error.errno, "reading it");
    throw error;
  }
}

async function readKind(
  file: OpenFile,
  target: Target,
  { statKey, encoding }: { readonly statKey: string; readonly encoding: EncodingName | undefined },
  request: ReadRequest,
  context: ToolContext,
): Promise<ReadOutcome> {
  const scanning = { store: context.indexes, signal: context.signal, onProgress: context.onProgress };
  const { profile } = request;
  // Profiles differ in what they take for text, image or binary.
  const key = `${statKey} ${encoding ?? ""} ${profile.nulSampleBytes} ${numberOf(profile.kinds)}`;
  const kept = {
    encoding,
    known: context.pages.recognition(key),
    keep: (recognition: Recognition) => {
      if (isAtRest(file.identity)) context.pages.keepRecognition(key, recognition);
    },
  };
  const scratch = takeBuffer();
  try {
    const recognised = await recognise(file, target, profile, context.restricted, scratch, kept);
    if (recognised.as !== "text") {
      const asText = () => asTextFile(file, target, profile, scratch, context, encoding);
      return await readMedia(recognised.as, { file, target, asText }, request, scanning);
    }
    if (request.pages !== undefined) {
      const data = { place: target, fault: "no pages", pagesTotal: 0, pagesMax: 0 } as const;
      throw new Problem({ code: "INVALID_PARAM", reason: "pages", ...data });
    }
    return await readText(recognised, request, scanning);
  } finally {
    giveBuffer(scratch);
  }
}

const instructionFiles = ["AGENTS.md", "CLAUDE.md"];

/** Names the instruction files between the root and the file, once per session. They are not read here. */
function withInstructions(outcome: TextOutcome, context: ToolContext): TextOutcome {
  if (context.offered === undefined) return outcome;
  const { target } = outcome;
  const found: string[] = [];
  for (let folder = nodePath.dirname(target.real); ; folder = nodePath.dirname(folder)) {
    for (const name of instructionFiles) {
      const path = nodePath.join(folder, name);
      if (path === target.real || context.offered.has(path)) continue;
      const lookup = withHandleClosed(context.disk.lookup(path));
      if (lookup.seen !== "node") continue;
      if (lookup.kind !== "file" || context.guard.denied("read", [path, lookup.real], "file") !== undefined) continue;
      context.offered.add(path);
      found.unshift(path);
    }
    if (folder === target.root || folder === nodePath.dirname(folder)) break;
  }
  return found.length === 0 ? outcome : { ...outcome, instructions: found };
}

/** If the operator set it, a long code file is answered with its outline instead of its first page. */
async function outlineFor(
  page: ReadOutcome,
  file: OpenFile,
  { whole, profile }: ReadRequest,
  context: ToolContext,
): Promise<ReadOutcome | undefined> {
  if (whole !== true || profile.longCode !== "outline" || page.kind !== "text") return undefined;
  if (page.pages[0].next === undefined || page.converted !== undefined) return undefined;
  return (await outlining()).outlineInstead(file, page.target, profile, context);
}

/** Says of the first page of a longer file that an outline would help. The language is looked up only then. */
async function withOutlineKnown(page: ReadOutcome, { whole, profile }: ReadRequest): Promise<ReadOutcome> {
  if (whole !== true || profile.outlineTool !== true || page.kind !== "text") return page;
  if (page.pages[0].next === undefined || page.converted !== undefined) return page;
  return (await outlining()).hasOutline(page.target) ? { ...page, hasOutline: true } : page;
}

/** What the ledger records as shown may be changed from now on. */
async function recordShown(
  outcome: ReadOutcome,
  fingerprint: FileFingerprint,
  profile: Profile,
  { ledger }: ToolContext,
): Promise<void> {
  if (outcome.kind === "notebook") {
    // A truncated cell does not count as shown.
    const shown = outcome.cells.flatMap(({ sourceCutChars }, index) => {
      const number = outcome.from + index;
      return sourceCutChars === undefined ? [{ from: number, to: number }] : [];
    });
    return ledger.saw(
      outcome.target.real,
      fingerprint,
      outcome.from === 1 && isWhole(outcome) ? "all" : { cells: shown },
    );
  }
  if (outcome.kind !== "text" || outcome.converted !== undefined) return;
  const { real } = outcome.target;
  const pages = outcome.pages.filter((page) => page.from > 0);
  const isNews = pages.some((page) => !ledger.knows(real, fingerprint.statKey, spanOf(page)));
  if (!isNews) return;
  const views = pages.filter(({ count }) => count > 0).map((page) => viewOf(page, fingerprint));
  const parts = pages.flatMap(partsOf);
  const cut = parts.map(({ line }) => ({ from: line, to: line }));
  const texts = isHashed(fingerprint) ? pages.flatMap((page) => textsOf(page, profile)) : [];
  await ledger.saw(real, fingerprint, { views, cut, parts, linesTotal: pages[0]?.linesTotal, texts });
}

/** The lines themselves; truncated ones are like no line of the file. */
function textsOf(page: Page, { lines }: Profile): readonly ShownText[] {
  if (page.count === 0 || page.column !== undefined) return [];
  const { from, linesTotal: total } = page;
  const text = page.joined ?? page.lines.join("\n");
  if (lines !== "split" || total === undefined) return [{ from, text, total }];
  // Where a final newline begins one more line, that line is not part of the file's content.
  if (page.stopped !== "end") return [{ from, text }];
  if (text.endsWith("\n")) return [{ from, text: text.slice(0, -1), total: total - 1 }];
  return text === "" ? [] : [{ from, text, total }];
}

/** The columns that were shown of truncated lines. `page.lines` is read only where it is needed: the getter splits the page. */
function partsOf(page: Page): readonly LinePart[] {
  const { from, column = 1, count, cut } = page;
  if (column > 1) {
    if (count === 0) return [];
    const [rest] = cut;
    const chars = rest?.charsShown ?? page.lines[0]?.length ?? 0;
    return [{ line: from, from: column, to: column + chars - 1, ...(rest === undefined && { ends: true }) }];
  }
  return cut.map(({ line, charsShown }) => ({ line, from: 1, to: charsShown }));
}

/** No hash for a part of a line: a later read of the whole line would give another one. */
const viewOf = (page: Page, fingerprint: FileFingerprint): View =>
  isHashed(fingerprint) || page.column !== undefined ? { ...spanOf(page), hash: undefined } : new LaterView(page);

/**
 * Lines that were shown of a file that is too large to be hashed whole. Their hash is computed after the answer, or on first
 * access. A class, because V8 gives each object literal with a getter a shape of its own, which stays in memory.
 */
class LaterView implements View {
  readonly from: number;
  readonly to: number;
  #page: Page | undefined;
  #hash: string | undefined;

  constructor(page: Page) {
    this.from = page.from;
    this.to = page.from + page.count - 1;
    this.#page = page;
    setImmediate(() => this.hash);
  }

  get hash(): string | undefined {
    if (this.#page !== undefined) this.#hash = viewHash(this.#page);
    this.#page = undefined;
    return this.#hash;
  }
}

const numbers = new WeakMap<object, number>();
const numbersByContent = new Map<string, number>();

/** A number for the content of a profile, so that keys are short. The object MUST NOT change. */
function numberOf(value: object): number {
  const known = numbers.get(value);
  if (known !== undefined) return known;
  const json = JSON.stringify(value);
  const number = numbersByContent.get(json) ?? numbersByContent.size;
  numbersByContent.set(json, number);
  numbers.set(value, number);
  return number;
}

const spanOf = (page: Page): LineSpan => ({ from: page.from, to: page.from + page.count - 1 });

/** False for an outcome that was cut short: the session has not seen all that it asked for. */
function isWhole(outcome: ReadOutcome): boolean {
  if (outcome.kind === "outline") return false;
  if (outcome.kind === "notebook") {
    return outcome.next === undefined && outcome.cells.every(({ sourceCutChars }) => sourceCutChars === undefined);
  }
  if (outcome.kind !== "text") return true;
  return outcome.pages.every((page) => (page.stopped === "end" || page.stopped === "lines") && page.cut.length === 0);
}

function tokensIn(outcome: ReadOutcome): number {
  switch (outcome.kind) {
    case "text":
      return Math.round(
        outcome.pages.reduce((sum, page) => sum + roughTokens(page.joined ?? page.lines.join("\n")), 0),
      );
    case "image":
      return Math.round(outcome.tokens);
    case "pdf":
      return Math.round(outcome.pages.reduce((sum, { text }) => sum + roughTokens(text), 0));
    case "notebook":
      return Math.round(roughTokens(outcome.cells.map(({ source }) => source).join("\n")));
    case "directory":
    case "outline":
    case "unchanged":
      return 0;
  }
}

async function listing(
  { node, target }: Located,
  range: { readonly from: LineNumber; readonly entriesMax: number },
  context: ToolContext,
): Promise<DirectoryOutcome> {
  const hidden = ({ name, kind }: FolderEntry): boolean => {
    if (!context.guard.denies) return false;
    const path = nodePath.join(target.real, name);
    const lookup = withHandleClosed(kind === "link" ? context.disk.lookup(path) : undefined);
    const names = lookup?.seen === "node" ? [path, lookup.real] : [path];
    const is = kind === "directory" || (lookup?.seen === "node" && lookup.kind === "directory") ? "folder" : "file";
    return context.guard.denied("read", names, is) !== undefined;
  };
  const page = await readDirectory(context.disk, node, target, range, hidden, context.signal);
  if ("errno" in page) throw refusal(target, page.errno, "listing it");
  if ("pastEnd" in page) {
    const data = { place: target, of: "entries", from: range.from, total: page.entriesTotal } as const;
    throw new Problem({ code: "INVALID_PARAM", reason: "range", ...data });
  }
  return { kind: "directory", target, ...page };
}
