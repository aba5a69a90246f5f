/**
 * Formatters that are programs, chosen by the file's name. A program gets the content on standard input, prints the formatted
 * content, and is run without a shell. What it prints is checked before it becomes the file's content, because many programs
 * print a report instead if they are called with the wrong options.
 */

import { isUtf8 } from "node:buffer";
import * as nodePath from "node:path";
import { contains } from "../../contract/common.ts";
import type { Formatter } from "../../contract/edit.ts";
import { runFilter } from "../../disk/disk.ts";
import { type GlobState, parseGlob, startGlobState } from "../../text/text.ts";

export interface CommandFormatterOptions {
  /** A command line by glob; the first glob that matches counts. `{file}` is the file's path. */
  readonly commands: Readonly<Record<string, string>>;
  readonly roots: readonly string[];
  /** The path of a program that may be run for a file in `folder`; undefined if there is none. */
  readonly find: (program: string, folder: string) => string | undefined;
  readonly env: Readonly<Record<string, string>>;
}

/** Throws an Error if the file cannot be formatted; its message completes the sentence "the formatter failed: …". */
export function createCommandFormatter({ commands, roots, find, env }: CommandFormatterOptions): Formatter {
  const entries = Object.entries(commands).map(([pattern, command]) => entryOf(pattern, command));
  return async ({ path, content, signal }) => {
    const root = roots.filter((one) => contains(one, path)).toSorted((a, b) => b.length - a.length)[0];
    if (root === undefined) return undefined;
    const names = nodePath.relative(root, path).split(nodePath.sep);
    const entry = entries.find(({ start }) => start === undefined || matches(start, names));
    if (entry === undefined) return undefined;
    if ("fault" in entry) throw new Error(entry.fault);
    if (content === undefined) throw new Error("the file is no text, or too large");
    if (!isUtf8(content)) throw new Error("the file is not UTF-8, which formatters expect");
    const [name, ...args] = entry.words;
    const program = find(name, nodePath.dirname(path));
    if (program === undefined)
      throw new Error(`${JSON.stringify(name)} is not a program on the PATH outside the workspace`);
    const input = hasBom(content) ? content.subarray(utf8Bom.length) : content;
    const end = await runFilter({
      program,
      args: args.map((word) => word.replaceAll("{file}", () => path)),
      cwd: root,
      env,
      input,
      outputBytesMax: Math.max(outputBytesLeast, input.length * growthMax),
      signal,
    });
    switch (end.ended) {
      case "by itself": {
        if (end.status !== 0) throw new Error(exitWords(name, end.status, end.complaints));
        if (end.output.equals(input)) return undefined;
        requireContent(name, input, end.output);
        return hasBom(content) && !hasBom(end.output) ? Buffer.concat([utf8Bom, end.output]) : end.output;
      }
      case "too much output":
        throw new Error(`${name} printed more than ${growthMax} times as much as it was given`);
      case "stopped":
        throw new Error(`${name} was stopped`);
      case "killed":
        throw new Error(`${name} was ended by ${end.signal}`);
      case "not started":
        throw new Error(`${name} cannot be started (${end.errno})`);
    }
  };
}

const utf8Bom = Buffer.from([0xef, 0xbb, 0xbf]);
const hasBom = (bytes: Buffer): boolean => bytes.subarray(0, 3).equals(utf8Bom);
/** Formatted content is hardly longer than what was given; more is the output of a program that is no formatter. */
const growthMax = 10;
const outputBytesLeast = 1_048_576; // for a file of a few bytes

/** `start` is undefined if the glob itself is wrong: then the fault is reported for every file. */
type Entry =
  | { readonly start: GlobState; readonly words: readonly [string, ...string[]] }
  | { readonly start: GlobState | undefined; readonly fault: string };

function entryOf(pattern: string, command: string): Entry {
  const glob = parseGlob(pattern);
  if ("fault" in glob)
    return { start: undefined, fault: `the pattern ${JSON.stringify(pattern)} of the settings is no glob` };
  const start = startGlobState(glob);
  const words = wordsOf(command);
  if (typeof words === "string")
    return { start, fault: `the command ${JSON.stringify(command)} of the settings ${words}` };
  return { start, words };
}

function matches(start: GlobState, names: readonly string[]): boolean {
  let state: GlobState | undefined = start;
  for (const name of names.slice(0, -1)) state = state?.enter(name.normalize("NFC"), "all");
  return state?.accepts((names.at(-1) ?? "").normalize("NFC"), "all") ?? false;
}

/** With these a program writes the file itself and prints a report, which must not become the file's content. */
const writingOptions: ReadonlySet<string> = new Set(["--write", "-w", "--in-place", "--inplace", "--fix"]);
const shellWords: ReadonlySet<string> = new Set(["|", "||", "&&", "&", ";", ">", ">>", "<"]);

/** The words of a command line; quotes keep spaces. Else what is wrong with it. */
export function wordsOf(command: string): readonly [string, ...string[]] | string {
  const words: string[] = [];
  let word: string | undefined;
  let quote: string | undefined;
  for (const letter of command) {
    if (quote !== undefined) {
      if (letter === quote) quote = undefined;
      else word += letter;
    } else if (letter === '"' || letter === "'") {
      quote = letter;
      word ??= "";
    } else if (/\s/.test(letter)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? "") + letter;
  }
  if (quote !== undefined) return `has a ${quote} without its end`;
  if (word !== undefined) words.push(word);
  const [program, ...args] = words;
  if (program === undefined || program === "") return "names no program";
  const shell = words.find((one) => shellWords.has(one));
  if (shell !== undefined) return `has ${shell}, but it is run without a shell, put such a command into a script`;
  const writes = args.find((one) => writingOptions.has(one));
  if (writes !== undefined) return `has ${writes}, but it must print the formatted content instead of writing the file`;
  return [program, ...args];
}

function exitWords(name: string, status: number, complaints: string): string {
  const lines = complaints.split("\n").flatMap((line) => (line.trim() === "" ? [] : [line.trim()]));
  return [`${name} ended with status ${status}`, ...lines.slice(0, 3)].join(": ");
}

/** Bytes of the content that are compared with what was printed. */
const comparedBytesMax = 1_048_576;

/** Throws if what was printed cannot be the same content in another layout. */
function requireContent(name: string, given: Uint8Array, printed: Uint8Array): void {
  const expected = lettersIn(given.subarray(0, comparedBytesMax)) / 2;
  if (lettersIn(printed.subarray(0, comparedBytesMax * growthMax), expected) >= expected) return;
  throw new Error(
    printed.length === 0
      ? `${name} printed nothing, it must print the formatted content of its standard input`
      : `${name} printed less than half of its input, which is no formatted content`,
  );
}

/** Bytes that are no whitespace; counting ends when there are `enough`. */
function lettersIn(bytes: Uint8Array, enough = Number.POSITIVE_INFINITY): number {
  let count = 0;
  for (let at = 0; at < bytes.length && count < enough; at += 1) if ((bytes[at] ?? 0) > 0x20) count += 1;
  return count;
}
