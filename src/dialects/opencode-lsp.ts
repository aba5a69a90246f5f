/** The tools of the two opencode dialects that ask language servers: how they are called, and what they answer. */

import * as z from "zod/mini";
import type { Reply } from "../contract/call.ts";
import { type LspOperation, type LspOutcome, lspOperations } from "../contract/lsp.ts";
import { escapeName } from "../text/escape.ts";
import { type CodePlaceInput, placeIn, placeShape, placeWords } from "./code-place.ts";
import type { Card, Facts } from "./dialect.ts";
import { type LspEntry, lspEntries, lspHead, lspLines, lspNotes } from "./lsp-text.ts";
import type { ChangeResult } from "./opencode-changes.ts";
import { lspNames } from "./opencode-words.ts";
import { integer, jsonSchemaOf, parseArguments } from "./parameters.ts";
import { success } from "./replies.ts";

/** What a call of `lsp` may hold. */
export interface LspInput extends CodePlaceInput {
  readonly operation: LspOperation;
  readonly filePath: string;
  /** For workspaceSymbol: a name or a part of one. */
  readonly query?: string;
  /** First result to show; in `opencode-legacy` how many to skip. */
  readonly offset?: number;
}

/** What a call of `rename` may hold. */
export interface RenameInput extends CodePlaceInput {
  readonly filePath: string;
  readonly newName: string;
}

/** What `lsp` answers for programs. */
export interface LspResult {
  readonly title: string;
  readonly output: string;
  readonly metadata: {
    readonly operation: string;
    readonly server: string;
    readonly position: { readonly line: number; readonly column: number; readonly symbol: string } | null;
    readonly results: readonly LspEntry[];
    readonly total: number;
    readonly nextOffset: number | null;
    /** Results in files that rules hide. */
    readonly withheld: number;
    readonly hover: string | null;
    readonly truncated: boolean;
  };
}

/** The tools with their types. */
export interface LspTools {
  readonly lsp: { readonly input: LspInput; readonly output: LspResult };
  readonly rename: { readonly input: RenameInput; readonly output: ChangeResult };
}

const place = { filePath: z.string(), ...placeShape };
const renameInput = z.strictObject({ ...place, newName: z.string() });

/** `first`: what the first result is called in a call. */
export function lspCards(
  descriptions: { readonly lsp: string; readonly rename: string },
  first: 0 | 1,
): readonly Card[] {
  const lspInput = z.strictObject({
    operation: z.enum(lspOperations),
    ...place,
    query: z.optional(z.string()),
    offset: z.optional(integer({ min: first })),
  });
  const counted = first === 1 ? "First result to show, counted from 1" : "How many results to skip";
  return [
    {
      name: "lsp",
      verb: "lsp",
      description: descriptions.lsp,
      readOnly: true,
      optIn: "lsp",
      get inputSchema() {
        return jsonSchemaOf(lspInput, {
          operation: { description: "What to find out" },
          filePath: { description: "Path of the file; for workspaceSymbol any file of the language" },
          ...placeWords,
          query: { description: "For workspaceSymbol: a name or a part of one" },
          offset: { description: counted, default: first },
        });
      },
      toRequest(input, profile) {
        const { operation, filePath, query, offset, ...at } = parseArguments(lspInput, "lsp", input);
        const from = (offset ?? first) - first + 1;
        return { verb: "lsp", operation, path: filePath, at: placeIn(at), query: query ?? undefined, from, profile };
      },
    },
    {
      name: "rename",
      verb: "rename",
      description: descriptions.rename,
      readOnly: false,
      optIn: "rename",
      get inputSchema() {
        return jsonSchemaOf(renameInput, {
          filePath: { description: "Path of a file that the symbol stands in" },
          ...placeWords,
          newName: { description: "What it shall be called" },
        });
      },
      toRequest(input, profile) {
        const { filePath, newName, ...at } = parseArguments(renameInput, "rename", input);
        return { verb: "rename", path: filePath, at: placeIn(at), newName, profile };
      },
    },
  ];
}

export function renderLsp(outcome: LspOutcome, first: 0 | 1, facts: Facts): Reply<LspResult> {
  const { operation, server, at, total, next, withheld, target } = outcome;
  const notes = lspNotes({ ...outcome, next: next === undefined ? undefined : next - 1 + first }, lspNames).map(
    (note) => `(${note.charAt(0).toUpperCase()}${note.slice(1)})`,
  );
  const body = [...lspLines(outcome, facts), ...(outcome.text === undefined ? [] : [outcome.text])];
  const output = [lspHead(outcome), ...body, ...notes].join("\n");
  return success(output, {
    title: escapeName(target.relative),
    output,
    metadata: {
      operation,
      server,
      position: at === undefined ? null : { line: at.line, column: at.column, symbol: at.symbol },
      results: lspEntries(outcome),
      total,
      nextOffset: next === undefined ? null : next - 1 + first,
      withheld,
      hover: outcome.text ?? null,
      truncated: next !== undefined || outcome.textCut,
    },
  });
}
