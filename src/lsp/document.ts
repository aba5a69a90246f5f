/**
 * One file as one server knows it, and what the server said of it. Diagnostics count only if they are of the text that the
 * server was sent last: a version says so, or they were asked for after it, or they came after it and then it was quiet.
 */

import type { SourceFile } from "../contract/language.ts";
import { type Heard, nothingHeard } from "./diagnostics.ts";
import { type Lines, linesOf } from "./positions.ts";
import { uriOf } from "./uris.ts";

export interface Document {
  readonly path: string;
  readonly uri: string;
  readonly languageId: string;
  text: string;
  stamp: string;
  lines: Lines;
  /** Grows with every text; never the same twice in one server. */
  version: number;
  /** How far the server had got when this version was made. */
  madeAge: number;
  /** Has the server been told of it at all? */
  isOpen: boolean;
  /** The version that diagnostics are complete of; 0 before there are any. */
  settledVersion: number;
  /** The state of all documents that they are complete of: what is wrong here may depend on another file. */
  settledAge: number;
  pulled: Heard;
  pushed: Heard;
  /** Those who wait until it is settled. */
  readonly waiting: Set<() => void>;
  settling: NodeJS.Timeout | undefined;
  /** Ends the question for diagnostics that is under way. */
  pulling: AbortController | undefined;
  /** The version for which the server is known to have read what it was sent. */
  readVersion: number;
}

export const createDocument = (file: SourceFile, languageId: string): Document => ({
  path: file.path,
  uri: uriOf(file.path),
  languageId,
  text: file.text,
  stamp: file.stamp,
  lines: linesOf(file.text),
  version: 0,
  madeAge: 0,
  isOpen: false,
  settledVersion: 0,
  settledAge: 0,
  pulled: nothingHeard,
  pushed: nothingHeard,
  waiting: new Set(),
  settling: undefined,
  pulling: undefined,
  readVersion: 0,
});

/** Nothing that was said before counts from here on. */
export function outdate(document: Document): void {
  clearTimeout(document.settling);
  document.settling = undefined;
  document.pulling?.abort();
  document.pulling = undefined;
  document.pulled = nothingHeard;
  document.pushed = nothingHeard;
  document.settledVersion = 0;
}

export function saidOf({ pulled, pushed }: Document): Heard {
  if (pushed.list.length === 0) return pulled;
  if (pulled.list.length === 0) return pushed;
  const seen = new Set(pulled.list.map((one) => JSON.stringify(one)));
  return {
    list: [...pulled.list, ...pushed.list.filter((one) => !seen.has(JSON.stringify(one)))],
    errorsMore: pulled.errorsMore + pushed.errorsMore,
    warningsMore: pulled.warningsMore + pushed.warningsMore,
  };
}
