/** How the indentation of a block in a call and in the file hang together, and how a replacement is indented alike. */

import { indentationOf } from "./match-source.ts";

export type Shift =
  /** The file has this in front of what the call has. */
  | {
      readonly way: "add";
      readonly prefix: string /** Spaces of the call for one tab, where it must be guessed. */;
      readonly tabWidth: number | undefined;
    }
  /** The call has this in front of what the file has. */
  | { readonly way: "remove"; readonly prefix: string }
  /** Tabs in the file, this many spaces for each in the call. */
  | { readonly way: "to tabs"; readonly width: number }
  /** Tabs in the call, this many spaces for each in the file. */
  | { readonly way: "to spaces"; readonly width: number };

/** The indentation of a line as the call has it and as the file has it. */
export interface IndentationPair {
  readonly asked: string;
  readonly actual: string;
}

const widths = [2, 3, 4, 5, 6, 7, 8] as const;

/** The one shift of all lines, or the first line that does not fit the lines before it. Blank lines are not to be among them. */
export function shiftOf(pairs: readonly IndentationPair[]): Shift | { readonly way: "uneven"; readonly at: number } {
  const first = pairs[0];
  if (first === undefined) return { way: "add", prefix: "", tabWidth: undefined };
  let possible: readonly Shift[] = shiftsOf(first);
  for (const [at, pair] of pairs.entries()) {
    possible = possible.filter((shift) => fits(shift, pair));
    if (possible.length === 0) return { way: "uneven", at };
  }
  return possible[0] ?? { way: "uneven", at: 0 };
}

/** The shift made ready for a replacement: what spaces inside it mean can be unknown to the lines that were found. */
export function shiftFor(shift: Shift, asked: readonly string[], replacement: readonly string[]): Shift {
  if (shift.way !== "add" || !/^\t+$/.test(shift.prefix) || asked.some((line) => indentationOf(line) !== ""))
    return shift;
  const depths = replacement.map((line) => (line.trim() === "" ? "" : indentationOf(line)));
  if (depths.some((depth) => depth.includes("\t"))) return shift;
  const unit = depths.reduce((known, depth) => commonDivisor(known, depth.length), 0);
  return { ...shift, tabWidth: unit };
}

/** The indentation in the file for one in the call; undefined where the shift does not say. */
export function shifted(shift: Shift, indentation: string): string | undefined {
  switch (shift.way) {
    case "add":
      return addPrefix(shift.prefix, shift.tabWidth, indentation);
    case "remove":
      return indentation.startsWith(shift.prefix) ? indentation.slice(shift.prefix.length) : undefined;
    case "to tabs": {
      // Tabs in the replacement are the file's own style already.
      const spaces = indentation.replace(/^\t+/, "");
      if (spaces.includes("\t")) return undefined;
      const tabs = Math.floor(spaces.length / shift.width);
      const rest = spaces.length % shift.width;
      return indentation.slice(0, indentation.length - spaces.length) + "\t".repeat(tabs) + " ".repeat(rest);
    }
    case "to spaces": {
      const spaces = indentation.replace(/^\t+/, "");
      if (spaces.includes("\t")) return undefined;
      return " ".repeat((indentation.length - spaces.length) * shift.width) + spaces;
    }
  }
}

function addPrefix(prefix: string, tabWidth: number | undefined, indentation: string): string | undefined {
  if (tabWidth === undefined || indentation === "") return prefix + indentation;
  if (tabWidth < 2 || tabWidth > 8) return undefined;
  return prefix + "\t".repeat(indentation.length / tabWidth);
}

function shiftsOf({ asked, actual }: IndentationPair): readonly Shift[] {
  const shifts: Shift[] = [];
  if (actual.endsWith(asked)) {
    shifts.push({ way: "add", prefix: actual.slice(0, actual.length - asked.length), tabWidth: undefined });
  } else if (asked.endsWith(actual)) {
    shifts.push({ way: "remove", prefix: asked.slice(0, asked.length - actual.length) });
  }
  for (const width of widths) shifts.push({ way: "to tabs", width }, { way: "to spaces", width });
  return shifts;
}

function fits(shift: Shift, { asked, actual }: IndentationPair): boolean {
  switch (shift.way) {
    case "add":
      return actual === shift.prefix + asked;
    case "remove":
      return asked === shift.prefix + actual;
    case "to tabs":
      return isWide(actual, asked, shift.width);
    case "to spaces":
      return isWide(asked, actual, shift.width);
  }
}

/** Tabs, perhaps with a few spaces behind them, as the lines of a block comment have; and the same in spaces alone. */
function isWide(tabbed: string, spaced: string, width: number): boolean {
  const rest = tabbed.replace(/^\t+/, "");
  const tabs = tabbed.length - rest.length;
  if (!isOnly(" ", rest) || !isOnly(" ", spaced) || rest.length >= width) return false;
  return spaced.length === tabs * width + rest.length;
}

function isOnly(character: string, text: string): boolean {
  return text === character.repeat(text.length);
}

function commonDivisor(a: number, b: number): number {
  return b === 0 ? a : commonDivisor(b, a % b);
}
