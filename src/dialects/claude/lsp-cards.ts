/** The tools of the `claude` dialect that ask language servers. */

import * as z from "zod/mini";
import { type LspOperation, lspOperations } from "../../contract/lsp.ts";
import type { Card } from "../dialect.ts";
import { integer, jsonSchemaOf, optional, parseArguments } from "../parameters.ts";
import lspDescription from "./lsp.txt";
import renameDescription from "./rename.txt";

const place = {
  file_path: z.string(),
  line: optional(integer({ min: 1 })),
  symbol: optional(z.string().check(z.minLength(1))),
  column: optional(integer({ min: 1 })),
};

const lspInput = z.strictObject({
  operation: z.enum(lspOperations),
  ...place,
  query: optional(z.string()),
  offset: optional(integer({ min: 1 })),
});

const renameInput = z.strictObject({ ...place, new_name: z.string() });

/** What a call of `Lsp` may hold. */
export interface LspInput {
  readonly operation: LspOperation;
  readonly file_path: string;
  readonly line?: number;
  /** The name that is meant, as it stands on the line. */
  readonly symbol?: string;
  /** Where it stands, if there is no symbol; counted from 1. */
  readonly column?: number;
  /** For workspaceSymbol: a name or a part of one. */
  readonly query?: string;
  /** First result to show, counted from 1. */
  readonly offset?: number;
}

/** What a call of `Rename` may hold. */
export interface RenameInput {
  readonly file_path: string;
  readonly line?: number;
  readonly symbol?: string;
  readonly column?: number;
  readonly new_name: string;
}

const placeWords = {
  line: { description: "The line that the symbol stands on, counted from 1" },
  symbol: { description: "The name that is meant, as it stands on that line" },
  column: { description: "Instead of symbol: the column, counted from 1" },
} as const;

const lsp: Card = {
  name: "Lsp",
  verb: "lsp",
  description: lspDescription,
  readOnly: true,
  optIn: "lsp",
  get inputSchema() {
    return jsonSchemaOf(lspInput, {
      operation: { description: "What to find out" },
      file_path: { description: "Path of the file; for workspaceSymbol any file of the language" },
      ...placeWords,
      query: { description: "For workspaceSymbol: a name or a part of one" },
      offset: { description: "First result to show, counted from 1", default: 1 },
    });
  },
  toRequest(input, profile) {
    const { operation, file_path, line, symbol, column, query, offset } = parseArguments(lspInput, "Lsp", input);
    const at = { line: line ?? undefined, symbol: symbol ?? undefined, column: column ?? undefined };
    return { verb: "lsp", operation, path: file_path, at, query: query ?? undefined, from: offset ?? 1, profile };
  },
};

const rename: Card = {
  name: "Rename",
  verb: "rename",
  description: renameDescription,
  readOnly: false,
  optIn: "rename",
  get inputSchema() {
    return jsonSchemaOf(renameInput, {
      file_path: { description: "Path of a file that the symbol stands in" },
      ...placeWords,
      new_name: { description: "What it shall be called" },
    });
  },
  toRequest(input, profile) {
    const { file_path, line, symbol, column, new_name } = parseArguments(renameInput, "Rename", input);
    const at = { line: line ?? undefined, symbol: symbol ?? undefined, column: column ?? undefined };
    return { verb: "rename", path: file_path, at, newName: new_name, profile };
  },
};

export const lspCards: readonly Card[] = [lsp, rename];
