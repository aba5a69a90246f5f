/**
 * Keeps answers within the bytes that a client shows. If the client truncated an answer, the ledger would count lines as shown
 * that the model never saw. So an outcome that is too long is shortened before it enters the ledger: fewer lines, entries or cells,
 * and where to go on, in the dialect's own words.
 */

import type { DeliveredLine, Outcome, Reply } from "../contract/call.ts";
import type { GrepOutcome } from "../contract/grep.ts";
import type { HistoryOutcome } from "../contract/history.ts";
import type { NotebookCell } from "../contract/notebook.ts";
import type { NotebookOutcome, Page, TextOutcome, TreeEntry, TreeOutcome } from "../contract/read.ts";
import { type LineNumber, lineNumber } from "../contract/target.ts";
import { cutChars, escapeName } from "../text/text.ts";
import { linesOfChange } from "./change-text.ts";
import { cutReply } from "./words.ts";

export interface AnswerLimit {
  /** Bytes of the answer as a result in JSON, pictures left out. */
  readonly bytesMax: number;
  /** Whether the structured part counts as well, because the answer carries it. */
  readonly structured: boolean;
}

/** Limits that a call or a toolkit sets. */
interface Asked {
  readonly answerBytesMax?: number | undefined;
  readonly countStructured?: boolean | undefined;
}

export function answerLimitOf(given: Asked, options: Asked): AnswerLimit | undefined {
  const bytesMax = given.answerBytesMax ?? options.answerBytesMax;
  return bytesMax === undefined ? undefined : { bytesMax, structured: given.countStructured ?? false };
}

/** Real paths of the files of which an answer shows content. */
export function pathsShownIn(outcome: Outcome): readonly string[] {
  switch (outcome.kind) {
    case "text":
    case "image":
    case "pdf":
    case "notebook":
      return [outcome.target.real];
    case "grep":
      return outcome.files.map(({ absolute, real }) => real ?? absolute);
    case "unchanged":
    case "directory":
    case "tree":
    case "glob":
    case "outline":
    case "lsp":
    case "history":
    case "edit":
    case "write":
    case "notebook-edit":
    case "patch":
    case "rewind":
      return [];
  }
}

/**
 * Lines that an answer may show whole besides those that its tool has recorded already. A line of an outline or of a language
 * server's results often is only a part of the line: the caller MUST compare each text with the file.
 */
export function linesDelivered(outcome: Outcome): readonly DeliveredLine[] {
  switch (outcome.kind) {
    case "edit":
    case "write":
    case "notebook-edit":
    case "patch":
      return linesOfChange(outcome);
    case "outline": {
      const { real: path } = outcome.target;
      return outcome.items.flatMap(({ name, kind, from: line }) =>
        escapeName(name) === name ? [name, `${kind} ${name}`].map((text) => ({ path, line, text })) : [],
      );
    }
    case "lsp":
      return outcome.results.flatMap(({ name, place: { absolute: path, line, text, relative } }) =>
        name === undefined && text !== undefined && relative !== undefined && escapeName(text) === text
          ? [{ path, line, text }]
          : [],
      );
    case "text":
    case "image":
    case "pdf":
    case "notebook":
    case "grep":
    case "unchanged":
    case "directory":
    case "tree":
    case "glob":
    case "history":
    case "rewind":
      return [];
  }
}

/** The JSON around the content of a message: names, brackets, the server's name and version. */
const frameBytes = 256;
const partBytes = 32;
/** JSON has at most six bytes for a UTF-16 unit. */
const bytesPerChar = 6;

/** Exact only near the limit; an answer that is clearly shorter is estimated from above. */
export function answerBytes(reply: Reply, { bytesMax, structured }: AnswerLimit): number {
  let most = frameBytes;
  for (const part of reply.content) if (part.type === "text") most += partBytes + part.text.length * bytesPerChar;
  if (!structured && most <= bytesMax) return most;
  const texts = reply.content.flatMap((part) => (part.type === "text" ? [part.text] : []));
  const counted = structured ? [...texts, reply.structured] : texts;
  return counted.reduce<number>(
    (sum, value) => sum + Buffer.byteLength(JSON.stringify(value) ?? "") + partBytes,
    frameBytes,
  );
}

/** For answers without pages: drops the structured part first, if it counts, then the end of the text. */
export function withinLimit(reply: Reply, limit: AnswerLimit): Reply {
  const fits = (one: Reply): boolean => answerBytes(one, limit) <= limit.bytesMax;
  if (fits(reply)) return reply;
  return cutReply(limit.structured ? { ...reply, structured: null } : reply, fits);
}

/** A way to shorten an outcome: how many units it has, and the outcome with only the first of them. */
interface Shortening {
  readonly units: number;
  readonly take: (units: number) => Outcome;
}

/**
 * The outcome, or as much of it as stays within `bytesMax`. If even its smallest part is too long, that part is returned and
 * the sender of the answer has to truncate it.
 */
export function fittedOutcome(
  outcome: Outcome,
  bytesMax: number,
  cutMark: string,
  bytesOf: (outcome: Outcome) => number,
): Outcome {
  let shortest = outcome;
  let bytes = bytesOf(outcome);
  if (bytes <= bytesMax) return outcome;
  for (const shortening of shorteningsOf(outcome, cutMark)) {
    const units = mostThatFit(shortening, bytes, bytesMax, bytesOf);
    if (units > 0) return shortening.take(units);
    shortest = shortening.take(1);
    bytes = bytesOf(shortest);
  }
  return shortest;
}

/** Each try costs a rendering, so a page that is 90 % full is good enough. */
const fullEnough = 0.9;
/** Most outcomes need two guesses; one with very uneven lines is faster by bisection. */
const guessesMax = 6;

/** 0 if not even one unit fits. Guesses by proportion first, since most lines are about equally long, then by bisection. */
function mostThatFit(
  { units, take }: Shortening,
  bytes: number,
  bytesMax: number,
  bytesOf: (outcome: Outcome) => number,
): number {
  let fits = { units: 0, bytes: 0 };
  let over = { units: units + 1, bytes };
  for (let tries = 1; over.units - fits.units > 1 && fits.bytes < bytesMax * fullEnough; tries += 1) {
    const share = tries > guessesMax ? 0.5 : (bytesMax - fits.bytes) / Math.max(1, over.bytes - fits.bytes);
    const guess = fits.units + Math.floor((over.units - fits.units) * share);
    const tried = Math.min(over.units - 1, Math.max(fits.units + 1, guess));
    const found = { units: tried, bytes: bytesOf(take(tried)) };
    if (found.bytes <= bytesMax) fits = found;
    else over = found;
  }
  return fits.units;
}

/** By the items of a list. `take` gets the items that stay, and the number of the first that does not. */
const byItems = <Item>(
  items: readonly Item[],
  take: (kept: readonly Item[], next: number | undefined) => Outcome,
  from = 1,
  next?: number,
): Shortening => ({
  units: items.length,
  take: (units) => take(items.slice(0, units), units < items.length ? from + units : next),
});

/** From coarse to fine: the finer one is for an outcome whose first unit alone is too long. */
function shorteningsOf(outcome: Outcome, cutMark: string): readonly Shortening[] {
  switch (outcome.kind) {
    case "text":
      return [byLines(outcome), byCharsOfFirstLine(outcome, cutMark)];
    case "notebook":
      return [
        byItems(
          outcome.cells,
          (cells, next) => ({ ...outcome, cells, next: optionalLine(next) }),
          outcome.from,
          outcome.next,
        ),
        byPartsOfFirstCell(outcome),
      ];
    case "pdf": {
      const [first] = outcome.pages;
      const whole = first?.text ?? "";
      return [
        byItems(outcome.pages, (pages) => ({ ...outcome, pages, asked: "pages" })),
        {
          units: whole.length,
          take(units) {
            const text = cutChars(whole, units);
            const cutAway = (first?.cutChars ?? 0) + whole.length - text.length;
            const pages = first === undefined ? [] : [{ ...first, text, cutChars: cutAway }];
            return { ...outcome, pages, asked: "pages" };
          },
        },
      ];
    }
    case "directory":
      return [
        byItems(
          outcome.entries,
          (entries, next) => ({ ...outcome, entries, next: optionalLine(next) }),
          outcome.from,
          outcome.next,
        ),
      ];
    case "tree": {
      const flat = treeOfLevels(outcome, 1);
      const { entries, from, next } = flat;
      return [
        { units: outcome.depth, take: (units) => treeOfLevels(outcome, units) },
        byItems(entries, (kept, after) => recounted(flat, kept, optionalLine(after)), from, next),
      ];
    }
    case "grep":
      return [{ units: outcome.entriesShown, take: (units) => grepOfEntries(outcome, units) }];
    case "glob":
      return [byItems(outcome.files, (files) => ({ ...outcome, files }))];
    case "outline":
      return [byItems(outcome.items, (items) => ({ ...outcome, items }))];
    case "lsp": {
      const { results, from, text } = outcome;
      return text === undefined
        ? [byItems(results, (kept, next) => ({ ...outcome, results: kept, next }), from, outcome.next)]
        : [{ units: text.length, take: (units) => ({ ...outcome, text: cutChars(text, units), textCut: true }) }];
    }
    case "history":
      return historyShortenings(outcome);
    // An image is not text, "unchanged" is a sentence, and the answer to a change is bounded by its own limits.
    case "image":
    case "unchanged":
    case "edit":
    case "write":
    case "notebook-edit":
    case "patch":
    case "rewind":
      return [];
  }
}

const optionalLine = (line: number | undefined): LineNumber | undefined =>
  line === undefined ? undefined : lineNumber(line);

function byLines(outcome: TextOutcome): Shortening {
  const { pages } = outcome;
  return {
    units: pages.reduce((sum, { count }) => sum + count, 0),
    take(units) {
      let left = units;
      const [first, ...rest] = pages;
      const taken = (page: Page): Page => {
        const count = Math.min(left, page.count);
        left -= count;
        return count === page.count ? page : pageOfLines(page, page.lines.slice(0, count));
      };
      return { ...outcome, pages: [taken(first), ...rest.map(taken)] };
    },
  };
}

/** The page cut down to `lines`. */
function pageOfLines(page: Page, lines: readonly string[], more: Pick<Page, "cut"> = page): Page {
  const end = page.from + lines.length;
  const next = lines.length < page.count ? lineNumber(end) : page.next;
  // An estimate: most files have one kind of line end.
  const perLine = page.count === 0 ? 0 : Math.ceil(page.lineEndChars / page.count);
  return {
    from: page.from,
    ...(page.column === undefined ? {} : { column: page.column }),
    lines,
    count: lines.length,
    ascii: page.ascii && more.cut.length === 0,
    linesTotal: page.linesTotal,
    stopped: next === undefined ? "end" : "answer",
    forms: new Map(),
    next,
    cut: more.cut.filter(({ line }) => line < end),
    lineEndChars: Math.min(page.lineEndChars, perLine * lines.length),
  };
}

function byCharsOfFirstLine(outcome: TextOutcome, cutMark: string): Shortening {
  const index = outcome.pages.findIndex(({ count }) => count > 0);
  const page = outcome.pages[index];
  const shown = page?.lines[0] ?? "";
  // Without the mark of a line that is already cut.
  const line = shown.slice(0, page?.cut.find((cut) => cut.line === page.from)?.charsShown);
  return {
    units: line.length,
    take(units) {
      if (page === undefined) return outcome;
      const text = cutChars(line, units);
      const cut = [{ line: page.from, charsShown: text.length, by: "chars" }] as const;
      const shortened = pageOfLines(page, [text + cutMark], { cut });
      const [first, ...rest] = outcome.pages.map((one, at) => (at === index ? shortened : pageOfLines(one, [])));
      return first === undefined ? outcome : { ...outcome, pages: [first, ...rest] };
    },
  };
}

/** Drops outputs first, from the last one, then the end of the source. */
function byPartsOfFirstCell(outcome: NotebookOutcome): Shortening {
  const [cell] = outcome.cells;
  if (cell === undefined) return { units: 0, take: () => outcome };
  const { source, outputs } = cell;
  const next = outcome.cells.length > 1 ? lineNumber(outcome.from + 1) : outcome.next;
  return {
    units: source.length + outputs.length,
    take(units) {
      const text = cutChars(source, units);
      const kept = outputs.slice(0, Math.max(0, units - source.length));
      const cutAway = (cell.sourceCutChars ?? 0) + source.length - text.length;
      const shown: NotebookCell = {
        ...cell,
        source: text,
        ...(cutAway > 0 ? { sourceCutChars: cutAway } : {}),
        outputs: kept,
        outputsLeftOut: cell.outputsLeftOut + outputs.length - kept.length,
      };
      return { ...outcome, cells: [shown], next };
    },
  };
}

/** Closes deeper folders, so that each level shown is complete. */
const treeOfLevels = (outcome: TreeOutcome, levels: number): TreeOutcome =>
  levels >= outcome.depth ? outcome : recounted(outcome, closedBelow(outcome.entries, levels), outcome.next);

const closedBelow = (entries: readonly TreeEntry[], levels: number): readonly TreeEntry[] =>
  entries.map(({ entries: inside, ...entry }) => {
    if (inside === undefined) return entry;
    return levels > 1 ? { ...entry, entries: closedBelow(inside, levels - 1) } : { ...entry, closed: "budget" };
  });

function recounted(outcome: TreeOutcome, entries: readonly TreeEntry[], next: TreeOutcome["next"]): TreeOutcome {
  const count = (list: readonly TreeEntry[]): { readonly shown: number; readonly leftOut: number } =>
    list.reduce(
      (sum, { entries: inside, entriesTotal = 0, closed }) => {
        const below = inside === undefined ? { shown: 0, leftOut: 0 } : count(inside);
        const missing = inside !== undefined || closed === "budget" ? entriesTotal - (inside?.length ?? 0) : 0;
        return { shown: sum.shown + 1 + below.shown, leftOut: sum.leftOut + below.leftOut + missing };
      },
      { shown: 0, leftOut: 0 },
    );
  const { shown, leftOut } = count(entries);
  const later = next === undefined ? 0 : outcome.entriesTotal - next + 1;
  return { ...outcome, entries, next, shown, leftOut: leftOut + later };
}

function grepOfEntries(outcome: GrepOutcome, units: number): GrepOutcome {
  if (units >= outcome.entriesShown) return outcome;
  const shortened = { ...outcome, entriesShown: units, stopped: "bytes", next: outcome.skip + units } as const;
  if (outcome.mode !== "content") return { ...shortened, files: outcome.files.slice(0, units) };
  return { ...shortened, files: firstLinesOf(outcome.files, units) };
}

function historyShortenings(outcome: HistoryOutcome): readonly Shortening[] {
  const { of, turns, from, next } = outcome;
  const [turn] = turns;
  if (of === "turns" || turn === undefined) {
    return [byItems(turns, (kept, after) => ({ ...outcome, turns: kept, next: after }), from, next)];
  }
  const withFiles = (files: typeof turn.files, after: number | undefined): HistoryOutcome => ({
    ...outcome,
    turns: [{ ...turn, files }],
    next: after,
  });
  const [first, ...others] = turn.files;
  if (first === undefined) return [];
  const { hunks = [] } = first;
  return [
    byItems(turn.files, withFiles, from, next),
    {
      units: hunks.reduce((sum, { lines }) => sum + lines.length, 0),
      take: (units) =>
        withFiles([{ ...first, hunks: firstLinesOf(hunks, units), cut: true }], others.length > 0 ? from + 1 : next),
    },
  ];
}

/** The parts up to so many lines in all. A hunk that is cut keeps its line counts. */
function firstLinesOf<Part extends { readonly lines: readonly unknown[] }>(
  parts: readonly Part[],
  count: number,
): readonly Part[] {
  let left = count;
  return parts.flatMap((part) => {
    const lines = part.lines.slice(0, left);
    left -= lines.length;
    return lines.length === 0 ? [] : [{ ...part, lines }];
  });
}
