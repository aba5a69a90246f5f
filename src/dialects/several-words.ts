/** Why several files were not changed together, by a patch or as a folder: clauses like those of `change-words.ts`. */

import { limits } from "../contract/limits.ts";
import type { FolderFault, ProblemOf } from "../contract/problem.ts";
import { cutChars } from "../text/encoding.ts";
import { enumeration } from "./change-words.ts";
import { quoted } from "./words.ts";

/** What is wrong with a patch: the line, and what is expected there. */
export function patchFaultWords({
  fault,
  line,
  text,
}: Extract<ProblemOf<"INVALID_PARAM">, { reason: "patch" }>): string {
  const at = `line ${line} of the patch (${quoted(cutChars(text, 120))})`;
  switch (fault) {
    case "no begin":
      return "a patch begins with the line *** Begin Patch";
    case "no end":
      return "a patch ends with the line *** End Patch, which is missing; was it cut off? Send it whole, or in parts";
    case "text after end":
      return `${at} stands behind *** End Patch`;
    case "empty":
      return "the patch names no file";
    case "unknown line":
      return `${at} is none of *** Add File:, *** Update File:, *** Delete File:, @@, or a line that begins with a blank, - or +`;
    case "no path":
      return `${at} names no file`;
    case "blanks around path":
      return `${at}: write one blank before the path and none behind it; a file whose name begins or ends with a blank cannot be patched, change it with another tool`;
    case "add line without +":
      return `${at}: every line of an added file begins with +`;
    case "blank line without mark":
      return `${at}: an empty line needs its mark here, a blank for a line that stays or + for a new one`;
    case "empty hunk":
      return `${at}: there is nothing behind it`;
    case "nothing changes":
      return `${at}: it neither changes a line nor moves the file`;
    case "same lines":
      return `line ${line} of the patch: the lines that are taken out and put in are the same, so nothing would change`;
    case "same file twice":
      return `${at}: the file stands in the patch before, put all its changes into one section`;
    case "two names":
      return `${quoted(cutChars(text, 120))} is a file that the patch names before by another name, put all its changes into one section`;
    case "in a new file":
      return `${quoted(cutChars(text, 120))} would lie in a file that the same patch makes, give one of them another name`;
    case "unified diff":
      return "this is a unified diff; write it as *** Begin Patch, *** Update File: path, @@, lines with a blank, - or +, *** End Patch";
  }
}

/** Why nothing is taken away by the name of a link. */
export const linkWords = ({ leadsTo, would }: Extract<ProblemOf<"INVALID_PARAM">, { reason: "link" }>): string =>
  `it is a link, and what would ${would} is ${quoted(leadsTo)}, name that by its own path`;

/** Why a folder is neither deleted nor moved as a whole. Which of its files rules withhold is not told. */
export const folderFaultWords = {
  root: "it is a root of the workspace, name something in it",
  "into itself": "its new name lies in the folder itself, use another one",
  links: "there are links in it, which are left alone, do it with its files one by one",
  special: "there are things in it that are no files, do it with its files one by one",
  withheld: "the rules do not let you work with all that is in it, do it with its files one by one",
  "too many": `it has more than ${limits.folderFilesMax} files, do it with its folders one by one`,
  unreadable: "not all of it could be read, do it with its files one by one",
} satisfies Readonly<Record<FolderFault, string>>;

/** Of several files one could not be written: the cause, and what became of the others. */
export function rolledBackWords({ putBack, left }: ProblemOf<"ROLLED_BACK">, cause: string): string {
  const back = putBack.map(({ asked }) => quoted(asked));
  const undone = back.length === 0 ? "" : `; what was changed before (${enumeration(back)}) was put back`;
  if (left.length === 0) return `${cause}${undone}, so no file was changed`;
  return `${cause}${undone}; ${enumeration(left.map(({ asked }) => quoted(asked)))} could not be put back and must be looked at`;
}
