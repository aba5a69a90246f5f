/** The tools of the two opencode dialects that look for files by their names: how they are called, and what they answer. */

import * as z from "zod/mini";
import type { Reply } from "../../contract/call.ts";
import type { GlobOutcome } from "../../contract/glob.ts";
import type { GrepFile, GrepOutcome } from "../../contract/grep.ts";
import { limits } from "../../contract/limits.ts";
import type { TreeOutcome } from "../../contract/read.ts";
import { lineNumber } from "../../contract/target.ts";
import { escapeName } from "../../text/encoding/escape.ts";
import type { Card } from "../dialect.ts";
import { globNotes, grepNotes, shownText, tallied, treeLines, treeNotes } from "../grep-text.ts";
import { integer, jsonSchemaOf, parseArguments } from "../parameters.ts";
import { success } from "../words.ts";
import { grepNames } from "./sentences.ts";

const globInput = z.strictObject({ pattern: z.string(), path: z.optional(z.string()) });
const listInput = z.strictObject({
  path: z.string(),
  ignore: z.optional(z.array(z.string())),
  offset: z.optional(integer({ min: 1 })),
});

/** What a call of `glob` may hold. */
export interface GlobInput {
  readonly pattern: string;
  /** The folder to search; the whole workspace by default. */
  readonly path?: string;
}

/** What a call of `list` may hold. */
export interface ListInput {
  readonly path: string;
  /** Patterns of what to leave out. */
  readonly ignore?: readonly string[];
  /** First entry of the folder itself, counted from 1. */
  readonly offset?: number;
}

/** What a search answers for programs. */
export interface SearchResult {
  readonly title: string;
  readonly output: string;
  readonly metadata: {
    /** Files or entries that are shown. */
    readonly count: number;
    readonly truncated: boolean;
    /** Of `glob`: all that match, or at least so many if `complete` is false. */
    readonly total?: number;
    readonly complete?: boolean;
  };
}

/** The tools with their types. */
export interface SearchTools {
  readonly glob: { readonly input: GlobInput; readonly output: SearchResult };
  readonly list: { readonly input: ListInput; readonly output: SearchResult };
}

export function searchCards(descriptions: { readonly glob: string; readonly list: string }): readonly Card[] {
  return [
    {
      name: "glob",
      verb: "glob",
      description: descriptions.glob,
      readOnly: true,
      get inputSchema() {
        return jsonSchemaOf(globInput, {
          pattern: { description: 'Pattern of the paths, such as "**/*.ts" or "src/**/*.{js,jsx}"' },
          path: { description: "Folder to search; the whole workspace by default" },
        });
      },
      toRequest(input) {
        const { pattern, path } = parseArguments(globInput, "glob", input);
        return { verb: "glob", pattern, path: path ?? undefined, filesMax: limits.globFilesMax };
      },
    },
    {
      name: "list",
      verb: "ls",
      description: descriptions.list,
      readOnly: true,
      get inputSchema() {
        return jsonSchemaOf(listInput, {
          path: { description: "Path of the folder" },
          ignore: {
            description: 'Patterns of what to leave out, such as ["*.log", "dist/"]',
            items: { type: "string" },
          },
          offset: { description: "First entry of the folder to list, counted from 1, if it has more than one page" },
        });
      },
      toRequest(input) {
        const { path, ignore, offset } = parseArguments(listInput, "list", input);
        return {
          verb: "ls",
          path,
          from: lineNumber(offset ?? 1),
          entriesMax: limits.treeEntriesMax,
          depth: limits.treeLevels,
          ignore: ignore ?? [],
        };
      },
    },
  ];
}

export function renderGlob(outcome: GlobOutcome): Reply<SearchResult> {
  const { files, total, target } = outcome;
  const names = files.map(({ absolute }) => escapeName(absolute));
  const notes = globNotes(outcome).map((note) => `(${note})`);
  const output = [
    ...(files.length === 0 ? ["No files found"] : names),
    ...(notes.length > 0 && files.length > 0 ? [""] : []),
    ...notes,
  ].join("\n");
  const metadata = {
    count: files.length,
    truncated: files.length < total.count || total.counted !== "all",
    total: total.count,
    complete: total.counted === "all",
  };
  return success(output, { title: escapeName(target.relative), output, metadata });
}

export function renderTree(outcome: TreeOutcome): Reply<SearchResult> {
  const { target, entries, shown, leftOut, ignored, withheld } = outcome;
  const notes = treeNotes(outcome, (from) => `use 'offset' ${from} to go on`).map((note) => `(${note})`);
  const none = ignored + withheld > 0 ? "(0 entries shown)" : "(0 entries)";
  const lines = entries.length === 0 ? [none] : treeLines(entries, "");
  const head = `${escapeName(target.absolute)}/`;
  const output = [head, ...lines, ...(notes.length > 0 ? [""] : []), ...notes].join("\n");
  return success(output, {
    title: escapeName(target.relative),
    output,
    metadata: { count: shown, truncated: leftOut > 0 },
  });
}

// `grep` of the two opencode dialects: how it is called, and what it answers.

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
