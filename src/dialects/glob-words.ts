/** What dialects say alike about patterns and about what a search for names left out. */

import type { Counted, GlobOutcome } from "../contract/glob.ts";
import { limits } from "../contract/limits.ts";
import type { PatternFault, Suggestion } from "../contract/problem.ts";
import { didYouMean, quoted } from "./words.ts";

/** What is wrong with a pattern, and what would be right: the part behind `Cannot use the pattern "x": `. */
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

/** What the list of files alone does not tell, a sentence each, without mark and period. */
export function globNotes(
  outcome: GlobOutcome,
  spelling: (suggestion: Suggestion) => string = ({ absolute }) => absolute,
): readonly string[] {
  const { files, total, ignored, hidden, missing } = outcome;
  const notes: string[] = [];
  if (missing !== undefined) {
    notes.push(`There is no folder ${quoted(missing.place.asked)}${didYouMean(missing.suggestions, spelling)}`);
  }
  if (files.length < total.count) {
    notes.push(
      `The newest ${files.length} of ${numberOf(total)} files are shown, narrow the pattern or the path to see others`,
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
  if (outcome.withheld > 0) notes.push(`${several(outcome.withheld, "file")} withheld by permission rules`);
  if (outcome.withheldFolders > 0) {
    notes.push(`${several(outcome.withheldFolders, "folder")} withheld by permission rules and not searched`);
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

export const numberOf = ({ count, counted }: Counted): string => (counted === "all" ? `${count}` : `at least ${count}`);

const several = (count: number, one: string, more = `${one}s`): string =>
  count === 1 ? `1 ${one} was` : `${count} ${more} were`;
const matching = (count: number, what: string): string =>
  count === 1 ? `1 ${what} matches` : `${count} ${what}s match`;
const counted = ({ count, counted: how }: Counted, what: string): string =>
  how === "all" ? matching(count, what) : `At least ${matching(count, what)}`;
