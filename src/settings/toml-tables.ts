/** Where the tables of a TOML text begin and where their last key ends. For texts that a parser has accepted. Pure. */

export interface TomlTable {
  /** The parts of the header's name: `[a."b c"]` is `a`, `b c`. Empty for what stands before the first header. */
  readonly path: readonly string[];
  /** Where the line of the header begins, in characters. */
  readonly start: number;
  /** Behind the line of the last key, or of the header if there is none. Comments and blanks behind it are not in it. */
  readonly end: number;
}

const header = /^[ \t]*\[\[?([^\r\n]*)/;
const part = /[ \t]*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([A-Za-z0-9_-]+))[ \t]*(\.|\])/y;

export function tomlTables(text: string): readonly TomlTable[] {
  const tables: { path: readonly string[]; start: number; end: number }[] = [{ path: [], start: 0, end: 0 }];
  let at = 0;
  while (at < text.length) {
    const lineEnd = endOfLine(text, at);
    const line = text.slice(at, lineEnd);
    const table = tables.at(-1);
    if (header.test(line)) {
      tables.push({ path: pathOf(line.slice(line.search(/\[+/)).replace(/^\[\[?/, "")), start: at, end: lineEnd });
      at = lineEnd;
    } else if (/^[ \t]*(?:#.*)?$/.test(line.replace(/[\r\n]+$/, ""))) {
      at = lineEnd;
    } else {
      at = endOfStatement(text, at);
      if (table !== undefined) table.end = at;
    }
  }
  return tables;
}

function pathOf(rest: string): readonly string[] {
  const parts: string[] = [];
  part.lastIndex = 0;
  for (let found = part.exec(rest); found !== null; found = part.exec(rest)) {
    const [, basic, literal, bare, closes] = found;
    parts.push(basic === undefined ? (literal ?? bare ?? "") : unescaped(basic));
    if (closes === "]") break;
  }
  return parts;
}

/** TOML's short escapes are those of JSON; what JSON does not know stays as written and is no name of ours. */
function unescaped(text: string): string {
  try {
    return String(JSON.parse(`"${text}"`));
  } catch {
    return text;
  }
}

function endOfLine(text: string, from: number): number {
  const at = text.indexOf("\n", from);
  return at === -1 ? text.length : at + 1;
}

const quotes = ['"""', "'''", '"', "'"] as const;

/** A value may go over several lines: in lists, in inline tables, and in strings of three quotes. */
function endOfStatement(text: string, from: number): number {
  let depth = 0;
  let at = from;
  while (at < text.length) {
    const quote = quotes.find((one) => text.startsWith(one, at));
    const character = text.charAt(at);
    if (quote !== undefined) at = endOfString(text, at + quote.length, quote);
    else if (character === "#")
      at = endOfLine(text, at) - (text.endsWith("\n") || text.indexOf("\n", at) !== -1 ? 1 : 0);
    else if (character === "\n" && depth === 0) return at + 1;
    else {
      if (character === "[" || character === "{") depth += 1;
      if (character === "]" || character === "}") depth -= 1;
      at += 1;
    }
  }
  return text.length;
}

function endOfString(text: string, from: number, quote: (typeof quotes)[number]): number {
  for (let at = from; at < text.length; at += 1) {
    if (text.charAt(at) === "\\" && quote.startsWith('"')) at += 1;
    else if (text.startsWith(quote, at)) {
      // A string of three quotes may end with one or two more that belong to it.
      let end = at + quote.length;
      if (quote.length === 3) while (end < at + 5 && text.charAt(end) === quote.charAt(0)) end += 1;
      return end;
    }
  }
  return text.length;
}
