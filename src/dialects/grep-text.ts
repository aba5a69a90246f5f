/** What the dialects say alike about a search: the lines of an answer, and what stands below them. */

import type { GrepLine, GrepOutcome, SearchFault, Tally } from "../contract/grep.ts";
import { limits } from "../contract/limits.ts";
import { escapeName } from "../text/escape.ts";
import { patternFaults } from "./glob-words.ts";
import { quoted } from "./words.ts";

/** Where a line of `grep` was too long. */
const cutMark = "...";

/** One line, whatever its file holds; what is left out of a long one is marked. */
export const shownText = ({ text, cutBefore, cutBehind }: GrepLine): string =>
  `${cutBefore ? cutMark : ""}${text}${cutBehind ? cutMark : ""}`;

/** Do these two lines of an answer follow each other in their file? */
export const follows = (line: GrepLine, before: GrepLine | undefined): boolean =>
  before === undefined || line.line === before.line + 1;

export const tallied = ({ number, counted }: Tally, one: string, many = `${one}s`): string =>
  `${counted === "at least" ? "at least " : ""}${number} ${number === 1 ? one : many}`;

/** The names of what can be changed in a call. */
export interface GrepNames {
  readonly offset: string | undefined;
  readonly glob: string;
  readonly multiline: string | undefined;
}

/** What the answer leaves out, and what to do about it; each a sentence without a period. */
export function grepNotes(outcome: GrepOutcome, names: GrepNames): readonly string[] {
  const { withheld, links, unreadable, ignored, binary, unnamed, unshown } = outcome;
  const notes = [pageNote(outcome, names), pastEndNote(outcome)];
  if (outcome.timedOutMs !== undefined) {
    notes.push(
      `The search was stopped after ${outcome.timedOutMs} ms, there may be more: search a smaller folder, or fewer files with ${names.glob}`,
    );
  }
  if (ignored.number > 0) {
    const them = tallied(ignored, "ignored file matches", "ignored files match");
    notes.push(`${them}, to search an ignored folder or file give it as path`);
  }
  if (withheld.number > 0) {
    const them = tallied(withheld, "file was", "files were");
    const hides = withheld.number === 1 ? "a permission rule hides it" : "permission rules hide them";
    notes.push(`${them} not searched because ${hides}, read such a file by its path if you need it`);
  } else if (withheld.counted === "at least") {
    notes.push(
      "Files that permission rules hide were not searched, if there are any, there are too many files to tell",
    );
  }
  if (links.number > 0) {
    const them = tallied(links, "link was", "links were");
    notes.push(`${them} not followed, give a link as path to search what it leads to if that lies in the workspace`);
  }
  if (unreadable.number > 0) {
    const them = tallied(unreadable, "file or folder", "files or folders");
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

function pageNote({ mode, skip, entriesShown, entriesTotal, next, stopped }: GrepOutcome, names: GrepNames) {
  if (next === undefined) return undefined;
  const floor = entriesTotal.counted === "at least" ? "at least " : "";
  const range = `${entryWords[mode]} ${skip + 1} to ${skip + entriesShown} of ${floor}${entriesTotal.number}`;
  const why = stopped === "bytes" ? ", as much as one answer holds" : "";
  const reaches = names.offset !== undefined && next <= limits.searchSkipMax;
  const way = reaches ? `go on with ${names.offset} ${next}` : "use a more specific pattern or path";
  return `These are ${range}${why}, ${way}`;
}

function pastEndNote({ mode, skip, entriesShown, entriesTotal }: GrepOutcome) {
  if (skip === 0 || entriesShown > 0 || entriesTotal.number === 0) return undefined;
  const there = entriesTotal.number === 1 ? "There is" : "There are";
  return `${there} only ${tallied(entriesTotal, entryWords[mode].slice(0, -1))}, so none behind the first ${skip}`;
}

/** What is wrong with a search: the part behind `Cannot search: `. */
export function searchFaultWords(fault: SearchFault, names: GrepNames): string {
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

function engineWords(fault: Extract<SearchFault, { readonly why: "engine" }>, names: GrepNames): string {
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
