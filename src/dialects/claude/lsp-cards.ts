/** The tools of the `claude` dialect that ask language servers. */

import * as z from "zod/mini";
import { type LspOperation, lspOperations } from "../../contract/lsp.ts";
import { type CodePlaceInput, placeIn, placeShape, placeWords } from "../code-place.ts";
import type { Card } from "../dialect.ts";
import { integer, jsonSchemaOf, parseArguments } from "../parameters.ts";
import lspDescription from "./lsp.txt";
import renameDescription from "./rename.txt";

const place = { file_path: z.string(), ...placeShape };

const lspInput = z.strictObject({
  operation: z.enum(lspOperations),
  ...place,
  query: z.optional(z.string()),
  offset: z.optional(integer({ min: 1 })),
});

const renameInput = z.strictObject({ ...place, new_name: z.string() });

/** What a call of `Lsp` may hold. */
export interface LspInput extends CodePlaceInput {
  readonly operation: LspOperation;
  readonly file_path: string;
  /** For workspaceSymbol: a name or a part of one. */
  readonly query?: string;
  /** First result to show, counted from 1. */
  readonly offset?: number;
}

/** What a call of `Rename` may hold. */
export interface RenameInput extends CodePlaceInput {
  readonly file_path: string;
  readonly new_name: string;
}

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
    const { operation, file_path, query, offset, ...at } = parseArguments(lspInput, "Lsp", input);
    return {
      verb: "lsp",
      operation,
      path: file_path,
      at: placeIn(at),
      query: query ?? undefined,
      from: offset ?? 1,
      profile,
    };
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
    const { file_path, new_name, ...at } = parseArguments(renameInput, "Rename", input);
    return { verb: "rename", path: file_path, at: placeIn(at), newName: new_name, profile };
  },
};

export const lspCards: readonly Card[] = [lsp, rename];
