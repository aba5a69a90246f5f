/**
 * Permission rules: which rule decides about a path. Pure: paths come in normalised and are never looked at on the disk.
 *
 * A rule is `Tool(pattern)`, or `Tool` for everything. Patterns are those of gitignore, anchored by how they begin:
 * `//x` at the file system's root, `~/x` at home, `/x` at the workspace root, `x` within the workspace. As in
 * gitignore a pattern covers what lies beneath a matching folder, and `!` takes paths out again, but only out of
 * earlier rules of the same verdict and source: a project cannot lift what its user denied.
 */

import ignore, { type Ignore } from "ignore";
import { limits } from "../contract/limits.ts";
import type { RuleText, Verdict } from "../contract/rule.ts";

/** One name of a path. MUST be normalised (no `.`, `..` or empty names); a final slash says that it is a folder. */
export interface PathName {
  readonly absolute: string;
  /** Below its root, with forward slashes; empty for the root itself, undefined outside all roots. */
  readonly relative: string | undefined;
}

export interface Decision {
  readonly verdict: Verdict;
  /** Undefined when no rule matched; then reading is allowed and editing has to be asked for. */
  readonly rule: RuleText | undefined;
}

/** A rule that is malformed or can never match. */
export interface RuleFault {
  readonly text: string;
  readonly source: string;
  readonly why: string;
}

export interface Rules {
  /** `names`: the path as asked for and as it really is. Deny and ask if any name matches, allow only if all do. */
  decide(permission: Permission, names: readonly PathName[]): Decision;
  readonly faults: readonly RuleFault[];
}

type Permission = "read" | "edit";

export function compileRules(texts: readonly RuleText[], options: { readonly home: string | undefined }): Rules {
  const shelves = {
    deny: { read: new Shelf("deny"), edit: new Shelf("deny") },
    ask: { read: new Shelf("ask"), edit: new Shelf("ask") },
    allow: { read: new Shelf("allow"), edit: new Shelf("allow") },
  } satisfies Record<Verdict, Record<Permission, Shelf>>;
  const faults: RuleFault[] = [];

  for (const rule of texts) {
    const parsed = parseRule(rule, options.home);
    const why = "why" in parsed ? parsed.why : shelves[rule.verdict][parsed.permission].add(rule, parsed.pattern);
    if (why !== undefined) faults.push({ text: rule.text, source: rule.source, why });
  }

  return {
    faults,
    decide: (permission, names) => {
      // What may not be read may not be edited either: a diff or an error text would show it.
      const rule =
        shelves.deny[permission].any(names) ?? (permission === "edit" ? shelves.deny.read.any(names) : undefined);
      if (rule !== undefined) return { verdict: "deny", rule };
      const asking = shelves.ask[permission].any(names);
      if (asking !== undefined) return { verdict: "ask", rule: asking };
      const allowing = shelves.allow[permission].all(names);
      if (allowing !== undefined) return { verdict: "allow", rule: allowing };
      return { verdict: permission === "read" ? "allow" : "ask", rule: undefined };
    },
  };
}

/** Makes every character of a path literal, for patterns made out of paths. */
export const escapePattern = (path: string): string =>
  // `ignore` drops line ends and blanks at the end of a pattern; in brackets they stay.
  path.replace(/[\\*?[\]!#]| (?=$|\/)/g, "\\$&").replace(/[\r\n\t]/g, "[$&]");

/** Where a pattern is anchored, so which spelling of a path it is compared with. */
type Base = "absolute" | "root" | "anywhere";

interface Pattern {
  readonly base: Base;
  readonly negated: boolean;
  /** What `ignore` is given; each of them stands for the rule. */
  readonly lines: readonly string[];
}

/** All rules of one verdict about one permission. */
class Shelf {
  readonly #verdict: Verdict;
  #everything: RuleText | undefined;
  readonly #groups = new Map<string, Group>();

  constructor(verdict: Verdict) {
    this.#verdict = verdict;
  }

  /** Without a pattern the rule covers everything. Returns what is wrong with the rule, if anything is. */
  add(rule: RuleText, pattern: Pattern | undefined): string | undefined {
    if (pattern === undefined) {
      this.#everything ??= rule;
      return undefined;
    }
    const key = `${pattern.base} ${rule.source}`; // a group per source: `!` must not reach into another one
    let group = this.#groups.get(key);
    if (group === undefined) {
      if (pattern.negated) return `it takes nothing out: no earlier "${rule.verdict}" rule is anchored like it`;
      group = new Group(pattern.base, this.#verdict === "allow" ? "exact" : "any letter case");
      this.#groups.set(key, group);
    }
    group.add(rule, pattern);
    // Kept in force all the same: such names exist, in project templates for one.
    return pattern.lines.some((line) => /\{[^{}/]*,[^{}/]*\}/.test(line))
      ? "braces are compared literally, write a rule for each alternative"
      : undefined;
  }

  any(names: readonly PathName[]): RuleText | undefined {
    for (const name of names) {
      const rule = this.#match(name);
      if (rule !== undefined) return rule;
    }
    return undefined;
  }

  all(names: readonly PathName[]): RuleText | undefined {
    let first: RuleText | undefined;
    for (const name of names) {
      const rule = this.#match(name);
      if (rule === undefined) return undefined;
      first ??= rule;
    }
    return first;
  }

  #match(name: PathName): RuleText | undefined {
    if (this.#everything !== undefined) return this.#everything;
    for (const group of this.#groups.values()) {
      const rule = group.match(name);
      if (rule !== undefined) return rule;
    }
    return undefined;
  }
}

/** Paths after which a group forgets its answers: `ignore` keeps one for every path and never drops any. */
const answersMax = 10_000;

/** Names a path may have where patterns with an inner `**` take part: their cost grows with a power of its depth. */
const steepDepthMax = 50;

/** Rules of one verdict, permission, base and source: one instance of `ignore`, each rule marked with its number. */
class Group {
  readonly #base: Base;
  readonly #compare: "exact" | "any letter case";
  readonly #rules: RuleText[] = [];
  readonly #lines: { readonly pattern: string; readonly mark: string }[] = [];
  /** Texts of which a path must contain one to match at all, in lower case. */
  readonly #needles = new Set<string>();
  #steep: RuleText | undefined;
  #matcher: Ignore | undefined;
  #answers = 0;

  constructor(base: Base, compare: "exact" | "any letter case") {
    this.#base = base;
    this.#compare = compare;
  }

  add(rule: RuleText, pattern: Pattern): void {
    const mark = String(this.#rules.push(rule) - 1);
    for (const line of pattern.lines.map((line) => this.#form(line))) {
      this.#lines.push({ pattern: pattern.negated ? `!${line}` : line, mark });
      if (!pattern.negated) this.#needles.add(needleOf(line));
      if (/.\/\*\*+\/./s.test(line)) this.#steep ??= rule;
    }
  }

  match(name: PathName): RuleText | undefined {
    const path = this.#form(spelling(name, this.#base));
    if (path === "") return undefined; // a root itself: gitignore patterns match only what lies beneath
    if (!this.#mayMatch(path.toLowerCase())) return undefined;
    if (this.#steep !== undefined && path.split("/").length > steepDepthMax) {
      return this.#compare === "exact" ? undefined : this.#steep; // too deep to tell, so to the safe side
    }
    const mark = this.#compiled().test(path).rule?.mark;
    return mark === undefined ? undefined : this.#rules[Number(mark)];
  }

  /** Spares most paths the patterns: compiling the default ones costs milliseconds, and a program starts for one read. */
  #mayMatch(lowerCasePath: string): boolean {
    for (const needle of this.#needles) if (lowerCasePath.includes(needle)) return true;
    return false;
  }

  #compiled(): Ignore {
    const fresh = () => ignore({ ignorecase: this.#compare === "any letter case" });
    if (this.#matcher === undefined) {
      this.#matcher = fresh();
      for (const line of this.#lines) this.#matcher.add(line);
    }
    this.#answers += 1;
    if (this.#answers > answersMax) {
      this.#matcher = fresh().add(this.#matcher); // takes over the compiled patterns, not the answers
      this.#answers = 0;
    }
    return this.#matcher;
  }

  /**
   * Deny and ask rules match all canonically equal names. `ignore` translates `**` to `.*`, which stops at line ends,
   * so that a name with a newline would slip past them: they are compared as U+FFFF, which no name should contain.
   */
  #form(text: string): string {
    return this.#compare === "exact" ? text : text.normalize("NFC").replace(/[\n\r\u2028\u2029]/g, "\uffff");
  }
}

/**
 * The longest text that every path matching a pattern contains; empty if there is none. ASCII only: there lower case
 * and the `i` of regular expressions agree.
 */
function needleOf(line: string): string {
  // What follows a bracket is left out, so that nobody has to know here where the bracket ends.
  const plain = line.replace(/\\.|\[.*$/gs, "*").split(/[^\w.-]+/);
  return plain.reduce((longest, text) => (text.length > longest.length ? text : longest), "").toLowerCase();
}

/** The spelling of a path that patterns of a base are compared with; empty where they cannot match. */
function spelling(name: PathName, base: Base): string {
  const withinRoot = base === "absolute" ? undefined : name.relative;
  if (withinRoot === undefined && base === "root") return "";
  return checked(withinRoot ?? belowSystemRoot(name.absolute));
}

/** An absolute path without its leading slash; `C:\x` becomes `c/x`, as it is written in `//c/x`. */
function belowSystemRoot(absolute: string): string {
  // A path that begins otherwise is one of Windows, where a backslash cannot be part of a name.
  const slashed = absolute.startsWith("/") ? absolute : absolute.replaceAll("\\", "/");
  return slashed.replace(/^\/+/, "").replace(/^([a-z]):(?=\/|$)/i, (_, drive: string) => drive.toLowerCase());
}

/** Judging `src/../.env` by its first name would open a hole, so a caller's mistake must not pass. */
function checked(path: string): string {
  if (/(?:^|\/)\.\.?(?:\/|$)|\/\//.test(path)) throw new Error(`Cannot judge "${path}": it is not normalised`);
  return path;
}

const permissionOf: ReadonlyMap<string, Permission> = new Map([
  ["read", "read"],
  ["glob", "read"],
  ["grep", "read"],
  ["ls", "read"],
  ["edit", "edit"],
  ["write", "edit"],
  ["multiedit", "edit"],
  ["notebookedit", "edit"],
  ["patch", "edit"],
]);

type Parsed = { readonly permission: Permission; readonly pattern: Pattern | undefined } | { readonly why: string };

function parseRule(rule: RuleText, home: string | undefined): Parsed {
  const [, tool, pattern] = /^(\w+)(?:\((.*)\))?$/s.exec(rule.text.trim()) ?? [];
  if (tool === undefined) return { why: "it is not of the form Tool(pattern)" };
  const permission = permissionOf.get(tool.toLowerCase());
  if (permission === undefined) {
    return { why: "its tool is unknown, use Read, Glob, Grep, LS, Edit, Write, MultiEdit, NotebookEdit or Patch" };
  }
  if (pattern === undefined) return { permission, pattern: undefined };

  const negated = pattern.startsWith("!");
  const anchored = anchor(negated ? pattern.slice(1) : pattern, rule.verdict, home);
  if ("why" in anchored) return anchored;
  const { base, line } = anchored;
  // What widens access is taken to the letter; what narrows it is widened where a pattern can be read in two ways.
  const strict = rule.verdict === "allow" || negated;
  const why = neverMatches(line, strict);
  if (why !== undefined) return { why };
  return { permission, pattern: { base, negated, lines: strict ? [line] : widened(line) } };
}

type Anchored = { readonly base: Base; readonly line: string } | { readonly why: string };

function anchor(pattern: string, verdict: Verdict, home: string | undefined): Anchored {
  if (pattern.trim() === "") return { why: "its pattern is empty, write the tool alone for everything" };
  if (/^[a-z]:[\\/]/i.test(pattern)) return { base: "absolute", line: `/${belowSystemRoot(pattern)}` };
  if (pattern.startsWith("//")) return { base: "absolute", line: `/${belowSystemRoot(pattern.slice(1))}` };
  if (pattern === "~" || pattern.startsWith("~/")) {
    if (home === undefined || home === "") return { why: "the home folder is not known" };
    const names = [escapePattern(belowSystemRoot(home).replace(/\/+$/, "")), pattern.slice(2)];
    return { base: "absolute", line: `/${names.filter((name) => name !== "").join("/")}` };
  }
  if (pattern.startsWith("/")) return { base: "root", line: pattern };
  // Deny and ask match at any depth, and outside the roots too: a secret is one wherever it lies.
  if (verdict !== "allow") return { base: "anywhere", line: `**/${pattern}` };
  const anyDepth = !/\/(?!$)/.test(pattern.trimEnd());
  return { base: "root", line: anyDepth ? `**/${pattern}` : `/${pattern}` };
}

/** Inner and leading `**` of a pattern. Each multiplies the time of a comparison by the depth of the path. */
const globstarsMax = 3;

function neverMatches(line: string, strict: boolean): string | undefined {
  const names = line.split("/");
  if (/^\/*$/.test(line)) return "it matches nothing, write the tool alone for everything";
  if (names.includes(".") || names.includes("..")) {
    return 'it can never match: paths have no "." or ".." when they are compared, begin with / for the workspace root';
  }
  if (line.includes("//")) return "it can never match: paths have no empty names when they are compared";
  if (line.includes("\0")) return "it can never match: no path contains NUL";
  if (line.length > limits.pathBytesMax) return `it is longer than ${limits.pathBytesMax} characters`;
  if (names.slice(0, -1).filter((name) => /^\*\*+$/.test(name)).length > globstarsMax) {
    return 'it has too many "**", which would take too long to compare';
  }
  const unescaped = line.replace(/\\./gs, "");
  if (unescaped.endsWith("\\")) return "it can never match: it ends with a backslash that escapes nothing";
  if (strict && unescaped.replace(/\[[!^]?(?:\][^\]]*|[^\]]+)\]/g, "").includes("[")) {
    return 'it can never match: a "[" is not closed, write \\[ for the character itself';
  }
  return undefined;
}

/**
 * `secrets/` also covers what is named so but was not told to be a folder, and `app/[slug]/**` also covers the folder
 * that is really named `[slug]`, as routers of web frameworks have them.
 */
function widened(line: string): readonly string[] {
  const open = line.replace(/(?<=[^/\\])\/$/, "");
  const literal = open.replace(/\\.|\[/gs, (found) => (found === "[" ? "\\[" : found));
  return literal === open ? [open] : [open, literal];
}
