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
 * Both texts without the numbers, for each way to read them: the blank behind a colon can be the line's own. Only if every
 * line of the old text has one and they are consecutive, and the new text has one on every line or on none. Numbers on
 * some lines could be the text's own, and must not get into the file.
 */
export function withoutLineNumbers(oldText: string, newText: string): readonly Unnumbered[] {
  const readings: Unnumbered[] = [];
  for (const dialect of dialects) {
    const old = strip(oldText, dialect);
    const first = old?.numbers[0];
    if (old === undefined || first === undefined) continue;
    if (!old.numbers.every((number, at) => number === first + at)) continue;
    const stripped = strip(newText, dialect)?.text ?? (hasNumbers(newText) ? undefined : newText);
    if (stripped === undefined || readings.some((reading) => reading.oldText === old.text)) continue;
    readings.push({ oldText: old.text, newText: stripped, first, count: old.numbers.length });
  }
  return readings;
}

function hasNumbers(text: string): boolean {
  return text.split("\n").some((line) => dialects.some((dialect) => dialect.test(line)));
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
