/** Line numbers that were copied along with the text from what Read or a search shows. */

export interface Unnumbered {
  readonly oldText: string;
  readonly newText: string;
  /** The number of the first line. */
  readonly first: number;
  readonly count: number;
}

/** What stands between number and text. An empty line may lack the blank after it. */
const dialects = [
  /^ *(\d+)\u2192/,
  /^ *(\d+) \|(?: |$)/,
  /^ *(\d+)\|(?: |$)/,
  /^ *(\d+)\|/,
  /^ *(\d+):(?: |$)/,
  /^ *(\d+):/,
  /^ *(\d+)\t/,
];

/**
 * Both texts without the numbers: if every line of the old text has one and they are consecutive, and the new text has
 * one on every line or on none. Numbers on some lines could be the text's own, and must not get into the file.
 */
export function withoutLineNumbers(oldText: string, newText: string): Unnumbered | undefined {
  for (const dialect of dialects) {
    const old = strip(oldText, dialect);
    if (old === undefined || !old.numbers.every((number, at) => number === (old.numbers[0] ?? 0) + at)) continue;
    const first = old.numbers[0];
    if (first === undefined) continue;
    const stripped = strip(newText, dialect)?.text;
    if (stripped === undefined && newText.split("\n").some((line) => dialects.some((other) => other.test(line)))) {
      return undefined;
    }
    return { oldText: old.text, newText: stripped ?? newText, first, count: old.numbers.length };
  }
  return undefined;
}

/** Undefined if a line has no number. What follows the last newline is no line if it is empty. */
function strip(
  text: string,
  dialect: RegExp,
): { readonly text: string; readonly numbers: readonly number[] } | undefined {
  const lines = text.split("\n");
  const numbers: number[] = [];
  const stripped: string[] = [];
  for (const [at, line] of lines.entries()) {
    if (line === "" && at === lines.length - 1 && at > 0) {
      stripped.push("");
      continue;
    }
    const match = dialect.exec(line.endsWith("\r") ? line.slice(0, -1) : line);
    if (match === null) return undefined;
    numbers.push(Number(match[1]));
    stripped.push(line.slice(match[0].length));
  }
  return { text: stripped.join("\n"), numbers };
}
