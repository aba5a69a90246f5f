/** Keys of JSON, with comments and with unquoted keys (JSON5). */

import type { Steps } from "../steps.ts";
import { type ItemCollector, lineCounter, scanCharsMax } from "./items.ts";

/** Deeper objects and arrays are skipped: no outline shows them. */
const nestingMax = 64;

interface Container {
  readonly isArray: boolean;
  readonly line: number;
  /** Whether an item is open for it; the root has none. */
  readonly isItem: boolean;
  /** How many values an array has before the current one. */
  count: number;
}

interface Token {
  readonly from: number;
  readonly to: number;
}

/**
 * Top-level keys, nested keys whose value has several lines, and elements of arrays that have several lines. A string ends with
 * its line, so a missing quote costs one line.
 */
export function* scanJson(text: string, items: ItemCollector): Steps<number | undefined> {
  const lineAt = lineCounter(text);
  const containers: Container[] = [];
  let skipped = 0;
  let fault: number | undefined;
  /** The last string or word, which is a key if a colon follows. */
  let token: Token | undefined;
  let key: (Token & { readonly line: number }) | undefined;
  let yieldAt = scanCharsMax;

  const nameOf = ({ from, to }: Token): string => {
    const written = text.slice(from, Math.min(to, from + scanCharsMax));
    return /^["'].{2,}/s.test(written) ? written.slice(1, -1) : written;
  };
  const scalar = (): void => {
    if (key === undefined || containers.length !== 1 || skipped > 0) return;
    const named = key;
    items.open("key", named.line, () => nameOf(named));
    items.close(named.line);
    key = undefined;
  };
  const open = (isArray: boolean, at: number): void => {
    if (containers.length >= nestingMax) {
      skipped += 1;
      return;
    }
    const line = key?.line ?? lineAt(at);
    const outer = containers.at(-1);
    const isItem = outer !== undefined && (key !== undefined || outer.isArray);
    if (isItem) {
      const named = key;
      if (named === undefined) items.open("item", line, () => `[${outer.count}]`);
      else items.open("key", line, () => nameOf(named));
    }
    containers.push({ isArray, line, isItem, count: 0 });
    key = undefined;
  };
  const close = (isArray: boolean, at: number): void => {
    const line = lineAt(at);
    if (skipped > 0) {
      skipped -= 1;
      return;
    }
    const container = containers.pop();
    if (container === undefined || container.isArray !== isArray) fault ??= line;
    if (container?.isItem !== true) return;
    // A nested value on one line is seen with the lines around it.
    if (container.line === line && items.depth > 1) items.cancel();
    else items.close(line);
  };

  for (let at = 0; at < text.length; at += 1) {
    if (at >= yieldAt) {
      yieldAt = at + scanCharsMax;
      yield;
    }
    const code = text.charCodeAt(at);
    if (code <= 32) continue;
    if (code === 0x22 || code === 0x27) {
      const from = at;
      at += 1;
      while (at < text.length && text.charCodeAt(at) !== code && text.charCodeAt(at) !== 10) {
        at += text.charCodeAt(at) === 0x5c && text.charCodeAt(at + 1) !== 10 ? 2 : 1;
      }
      if (text.charCodeAt(at) !== code) fault ??= lineAt(from);
      token = { from, to: at + 1 };
      scalar();
    } else if (code === 0x3a) {
      if (token !== undefined && containers.at(-1)?.isArray === false) key = { ...token, line: lineAt(token.from) };
      token = undefined;
    } else if (code === 0x2c) {
      const container = containers.at(-1);
      if (container !== undefined && skipped === 0) container.count += 1;
      key = undefined;
    } else if (code === 0x7b || code === 0x5b) open(code === 0x5b, at);
    else if (code === 0x7d || code === 0x5d) {
      close(code === 0x5d, at);
      key = undefined;
    } else if (code === 0x2f && text.charCodeAt(at + 1) === 0x2f) {
      const end = text.indexOf("\n", at);
      at = end === -1 ? text.length : end - 1;
    } else if (code === 0x2f && text.charCodeAt(at + 1) === 0x2a) {
      const end = text.indexOf("*/", at + 2);
      at = end === -1 ? text.length : end + 1;
    } else {
      const from = at;
      while (at + 1 < text.length && isWord(text.charCodeAt(at + 1))) at += 1;
      token = { from, to: at + 1 };
      scalar();
    }
  }
  const last = lineAt(text.length - (text.endsWith("\n") ? 1 : 0));
  fault ??= containers.at(-1)?.line;
  for (const { isItem } of containers) if (isItem) items.close(last);
  return fault;
}

/** Letters, digits, `.`, `+`, `-`, `_`, `$`, and everything outside ASCII. */
const isWord = (code: number): boolean =>
  (code >= 0x61 && code <= 0x7a) ||
  (code >= 0x41 && code <= 0x5a) ||
  (code >= 0x30 && code <= 0x39) ||
  code > 127 ||
  code === 0x2e ||
  code === 0x2b ||
  code === 0x2d ||
  code === 0x5f ||
  code === 0x24;
