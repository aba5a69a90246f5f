/** Sentences and parts of sentences that dialects share where the specification gives none. */

import type { Reply, ReplyPart } from "../contract/call.ts";
import type { LineNumbers, NumberStyle } from "../contract/profile.ts";
import { ownSource } from "../contract/permission.ts";
import type { ArgumentIssue, MediaKind, PathFault, ProblemOf, SpecialKind, Suggestion } from "../contract/problem.ts";
import { cutChars, escapeName, numberLines, tooManyParts } from "../text/text.ts";

/** A name or path in a sentence: on one line, and no longer than a path can be. */
export const spelled = (path: string): string =>
  escapeName(path.length > charsMax ? `${cutChars(path, charsMax)}...` : path);
/** PATH_MAX of Linux. */
const charsMax = 4_096;

export const quoted = (path: string): string => `"${spelled(path)}"`;

/** What a dialect calls the tools, parameters and options that a sentence tells its reader to use. */
export interface Names {
  readonly read: string;
  readonly search: string;
  readonly history: string;
  readonly rewind: string;
  readonly notebookTool: string | undefined;
  /** The number of the first line, turn or result in calls. */
  readonly first: 0 | 1;
  readonly old: string;
  readonly new: string;
  /** How to replace every place, not only one. */
  readonly allPlaces: string;
  /** How to see lines that were not shown. */
  readonly reading: (from: number, lines: number) => string;
  /** How to see the rest of a line, from a character on that counts from 1. */
  readonly readingRest: (line: number, column: number) => string;
  /** How Read numbers lines; undefined: not at all. */
  readonly numbers: NumberStyle | undefined;
  /** How a notebook that is no JSON is repaired. */
  readonly repair: string;
  readonly skip: string | undefined;
  readonly glob: string;
  readonly multiline: string | undefined;
  /** What makes Rewind overwrite the changes of others. */
  readonly force: string;
}

/** Forms of line numbers. Each is one object, since pages cache their text by it. */
export const numberStyles = {
  arrow: { digitsMin: 1, pad: " ", mark: "→" },
  tab: { digitsMin: 1, pad: " ", mark: "\t" },
  "every-5": { digitsMin: 1, pad: " ", mark: "\t", every: 5 },
  "every-10": { digitsMin: 1, pad: " ", mark: "\t", every: 10 },
  none: undefined,
} as const satisfies Readonly<Record<LineNumbers, NumberStyle | undefined>>;

export const plainNames: Names = {
  read: "Read",
  search: "Grep",
  history: "History",
  rewind: "Rewind",
  notebookTool: "NotebookEdit",
  first: 1,
  old: "old_string",
  new: "new_string",
  allPlaces: "set replace_all to true",
  reading: (from, lines) => `offset ${from} and limit ${lines}`,
  readingRest: (line, column) => `column ${column} and offset ${line}`,
  numbers: numberStyles.arrow,
  repair: "read its text with offset 1 and limit 200 and repair that with Edit",
  skip: "offset",
  glob: "glob",
  multiline: "multiline",
  force: "force",
};

/** What is wrong with an argument, as a clause: `"offset" must be …`. */
export function argumentFault(issue: ArgumentIssue): string {
  switch (issue.fault) {
    case "missing":
      return `"${issue.name}" is missing: give ${issue.expected}${issue.long ? ", in smaller parts if the call was cut off" : ""}`;
    case "cut off":
      return `"${issue.name}" is JSON that ends too early, after ${issue.chars} characters, so nothing was done: send less at once, a long text in smaller parts`;
    case "too many parts":
      return `"${issue.name}" is JSON of ${issue.chars} characters that ${tooManyParts}`;
    case "type":
      return `"${issue.name}" must be ${issue.expected}${orLeftOut(issue)}, not ${escapeName(issue.got)}`;
    case "range":
      return `"${issue.name}" must be ${boundsWords(issue.min, issue.max)}${orLeftOut(issue)}, not ${issue.got}`;
    case "unknown": {
      const known = issue.known.map((name) => `"${name}"`).join(", ");
      const hint = issue.nearest === undefined ? `known are ${known}` : `or did you mean "${issue.nearest}"`;
      return `"${escapeName(issue.name)}" is not a parameter: leave it out, ${hint}`;
    }
  }
}

export const orLeftOut = ({ optional }: { readonly optional: boolean }): string => (optional ? " or left out" : "");

export function boundsWords(min: number | undefined, max: number | undefined): string {
  if (min !== undefined && max !== undefined) return `from ${min} to ${max}`;
  return min === undefined ? `at most ${max}` : `at least ${min}`;
}

/** For a path that a program built from a missing value. */
export const noValueHint = (asked: string): string | undefined =>
  asked === "undefined" || asked === "null" ? "give a real path or leave the parameter out" : undefined;

export const pathFaults = {
  empty: "it is empty, give the path of a file",
  nul: "it holds a NUL character, which no file name has",
  network: "it names a network share, use a path inside the workspace",
  "device namespace": "it names a device, use a path inside the workspace",
  "drive relative": "it depends on a drive's current folder, give the whole path",
  stream: "it names an alternate data stream, use the file's plain name",
  reserved: "Windows reserves this name or takes it for another one, use another name",
  "too long": "it is longer than the system allows (4096 bytes, 255 for one name), shorten it",
  "half character":
    "it holds half a character (a lone surrogate), which no file name has, send the name as it is listed",
  variable: "shell variables are not expanded here and there is no such name, write the path out",
  quoted: "it has quotes around it, leave them out, or put ./ before them if they belong to the name",
  "home of another": "only ~/ means a home folder here and there is no such name, write the path out",
  drive: "it begins with a drive of Windows, and this system has none, use a path of this system",
  "names a folder": "a path that ends with a separator or a dot after one names a folder, give the path of a file",
} satisfies Readonly<Record<PathFault, string>>;

export const specialWords = {
  FIFO: "a named pipe",
  socket: "a socket",
  "character device": "a character device",
  "block device": "a block device",
  "kernel file": "a file of the kernel's own, not of a disk",
} satisfies Readonly<Record<SpecialKind, string>>;

export const mediaWords = {
  image: "an image",
  pdf: "a PDF",
  notebook: "a notebook",
  office: "an office document",
} satisfies Readonly<Record<MediaKind, string>>;

export const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

export const capitalised = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1);

export const rangeUnits = { lines: "line", entries: "entry", cells: "cell" } as const;

/** `, did you mean "a" or the folder "b"`; empty without suggestions. */
export function didYouMean(suggestions: readonly Suggestion[], spell = (absolute: string) => absolute): string {
  if (suggestions.length === 0) return "";
  const names = suggestions.map(
    ({ kind, absolute }) => (kind === "directory" ? "the folder " : "") + quoted(spell(absolute)),
  );
  const last = names.pop() ?? "";
  return `, did you mean ${names.length > 0 ? `${names.join(", ")} or ` : ""}${last}`;
}

/** Why access was denied, and what to do: the part after `Cannot read "x": `. */
export function denialClause(problem: ProblemOf<"ACCESS_DENIED">): string {
  switch (problem.reason) {
    case "outside":
      return `it is outside the workspace, use a path below ${problem.roots.map(quoted).join(" or ")}`;
    case "root changed":
      return "the workspace folder was replaced while running, start again with the folder as it is now";
    case "other mount":
      return "another file system is mounted there and the user allows only one, use a path outside that mount";
    case "other names":
      return "the file has other names (hard links), maybe outside the workspace, and the user denies such files, ask the user for a copy";
    case "read-only":
      return "it is read-only, ask the user to make it writable (or to check it out) if it should be changed";
    case "system":
      return "the system does not permit it, ask the user to change the file's permissions";
    case "mode":
      return problem.mode === "plan"
        ? "the session is planning and nothing is written until the user ends that, say what you would change instead"
        : "the session is read-only and nothing is written whatever the rules say, tell the user what you would change";
    case "rule":
      return problem.source === ownSource
        ? `it is one of Filehand's own files (the built-in rule ${problem.rule}) and no rule lifts that, leave it to the user`
        : `the rule ${problem.rule} (${problem.source}) denies it, ask the user to change the rule`;
    case "nobody to ask": {
      const way =
        problem.everyTime === true
          ? "no rule lifts that, ask the user to make this change"
          : problem.remedy === undefined
            ? "ask the user to change that rule"
            : `the rule ${escapeName(problem.remedy)} would allow it`;
      const who = problem.rule === "" ? "a change needs" : `the rule ${problem.rule} needs`;
      return problem.closed === true
        ? `${who} approval and the question was closed without approval, do not retry unless the user says so: ${way}`
        : `${who} approval and nobody is connected who could give it, ${way}`;
    }
    case "rejected":
      return problem.feedback === undefined
        ? "the user rejected it, do not retry unless the user says so"
        : `the user rejected it and says: ${quoted(problem.feedback)}`;
  }
}

/** `"3-7"`, as the parameter `pages` takes it. */
export const pageSpan = (from: number, count: number): string =>
  count === 1 ? `"${from}"` : `"${from}-${from + count - 1}"`;

/** What is wrong with `pages`, and what would be right. */
export function pagesFault({
  fault,
  kind,
  pagesTotal,
  pagesMax,
  from = 1,
}: Extract<ProblemOf<"INVALID_PARAM">, { reason: "pages" }>): string {
  const legal = `pages 1 to ${pagesTotal}`;
  switch (fault) {
    case "no pages":
      return kind === "image"
        ? "it is an image, leave pages out"
        : "it is not a PDF, leave pages out and use offset and limit instead";
    case "form":
      return `pages must look like "3" or "1-5", it has ${legal}`;
    case "order":
      return `a range of pages must not end before it begins, it has ${legal}`;
    case "past the end":
      return `it has only ${legal}`;
    case "too many":
      return `at most ${pagesMax} pages can be read at once, it has ${legal}, read pages ${pageSpan(from, pagesMax)} instead`;
    case "choose":
      return `it has ${pagesTotal} pages, choose at most ${pagesMax} of them with pages, such as "1-${pagesMax}"`;
  }
}

type MediaFault =
  | ProblemOf<"DAMAGED" | "ENCRYPTED" | "NO_CODEC">
  | Extract<ProblemOf<"TOO_LARGE">, { readonly kind: MediaKind }>;

/** Why a file of a kind cannot be read: the part after `Cannot read "x": `. `repair`: what to do about a notebook's JSON. */
export function mediaFault(problem: MediaFault, repair: string): string {
  const what = mediaWords[problem.kind];
  switch (problem.code) {
    case "DAMAGED": {
      if (problem.kind === "notebook" && problem.empty === true) return "it is empty, write a notebook into it first";
      const next = problem.kind === "notebook" ? repair : "ask for a whole copy";
      return `it is ${what}, but a damaged one (${escapeName(problem.detail).slice(0, 200)}), ${next}`;
    }
    case "ENCRYPTED":
      return `it is ${what} behind a password, ask the user for a copy without one`;
    case "TOO_LARGE":
      return `it is ${what} over the limit (${problem.limit}), ask for a smaller one`;
    case "NO_CODEC":
      return `it is ${what}, which needs a package that is not installed, ask the user to run npm install ${problem.install}`;
  }
}

/** Why a file counts as binary: the part after `Cannot read "x": `. */
export function binaryReason(problem: ProblemOf<"BINARY_FILE">): string {
  switch (problem.reason) {
    case "content":
      return "its content is binary";
    case "kind":
      return `it is ${mediaWords[problem.kind]}, which is not text`;
    case "extension":
      return `the extension ${problem.restricted} is restricted`;
    case "name":
      return `the name ${escapeName(problem.restricted)} is restricted`;
  }
}

/** Lines of a file as Read would show them. */
export const numberedText = (lines: readonly string[], first: number, numbers: NumberStyle | undefined): string =>
  numbers === undefined ? lines.join("\n") : numberLines(lines.join("\n"), first, numbers, false, "", "");

// The shapes of a reply that every dialect makes.

/** An answer of a tool that all dialects word alike; each dialect puts it into its own frame. */
export interface SharedAnswer<Fields> {
  readonly text: string;
  readonly fields: Fields;
  /** Whether not all is shown. */
  readonly truncated: boolean;
  /** Whether not all was done or is shown. */
  readonly partial: boolean;
  readonly title: string;
  /** The path that the call named, relative to the root. */
  readonly resolved: string | undefined;
}

/** How a dialect spells the path of a file for programs. */
export type SpellPath = (absolute: string) => string;

/** A note in brackets, without a period. */
export const bracketed = (note: string): string => `[${capitalised(note)}]`;

export const successReply = <Structured>(text: string, structured: Structured): Reply<Structured> => ({
  content: [textPart(text)],
  structured,
  isError: false,
});

/** A failure of a dialect that has no structured form for it. */
export const failureReply = (code: string, message: string): Reply<never> => ({
  content: [textPart(message)],
  structured: null,
  isError: true,
  error: { code, message },
});

/** Ends an answer that is too long and has no pages. */
const cutNote = "\n[The answer is cut here: it is longer than one answer may be]";

/** Truncates a reply's texts until `fits` accepts it. Pictures and the structured part stay. */
export function cutReply(reply: Reply, fits: (reply: Reply) => boolean): Reply {
  if (fits(reply)) return reply;
  const texts = reply.content.flatMap((part) => (part.type === "text" ? [part.text] : []));
  const pictures = reply.content.filter(({ type }) => type !== "text");
  const whole = texts.join("\n\n");
  const cutAt = (chars: number): Reply => ({
    ...reply,
    content: [textPart(cutChars(whole, chars) + cutNote), ...pictures],
  });
  let [most, tooMany] = [0, whole.length];
  while (tooMany - most > 1) {
    const middle = Math.floor((most + tooMany) / 2);
    if (fits(cutAt(middle))) most = middle;
    else tooMany = middle;
  }
  return cutAt(most);
}

const textPart = (text: string): ReplyPart => ({ type: "text", text });

/** What becomes of a call whose answer was lost with the connection to a remote workspace. */
export const lostCallSentences = {
  "not applied": (tool: string, place: string) =>
    `Cannot finish ${tool}: the connection to ${quoted(place)} was lost during the call, and nothing was changed, call it again`,
  unknown: (tool: string, place: string) =>
    `Cannot say whether ${tool} was applied: the connection to ${quoted(place)} was lost during the call, read the file again before you go on`,
} as const;
