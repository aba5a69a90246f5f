/**
 * A Jupyter notebook (nbformat 4 and 3) as cells and outputs that are fit to show. Nothing in the file is trusted to be
 * of the right type: what is not is read as if it were missing. Nothing here calls itself, so depth is no danger.
 */

import type { ClaimedOutput, NotebookCell } from "../contract/notebook.ts";
import { findJsonFault } from "./json-fault.ts";
import { type OutputLimits, readOutputs } from "./notebook-outputs.ts";
import { filled, isRecord, listOf, recordOf, textOf, type Unchecked, wholeNumber } from "./unchecked.ts";

export interface Notebook {
  readonly format: 3 | 4;
  readonly minor: number;
  readonly language: string;
  /** With pictures that nobody has looked at. */
  readonly cells: readonly NotebookCell<ClaimedOutput>[];
  /** More than `cells` holds when there are more than the limit. */
  readonly cellsTotal: number;
}

export type NotebookFault =
  | { readonly fault: "not json"; readonly line: number; readonly column: number; readonly detail: string }
  | { readonly fault: "not a notebook"; readonly detail: string }
  | { readonly fault: "empty" };

export interface NotebookLimits extends OutputLimits {
  readonly cellsMax: number;
}

export function parseNotebook(text: string, limits: NotebookLimits): Notebook | NotebookFault {
  const json = text.startsWith("\ufeff") ? text.slice(1) : text;
  if (json.trim() === "") return { fault: "empty" };
  const parsed = parseJson(json);
  if (parsed === undefined) return { fault: "not json", ...findJsonFault(json) };

  const root = parsed.value;
  if (!isRecord(root)) return { fault: "not a notebook", detail: `it is ${kindOf(root)}, not an object` };
  const found = cellsOf(root);
  if (found === undefined) return { fault: "not a notebook", detail: "it has no list of cells" };

  const { format, cells } = found;
  const language = languageOf(root);
  const ids = giveIds(cells, limits.cellsMax);
  return {
    format,
    minor: wholeNumber(root["nbformat_minor"]) ?? 0,
    language,
    cells: cells.slice(0, limits.cellsMax).map((cell, index) => readCell(cell, index, ids, language, limits)),
    cellsTotal: cells.length,
  };
}

function parseJson(json: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(json) };
  } catch {
    return undefined;
  }
}

/** Format 2 is read as 3, and whatever comes after 4 as 4: what it holds decides, not what it says of itself. */
function cellsOf(root: Unchecked): { readonly format: 3 | 4; readonly cells: readonly unknown[] } | undefined {
  if (Array.isArray(root["cells"])) return { format: 4, cells: root["cells"] };
  const worksheets = root["worksheets"];
  if (!Array.isArray(worksheets)) return undefined;
  return { format: 3, cells: worksheets.flatMap((sheet) => listOf(isRecord(sheet) ? sheet["cells"] : undefined)) };
}

function languageOf(root: Unchecked): string {
  const metadata = recordOf(root["metadata"]);
  return (
    filled(recordOf(metadata["language_info"])["name"]) ??
    filled(recordOf(metadata["kernelspec"])["language"]) ??
    "python"
  );
}

interface GivenId {
  readonly id: string;
  readonly ownId: boolean;
}

/** As nbformat 4.5 has them; what is odd (with spaces, endless, no string) counts as none. */
const usableId = /^[\w-]{1,64}$/;

/** The first cell with an id keeps it. Made ids depend on the file alone, and never equal an id that is in it. */
function giveIds(cells: readonly unknown[], cellsMax: number): readonly GivenId[] {
  const own = cells.map((cell) => {
    const id = isRecord(cell) ? cell["id"] : undefined;
    return typeof id === "string" && usableId.test(id) ? id : undefined;
  });
  const taken = new Set(own);
  const used = new Set<string>();
  return own.slice(0, cellsMax).map((id, index) => {
    if (id !== undefined && !used.has(id)) {
      used.add(id);
      return { id, ownId: true };
    }
    let made = `cell-${index}`;
    for (let more = 1; taken.has(made); more += 1) made = `cell-${index}-${more}`;
    taken.add(made);
    return { id: made, ownId: false };
  });
}

function readCell(
  raw: unknown,
  index: number,
  ids: readonly GivenId[],
  notebookLanguage: string,
  limits: NotebookLimits,
): NotebookCell<ClaimedOutput> {
  const cell = recordOf(raw);
  const type = cellType(cell["cell_type"]);
  const language = filled(cell["language"]) ?? filled(recordOf(recordOf(cell["metadata"])["vscode"])["languageId"]);
  const source = textOf(cell["source"]) ?? textOf(cell["input"]) ?? "";
  const outputs = type === "code" ? readOutputs(cell["outputs"], limits) : { outputs: [], outputsLeftOut: 0 };
  return {
    index,
    ...(ids[index] ?? { id: `cell-${index}`, ownId: false }),
    type,
    source: cell["cell_type"] === "heading" ? `${hashes(cell["level"])} ${source}` : source,
    executionCount: wholeNumber(cell["execution_count"]) ?? wholeNumber(cell["prompt_number"]) ?? null,
    language: type === "code" ? (language ?? notebookLanguage) : type,
    ...outputs,
  };
}

function cellType(type: unknown): NotebookCell["type"] {
  if (type === "code") return "code";
  // Headings and HTML are kinds of their own in nbformat 3.
  return type === "markdown" || type === "heading" || type === "html" ? "markdown" : "raw";
}

const hashes = (level: unknown): string => "#".repeat(Math.min(6, Math.max(1, wholeNumber(level) ?? 1)));

function kindOf(value: unknown): string {
  return Array.isArray(value) ? "a list" : value === null ? "null" : `a ${typeof value}`;
}
