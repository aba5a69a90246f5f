/**
 * Syntax colouring: splits a line into tokens in one pass from left to right. It knows comments, strings, numbers and
 * keywords, but no grammar. Other text stays plain. Every character is in exactly one token.
 */

import type { Language } from "./languages.ts";

export type TokenKind = "plain" | "comment" | "string" | "number" | "keyword" | "constant" | "name" | "key" | "tag";

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
}

/** The state at the start of a line: inside nothing, or inside a string or comment that ends with `close`. */
export type LineState =
  | { readonly kind: "comment" | "string"; readonly close: string; readonly escapes: boolean }
  | undefined;

export interface TokenLine {
  readonly tokens: readonly Token[];
  readonly after: LineState;
}

/** Longer lines stay plain: they would become thousands of elements. */
const lineCharsMax = 2_000;

const word = /[\p{L}_$@][\p{L}\p{N}_$-]*/uy;
const plainWord = /[\p{L}_$][\p{L}\p{N}_$]*/uy;
const number = /(?:0[xXbBoO][\da-fA-F_]+|\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)\w*/y;
const other = /\s+|[^\p{L}\p{N}_$\s]/uy;

export function tokenLine(line: string, language: Language, before: LineState): TokenLine {
  if (language.plain === true || line.length > lineCharsMax)
    return { tokens: line === "" ? [] : [{ kind: "plain", text: line }], after: before };
  if (language.prose === true) return proseLine(line, before);
  const tokens: Token[] = [];
  const put = (kind: TokenKind, text: string): void => {
    const last = tokens.at(-1);
    if (text === "") return;
    if (last?.kind === kind) tokens[tokens.length - 1] = { kind, text: last.text + text };
    else tokens.push({ kind, text });
  };
  let state = before;
  let at = 0;
  while (at < line.length) {
    if (state !== undefined) {
      const end = endOf(line, at, state);
      put(state.kind, line.slice(at, end ?? line.length));
      if (end === undefined) return { tokens, after: goesOn(state, language) };
      state = undefined;
      at = end;
      continue;
    }
    const opened = openedAt(line, at, language);
    if (opened === "line") {
      put("comment", line.slice(at));
      return { tokens, after: undefined };
    }
    if (opened !== undefined) {
      const from = at;
      const end = endOf(line, at + opened.open.length, opened);
      at = end ?? line.length;
      const isKey = language.keys === true && opened.kind === "string" && /^\s*:/.test(line.slice(at));
      put(isKey ? "key" : opened.kind, line.slice(from, at));
      if (end === undefined) return { tokens, after: goesOn(opened, language) };
      continue;
    }
    at = plainToken(line, at, language, put);
  }
  return { tokens, after: state };
}

function plainToken(
  line: string,
  at: number,
  language: Language,
  put: (kind: TokenKind, text: string) => void,
): number {
  const tag = language.markup === true ? /<\/?[\w:-]*|\/?>/y : undefined;
  if (tag !== undefined) {
    const found = stuck(tag, line, at);
    if (found !== undefined) {
      put("tag", found);
      return at + found.length;
    }
    const attribute = stuck(/[\w:-]+(?==)/y, line, at) ?? stuck(/"[^"]*"|'[^']*'/y, line, at);
    if (attribute !== undefined) {
      put(/^["']/.test(attribute) ? "string" : "key", attribute);
      return at + attribute.length;
    }
  }
  const digits = stuck(number, line, at);
  if (digits !== undefined) {
    put("number", digits);
    return at + digits.length;
  }
  const name = stuck(language.keys === true ? word : plainWord, line, at);
  if (name !== undefined) {
    put(kindOfName(name, line.slice(at + name.length), line.slice(0, at), language), name);
    return at + name.length;
  }
  const rest = stuck(other, line, at) ?? line.slice(at, at + 1);
  put("plain", rest);
  return at + rest.length;
}

function kindOfName(name: string, after: string, before: string, language: Language): TokenKind {
  if (language.markup === true) return "plain";
  if (language.constants.has(name)) return "constant";
  const spelt = language.name === "SQL" ? name.toLowerCase() : name;
  // A property may have the name of a keyword.
  if (language.keywords.has(spelt) && !/[.]$/.test(before)) return "keyword";
  if (language.keys === true) return /^\s*[:=]/.test(after) ? "key" : "plain";
  return after.startsWith("(") ? "name" : "plain";
}

/** A regular expression that may match only at `at`. */
function stuck(pattern: RegExp, line: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(line)?.[0];
}

type Opened = {
  readonly kind: "comment" | "string";
  readonly open: string;
  readonly close: string;
  readonly escapes: boolean;
};

function openedAt(line: string, at: number, language: Language): Opened | "line" | undefined {
  for (const [open, close] of language.blockComments) {
    if (line.startsWith(open, at)) return { kind: "comment", open, close, escapes: false };
  }
  for (const open of language.lineComments) {
    // In shells and settings files a # inside a word does not begin a comment.
    if (line.startsWith(open, at) && (open !== "#" || at === 0 || /\s/.test(line[at - 1] ?? ""))) return "line";
  }
  for (const { open, close, escapes } of language.strings) {
    if (line.startsWith(open, at)) return { kind: "string", open, close, escapes };
  }
  return undefined;
}

/** The end of the string or comment, including its closing mark; undefined if it is not in this line. */
function endOf(
  line: string,
  from: number,
  { close, escapes }: { close: string; escapes: boolean },
): number | undefined {
  for (let at = from; at < line.length; at += 1) {
    if (escapes && line[at] === "\\") at += 1;
    else if (line.startsWith(close, at)) return at + close.length;
  }
  return undefined;
}

/** A string that does not end in its line continues only if the language allows it. */
function goesOn(state: NonNullable<LineState>, language: Language): LineState {
  const { kind, close, escapes } = state;
  const lines = kind === "comment" || language.strings.some((form) => form.close === close && form.lines);
  return lines ? { kind, close, escapes } : undefined;
}

function proseLine(line: string, before: LineState): TokenLine {
  const fence = /^\s*(?:```|~~~)/.test(line);
  if (fence) {
    return {
      tokens: [{ kind: "comment", text: line }],
      after: before === undefined ? { kind: "string", close: "```", escapes: false } : undefined,
    };
  }
  if (before !== undefined) return { tokens: line === "" ? [] : [{ kind: "string", text: line }], after: before };
  if (/^#{1,6}\s/.test(line)) return { tokens: [{ kind: "keyword", text: line }], after: undefined };
  const tokens: Token[] = [];
  let at = 0;
  for (const match of line.matchAll(/`[^`]+`|\*\*[^*]+\*\*|\[[^\]]*\]\([^)]*\)/g)) {
    if (match.index > at) tokens.push({ kind: "plain", text: line.slice(at, match.index) });
    tokens.push({
      kind: match[0].startsWith("`") ? "string" : match[0].startsWith("[") ? "name" : "constant",
      text: match[0],
    });
    at = match.index + match[0].length;
  }
  if (at < line.length) tokens.push({ kind: "plain", text: line.slice(at) });
  return { tokens, after: undefined };
}

/** Colours the lines of one text on demand. The state at the start of each line is computed once. */
export interface Colouring {
  tokens(index: number): readonly Token[];
}

export function colouring(lines: readonly string[], language: Language): Colouring {
  const known: TokenLine[] = [];
  return {
    tokens(index) {
      while (known.length <= index && known.length < lines.length) {
        known.push(tokenLine(lines[known.length] ?? "", language, known.at(-1)?.after));
      }
      return known[index]?.tokens ?? [];
    },
  };
}
