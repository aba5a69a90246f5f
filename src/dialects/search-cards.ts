/** `Glob` and `LS`, as the `claude` and the `envelope` dialect call them. */

import * as z from "zod/mini";
import { lineNumber } from "../contract/brand.ts";
import { limits } from "../contract/limits.ts";
import type { Card } from "./dialect.ts";
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
