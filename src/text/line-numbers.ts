/**
 * Numbers for lines: equal lines have equal ones. A map from the lines themselves reads every character of every line; here
 * a few characters tell most lines apart, and the others are compared.
 */

/** Characters that are looked at, spread over the line. */
const samples = 8;
/** Lines alike in all that is looked at are compared one by one up to so many; the rest go into a map of their own. */
const alikeMax = 8;

export class LineNumbers {
  readonly #lines: string[] = [];
  /** By what is looked at, the first line. */
  readonly #first = new Map<number, number>();
  /** For each line the next that is alike, or -1. */
  readonly #next: number[] = [];
  #rest: Map<string, number> | undefined;

  get size(): number {
    return this.#lines.length;
  }

  /** The number of a line; a new one if it has none. */
  give(line: string): number {
    const mark = markOf(line);
    const first = this.#first.get(mark);
    if (first === undefined) {
      this.#first.set(mark, this.#lines.length);
      return this.#add(line);
    }
    let last = first;
    let alike = 0;
    for (let id = first; id >= 0; id = this.#next[id] ?? -1) {
      if (this.#lines[id] === line) return id;
      last = id;
      alike += 1;
    }
    if (alike < alikeMax) {
      this.#next[last] = this.#lines.length;
      return this.#add(line);
    }
    this.#rest ??= new Map();
    const known = this.#rest.get(line);
    if (known !== undefined) return known;
    this.#rest.set(line, this.#lines.length);
    return this.#add(line);
  }

  /** The number of a line, or -1. */
  find(line: string): number {
    const first = this.#first.get(markOf(line));
    if (first === undefined) return -1;
    for (let id = first; id >= 0; id = this.#next[id] ?? -1) if (this.#lines[id] === line) return id;
    return this.#rest?.get(line) ?? -1;
  }

  #add(line: string): number {
    this.#lines.push(line);
    this.#next.push(-1);
    return this.#lines.length - 1;
  }
}

function markOf(line: string): number {
  const { length } = line;
  let mark = length;
  if (length <= samples) {
    for (let at = 0; at < length; at += 1) mark = (Math.imul(mark, 31) + line.charCodeAt(at)) | 0;
    return mark;
  }
  // The last one is mostly the line end; what comes before it is not.
  const step = (length - 2) / (samples - 1);
  for (let sample = 0; sample < samples; sample += 1) {
    mark = (Math.imul(mark, 31) + line.charCodeAt(Math.trunc(sample * step))) | 0;
  }
  return mark;
}
