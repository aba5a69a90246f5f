/** Rules of one verdict, permission, base and source, compared as the lines of one gitignore file are. Pure. */

import * as nodePath from "node:path";
import { limits } from "../contract/limits.ts";
import type { RuleText } from "../contract/permission.ts";
import type { RealPrefix } from "../disk/disk.ts";
import { compilePath, finish, matchedPrefixes, type Meter, type PathPattern, type Steps } from "../text/text.ts";
import {
  type Base,
  belowSystemRoot,
  createPatternIndex,
  eachOf,
  escapePattern,
  firstOf,
  type Pattern,
  type PatternIndex,
} from "./patterns.ts";

/** One name of a path. MUST be normalised (no `.`, `..` or empty names); a final slash marks a folder. */
export interface PathName {
  readonly absolute: string;
  /** Below its root, with forward slashes; empty for the root itself, undefined outside all roots. */
  readonly relative: string | undefined;
  /** The same below further roots, if roots are nested: rules apply in each of them. */
  readonly others?: readonly string[] | undefined;
}

/** The cache of answers is cleared at this size, so that a walk over very many paths does not fill the memory. */
const answersMax = 10_000;

const builtIn = "default";

interface Line {
  readonly pattern: string;
  readonly rule: RuleText;
  readonly negated: boolean;
  /** Not folded, for lines that must match exactly. */
  readonly written: string;
  /** Both are compiled on first use; `null` if the line matches nothing. */
  compiled: PathPattern | null | undefined;
  compiledWritten: PathPattern | null | undefined;
}

export class Group {
  readonly #base: Base;
  readonly #compare: "exact" | "any letter case";
  readonly #realPrefix: RealPrefix | undefined;
  /** By sign and pattern: of equal lines the last decides. */
  readonly #lines = new Map<string, Line>();
  /** Not in `#lines` yet: there may be thousands, and a program may start for a single read. */
  #added: [RuleText, Pattern][] = [];
  #ordered: readonly Line[] = [];
  #index: PatternIndex | undefined;
  readonly #answers = new Map<string, RuleText | undefined>();

  /** `realPrefix`: resolves symlinks in the folders that a rule names; without it a rule applies to the path as written. */
  constructor(base: Base, compare: "exact" | "any letter case", realPrefix?: RealPrefix) {
    this.#base = base;
    this.#compare = compare;
    this.#realPrefix = compare === "exact" ? undefined : realPrefix;
  }

  add(rule: RuleText, pattern: Pattern): void {
    this.#added.push([rule, pattern]);
    this.#index = undefined;
    // Clearing an empty map allocates a table.
    if (this.#answers.size > 0) this.#answers.clear();
  }

  #addLines(rule: RuleText, added: Pattern): void {
    const { negated } = added;
    for (const line of linesAt(added, this.#realPrefix)) {
      const written = isPrintable(line) ? line : oneLine(line);
      for (const pattern of this.#patternForms(line, negated)) {
        const key = negated ? `!${pattern}` : pattern;
        this.#lines.delete(key);
        this.#lines.set(key, { pattern, rule, negated, written, compiled: undefined, compiledWritten: undefined });
      }
    }
  }

  /** Builds the index of the lines, unless it is there. Without this call the first `match` does. */
  *prepare(): Steps<PatternIndex> {
    if (this.#index !== undefined) return this.#index;
    yield* eachOf(this.#added, ([rule, pattern]) => this.#addLines(rule, pattern));
    this.#added = [];
    const ordered = [...this.#lines.values()];
    const index = yield* createPatternIndex(ordered.map(({ pattern }) => pattern));
    this.#ordered = ordered;
    return (this.#index = index);
  }

  match(name: PathName): RuleText | undefined {
    const path = spelling(name, this.#base);
    if (path === "") return undefined; // a root itself: gitignore patterns match only paths beneath it
    if (this.#answers.has(path)) return this.#answers.get(path);
    const meter: Meter = { steps: 0 };
    const judge = (form: string) => this.#judge(form, form === path ? path : oneLine(path), meter);
    const answer = firstOf(this.#pathForms(path), judge);
    if (this.#answers.size >= answersMax) this.#answers.clear();
    this.#answers.set(path, answer);
    return answer;
  }

  /** As in gitignore: from the outermost folder on, the last matching line decides. `asWritten`: not folded. */
  #judge(path: string, asWritten: string, meter: Meter): RuleText | undefined {
    const candidates = finish(this.prepare())(path.toLowerCase());
    if (candidates.length === 0) return undefined;
    const lines = candidates.flatMap((at) => this.#ordered[at] ?? []);
    if (!lines.some(({ negated }) => !negated)) return undefined;
    const is = path.endsWith("/") ? "folder" : "file";
    const names = namesOf(this.#compare === "exact" ? path : lowerCase(path));
    const writtenNames = namesOf(asWritten);
    const deciding: (Line | undefined)[] = [];
    for (const line of lines.toReversed()) {
      const matched = this.#matched(line, names, writtenNames, is, meter);
      for (const [at, one] of matched.entries()) if (one === 1) deciding[at] ??= line;
      if (meter.steps <= limits.ruleStepsMax) continue;
      // The rules are too complex to compare in time, so the safe answer is taken.
      return this.#compare === "exact" ? undefined : lines.find(({ negated }) => !negated)?.rule;
    }
    return deciding.find((line) => line?.negated === false)?.rule;
  }

  /** An exception of a deny or ask rule widens access, so it must match exactly; those of built-in secrets need not. */
  #matched(
    line: Line,
    names: readonly string[],
    writtenNames: readonly string[],
    is: "file" | "folder",
    meter: Meter,
  ): Uint8Array {
    const letterCase = this.#compare === "exact" ? "exact" : "any";
    // Each line has a fixed cost besides its steps.
    meter.steps += 10;
    line.compiled ??= compilePath(trimmed(line.pattern), letterCase) ?? null;
    const matched = line.compiled === null ? nothing : matchedPrefixes(line.compiled, names, is, meter);
    if (!line.negated || letterCase === "exact" || line.rule.source === builtIn) return matched;
    line.compiledWritten ??= compilePath(trimmed(line.written)) ?? null;
    if (line.compiledWritten === null) return nothing;
    const exactly = matchedPrefixes(line.compiledWritten, writtenNames, is, meter);
    return matched.map((one, at) => one & (exactly[at] ?? 0));
  }

  /**
   * Deny and ask rules match every name that some file system takes for the same: canonically equal, or equal except
   * for letter case. Where one character may equal several (`ß`, or a surrogate pair), each form is tried, since file
   * systems differ there.
   */
  #pathForms(path: string): readonly string[] {
    return this.#compare === "exact" || isPrintable(path)
      ? [path]
      : withPairs(bothForms(oneLine(path), (text, fold) => fold(text)));
  }

  /** An exception gets only the narrowest form. */
  #patternForms(line: string, negated: boolean): readonly string[] {
    if (this.#compare === "exact" || isPrintable(line)) return [line];
    const forms = bothForms(oneLine(line), foldPattern);
    return negated ? forms.slice(0, 1) : withPairs(forms);
  }
}

/** A rule may spell its folders through a symlink: one that narrows access also applies to the real path. */
export const linesAt = ({ base, lines }: Pattern, realPrefix: RealPrefix | undefined): readonly string[] =>
  base !== "absolute" || realPrefix === undefined
    ? lines
    : [...new Set(lines.flatMap((line) => [line, resolvedLine(line, realPrefix)]))];

function resolvedLine(line: string, realPrefix: RealPrefix): string {
  const names = line.split("/");
  const wild = names.findIndex((name) => /(?:^|[^\\])(?:\\\\)*[*?[]/.test(name));
  const literal = wild === -1 ? names : names.slice(0, wild);
  const written = literal
    .join("/")
    .replace(/\\(.)/gs, "$1")
    .replace(/\[([\r\n\t])\]/g, "$1");
  const absolute = nodePath.sep === "\\" ? written.replace(/^\/([a-z])(?=\/|$)/i, "$1:") : written;
  if (absolute === "" || !nodePath.isAbsolute(absolute)) return line;
  const real = escapePattern(belowSystemRoot(realPrefix(absolute)));
  const rest = wild === -1 ? [] : names.slice(wild);
  const end = wild === -1 && line.endsWith("/") ? "/" : "";
  return `/${[real, ...rest].filter((name) => name !== "").join("/")}${end}`;
}

const nothing = new Uint8Array(0);

const namesOf = (path: string): readonly string[] => (path.endsWith("/") ? path.slice(0, -1) : path).split("/");

const lowerCase = (path: string): string => path.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

/** gitignore drops line ends and spaces at the end of a line, unless the first space is escaped. */
function trimmed(line: string): string {
  let end = line.length;
  while (end > 0 && (line[end - 1] === "\r" || line[end - 1] === "\n")) end -= 1;
  const lineEnd = end;
  while (end > 0 && line[end - 1] === " ") end -= 1;
  if (end === lineEnd) return line.slice(0, end);
  let backslashes = 0;
  while (backslashes < end && line[end - backslashes - 1] === "\\") backslashes += 1;
  return line.slice(0, backslashes % 2 === 1 ? end + 1 : end);
}

function bothForms(text: string, form: (text: string, fold: (text: string) => string) => string): readonly string[] {
  const [simple, full] = [form(text, foldCase), form(text, foldCaseFully)];
  return simple === full ? [simple] : [simple, full];
}

/** Printable ASCII has one form only: itself. */
const isPrintable = (text: string): boolean => !/[^ -~]/.test(text);

/** `?` matches one character; a file system may count a surrogate pair as two, so both halves are characters. */
const withPairs = (forms: readonly string[]): readonly string[] =>
  forms.flatMap((form) => {
    const halves = form.replace(/[\ud800-\udfff]/g, (half) => String.fromCharCode(half.charCodeAt(0) + 0x800));
    return halves === form ? [form] : [form, halves];
  });

/** Line ends in names become U+FFFF, which no name should contain, because a line of a pattern ends at them. */
const oneLine = (text: string): string => text.replace(/[\n\r\u2028\u2029]/g, "\uffff");

/** The spelling of a path that patterns of a base are compared with; empty if they cannot match. */
function spelling(name: PathName, base: Base): string {
  const withinRoot = base === "absolute" ? undefined : name.relative;
  if (withinRoot === undefined && base === "root") return "";
  const path = withinRoot ?? belowSystemRoot(name.absolute);
  // Judging `src/../.env` by its first name would open a hole, so a caller's mistake must throw.
  if (/(?:^|\/)\.\.?(?:\/|$)|\/\//.test(path)) throw new Error(`Cannot judge "${path}": it is not normalised`);
  return path;
}

/**
 * Names as case-insensitive file systems compare them. These know more pairs than A and a: `ſ` equals s, the Kelvin
 * sign equals k, and on some `ß` equals ss. Used only for rules that narrow access; rules that widen it match exactly.
 * Pure.
 */

const isPlain = (text: string): boolean => /^[\0-\x7f]*$/.test(text);

/** Characters beyond ASCII that have another letter case: most scripts and all marks have none. */
const cased = /(?=[^\0-\x7f])\p{Changes_When_Casemapped}/gu;

/** One character for one, so that `?` and brackets keep their meaning. ASCII case is left to the comparison. */
export function foldCase(text: string): string {
  return isPlain(text) ? text : text.normalize("NFC").replace(cased, foldOne);
}

/** Also folds to several characters: `ß` to ss, the ligature `ﬁ` to fi. */
export function foldCaseFully(text: string): string {
  if (isPlain(text)) return text;
  const folded = text.normalize("NFC").replace(cased, (character) => {
    const lower = character.toLowerCase();
    const upper = lower.toUpperCase();
    return upper.length > lower.length ? upper.toLowerCase() : lower;
  });
  return foldCase(folded);
}

/** The same for a pattern: a character that folds to ASCII no longer needs the backslash before it. */
export function foldPattern(line: string, fold: (text: string) => string): string {
  if (isPlain(line)) return line;
  return fold(line.replace(/\\\\|\\([^\0-\x7f])/gu, (found, escaped: string | undefined) => escaped ?? found));
}

function foldOne(character: string): string {
  const upper = character.toUpperCase();
  const lower = (isOne(upper) ? upper : character).toLowerCase();
  return isOne(lower) ? lower : character;
}

const isOne = (text: string): boolean => /^.$/su.test(text);
