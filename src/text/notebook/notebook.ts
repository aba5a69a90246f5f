/** Parses a notebook (nbformat 4 and 3). A value of the wrong type counts as missing. Nothing here is recursive. */

import { isRecord } from "../../contract/common.ts";
import { Buffer } from "node:buffer";
import type { ClaimedOutput, NotebookCell } from "../../contract/notebook.ts";
import { cutChars } from "../encoding/encoding.ts";
import { findJsonFault, type JsonFault } from "../json/fault.ts";

type Unchecked = Readonly<Record<string, unknown>>;

/** A text, written as one string or as a list of strings. */
export function joinedText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return Array.isArray(value) ? value.filter((piece) => typeof piece === "string").join("") : undefined;
}

const nothing: Unchecked = {};
const recordOf = (value: unknown): Unchecked => (isRecord(value) ? value : nothing);
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
/** Local: names of languages and MIME types are short. */
const nameCharsMax = 100;
const shortName = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? cutChars(value, nameCharsMax) : undefined;
const wholeNumber = (value: unknown): number | undefined => (Number.isSafeInteger(value) ? Number(value) : undefined);

export interface Notebook {
  readonly format: 3 | 4;
  readonly minor: number;
  readonly language: string;
  readonly cells: readonly NotebookCell<ClaimedOutput>[];
}

export type NotebookFault =
  | ({ readonly fault: "not json" } & JsonFault)
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
  if (cells.length > limits.cellsMax) {
    return { fault: "not a notebook", detail: `it has ${cells.length} cells, more than ${limits.cellsMax}` };
  }
  const language = languageOf(root);
  const ids = cellIds(cells);
  return {
    format,
    minor: wholeNumber(root["nbformat_minor"]) ?? 0,
    language,
    cells: cells.map((cell, index) => readCell(cell, index, ids, language, limits)),
  };
}

function parseJson(json: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(json) };
  } catch {
    return undefined;
  }
}

/** Format 2 is read as 3, and later ones as 4: the content decides, not the declared version. */
function cellsOf(root: Unchecked): { readonly format: 3 | 4; readonly cells: readonly unknown[] } | undefined {
  if (Array.isArray(root["cells"])) return { format: 4, cells: root["cells"] };
  const worksheets = root["worksheets"];
  if (!Array.isArray(worksheets)) return undefined;
  return { format: 3, cells: worksheets.flatMap((sheet) => listOf(isRecord(sheet) ? sheet["cells"] : undefined)) };
}

function languageOf(root: Unchecked): string {
  const metadata = recordOf(root["metadata"]);
  return (
    shortName(recordOf(metadata["language_info"])["name"]) ??
    shortName(recordOf(metadata["kernelspec"])["language"]) ??
    "python"
  );
}

interface GivenId {
  readonly id: string;
  readonly ownId: boolean;
}

/** As nbformat 4.5 defines ids; others (with spaces, too long, no string) count as missing. */
const usableId = /^[\w-]{1,64}$/;

/** The first cell with an id keeps it. Generated ids depend on the file alone, and never equal an id in it. */
export function cellIds(cells: readonly unknown[]): readonly GivenId[] {
  const own = cells.map((cell) => {
    const id = isRecord(cell) ? cell["id"] : undefined;
    return typeof id === "string" && usableId.test(id) ? id : undefined;
  });
  const taken = new Set(own);
  const used = new Set<string>();
  return own.map((id, index) => {
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
  const language =
    shortName(cell["language"]) ?? shortName(recordOf(recordOf(cell["metadata"])["vscode"])["languageId"]);
  const source = joinedText(cell["source"]) ?? joinedText(cell["input"]) ?? "";
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
  // nbformat 3 has cell types of their own for headings and HTML.
  return type === "markdown" || type === "heading" || type === "html" ? "markdown" : "raw";
}

const hashes = (level: unknown): string => "#".repeat(Math.min(6, Math.max(1, wholeNumber(level) ?? 1)));

function kindOf(value: unknown): string {
  return Array.isArray(value) ? "a list" : value === null ? "null" : `a ${typeof value}`;
}

// Outputs: streams joined, long texts without their middle, images as declared.

/** A line of its own, where the middle of an output was left out. */
export const cutMark = "[…]";

interface OutputLimits {
  readonly outputCharsMax: number;
  readonly outputsMax: number;
}

function readOutputs(
  raw: unknown,
  limits: OutputLimits,
): { readonly outputs: readonly ClaimedOutput[]; readonly outputsLeftOut: number } {
  const list = listOf(raw);
  const outputs: ClaimedOutput[] = [];
  let at = 0;
  while (at < list.length && outputs.length < limits.outputsMax) {
    const output = recordOf(list[at]);
    at += 1;
    if (output["output_type"] !== "stream") {
      outputs.push(...readOutput(output, limits));
      continue;
    }
    // A program's lines come as many outputs; a progress bar makes sense only in all of them together.
    const name = streamName(output);
    const pieces = [joinedText(output["text"]) ?? ""];
    for (; at < list.length; at += 1) {
      const next = recordOf(list[at]);
      if (next["output_type"] !== "stream" || streamName(next) !== name) break;
      pieces.push(joinedText(next["text"]) ?? "");
    }
    outputs.push({ type: "text", name, ...cutMiddle(terminalText(pieces.join("")), limits.outputCharsMax) });
  }
  return { outputs, outputsLeftOut: list.length - at };
}

function streamName(output: Unchecked): "stdout" | "stderr" {
  return (output["name"] ?? output["stream"]) === "stderr" ? "stderr" : "stdout";
}

function readOutput(output: Unchecked, limits: OutputLimits): readonly ClaimedOutput[] {
  switch (output["output_type"]) {
    case "error":
    case "pyerr":
      return [readError(output, limits.outputCharsMax)];
    case "execute_result":
    case "pyout":
      return readBundle(output, "result", limits);
    default:
      return readBundle(output, "display", limits);
  }
}

function readError(output: Unchecked, charsMax: number): ClaimedOutput {
  const traceback = listOf(output["traceback"]).map((line) => joinedText(line) ?? "");
  const message = cutMiddle(terminalText(joinedText(output["evalue"]) ?? ""), charsMax);
  const name = cutMiddle(terminalText(joinedText(output["ename"]) ?? ""), charsMax);
  const text = cutMiddle(terminalText(traceback.join("\n")), charsMax);
  return {
    type: "error",
    name: name.text,
    message: message.text,
    text: text.text,
    cutChars: name.cutChars + message.cutChars + text.cutChars,
  };
}

const imageMimes = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const;

/** Best first: the Markdown of an object says more than its `repr`. */
const textMimes = ["text/markdown", "text/plain", "text/latex"] as const;

/** nbformat 3 has its data next to the other fields, under short names. */
const shortNames = [
  ["png", "image/png"],
  ["jpeg", "image/jpeg"],
  ["text", "text/plain"],
  ["html", "text/html"],
  ["latex", "text/latex"],
  ["svg", "image/svg+xml"],
  ["json", "application/json"],
  ["javascript", "application/javascript"],
] as const;

/** An output in several forms: its image, else its best text, else the list of its MIME types. */
function readBundle(output: Unchecked, name: "result" | "display", limits: OutputLimits): readonly ClaimedOutput[] {
  const data = bundleOf(output);
  for (const mime of imageMimes) {
    const base64 = joinedText(data.get(mime))?.replace(/\s+/g, "");
    if (base64 !== undefined && base64 !== "" && !/[^A-Za-z0-9+/=]/.test(base64))
      return [{ type: "image", mime, base64 }];
  }
  for (const mime of textMimes) {
    const text = joinedText(data.get(mime));
    if (text !== undefined) return [{ type: "text", name, ...cutMiddle(terminalText(text), limits.outputCharsMax) }];
  }
  if (data.size === 0) return [];
  let bytes = 0;
  for (const value of data.values()) bytes += jsonBytes(value);
  return [
    { type: "other", mimes: [...data.keys()].slice(0, mimesMax).map((mime) => cutChars(mime, nameCharsMax)), bytes },
  ];
}

/** Local: MIME types that an output lists. */
const mimesMax = 20;

function bundleOf(output: Unchecked): ReadonlyMap<string, unknown> {
  if (isRecord(output["data"])) return new Map(Object.entries(output["data"]));
  const short = shortNames.filter(([key]) => output[key] !== undefined);
  return new Map(short.map(([key, mime]) => [mime, output[key]]));
}

/** The approximate size of a value as JSON; `JSON.stringify` is recursive. */
function jsonBytes(value: unknown): number {
  let bytes = 0;
  const left = [value];
  while (left.length > 0) {
    const next = left.pop();
    if (typeof next === "string") bytes += Buffer.byteLength(next);
    else if (Array.isArray(next)) {
      for (const item of next) left.push(item);
    } else if (isRecord(next)) {
      for (const [key, item] of Object.entries(next)) {
        bytes += Buffer.byteLength(key);
        left.push(item);
      }
    } else bytes += String(next).length;
  }
  return bytes;
}

/** Keeps two thirds of the limit from the beginning of a text and the rest from its end, whole lines if they are short. */
function cutMiddle(text: string, charsMax: number): { readonly text: string; readonly cutChars: number } {
  if (text.length <= charsMax) return { text, cutChars: 0 };
  const headMax = Math.ceil((charsMax * 2) / 3);
  const head = cutChars(text, headMax);
  const lineEnd = head.lastIndexOf("\n") + 1;
  const from = text.length - (charsMax - headMax);
  const lineStart = text.indexOf("\n", from) + 1;
  const first = lineEnd > headMax / 2 ? head.slice(0, lineEnd) : `${head}\n`;
  const tailAt = lineStart > 0 && lineStart < from + (text.length - from) / 2 ? lineStart : afterHalfPair(text, from);
  const kept = (lineEnd > headMax / 2 ? lineEnd : head.length) + (text.length - tailAt);
  return { text: `${first}${cutMark}\n${text.slice(tailAt)}`, cutChars: text.length - kept };
}

function afterHalfPair(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff ? at + 1 : at;
}

// Terminal output: colours and other escapes removed, progress bars in their last state. Linear in the output.

/** Control characters but tab and newline, and the one-character form of ESC [. */
const controls = /[\0-\x08\x0b-\x1f\x7f\x9b]/;

/** ESC [ K and variants: erase the line, at least from the cursor on. */
const wipes = /(?:\x1b\[|\x9b)[0-2]?K/g;
/** CSI sequences; OSC and other strings up to their end on the same line; shorter sequences. */
const escapes = /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]|\x1b/g;

/** Marks an erased line; NUL has no other meaning here. */
const wiped = "\0";

export function terminalText(raw: string): string {
  if (!controls.test(raw)) return raw;
  const text = raw.replaceAll(wiped, "").replace(wipes, wiped).replace(escapes, "");
  return text
    .split("\n")
    .map(lastState)
    .join("\n")
    .replace(/[\0-\x08\x0b-\x1f\x7f]+/g, "");
}

/** The last state of an overwritten line: from the last pass backwards, each one adds only what sticks out. */
function lastState(line: string): string {
  if (!line.includes("\r") && !line.includes("\b")) return line;
  const passes = line.split("\r");
  let shown = "";
  for (let index = passes.length - 1; index >= 0; index -= 1) {
    const pass = passes[index] ?? "";
    const plain = applyBackspaces(pass).replaceAll(wiped, "");
    if (plain.length > shown.length) shown += plain.slice(shown.length);
    if (pass.includes(wiped)) break;
  }
  return shown;
}

function applyBackspaces(pass: string): string {
  if (!pass.includes("\b")) return pass;
  const kept: string[] = [];
  for (const character of pass) {
    if (character === "\b") kept.pop();
    else kept.push(character);
  }
  return kept.join("");
}
