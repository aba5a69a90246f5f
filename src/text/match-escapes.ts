/** Escapes that were written twice: a backslash and an `n` where a newline is meant. */

const meanings: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  '"': '"',
  "'": "'",
  "`": "`",
  $: "$",
  "\\": "\\",
};

interface Unescaped {
  readonly text: string;
  /** The characters that were written as escapes, and those of them that also stand there by themselves. */
  readonly escaped: ReadonlySet<string>;
  readonly plain: ReadonlySet<string>;
}

/**
 * Both texts as they were meant; undefined if nothing speaks for it. A character that stands both escaped and plain was
 * not escaped by mistake: `\n` beside a real newline belongs to a string literal. `\u00e9` is never taken for the letter.
 */
export function withoutDoubleEscapes(
  oldText: string,
  newText: string,
): { readonly oldText: string; readonly newText: string } | undefined {
  const old = unescape(oldText);
  const added = unescape(newText);
  if (old === undefined || added === undefined || old.escaped.size === 0) return undefined;
  for (const character of old.escaped) if (old.plain.has(character)) return undefined;
  for (const character of added.escaped) {
    if (added.plain.has(character) || old.plain.has(character)) return undefined;
  }
  return { oldText: old.text, newText: added.text };
}

/** Undefined where a backslash begins something else. */
function unescape(text: string): Unescaped | undefined {
  const escaped = new Set<string>();
  const plain = new Set<string>();
  const parts: string[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character !== "\\") {
      plain.add(character);
      parts.push(character);
      continue;
    }
    at += 1;
    const meaning = meanings[text.charAt(at)];
    if (meaning === undefined) return undefined;
    escaped.add(meaning);
    parts.push(meaning);
  }
  return { text: parts.join(""), escaped, plain };
}
