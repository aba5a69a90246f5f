/** `Glob` and `LS`, as the `claude` and the `envelope` dialect call them. */

import * as z from "zod/mini";
import { limits } from "../contract/limits.ts";
import { lineNumber } from "../contract/target.ts";
import type { Card } from "./dialect.ts";
import { turnsDefault } from "./history-text.ts";
import { integer, jsonSchemaOf, parseArguments } from "./parameters.ts";

/** What a call of `Glob` may hold. */
export interface GlobInput {
  readonly pattern: string;
  /** The folder to search; everything by default. */
  readonly path?: string;
}

/** What a call of `LS` may hold. */
export interface LsInput {
  readonly path: string;
  /** Patterns of what to leave out. */
  readonly ignore?: readonly string[];
  /** First entry of the folder itself, counted from 1. */
  readonly offset?: number;
}

interface Word {
  readonly description: string;
  readonly default?: number;
}

export function searchCardsOf(
  descriptions: { readonly glob: string; readonly ls: string },
  words: { readonly globPath: Word; readonly lsPath: Word; readonly lsOffset: Word },
): readonly Card[] {
  const globInput = z.strictObject({ pattern: z.string(), path: z.optional(z.string()) });
  const lsInput = z.strictObject({
    path: z.string(),
    ignore: z.optional(z.array(z.string())),
    offset: z.optional(integer({ min: 1 })),
  });
  const glob: Card = {
    name: "Glob",
    verb: "glob",
    description: descriptions.glob,
    readOnly: true,
    get inputSchema() {
      return jsonSchemaOf(globInput, {
        pattern: { description: 'Pattern of the paths, such as "**/*.ts" or "src/**/*.{js,jsx}"' },
        path: words.globPath,
      });
    },
    toRequest(input) {
      const { pattern, path } = parseArguments(globInput, "Glob", input);
      return { verb: "glob", pattern, path: path ?? undefined, filesMax: limits.globFilesMax };
    },
  };

  const ls: Card = {
    name: "LS",
    verb: "ls",
    description: descriptions.ls,
    readOnly: true,
    get inputSchema() {
      return jsonSchemaOf(lsInput, {
        path: words.lsPath,
        ignore: { description: 'Patterns of what to leave out, such as ["*.log", "dist/"]', items: { type: "string" } },
        offset: words.lsOffset,
      });
    },
    toRequest(input) {
      const { path, ignore, offset } = parseArguments(lsInput, "LS", input);
      return {
        verb: "ls",
        path,
        from: lineNumber(offset ?? 1),
        entriesMax: limits.treeEntriesMax,
        depth: limits.treeLevels,
        ignore: ignore ?? [],
      };
    },
  };

  return [glob, ls];
}

// `History` and `Rewind`, as the `claude` and the `envelope` dialect call them.

/** What a call of `History` may hold. */
export interface HistoryInput {
  /** One turn, with its diffs. */
  readonly turn?: string;
  /** Only what happened to this file, or below this folder. */
  readonly path?: string;
  /** First turn to list, or first file of the turn; counted from 1. */
  readonly offset?: number;
  /** How many of them, at most 100; 20 by default. */
  readonly limit?: number;
}

/** What a call of `Rewind` may hold. */
export interface RewindInput {
  /** Files become what they were before this turn. */
  readonly turn: string;
  /** Only these files, or what is below these folders. */
  readonly paths?: readonly string[];
  readonly dry_run?: boolean;
  /** Also over what somebody else changed since. */
  readonly force?: boolean;
}

/** `where`: what is added to the words about a path. */
export function historyCardsOf(
  descriptions: { readonly history: string; readonly rewind: string },
  where: string,
): readonly Card[] {
  const historyInput = z.strictObject({
    turn: z.optional(z.string()),
    path: z.optional(z.string()),
    offset: z.optional(integer({ min: 1 })),
    limit: z.optional(integer({ min: 1, max: limits.historyItemsMax })),
  });
  const rewindInput = z.strictObject({
    turn: z.string(),
    paths: z.optional(z.array(z.string()).check(z.minLength(1))),
    dry_run: z.optional(z.boolean()),
    force: z.optional(z.boolean()),
  });
  const history: Card = {
    name: "History",
    verb: "history",
    description: descriptions.history,
    readOnly: true,
    optIn: "history",
    get inputSchema() {
      return jsonSchemaOf(historyInput, {
        turn: { description: "One turn, with its diffs; all turns are listed without it" },
        path: { description: `Only what happened to this file, or below this folder${where}` },
        offset: { description: "First turn to list, or first file of the turn; counted from 1", default: 1 },
        limit: { description: "How many turns or files", default: turnsDefault },
      });
    },
    toRequest(input, profile) {
      const { turn, path, offset, limit } = parseArguments(historyInput, "History", input);
      const page = { from: offset ?? 1, itemsMax: limit ?? turnsDefault };
      return { verb: "history", turn: turn ?? undefined, path: path ?? undefined, ...page, profile };
    },
  };

  const rewind: Card = {
    name: "Rewind",
    verb: "rewind",
    description: descriptions.rewind,
    readOnly: false,
    optIn: "history",
    get inputSchema() {
      return jsonSchemaOf(rewindInput, {
        turn: { description: 'The turn to go back before, as History names it; "start" is the beginning' },
        paths: { description: "Only these files, or what is below these folders", items: { type: "string" } },
        dry_run: { description: "Tell what would be done and write nothing", default: false },
        force: { description: "Also overwrite what somebody else changed since", default: false },
      });
    },
    toRequest(input) {
      const { turn, paths, dry_run, force } = parseArguments(rewindInput, "Rewind", input);
      const files = paths ?? undefined;
      const as = files === undefined ? "rewind" : "partial";
      return { verb: "rewind", to: turn, files, force: force ?? false, as, byModel: { dryRun: dry_run ?? false } };
    },
  };

  return [history, rewind];
}

// How a call says which name in a file is meant, for tools that ask language servers.

export interface CodePlaceInput {
  readonly line?: number;
  /** The name that is meant, as it stands on the line. */
  readonly symbol?: string;
  /** Where it stands, if there is no symbol; counted from 1. */
  readonly column?: number;
}

export const placeShape = {
  line: z.optional(integer({ min: 1 })),
  symbol: z.optional(z.string().check(z.minLength(1))),
  column: z.optional(integer({ min: 1 })),
};

export const placeWords = {
  line: { description: "The line that the symbol stands on, counted from 1" },
  symbol: { description: "The name that is meant, as it stands on that line" },
  column: { description: "Instead of symbol: the column, counted from 1" },
} as const;

interface Given {
  readonly line?: number | undefined;
  readonly symbol?: string | undefined;
  readonly column?: number | undefined;
}

export const placeIn = ({ line, symbol, column }: Given) => ({ line, symbol, column });
