/** The tools of the two opencode dialects that look for files by their names: how they are called, and what they answer. */

import * as z from "zod/mini";
import { lineNumber } from "../contract/brand.ts";
import type { Reply } from "../contract/call.ts";
import type { GlobOutcome } from "../contract/glob.ts";
import { limits } from "../contract/limits.ts";
import type { TreeOutcome } from "../contract/read.ts";
import { escapeName } from "../text/escape.ts";
import type { Card } from "./dialect.ts";
import { globNotes } from "./glob-words.ts";
import { integer, jsonSchemaOf, parseArguments } from "./parameters.ts";
import { success } from "./replies.ts";
import { treeLines, treeNotes } from "./tree-text.ts";

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
