/** The outputs of one cell of a notebook, fit to show: streams joined, long texts without their middle, pictures as they are. */

import { Buffer } from "node:buffer";
import type { ClaimedOutput } from "../contract/notebook.ts";
import { cutChars } from "./encoding.ts";
import { terminalText } from "./terminal-text.ts";
import { isRecord, listOf, nameCharsMax, recordOf, textOf, type Unchecked } from "./unchecked.ts";

/** Stands on a line of its own where the middle of an output was left out. */
export const cutMark = "[…]";

export interface OutputLimits {
  readonly outputCharsMax: number;
  readonly outputsMax: number;
}

export function readOutputs(
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
    const pieces = [textOf(output["text"]) ?? ""];
    for (; at < list.length; at += 1) {
      const next = recordOf(list[at]);
      if (next["output_type"] !== "stream" || streamName(next) !== name) break;
      pieces.push(textOf(next["text"]) ?? "");
    }
    outputs.push({ type: "text", name, ...cutMiddle(terminalText(pieces.join("")), limits.outputCharsMax) });
  }
  return { outputs, outputsLeftOut: list.length - at };
}

function streamName(output: Unchecked): "stdout" | "stderr" {
  return (output["name"] ?? output["stream"]) === "stderr" ? "stderr" : "stdout";
}

/** One output or, of one that holds nothing at all, none. */
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
  const traceback = listOf(output["traceback"]).map((line) => textOf(line) ?? "");
  const message = cutMiddle(terminalText(textOf(output["evalue"]) ?? ""), charsMax);
  const name = cutMiddle(terminalText(textOf(output["ename"]) ?? ""), charsMax);
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

/** The texts worth showing, best first: what an object says of itself as Markdown is more than its `repr`. */
const textMimes = ["text/markdown", "text/plain", "text/latex"] as const;

/** nbformat 3 keeps its data beside the other fields, under short names. */
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

/** One thing in several forms: the picture, else the best text, else only what forms there are. */
function readBundle(output: Unchecked, name: "result" | "display", limits: OutputLimits): readonly ClaimedOutput[] {
  const data = bundleOf(output);
  for (const mime of imageMimes) {
    const base64 = textOf(data.get(mime))?.replace(/\s+/g, "");
    if (base64 !== undefined && base64 !== "" && !/[^A-Za-z0-9+/=]/.test(base64))
      return [{ type: "image", mime, base64 }];
  }
  for (const mime of textMimes) {
    const text = textOf(data.get(mime));
    if (text !== undefined) return [{ type: "text", name, ...cutMiddle(terminalText(text), limits.outputCharsMax) }];
  }
  if (data.size === 0) return [];
  let bytes = 0;
  for (const value of data.values()) bytes += sizeOf(value);
  return [
    { type: "other", mimes: [...data.keys()].slice(0, mimesMax).map((mime) => cutChars(mime, nameCharsMax)), bytes },
  ];
}

const mimesMax = 20;

function bundleOf(output: Unchecked): ReadonlyMap<string, unknown> {
  if (isRecord(output["data"])) return new Map(Object.entries(output["data"]));
  const short = shortNames.filter(([key]) => output[key] !== undefined);
  return new Map(short.map(([key, mime]) => [mime, output[key]]));
}

/** About the bytes of a value as JSON; `JSON.stringify` would call itself for every level. */
function sizeOf(value: unknown): number {
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

/** Of a text over the limit two thirds from its beginning and the rest from its end, whole lines if they are short. */
function cutMiddle(text: string, charsMax: number): { readonly text: string; readonly cutChars: number } {
  if (text.length <= charsMax) return { text, cutChars: 0 };
  const headMax = Math.ceil((charsMax * 2) / 3);
  const head = cutChars(text, headMax);
  const lineEnd = head.lastIndexOf("\n") + 1;
  const from = text.length - (charsMax - headMax);
  const lineStart = text.indexOf("\n", from) + 1;
  const first = lineEnd > headMax / 2 ? head.slice(0, lineEnd) : `${head}\n`;
  const tailAt = lineStart > 0 && lineStart < from + (text.length - from) / 2 ? lineStart : behindHalfPair(text, from);
  const kept = (lineEnd > headMax / 2 ? lineEnd : head.length) + (text.length - tailAt);
  return { text: `${first}${cutMark}\n${text.slice(tailAt)}`, cutChars: text.length - kept };
}

function behindHalfPair(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff ? at + 1 : at;
}
