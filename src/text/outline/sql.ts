/** CREATE and ALTER statements of SQL, whatever the dialect of the database. */

import type { Steps } from "../steps.ts";
import { type ItemCollector, lineCounter, scanCharsMax } from "./items.ts";

/** A name further on in its statement is not found. */
const headCharsMax = 1_000;
/** Each statement costs so many words at most, however short it is. */
const headWordsMax = 24;

const objects = new Set(
  "table view index function procedure trigger type domain schema database sequence extension policy role user event package aggregate operator collation server publication subscription rule cast tablespace synonym".split(
    " ",
  ),
);
/** Their bodies have statements of their own, between BEGIN and END. */
const routines = new Set("function procedure trigger event package".split(" "));

/** What ends a statement or hides what looks like an end of one. */
const marks = /--|\/\*|\$[A-Za-z_]{0,63}\$|[A-Za-z_][\w$]*|[^\s\w]|\d+/y;
const spaces = /\s+/y;

interface Statement {
  readonly line: number;
  readonly isListed: boolean;
  readonly isRoutine: boolean;
  blocks: number;
}

export function* scanSql(text: string, items: ItemCollector): Steps<number | undefined> {
  const lineAt = lineCounter(text);
  let fault: number | undefined;
  let statement: Statement | undefined;
  /** Changed by the command DELIMITER of MySQL's client. */
  let delimiter = ";";
  let before = "";
  let lastEnd = 0;
  let yieldAt = scanCharsMax;

  const end = (at: number): void => {
    if (statement?.isListed === true) items.close(lineAt(Math.max(0, at - 1)));
    statement = undefined;
    before = "";
  };
  /** The place after a text in quotes or a comment; the end of the text, which is a fault, if it is not closed. */
  const after = (closing: string, from: number, at: number): number => {
    const found = text.indexOf(closing, from);
    if (found === -1) fault ??= lineAt(at);
    return found === -1 ? text.length : found + closing.length;
  };
  /** Quotes are doubled or follow a backslash inside. */
  const afterQuoted = (quote: string, at: number): number => {
    let next = at + 1;
    for (; next < text.length; next += 1) {
      const char = text[next];
      if (char === "\\" && quote !== "`") next += 1;
      else if (char === quote) {
        if (text[next + 1] !== quote) return next + 1;
        next += 1;
      }
    }
    fault ??= lineAt(at);
    return text.length;
  };

  for (let at = 0; at < text.length; ) {
    if (at >= yieldAt) {
      yieldAt = at + scanCharsMax;
      yield;
    }
    spaces.lastIndex = at;
    if (spaces.test(text)) at = spaces.lastIndex;
    if (at >= text.length) break;
    if (text.startsWith(delimiter, at) && (delimiter !== ";" || (statement?.blocks ?? 0) === 0)) {
      at += delimiter.length;
      end(at);
      lastEnd = at;
      continue;
    }
    marks.lastIndex = at;
    const [mark = text[at] ?? ""] = marks.exec(text) ?? [];
    const from = at;
    if (mark === "--" || (mark === "#" && isLineStart(text, at))) {
      const newline = text.indexOf("\n", at);
      at = newline === -1 ? text.length : newline + 1;
      continue;
    }
    if (mark === "/*") {
      at = after("*/", at + 2, at);
      continue;
    }
    if (mark === "'" || mark === '"' || mark === "`") at = afterQuoted(mark, at);
    else if (mark.length > 1 && mark.startsWith("$")) at = after(mark, at + mark.length, at);
    else at += mark.length;
    lastEnd = at;
    const word = /^[A-Za-z_]/.test(mark) && mark.length < 40 ? mark.toLowerCase() : "";
    if (statement === undefined) {
      if (mark === ";") continue;
      if (word === "delimiter") {
        const newline = text.indexOf("\n", at);
        const stop = newline === -1 ? text.length : newline;
        delimiter = text.slice(at, Math.min(stop, at + 20)).trim() || ";";
        at = stop;
        continue;
      }
      // GO ends a batch in the tools of SQL Server.
      if (word === "go" && isLineStart(text, from)) continue;
      const listed =
        word === "create" || word === "alter" ? declared(text.slice(from, from + headCharsMax)) : undefined;
      const line = lineAt(from);
      statement = {
        line,
        isListed: listed !== undefined,
        isRoutine: listed !== undefined && routines.has(listed.object),
        blocks: 0,
      };
      if (listed !== undefined) items.open(listed.kind, line, () => listed.name);
    } else if (word === "go" && isLineStart(text, from) && isLineEnd(text, at)) {
      end(from);
    } else if (statement.isRoutine && word !== "") {
      if ((word === "begin" || word === "case") && before !== "end") statement.blocks += 1;
      // `END IF` and `END LOOP` end what is not counted.
      else if (word === "end") statement.blocks = Math.max(0, statement.blocks - 1);
      else if (before === "end" && /^(?:if|loop|while|repeat|for)$/.test(word)) statement.blocks += 1;
    }
    before = word;
  }
  end(lastEnd);
  return fault;
}

const isLineStart = (text: string, at: number): boolean => at === 0 || text[at - 1] === "\n";
const isLineEnd = (text: string, at: number): boolean => at >= text.length || text[at] === "\n" || text[at] === "\r";

const nameParts = /"[^"]*"|`[^`]*`|\[[^\]]*\]|[\w$#@]+|[.=]/g;

/** `CREATE OR REPLACE VIEW IF NOT EXISTS a.b`: a view with the name `a.b`. */
function declared(head: string): { readonly kind: string; readonly object: string; readonly name: string } | undefined {
  const words: string[] = [];
  for (const [word] of head.matchAll(nameParts)) if (words.push(word) >= headWordsMax) break;
  const verb = words.shift() ?? "";
  const at = words.findIndex((word) => objects.has(word.toLowerCase()));
  const object = words[at]?.toLowerCase();
  if (object === undefined) return undefined;
  let from = at + 1;
  while (/^(?:if|not|exists|concurrently|only|on|body)$/i.test(words[from] ?? "")) from += 1;
  let name = words[from] ?? "";
  while (words[from + 1] === ".") {
    name += `.${words[from + 2] ?? ""}`;
    from += 2;
  }
  return verb.toLowerCase() === "alter"
    ? { kind: "alter", object, name: `${object} ${name}` }
    : { kind: object, object, name };
}
