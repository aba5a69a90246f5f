/** Words about searches that dialects share: the lines of an answer, and the notes below them. */

import type { Counted, GlobOutcome } from "../contract/glob.ts";
import type { GrepFile, GrepLine, GrepOutcome, SearchFault, Tally } from "../contract/grep.ts";
import { limits } from "../contract/limits.ts";
import type { PatternFault } from "../contract/problem.ts";
import type { TreeEntry, TreeOutcome } from "../contract/read.ts";
import { escapeName } from "../text/text.ts";
import { didYouMean, type Names, quoted } from "./words.ts";

// Patterns, and files that Glob left out.

/** What is wrong with a pattern, and what would be right: the part after `Cannot use the pattern "x": `. */
export const patternFaults = {
  empty: "it is empty, give one such as **/*.ts",
  nul: "it holds a NUL character, which no path has",
  parent: 'it holds "..", name the folder to search with path instead',
  "no name": "it names nothing, give one such as **/*.ts",
  "too long": `it is longer than ${limits.globCharsMax} characters, shorten it or search several times`,
  "unclosed bracket": 'a "[" is not closed within its name, write \\[ for the character itself',
  "unclosed group": 'a "(" is not closed within its name: a group cannot hold "/", use braces for that, as in {a/b,c}',
  "unclosed brace": 'a "{" is not closed, write \\{ for the character itself',
  "trailing backslash": "its last backslash escapes nothing, write \\\\ for the character itself and / between names",
  "reversed range": "a range between brackets ends before it begins, turn it round",
  "unknown class": "a class between [: and :] is unknown, use one such as [:alpha:] or [:digit:]",
  "too many groups": `it has more than ${limits.globGroupsMax} groups in one name, which would take too long, use fewer`,
  "long negation": `its groups !(…) with wildcards have more than ${limits.globExcludedCharsMax} characters in one name, which would take too long, shorten them`,
  "too many choices": `it stands for more than ${limits.globChoicesMax} texts, alone or with patterns before it, use fewer braces or a wildcard`,
  "too many wildcards":
    "comparing its wildcards in all its choices, alone or with patterns before it, would take too long, use fewer braces or groups",
  "too many names": `it has more than ${limits.globDepthMax} names, or too many in all its choices, shorten it`,
} satisfies Readonly<Record<PatternFault, string>>;

/** Notes on a list of files, a sentence each, without mark and period. */
export function globNotes(outcome: GlobOutcome, spell?: (absolute: string) => string): readonly string[] {
  const { files, total, ignored, hidden, missing } = outcome;
  const notes: string[] = [];
  if (missing !== undefined) {
    notes.push(`There is no folder ${quoted(missing.place.asked)}${didYouMean(missing.suggestions, spell)}`);
  }
  if (files.length < total.count) {
    notes.push(
      `The newest ${files.length} of ${countWords(total)} files are shown, narrow the pattern or the path to see others`,
    );
  }
  if (outcome.stoppedAfterMs !== undefined) {
    const seconds = Math.round(outcome.stoppedAfterMs / 1_000);
    notes.push(`The search was stopped after ${seconds} s and is not complete, search in a smaller folder`);
  }
  const links = files.filter(({ link }) => link).length;
  if (links > 0) notes.push(`${links} of these ${links === 1 ? "is a link" : "are links"}`);
  if (ignored.count > 0) {
    const names = "begin the pattern with the path of the ignored folder or file to see them";
    notes.push(`${counted(ignored, "ignored file")} also, ${names}`);
  }
  if (hidden.count > 0) {
    notes.push(
      `${counted(hidden, "hidden file")} also, write the dots of their names and folders to see them, as in .github/** or **/.*/.*`,
    );
  }
  if (outcome.hiddenByRules > 0) notes.push(`${several(outcome.hiddenByRules, "file")} withheld by permission rules`);
  if (outcome.foldersHiddenByRules > 0) {
    notes.push(`${several(outcome.foldersHiddenByRules, "folder")} withheld by permission rules and not searched`);
  }
  if (outcome.unreadableFolders > 0) {
    notes.push(`${several(outcome.unreadableFolders, "folder")} not searched: the system does not let them be read`);
  }
  if (outcome.unnamedFolders > 0) {
    const whose = outcome.unnamedFolders === 1 ? "its name is" : "their names are";
    notes.push(
      `${several(outcome.unnamedFolders, "folder")} not searched: ${whose} not UTF-8, so no call can name what is in there`,
    );
  }
  if (outcome.linkedFolders > 0)
    notes.push(`${several(outcome.linkedFolders, "link to a folder", "links to folders")} not followed`);
  if (total.count === 0 && outcome.folders > 0) {
    notes.push(`${matching(outcome.folders, "folder")}, add /** to the pattern for the files in there`);
  }
  return notes;
}

export const countWords = ({ count, counted }: Counted): string =>
  counted === "all" ? `${count}` : `at least ${count}`;

const several = (count: number, one: string, more = `${one}s`): string =>
  count === 1 ? `1 ${one} was` : `${count} ${more} were`;
const matching = (count: number, what: string): string =>
  count === 1 ? `1 ${what} matches` : `${count} ${what}s match`;
const counted = ({ count, counted: how }: Counted, what: string): string =>
  how === "all" ? matching(count, what) : `At least ${matching(count, what)}`;

/** Marks the end at which a long line is cut. */
const cutMark = "...";

export const shownLineText = ({ text, cutBefore, cutBehind }: GrepLine): string =>
  `${cutBefore ? cutMark : ""}${text}${cutBehind ? cutMark : ""}`;

/** Whether two lines of an answer are adjacent in their file. */
export const followsDirectly = (line: GrepLine, before: GrepLine | undefined): boolean =>
  before === undefined || line.line === before.line + 1;

export const tallyWords = ({ number, counted }: Tally, one: string, many = `${one}s`): string =>
  `${counted === "at least" ? "at least " : ""}${number} ${number === 1 ? one : many}`;

/** The totals in one line; empty if the lines show them already. */
export function grepHead({ mode, filesTotal, linesTotal }: GrepOutcome): string {
  if (filesTotal.number === 0) return mode === "content" ? "No matches found" : "No files found";
  if (mode === "files") return `Found ${tallyWords(filesTotal, "file")}`;
  if (mode === "content" || linesTotal === undefined) return "";
  return `Found ${tallyWords(linesTotal, "matching line")} in ${tallyWords(filesTotal, "file")}`;
}

export function grepBody(outcome: GrepOutcome, names: readonly string[]): string {
  switch (outcome.mode) {
    case "files":
      return names.map(escapeName).join("\n");
    case "count":
      return outcome.files.map(({ count }, index) => `${escapeName(names[index] ?? "")}:${count}`).join("\n");
    case "content":
      return contentOf(outcome, names);
  }
}

/** `path:12:text` for a match, `path-11-text` for context, `--` for a gap between lines. */
function contentOf({ files, numbers, target }: GrepOutcome, names: readonly string[]): string {
  const withContext = files.some(({ lines }) => lines.some(({ is }) => is === "context"));
  const blocks = files.map((file, index) =>
    linesOf(file, target.is === "file" ? undefined : (names[index] ?? ""), numbers, withContext),
  );
  return blocks.join(withContext ? "\n--\n" : "\n");
}

function linesOf({ lines }: GrepFile, name: string | undefined, numbers: boolean, withContext: boolean): string {
  const path = name === undefined ? undefined : escapeName(name);
  return lines
    .flatMap((line, index) => {
      const mark = line.is === "match" ? ":" : "-";
      const before = [path, numbers ? line.line : undefined].filter((part) => part !== undefined);
      const shown = [...before, shownLineText(line)].join(mark);
      return withContext && !followsDirectly(line, lines[index - 1]) ? ["--", shown] : [shown];
    })
    .join("\n");
}

/** Notes on what the answer leaves out, and what to do about it; each a sentence without a period. */
export function grepNotes(outcome: GrepOutcome, names: Names): readonly string[] {
  const { hiddenByRules, links, unreadable, ignored, binary, unnamed, unshown } = outcome;
  const notes = [bracesNote(outcome), pageNote(outcome, names), pastEndNote(outcome)];
  if (outcome.timedOutMs !== undefined) {
    notes.push(
      `The search was stopped after ${outcome.timedOutMs} ms, there may be more: search a smaller folder, or fewer files with ${names.glob}`,
    );
  }
  if (ignored.number > 0) {
    const them = tallyWords(ignored, "ignored file matches", "ignored files match");
    notes.push(`${them}, to search an ignored folder or file give it as path`);
  }
  if (hiddenByRules.number > 0) {
    const them = tallyWords(hiddenByRules, "file was", "files were");
    const hides = hiddenByRules.number === 1 ? "a permission rule hides it" : "permission rules hide them";
    notes.push(`${them} not searched because ${hides}, read such a file by its path if you need it`);
  } else if (hiddenByRules.counted === "at least") {
    notes.push(
      "Files that permission rules hide were not searched, if there are any, there are too many files to tell",
    );
  }
  if (links.number > 0) {
    const them = tallyWords(links, "link was", "links were");
    notes.push(`${them} not followed, give a link as path to search what it leads to if that lies in the workspace`);
  }
  if (unreadable.number > 0) {
    const them = tallyWords(unreadable, "file or folder", "files or folders");
    notes.push(`${them} could not be read, so there may be more`);
  }
  if (binary > 0) {
    const them = binary === 1 ? "1 matching file is" : `${binary} matching files are`;
    notes.push(`${them} binary, lines behind a NUL byte are not shown`);
  }
  if (unnamed > 0) {
    const them = unnamed === 1 ? "1 file matches whose name is" : `${unnamed} files match whose names are`;
    notes.push(`${them} not UTF-8, so no call can name ${unnamed === 1 ? "it" : "them"}`);
  }
  if (unshown > 0) {
    const them =
      unshown === 1
        ? "1 result could not be shown because its file"
        : `${unshown} results could not be shown because their files`;
    notes.push(`${them} changed meanwhile, search again`);
  }
  return notes.filter((note) => note !== undefined);
}

const entryWords = { content: "lines", files: "files", count: "files" } as const;

const bracesNote = ({ takenAs }: GrepOutcome): string | undefined =>
  takenAs === undefined ? undefined : `Braces that repeat nothing are taken literally, as in ${quoted(takenAs)}`;

function pageNote({ mode, skip, entriesShown, entriesTotal, next, stopped }: GrepOutcome, names: Names) {
  if (next === undefined) return undefined;
  const floor = entriesTotal.counted === "at least" ? "at least " : "";
  const range = `${entryWords[mode]} ${skip + 1} to ${skip + entriesShown} of ${floor}${entriesTotal.number}`;
  const why = stopped === "bytes" ? ", as much as one answer holds" : "";
  const reaches = names.skip !== undefined && next <= limits.searchSkipMax;
  const way = reaches ? `go on with ${names.skip} ${next}` : "use a more specific pattern or path";
  return `These are ${range}${why}, ${way}`;
}

function pastEndNote({ mode, skip, entriesShown, entriesTotal }: GrepOutcome) {
  if (skip === 0 || entriesShown > 0 || entriesTotal.number === 0) return undefined;
  const there = entriesTotal.number === 1 ? "There is" : "There are";
  return `${there} only ${tallyWords(entriesTotal, entryWords[mode].slice(0, -1))}, so none behind the first ${skip}`;
}

/** What is wrong with a search: the part after `Cannot search: `. */
export function searchFaultWords(fault: SearchFault, names: Names): string {
  switch (fault.of) {
    case "type": {
      const [near] = fault.nearest;
      const hint =
        near === undefined ? `choose files with ${names.glob} instead` : `did you mean ${fault.nearest.join(" or ")}`;
      return `there is no type of files named ${quoted(fault.type)}, ${hint}`;
    }
    case "glob":
      return `the glob ${quoted(fault.glob)} cannot be used: ${patternFaults[fault.fault]}`;
    case "pattern":
      return fault.why === "engine" ? engineWords(fault, names) : patternWords[fault.why];
  }
}

const patternWords = {
  empty: "the pattern is empty, which would match every line, give a regular expression",
  nul: "the pattern holds a NUL character, which no text has",
  "too long": "the pattern is too long, search for a shorter part of it",
} as const;

function engineWords(fault: Extract<SearchFault, { readonly why: "engine" }>, names: Names): string {
  const { pattern, message, at, remedy } = fault;
  const where = at === undefined ? "" : ` at character ${at}`;
  const said = `the pattern ${quoted(pattern)} is not a regular expression${where}: ${escapeName(message)}`;
  switch (remedy) {
    case "escape braces":
      return `${said}, write \\{ and \\} for braces that are meant literally`;
    case "escape":
      return `${said}, put a backslash before a character that is meant literally`;
    case "no look-around":
      return `${said}, search for the plain part and look at what surrounds it`;
    case "several lines":
      return names.multiline === undefined
        ? `${said}, search for the parts line by line`
        : `${said}, set ${names.multiline} to true to match over line ends`;
    case undefined:
      return said;
  }
}

export const noRipgrepWords = (install: string): string =>
  `ripgrep, which searches files, is not installed: ask the user to run npm install ${install}, or to install ripgrep so that rg is on the PATH`;

// A folder as an indented list with sizes and kinds, and notes on what is left out.

/** `mark` precedes each name. */
export const treeLines = (entries: readonly TreeEntry[], mark: string, indentAll = "  "): readonly string[] =>
  treeRows(entries, indentAll).map(({ indent, name, note }) => indent + mark + name + note);

export interface TreeRow {
  readonly indent: string;
  readonly kind: TreeEntry["kind"] | "more";
  readonly name: string;
  readonly note: string;
}

export function treeRows(entries: readonly TreeEntry[], indent = "  "): readonly TreeRow[] {
  return entries.flatMap((entry) => {
    const more = (entry.entriesTotal ?? 0) - (entry.entries?.length ?? 0);
    const below = entry.entries === undefined ? [] : treeRows(entry.entries, `${indent}  `);
    const rest: TreeRow = { indent: `${indent}  `, kind: "more", name: "", note: `(${more} more)` };
    return [
      { indent, kind: entry.kind, ...nameAndNote(entry) },
      ...below,
      ...(below.length > 0 && more > 0 ? [rest] : []),
    ];
  });
}

function nameAndNote(entry: TreeEntry): Pick<TreeRow, "name" | "note"> {
  const name = escapeName(entry.name);
  switch (entry.kind) {
    case "directory":
      return { name: `${name}/`, note: folderNote(entry) };
    case "link":
      if (entry.linkText === undefined) return { name, note: " (link)" };
      return {
        name: `${name} -> ${escapeName(entry.linkText)}${entry.leadsTo === "directory" ? "/" : ""}`,
        note: "",
      };
    case "file":
      return { name, note: entry.sizeBytes === undefined ? "" : ` (${sizeOf(entry.sizeBytes)})` };
    case "special":
      return { name, note: " (pipe, socket or device)" };
    case "unknown":
      return { name, note: " (cannot be looked at)" };
  }
}

function folderNote({ closed, entriesTotal, entriesLeftOut = 0 }: TreeEntry): string {
  if (closed === "unreadable") return " (cannot be read)";
  const notes: string[] = [];
  if (closed !== undefined && entriesTotal !== undefined) {
    notes.push(`${entriesTotal} ${entriesTotal === 1 ? "entry" : "entries"}`);
  }
  if (closed === "ignored") notes.push("ignored");
  if (entriesLeftOut > 0) notes.push(`${entriesLeftOut} left out`);
  else if (entriesTotal === 0) notes.push("empty");
  return notes.length === 0 ? "" : ` (${notes.join(", ")})`;
}

/** At most four digits and a unit. */
function sizeOf(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  const units = ["kB", "MB", "GB", "TB"];
  let value = bytes / 1_000;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)} ${units[unit] ?? ""}`;
}

/** Notes on a tree, a sentence each, without mark and period. `next`: how to go on. */
export function treeNotes(outcome: TreeOutcome, next: (from: number) => string): readonly string[] {
  const notes: string[] = [];
  const { from, entries, entriesTotal } = outcome;
  if (outcome.next !== undefined) {
    notes.push(`Entries ${from} to ${from + entries.length - 1} of ${entriesTotal}, ${next(outcome.next)}`);
  }
  const rest = outcome.leftOut - (outcome.next === undefined ? 0 : entriesTotal - outcome.next + 1);
  if (rest > 0) {
    const what = rest === 1 ? "1 entry of a folder below is" : `${rest} entries of folders below are`;
    notes.push(`${what} not shown, list those folders by themselves`);
  }
  if (outcome.ignored > 0)
    notes.push(`${severalEntries(outcome.ignored, "entry", "entries")} left out as asked by ignore`);
  if (outcome.hiddenByRules > 0)
    notes.push(`${severalEntries(outcome.hiddenByRules, "entry", "entries")} withheld by permission rules`);
  return notes;
}

const severalEntries = (count: number, one: string, more: string): string =>
  `${count} ${count === 1 ? `${one} is` : `${more} are`}`;
