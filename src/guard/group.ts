/** Rules of one verdict, permission, base and source, compared as one gitignore file is. Pure. */

import ignore, { type Ignore } from "ignore";
import type { RuleText } from "../contract/rule.ts";
import { foldCase, foldCaseFully, foldPattern } from "./fold.ts";
import { createPatternIndex, type PatternIndex } from "./pattern-index.ts";
import { type Base, belowSystemRoot, type Pattern } from "./patterns.ts";

/** One name of a path. MUST be normalised (no `.`, `..` or empty names); a final slash says that it is a folder. */
export interface PathName {
  readonly absolute: string;
  /** Below its root, with forward slashes; empty for the root itself, undefined outside all roots. */
  readonly relative: string | undefined;
  /** The same below further roots, where roots lie in each other: a rule holds in each of them. */
  readonly others?: readonly string[] | undefined;
}

/** Paths after which a group forgets its answers, and sets of patterns after which it forgets those. */
const answersMax = 10_000;
const matchersMax = 1_000;

/** Names a path may have where patterns with an inner `**` take part: their cost grows with a power of its depth. */
const steepDepthMax = 50;

const builtIn = "default";

interface Line {
  readonly pattern: string;
  readonly rule: RuleText;
  readonly negated: boolean;
  readonly steep: boolean;
  /** As it was written, for what is taken to the letter. */
  readonly written: string;
}

export class Group {
  readonly #base: Base;
  readonly #compare: "exact" | "any letter case";
  readonly #lines: Line[] = [];
  /** Made when it is first needed: a program may start for one read. */
  #index: PatternIndex | undefined;
  /** `ignore` has a time for every pattern, so it gets only those that may match; most paths come to few such sets. */
  readonly #matchers = new Map<string, Ignore>();
  readonly #answers = new Map<string, RuleText | undefined>();
  /** Of which that is known to the letter, for all that lies in them: their folded and their written names. */
  readonly #freeFolders = new Set<string>();

  constructor(base: Base, compare: "exact" | "any letter case") {
    this.#base = base;
    this.#compare = compare;
  }

  add(rule: RuleText, { lines, negated }: Pattern): void {
    for (const line of lines) {
      for (const pattern of this.#patternForms(line, negated)) {
        this.#lines.push({ pattern, rule, negated, steep: /.\/\*\*+\/./s.test(pattern), written: oneLine(line) });
      }
    }
    this.#index = undefined;
    this.#answers.clear();
    this.#freeFolders.clear();
    this.#matchers.clear();
  }

  match(name: PathName): RuleText | undefined {
    const path = spelling(name, this.#base);
    if (path === "") return undefined; // a root itself: gitignore patterns match only what lies beneath
    if (this.#answers.has(path)) return this.#answers.get(path);
    const answer = this.#anyForm(path);
    if (this.#answers.size >= answersMax) this.#answers.clear();
    this.#answers.set(path, answer);
    return answer;
  }

  #anyForm(path: string): RuleText | undefined {
    for (const form of this.#pathForms(path)) {
      const rule = this.#judge(form, oneLine(path));
      if (rule !== undefined) return rule;
    }
    return undefined;
  }

  /** `asWritten`: the same path, not folded. */
  #judge(path: string, asWritten: string): RuleText | undefined {
    this.#index ??= createPatternIndex(this.#lines.map(({ pattern }) => pattern));
    const numbers = this.#index.candidates(path.toLowerCase());
    const lines = numbers.flatMap((at) => this.#lines[at] ?? []);
    if (!lines.some(({ negated }) => !negated)) return undefined;
    const steep = lines.find((line) => line.steep);
    if (steep !== undefined && path.split("/").length > steepDepthMax) {
      return this.#compare === "exact" ? undefined : steep.rule; // too deep to tell, so to the safe side
    }
    const rule = this.#ruleFor(path, numbers);
    if (rule !== undefined || this.#compare === "exact" || !lines.some(({ negated }) => negated)) return rule;
    return this.#judgeToTheLetter(path, asWritten, numbers);
  }

  #ruleFor(path: string, numbers: readonly number[]): RuleText | undefined {
    const lines = numbers.flatMap((at) => this.#lines[at] ?? []);
    const mark = this.#matcher(numbers, lines).test(path).rule?.mark;
    return mark === undefined ? undefined : lines[Number(mark)]?.rule;
  }

  /**
   * What takes paths out of a deny or ask rule widens access: it counts only where it matches in its own letters. Those of
   * the built-in secrets say what is none (`.ENV.Example`), in whatever letters.
   */
  #judgeToTheLetter(path: string, asWritten: string, numbers: readonly number[]): RuleText | undefined {
    const [folders, written] = [upTo(path), upTo(asWritten)];
    for (const [at, folder] of folders.entries()) {
      const letters = written[at] ?? "";
      const key = `${folder}\0${letters}`;
      if (this.#freeFolders.has(key)) continue;
      const rule = this.#ownRule(folder, letters, at + 1, numbers);
      if (rule !== undefined) return rule;
      if (at === folders.length - 1) break;
      if (this.#freeFolders.size >= answersMax) this.#freeFolders.clear();
      this.#freeFolders.add(key);
    }
    return undefined;
  }

  /** What speaks last of the path itself, whatever is said of the folders above it. */
  #ownRule(path: string, asWritten: string, depth: number, numbers: readonly number[]): RuleText | undefined {
    const last = numbers.findLast((number) => {
      const line = this.#lines[number];
      if (line === undefined) return false;
      return line.negated && line.rule.source !== builtIn
        ? this.#isAbout(asWritten, depth, line.written, "exact")
        : this.#isAbout(path, depth, line.pattern, "any letter case");
    });
    const line = last === undefined ? undefined : this.#lines[last];
    return line?.negated === true ? undefined : line?.rule;
  }

  /** `ignore` takes a path for matched if a folder above it is: so all paths of its depth are left out, and this one taken back. */
  #isAbout(path: string, depth: number, pattern: string, compare: "exact" | "any letter case"): boolean {
    const key = `${depth} ${compare} ${pattern}`;
    const matcher = ignore({ ignorecase: compare === "any letter case" });
    const made = this.#matchers.get(key);
    if (made !== undefined) matcher.add(made);
    else matcher.add({ pattern: "/*".repeat(depth) }).add({ pattern: `!${pattern}` });
    if (this.#matchers.size >= matchersMax) this.#matchers.clear();
    this.#matchers.set(key, matcher);
    return !matcher.ignores(path);
  }

  #matcher(numbers: readonly number[], lines: readonly Line[]): Ignore {
    const key = numbers.join(",");
    const made = this.#matchers.get(key);
    // It keeps an answer for every path and drops none; taking over its compiled patterns leaves them behind.
    const matcher = this.#fresh();
    if (made !== undefined) matcher.add(made);
    else {
      for (const [mark, { pattern, negated }] of lines.entries()) {
        matcher.add({ pattern: negated ? `!${pattern}` : pattern, mark: String(mark) });
      }
    }
    if (this.#matchers.size >= matchersMax) this.#matchers.clear();
    this.#matchers.set(key, matcher);
    return matcher;
  }

  #fresh(): Ignore {
    return ignore({ ignorecase: this.#compare === "any letter case" });
  }

  /**
   * Deny and ask rules match all names that some disk takes for the same: canonically equal, or equal but for letter
   * case. Where one character may stand for several (`ß`) each way is tried, since disks differ there.
   */
  #pathForms(path: string): readonly string[] {
    return this.#compare === "exact" ? [path] : bothForms(oneLine(path), (text, fold) => fold(text));
  }

  /** What takes paths out again takes out as little as it can. */
  #patternForms(line: string, negated: boolean): readonly string[] {
    if (this.#compare === "exact") return [line];
    const forms = bothForms(oneLine(line), foldPattern);
    return negated ? forms.slice(0, 1) : forms;
  }
}

/** The folders above a path, outermost first, and the path itself: `a/`, `a/b/`, `a/b/c`. */
const upTo = (path: string): readonly string[] =>
  [...path.matchAll(/\/(?!$)|$/g)].map(({ index }) => path.slice(0, index + 1));

function bothForms(text: string, form: (text: string, fold: (text: string) => string) => string): readonly string[] {
  const [simple, full] = [form(text, foldCase), form(text, foldCaseFully)];
  return simple === full ? [simple] : [simple, full];
}

/**
 * `ignore` translates `**` to `.*`, which stops at line ends, so that a name with a newline would slip past: they are
 * compared as U+FFFF, which no name should contain.
 */
const oneLine = (text: string): string => text.replace(/[\n\r\u2028\u2029]/g, "\uffff");

/** The spelling of a path that patterns of a base are compared with; empty where they cannot match. */
function spelling(name: PathName, base: Base): string {
  const withinRoot = base === "absolute" ? undefined : name.relative;
  if (withinRoot === undefined && base === "root") return "";
  return checked(withinRoot ?? belowSystemRoot(name.absolute));
}

/** Judging `src/../.env` by its first name would open a hole, so a caller's mistake must not pass. */
function checked(path: string): string {
  if (/(?:^|\/)\.\.?(?:\/|$)|\/\//.test(path)) throw new Error(`Cannot judge "${path}": it is not normalised`);
  return path;
}
