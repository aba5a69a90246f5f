/**
 * Braces of a search pattern that can only be meant literally, such as those of `interface{}` or `onClick={handle}`: ripgrep
 * refuses a pattern with a brace that begins no repetition. They are escaped, and nothing else of the pattern is changed, so a
 * pattern that ripgrep accepts stays as it is.
 */

/** `{2}`, `{2,}` or `{2,3}`. */
const repetition = /\{\s*\d+\s*(?:,\s*(?:\d+\s*)?)?\}/y;
/** `{,3}` repeats in some languages and is literal in others. */
const unclear = /\{\s*,\s*\d+\s*\}/y;
/** Escapes whose braces belong to them. */
const escapeWithBraces = /\\(?:[pPxuU]\{[^}]{0,64}\}|b\{(?:start|end)(?:-half)?\})/y;

/** The pattern itself if it has no such braces. */
export function withLiteralBraces(pattern: string): string {
  // With the flag x blanks and comments are no part of the pattern.
  if (!pattern.includes("{") || /\(\?[a-zA-Z-]*x/.test(pattern)) return pattern;
  const parts: string[] = [];
  let copied = 0;
  const escapeAt = (at: number): void => {
    parts.push(pattern.slice(copied, at), "\\");
    copied = at;
  };
  let classes = 0;
  /** Where an expression that a repetition could follow ends; an anchor at its end is `$`. */
  let anchor = -1;
  /** The end of a `|` or `(`: nothing before it can be repeated. */
  let opened = 0;
  for (let at = 0; at < pattern.length; ) {
    const character = pattern[at];
    if (character === "\\") {
      at += lengthAt(escapeWithBraces, pattern, at) || 2;
    } else if (character === "[") {
      classes += 1;
      at += lengthAt(/\[\^?\]?/y, pattern, at);
    } else if (character === "]" || classes > 0) {
      if (character === "]") classes = Math.max(0, classes - 1);
      at += 1;
    } else if (character === "{") {
      const repeats = lengthAt(repetition, pattern, at);
      if (repeats === 0 && lengthAt(unclear, pattern, at) === 0) {
        // Nothing on a line follows its end: `${name}` begins with a dollar sign.
        if (anchor === at - 1 && at > 0) escapeAt(anchor);
        escapeAt(at);
      } else if (opened === at && repeats > 0) escapeAt(at);
      at += repeats || 1;
    } else {
      if (character === "$") anchor = at;
      if (character === "|" || character === "(") opened = at + 1;
      at += 1;
    }
  }
  return parts.length === 0 ? pattern : parts.join("") + pattern.slice(copied);
}

function lengthAt(expression: RegExp, text: string, at: number): number {
  expression.lastIndex = at;
  return expression.exec(text)?.[0].length ?? 0;
}
