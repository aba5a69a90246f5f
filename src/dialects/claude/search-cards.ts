/** The tools of the `claude` dialect that look for files by their names. */

import * as z from "zod/mini";
import { lineNumber } from "../../contract/brand.ts";
import { limits } from "../../contract/limits.ts";
import type { Card } from "../dialect.ts";
import { integer, jsonSchemaOf, optional, parseArguments } from "../parameters.ts";
import globDescription from "./glob.txt";
import lsDescription from "./ls.txt";

const globInput = z.strictObject({ pattern: z.string(), path: optional(z.string()) });
const lsInput = z.strictObject({
  path: z.string(),
  ignore: optional(z.array(z.string())),
  offset: optional(integer({ min: 1 })),
});

/** What a call of `Glob` may hold. */
export interface GlobInput {
  readonly pattern: string;
  /** The folder to search; the whole workspace by default. */
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

const glob: Card = {
  name: "Glob",
  verb: "glob",
  description: globDescription,
  readOnly: true,
  get inputSchema() {
    return jsonSchemaOf(globInput, {
      pattern: { description: 'Pattern of the paths, such as "**/*.ts" or "src/**/*.{js,jsx}"' },
      path: { description: "Folder to search; the whole workspace by default" },
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
  description: lsDescription,
  readOnly: true,
  get inputSchema() {
    return jsonSchemaOf(lsInput, {
      path: { description: "Path of the folder" },
      ignore: { description: 'Patterns of what to leave out, such as ["*.log", "dist/"]', items: { type: "string" } },
      offset: { description: "First entry of the folder to list, counted from 1, if it has more than one page" },
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

export const searchCards: readonly Card[] = [glob, ls];
