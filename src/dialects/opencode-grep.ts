/** `grep` of the two opencode dialects: how it is called, and what it answers. */

import * as z from "zod/mini";
import type { Reply } from "../contract/call.ts";
import type { GrepFile, GrepOutcome } from "../contract/grep.ts";
import { escapeName } from "../text/escape.ts";
import type { Card } from "./dialect.ts";
import { grepNotes, shownText, tallied } from "./grep-text.ts";
import { grepNames } from "./opencode-words.ts";
import { jsonSchemaOf, parseArguments } from "./parameters.ts";
import { success } from "./replies.ts";

const entriesMax = 100;
const lineCharsMax = 2_000;

const grepInput = z.strictObject({
  pattern: z.string(),
  path: z.optional(z.string()),
  include: z.optional(z.string()),
});

/** What a call of `grep` may hold. */
export interface GrepInput {
  /** A regular expression, in ripgrep's syntax. */
  readonly pattern: string;
  /** Folder or file to search; the whole workspace by default. */
  readonly path?: string;
  /** Which files, such as "*.js" or "*.{ts,tsx}". */
  readonly include?: string;
}

/** What `grep` answers for programs. */
export interface GrepResult {
  readonly title: string;
  readonly output: string;
  readonly metadata: {
    /** Matching lines, of all files. */
    readonly matches: number;
    readonly truncated: boolean;
    /** False: counting ended before the search did. */
    readonly countIsComplete: boolean;
    /** Files that were not searched because rules hide them. */
    readonly withheld: number;
  };
}

/** The tool with its types. */
export interface GrepTools {
  readonly grep: { readonly input: GrepInput; readonly output: GrepResult };
}

export const grepCard = (description: string): Card => ({
  name: "grep",
  verb: "grep",
  description,
  readOnly: true,
  get inputSchema() {
    return jsonSchemaOf(grepInput, {
      pattern: { description: "Regular expression to look for in the contents of files" },
      path: { description: "Folder or file to search; the whole workspace by default" },
      include: { description: 'Which files to search: "*.js", "*.{ts,tsx}", "src/**"' },
    });
  },
  toRequest(input) {
    const { pattern, path, include } = parseArguments(grepInput, "grep", input);
    return {
      verb: "grep",
      pattern,
      path: path ?? undefined,
      glob: include || undefined,
      types: [],
      mode: "content",
      before: 0,
      after: 0,
      letterCase: "exact",
      reach: "line",
      numbers: true,
      skip: 0,
      entriesMax,
      order: "path",
      lineCharsMax,
    };
  },
});

export function renderGrep(outcome: GrepOutcome): Reply<GrepResult> {
  const notes = grepNotes(outcome, grepNames).map((note) => `(${note})`);
  const output = [headOf(outcome), ...outcome.files.map((file) => blockOf(file, outcome)), notes.join("\n")]
    .filter((part) => part !== "")
    .join("\n\n");
  const { linesTotal, filesTotal, withheld } = outcome;
  return success(output, {
    title: escapeName(outcome.pattern),
    output,
    metadata: {
      matches: linesTotal?.number ?? filesTotal.number,
      truncated: outcome.stopped !== "end" || outcome.timedOutMs !== undefined,
      countIsComplete: outcome.entriesTotal.counted === "all" && filesTotal.counted === "all",
      withheld: withheld.number,
    },
  });
}

function headOf({ linesTotal, filesTotal }: GrepOutcome): string {
  if (filesTotal.number === 0) return "No files found";
  return `Found ${linesTotal === undefined ? tallied(filesTotal, "file") : tallied(linesTotal, "match", "matches")}`;
}

/** Only a host that asks for it by a request of its own gets files or counts in this dialect. */
function blockOf(file: GrepFile, { mode }: GrepOutcome): string {
  const path = escapeName(file.absolute);
  if (mode === "files") return path;
  if (mode === "count") return `${path}: ${file.count}`;
  const lines = file.lines.map((line) => `  Line ${line.line}${line.is === "match" ? ":" : "-"} ${shownText(line)}`);
  return [`${path}:`, ...lines].join("\n");
}
