/** A place in code as people write it: a path, a line and a column, with colons between. */

export interface WrittenPlace {
  readonly path: string;
  readonly line: number | undefined;
  readonly column: number | undefined;
}

/** `src/a.ts:12:5`, `src/a.ts:12`, `src/a.ts`. A number that is none of a place (0, or too large) stays part of the path. */
export function writtenPlace(text: string): WrittenPlace {
  const [, path = text, line, column] = /^(.+?):([1-9]\d{0,8})(?::([1-9]\d{0,8}))?$/.exec(text) ?? [];
  return { path, line: numberOf(line), column: numberOf(column) };
}

const numberOf = (digits: string | undefined): number | undefined =>
  digits === undefined ? undefined : Number(digits);
