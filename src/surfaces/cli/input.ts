/** Texts for a change: written out on the command line, in a file that the person names, or on standard input. */

import { isUtf8 } from "node:buffer";
import * as nodePath from "node:path";
import { readNamedFile } from "../../settings/settings.ts";
import { isCutOff, parseJson, tooManyParts } from "../../text/text.ts";
import { type Given, type Host, UsageError } from "./command.ts";

/** Bytes of one such text: more would not fit into one string after all that is done with it. */
const inputBytesMax = 268_435_456;

/** A person who starts a command that waits for a program's input sees nothing happen, so it says what it waits for. */
export function sayWaiting(what: string, { stdin, stderr }: Host): void {
  if (stdin.isTTY === true && stderr.isTTY === true) stderr.write(`Waiting for ${what}; Ctrl-D or Ctrl-C ends it\n`);
}

export const isStdin = (name: string | undefined): boolean => name === "-";

/** The exact text of a file or of standard input; binary content is wrong usage. */
export async function textFrom(name: string, host: Host): Promise<string> {
  if (isStdin(name)) return decoded(await stdinBytes(host), "standard input");
  const read = readNamedFile(nodePath.resolve(host.cwd, name), inputBytesMax);
  if ("why" in read) throw new UsageError(`Cannot read "${name}": ${read.why}`);
  return decoded(read, `"${name}"`);
}

/** The value of `--option`, or the text of what `--option-file` names; undefined if neither is given. */
export async function textOption(option: string, fileOption: string, given: Given, host: Host) {
  const text = given.text(option);
  const file = given.text(fileOption);
  if (text !== undefined && file !== undefined) throw new UsageError(`Use either --${option} or --${fileOption}`);
  return file === undefined ? text : textFrom(file, host);
}

/** On a terminal a person would not notice that the command waits for input. */
export function requirePiped(host: Host, whatIsMissing: string): void {
  if (host.stdin.isTTY === true) throw new UsageError(whatIsMissing);
}

async function stdinBytes(host: Host): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let total = 0;
  // After an interrupt, half of a text must not be used.
  const stop = (): void => void host.stdin.destroy(new UsageError("Interrupted before standard input ended"));
  host.signal.addEventListener("abort", stop, { once: true });
  try {
    for await (const chunk of host.stdin) {
      const buffer = typeof chunk === "string" ? Buffer.from(chunk) : (chunk as Buffer); // no encoding is set
      total += buffer.length;
      if (total > inputBytesMax) throw new UsageError(`Standard input has more than ${inputBytesMax} bytes`);
      chunks.push(buffer);
    }
  } finally {
    host.signal.removeEventListener("abort", stop);
  }
  return Buffer.concat(chunks, total);
}

/** Keeps a BOM, which is part of the text. */
function decoded(bytes: Uint8Array, name: string): string {
  if (!isUtf8(bytes)) throw new UsageError(`Cannot use ${name}: it is not text in UTF-8`);
  const zero = bytes.indexOf(0);
  if (zero !== -1) throw new UsageError(`Cannot use ${name}: it is not text, byte ${zero + 1} is zero`);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}

/** The value of JSON that a caller sent; or what is wrong with it and what to do, as words after `Cannot use the input: `. */
export function jsonValue(text: string): { readonly value: unknown } | { readonly why: string } {
  const parsed = parseJson(text);
  if (!("fault" in parsed)) return parsed;
  return { why: parsed.fault === "not json" ? jsonFault(text, parsed.detail) : `it ${tooManyParts}` };
}

/** A model whose output was cut off must not repeat the call: it would be cut off at the same place. */
function jsonFault(text: string, detail: string): string {
  if (isCutOff(text)) {
    return `its JSON ends too early, after ${text.length} characters, so nothing was done; send less at once: write the first part of a long text, then add the others by edits`;
  }
  return `it is not valid JSON (${detail}), send it again in full`;
}
