/**
 * Which lines of which files a shell command showed: what `cat`, `nl`, `head`, `tail`, `sed -n`, `grep`, `rg` and `git diff` print,
 * also one after another and in pipes. Certain by construction: the words of the command only say where to look, and a line counts
 * only if the output has its full text as the file has it under that number. Linear in the command and the output.
 */

import * as nodePath from "node:path";
import type { LineSpan } from "../../contract/problem.ts";
import { type SimpleCommand, simpleCommands } from "./commands.ts";

/** Lines of one file that were shown whole, sorted, without overlaps. */
export interface ShellLines {
  /** As the command names it; after `cd folder` below that folder. */
  readonly path: string;
  readonly lines: readonly LineSpan[];
}

/** A longer command has a file in it, or is a program. */
const commandCharsMax = 10_000;
/** Local: no client shows a model more of an output. */
const outputCharsMax = 1_048_576;
/** Files that are looked at for one command. */
const filesMax = 50;

/**
 * `read` answers with the content of a file as it is after the command, undefined for one that cannot be read or is too large. The
 * paths that it gets may be relative: to where the command began.
 */
export function linesShownByShell(
  command: string,
  output: string,
  read: (path: string) => string | undefined,
): readonly ShellLines[] {
  if (command.length > commandCharsMax || output === "") return [];
  const files = new Map<string, readonly string[] | undefined>();
  const linesOf = (path: string): readonly string[] | undefined => {
    if (!files.has(path)) files.set(path, files.size < filesMax ? splitLines(read(path)) : undefined);
    return files.get(path);
  };
  const shown = new Map<string, Set<number>>();
  const show = (path: string, line: number): void => {
    const lines = shown.get(path) ?? new Set();
    shown.set(path, lines.add(line));
  };
  const printed = output
    .slice(0, outputCharsMax)
    .replace(/\r?\n$/, "")
    .split(/\r?\n/);
  let folder = "";
  let at = 0;
  for (const pipe of pipesIn(command)) {
    const [first] = pipe;
    if (first?.words[0] === "cd") {
      const [, to = "~"] = first.words;
      if (!isPlain(to)) break;
      folder = nodePath.posix.join(folder, to);
      if (nodePath.posix.isAbsolute(to)) folder = to;
      continue;
    }
    if (pipe.some(({ prints }) => !prints)) continue;
    const inFolder = (path: string): string =>
      folder === "" || nodePath.posix.isAbsolute(path) ? path : nodePath.posix.join(folder, path);
    at = showPiped(pipe, { printed, at, linesOf, inFolder, show });
  }
  return [...shown].map(([path, lines]) => ({ path, lines: spansOf([...lines].toSorted((a, b) => a - b)) }));
}

const splitLines = (text: string | undefined): readonly string[] | undefined => {
  const lines = text?.replace(/^\ufeff/, "").split(/\r?\n/);
  if (lines?.at(-1) === "") lines.pop();
  return lines;
};

/** No variable, pattern or home folder, which the shell would replace. */
const isPlain = (word: string): boolean => word !== "" && !/[*?$`~[\]{}]/.test(word);

/** Commands whose output goes through the next one are one pipe. */
function pipesIn(command: string): readonly (readonly SimpleCommand[])[] {
  const pipes: SimpleCommand[][] = [];
  for (const one of simpleCommands(command)) {
    const last = pipes.at(-1);
    if (one.isPiped && last !== undefined) last.push(one);
    else pipes.push([one]);
  }
  return pipes;
}

interface Looking {
  readonly printed: readonly string[];
  /** What was printed before this line belongs to earlier commands. */
  readonly at: number;
  readonly linesOf: (path: string) => readonly string[] | undefined;
  readonly inFolder: (path: string) => string;
  readonly show: (path: string, line: number) => void;
}

/** A line of a file, and how it is printed. */
interface Printed {
  readonly line: number;
  readonly text: string;
}

/** Answers with the first line of the output that may belong to the next command. */
function showPiped([first, ...filters]: readonly SimpleCommand[], looking: Looking): number {
  const { printed, linesOf, inFolder, show } = looking;
  const source = first === undefined ? undefined : sourceOf(first.words);
  if (source === undefined) return looking.at;
  if (source.prints === "diff") showDiff(looking);
  if (source.prints === "found") showFound(source.paths.filter(isPlain).map(inFolder), looking);
  if (source.prints !== "lines") return looking.at;
  let { at } = looking;
  for (const name of source.paths) {
    const path = inFolder(name);
    const lines = isPlain(name) ? linesOf(path) : undefined;
    if (lines === undefined) continue;
    let block: readonly Printed[] | undefined = source.take(lines.map((text, index) => ({ line: index + 1, text })));
    for (const { words } of filters) block = block && filterOf(words)?.(block);
    if (block === undefined) {
      showSome(path, lines, looking);
      continue;
    }
    const found = blockIn(block, printed, at);
    for (const { line } of block.slice(0, found.count)) show(path, line);
    at = found.end;
  }
  return at;
}

type Take = (lines: readonly Printed[]) => readonly Printed[];
type SourceOfLines =
  | { readonly prints: "lines"; readonly paths: readonly string[]; readonly take: Take }
  | { readonly prints: "found"; readonly paths: readonly string[] }
  | { readonly prints: "diff" };

const numbered: Take = (lines) =>
  lines.map(({ line, text }) => ({ line, text: `${String(line).padStart(6)}\t${text}` }));

function sourceOf(words: readonly string[]): SourceOfLines | undefined {
  const [name = "", ...args] = words;
  switch (nodePath.posix.basename(name)) {
    case "cat": {
      const paths = args.filter((word) => word !== "-n");
      if (paths.some((word) => word.startsWith("-"))) return undefined;
      return { prints: "lines", paths, take: args.includes("-n") ? numbered : (lines) => lines };
    }
    case "nl":
      return args[0] === "-ba" ? { prints: "lines", paths: args.slice(1), take: numbered } : undefined;
    case "head":
    case "tail":
    case "sed": {
      const filter = filterWithPaths(words);
      return filter && { prints: "lines", ...filter };
    }
    case "grep":
    case "egrep":
    case "fgrep":
    case "rg":
      return { prints: "found", paths: args.filter((word) => !word.startsWith("-")) };
    case "git":
      if (args.includes("grep")) return { prints: "found", paths: args.filter((word) => !word.startsWith("-")) };
      return args.some((word) => ["diff", "show", "log"].includes(word)) ? { prints: "diff" } : undefined;
  }
  return undefined;
}

/** Undefined: it leaves some of the lines, which only the output tells. */
function filterOf(words: readonly string[]): Take | undefined {
  const filter = filterWithPaths(words);
  return filter?.paths.length === 0 ? filter.take : undefined;
}

/** `head`, `tail` and `sed -n` with numbers, and the files that they name. */
function filterWithPaths([name = "", ...args]: readonly string[]):
  | { readonly take: Take; readonly paths: readonly string[] }
  | undefined {
  if (name === "sed") {
    const [quiet, script, ...paths] = args;
    const ranges = quiet === "-n" ? rangesOf(script ?? "") : undefined;
    if (ranges === undefined || paths.some((word) => word.startsWith("-"))) return undefined;
    return { paths, take: (lines) => lines.filter((_, index) => ranges.some(([a, b]) => index + 1 >= a && index < b)) };
  }
  if (name !== "head" && name !== "tail") return undefined;
  const [option = "", value = "", ...rest] = args;
  const [, short] = /^-n?(\d{1,7})$/.exec(option) ?? [];
  const long = option === "-n" || option === "--lines" ? value : undefined;
  const given = short ?? long ?? "10";
  const paths = long !== undefined ? rest : short !== undefined ? args.slice(1) : args;
  if (paths.some((word) => word.startsWith("-")) || !/^\+?\d{1,7}$/.test(given)) return undefined;
  const count = Number(given);
  if (name === "head") return given.startsWith("+") ? undefined : { paths, take: (lines) => lines.slice(0, count) };
  return {
    paths,
    take: (lines) => lines.slice(given.startsWith("+") ? Math.max(0, count - 1) : -count || lines.length),
  };
}

/** `5p`, `1,20p`, `30,$p`, several of them with `;`. */
function rangesOf(script: string): readonly (readonly [number, number])[] | undefined {
  const ranges = script
    .split(";")
    .slice(0, 100)
    .map((part): readonly [number, number] | undefined => {
      const [, from, to = from] = /^\s{0,9}(\d{1,7})(?:,(\d{1,7}|\$))?p\s{0,9}$/.exec(part) ?? [];
      if (from === undefined || to === undefined) return undefined;
      return [Number(from), to === "$" ? Number.POSITIVE_INFINITY : Number(to)];
    });
  const known = ranges.filter((range) => range !== undefined);
  return known.length === ranges.length ? known : undefined;
}

/** What a client puts where it left out a part of the output. */
export const cutOutput = /(?:tokens|chars|characters|lines) truncated|output truncated|truncated output/i;

/**
 * Where these lines follow each other in the output, from line `from` on: all of them, or the first ones where the output ends or was
 * cut. By the algorithm of Knuth, Morris and Pratt, with lines instead of letters.
 */
function blockIn(block: readonly Printed[], printed: readonly string[], from: number) {
  const none = { count: 0, end: from };
  if (block.length === 0) return none;
  const back: number[] = [0];
  for (let at = 1, same = 0; at < block.length; at += 1) {
    while (same > 0 && block[at]?.text !== block[same]?.text) same = back[same - 1] ?? 0;
    if (block[at]?.text === block[same]?.text) same += 1;
    back.push(same);
  }
  let same = 0;
  let cut = none;
  for (let at = from; at < printed.length; at += 1) {
    if (same > 0 && isCutAt(printed, at) && same > cut.count) cut = { count: same, end: at };
    while (same > 0 && printed[at] !== block[same]?.text) same = back[same - 1] ?? 0;
    if (printed[at] === block[same]?.text) same += 1;
    if (same === block.length) return { count: same, end: at + 1 };
  }
  return same > cut.count ? { count: same, end: printed.length } : cut;
}

/** Is the output cut here, or after a part of a line and an empty one? */
const isCutAt = (printed: readonly string[], at: number): boolean =>
  [0, 1, 2].some((more) => cutOutput.test((printed[at + more] ?? "").slice(0, 1_000)));

/** Lines that another program chose from a file: those of the output that the file has just once. */
function showSome(path: string, lines: readonly string[], { printed, at, show }: Looking): void {
  const places = uniquePlaces(lines);
  for (let index = at; index < printed.length; index += 1) {
    const text = printed[index] ?? "";
    const [, number, rest] = /^ {0,9}(\d{1,9})[\t:-](.*)$/.exec(text) ?? [];
    if (number !== undefined && lines[Number(number) - 1] === rest) show(path, Number(number));
    const line = places.get(text);
    if (line !== undefined) show(path, line);
  }
}

/** By text, the number of a line that occurs once. Blank lines show nothing. */
function uniquePlaces(lines: readonly string[]): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  const repeated = new Set<string>();
  for (const [index, text] of lines.entries()) {
    if (places.has(text) || text.trim() === "") repeated.add(text);
    else places.set(text, index + 1);
  }
  for (const text of repeated) places.delete(text);
  return places;
}

/** `path:12:text` of a match and `path-12-text` beside it; of one named file without the path, and without -n without the number. */
function showFound(named: readonly string[], looking: Looking): void {
  const { printed, at, linesOf, inFolder, show } = looking;
  const matched = new Set<string>();
  const isLine = (path: string, number: string, text: string): boolean => linesOf(path)?.[Number(number) - 1] === text;
  for (let index = at; index < printed.length; index += 1) {
    const [, name, number, text] = /^([^:\n]{1,1000}):(\d{1,9}):(.*)$/.exec(printed[index] ?? "") ?? [];
    if (name === undefined || number === undefined || text === undefined || !isLine(inFolder(name), number, text))
      continue;
    matched.add(name);
    show(inFolder(name), Number(number));
  }
  for (let index = at; index < printed.length && matched.size > 0; index += 1) {
    for (const sign of (printed[index] ?? "").slice(0, 1_000).matchAll(/-(\d{1,9})-/g)) {
      const name = (printed[index] ?? "").slice(0, sign.index);
      const text = (printed[index] ?? "").slice(sign.index + sign[0].length);
      if (matched.has(name) && isLine(inFolder(name), sign[1] ?? "", text)) show(inFolder(name), Number(sign[1]));
    }
  }
  // The first of these words may be the pattern.
  for (const path of named.slice(-filesMax)) {
    const lines = linesOf(path);
    if (lines !== undefined) showSome(path, lines, looking);
  }
}

/** The lines of hunks that are in the file now: added ones and those around them. */
function showDiff({ printed, at, linesOf, inFolder, show }: Looking): void {
  let path: string | undefined;
  let line = 0;
  for (let index = at; index < printed.length; index += 1) {
    const text = printed[index] ?? "";
    const [, name] = /^\+\+\+ (?:b\/)?([^\t]+)/.exec(text) ?? [];
    const [, start] = /^@@ -\d{1,9}(?:,\d{1,9})? \+(\d{1,9})(?:,\d{1,9})? @@/.exec(text) ?? [];
    if (text.startsWith("diff ")) [path, line] = [undefined, 0];
    // Names begin at the top of the repository, wherever the command runs.
    else if (name !== undefined && line === 0) path = [name, inFolder(name)].find((one) => linesOf(one) !== undefined);
    else if (start !== undefined) line = Number(start);
    else if (path !== undefined && line > 0 && (text.startsWith("+") || text.startsWith(" "))) {
      if (linesOf(path)?.[line - 1] === text.slice(1)) show(path, line);
      line += 1;
    }
  }
}

/** Of sorted numbers. */
function spansOf(numbers: readonly number[]): readonly LineSpan[] {
  const spans: { from: number; to: number }[] = [];
  for (const line of numbers) {
    const last = spans.at(-1);
    if (last !== undefined && last.to === line - 1) last.to = line;
    else spans.push({ from: line, to: line });
  }
  return spans;
}
