/**
 * Lines of gitignore: as path patterns for permission rules, and as the rules of one ignore file, whose last matching
 * line decides. An ignore file judges each name alone: nothing below an ignored folder can be re-included, because a
 * search never opens that folder.
 */

import { limits } from "../../contract/limits.ts";
import type { Steps } from "../steps.ts";
import { parseCharacterSet } from "./character-set.ts";
import { compileName, type Meter, type NameTest, testName } from "./name.ts";

/** One line: patterns for the names of a path, relative to the anchor. A line that matches at any depth begins with `**`. */
export interface PathPattern {
  readonly names: readonly (NameTest | "**")[];
  readonly foldersOnly: boolean;
}

/** `text` has no `!` in front and no trailing whitespace. Undefined if it matches nothing. */
export function compilePath(text: string, letterCase: "exact" | "any" = "exact"): PathPattern | undefined {
  const foldersOnly = text.endsWith("/");
  const parts = splitNames(foldersOnly ? text.slice(0, -1) : text);
  if (parts === undefined) return undefined;
  const [first = "", ...others] = parts;
  const anyDepth = others.length === 0;
  const names: (NameTest | "**")[] = anyDepth ? ["**"] : [];
  for (const part of first === "" && !anyDepth ? others : parts) {
    if (/^\*\*+$/.test(part) && !anyDepth) {
      // Consecutive `**` are one.
      if (names.at(-1) !== "**") names.push("**");
      continue;
    }
    const test = compileName(part, { syntax: "ignore", letterCase });
    // git ignores a line that it cannot parse.
    if ("fault" in test) return undefined;
    names.push(test);
  }
  return { names, foldersOnly };
}

/** The parts between slashes; undefined if a bracket is not closed. A slash inside brackets does not separate. */
function splitNames(text: string): readonly string[] | undefined {
  if (text === "" || text === "/") return undefined;
  if (!/[[\\]/.test(text)) return text.split("/");
  const letters = Array.from(text);
  const parts: string[] = [];
  let part = "";
  for (let at = 0; at < letters.length; at += 1) {
    const letter = letters[at] ?? "";
    if (letter === "\\" && letters[at + 1] !== undefined) {
      at += 1;
      // A slash cannot be part of a name, escaped or not. git reads `**\/` as one folder or more, `**/` as none or more.
      if (letters[at] === "/") parts.push(...(/^\*\*+$/.test(part) ? [part, "*"] : [part]));
      part = letters[at] === "/" ? "" : part + letter + (letters[at] ?? "");
    } else if (letter === "[") {
      const set = parseCharacterSet(letters, at + 1, "ascii");
      if (typeof set === "string") return undefined;
      part += letters.slice(at, set.end).join("");
      at = set.end - 1;
    } else if (letter === "/") {
      parts.push(part);
      part = "";
    } else part += letter;
  }
  return [...parts, part];
}

/** For each name of a path: 1 if the pattern matches the path up to that name. All names but the last are folders. */
export function matchedPrefixes(
  pattern: PathPattern,
  path: readonly string[],
  is: "file" | "folder",
  meter: Meter,
): Uint8Array {
  const matched = new Uint8Array(path.length);
  compare(
    pattern.names,
    path.length,
    (at) => path[at] ?? "",
    meter,
    (at) => {
      matched[at] = pattern.foldersOnly && is === "file" && at === path.length - 1 ? 0 : 1;
    },
  );
  return matched;
}

/** Walks with the set of all reachable places, so several `**` cost as one does. Reports every matching prefix. */
function compare(
  names: PathPattern["names"],
  count: number,
  nameAt: (at: number) => string,
  meter: Meter,
  onMatch: (at: number) => void,
): void {
  const end = names.length;
  let places: number[] = [];
  /** Places come in ascending order, so one that is not above the last is in the list already. */
  const reach = (place: number, into: number[]): void => {
    if (place > (into.at(-1) ?? -1)) into.push(place);
    // `**` matches zero names, unless it is the last.
    if (names[place] === "**" && place < end - 1 && place + 1 > (into.at(-1) ?? -1)) into.push(place + 1);
  };
  reach(0, places);
  for (let at = 0; at < count && places.length > 0; at += 1) {
    const name = nameAt(at);
    const next: number[] = [];
    let matches = false;
    meter.steps += places.length;
    for (const place of places) {
      const test = names[place];
      if (test === undefined) continue;
      if (test === "**") {
        reach(place, next);
        matches ||= place === end - 1;
      } else if (testName(test, name, meter)) {
        if (place === end - 1) matches = true;
        else reach(place + 1, next);
      }
    }
    if (matches) onMatch(at);
    places = next;
  }
}

export interface IgnoreRules {
  /** Undefined: no line matches, or `meter` is over. `above`: its folders; from `from` on below the ignore file. */
  judge(
    above: readonly string[],
    from: number,
    name: string,
    is: "file" | "folder",
    meter?: Meter,
  ): "ignored" | "kept" | undefined;
}

/** The last matching line of a kind: its position in the file, and whether it re-includes the name (`!`). */
interface LineVerdict {
  readonly order: number;
  readonly keeps: boolean;
}

interface Rule extends LineVerdict {
  readonly pattern: PathPattern;
}

interface NameVerdicts {
  anything?: LineVerdict;
  folders?: LineVerdict;
}

/** Characters after which `readIgnoreRules` pauses. */
const charsPerPause = 8_192;

export function* readIgnoreRules(text: string): Steps<IgnoreRules | undefined> {
  // Most lines are a name or `*.extension`: those are looked up in a map.
  const byName = new Map<string, NameVerdicts>();
  const byExtension = new Map<string, NameVerdicts>();
  /** By their text: the last of equal lines decides. */
  const others = new Map<string, Rule>();
  let order = 0;
  let pauseAt = charsPerPause;
  for (let start = text.startsWith("\ufeff") ? 1 : 0; start <= text.length; order += 1) {
    const newline = text.indexOf("\n", start);
    const end = newline === -1 ? text.length : newline;
    const line = text.slice(start, end > start && text[end - 1] === "\r" ? end - 1 : end);
    start = end + 1;
    if (start > pauseAt) {
      yield;
      pauseAt = start + charsPerPause;
    }
    const read = parseLine(line);
    if (read === undefined) continue;
    const verdict: LineVerdict = { order, keeps: read.keeps };
    const key = lookupKey(read.pattern);
    if (key === undefined) {
      others.delete(read.text);
      others.set(read.text, { ...verdict, pattern: read.pattern });
      continue;
    }
    const map = key.by === "name" ? byName : byExtension;
    const verdicts = map.get(key.text) ?? {};
    map.set(key.text, verdicts);
    verdicts[read.pattern.foldersOnly ? "folders" : "anything"] = verdict;
  }
  if (byName.size + byExtension.size + others.size === 0) return undefined;
  return judgeBy(byName, byExtension, [...others.values()].toReversed());
}

function judgeBy(
  byName: ReadonlyMap<string, NameVerdicts>,
  byExtension: ReadonlyMap<string, NameVerdicts>,
  others: readonly Rule[],
): IgnoreRules {
  const later = (a: LineVerdict | undefined, b: LineVerdict | undefined): LineVerdict | undefined =>
    a === undefined || (b !== undefined && b.order > a.order) ? b : a;
  const verdictIn = (verdicts: NameVerdicts | undefined, is: "file" | "folder"): LineVerdict | undefined =>
    verdicts && (is === "folder" ? later(verdicts.anything, verdicts.folders) : verdicts.anything);
  return {
    judge(above, from, given, is, meter = { steps: 0 }) {
      const name = composed(given);
      const dot = byExtension.size > 0 ? name.lastIndexOf(".") : -1;
      let best = later(
        verdictIn(byName.get(name), is),
        dot === -1 ? undefined : verdictIn(byExtension.get(name.slice(dot)), is),
      );
      for (const rule of others) {
        if (best !== undefined && rule.order < best.order) break;
        if (meter.steps > limits.ignoreStepsMax) break;
        meter.steps += 4;
        if (rule.pattern.foldersOnly && is === "file") continue;
        if (!covers(rule.pattern, above, from, name, meter)) continue;
        best = rule;
        break;
      }
      return best === undefined ? undefined : best.keeps ? "kept" : "ignored";
    },
  };
}

/** More combining marks in a row than a name has room for: their normalization takes quadratic time. */
export const fitsNoName = (text: string): boolean => /\p{M}{128}/u.test(text);

function parseLine(
  line: string,
): { readonly text: string; readonly keeps: boolean; readonly pattern: PathPattern } | undefined {
  if (line === "" || line.startsWith("#")) return undefined;
  const keeps = line.startsWith("!");
  const written = withoutWhitespace(keeps ? line.slice(1) : line);
  // Longer than any path can be.
  if (written.length > limits.ignoreLineCharsMax || fitsNoName(written)) return undefined;
  const text = written.normalize("NFC");
  const pattern = compilePath(text);
  return pattern && { text, keeps, pattern };
}

/** Trailing spaces are dropped, unless the first one is escaped: then that one stays. */
function withoutWhitespace(text: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === " ") end -= 1;
  if (end === text.length) return text;
  let backslashes = 0;
  while (backslashes < end && text[end - backslashes - 1] === "\\") backslashes += 1;
  return text.slice(0, backslashes % 2 === 1 ? end + 1 : end);
}

function lookupKey({ names }: PathPattern): { readonly by: "name" | "extension"; readonly text: string } | undefined {
  const [first, test] = names;
  if (names.length !== 2 || first !== "**" || test === undefined || test === "**") return undefined;
  if (test.is === "literal") return { by: "name", text: test.text };
  const isExtension =
    test.is === "parts" && test.first === "" && test.inner.length === 0 && /^\.[^.]+$/.test(test.last);
  return isExtension ? { by: "extension", text: test.last } : undefined;
}

function covers({ names }: PathPattern, above: readonly string[], from: number, name: string, meter: Meter): boolean {
  const last = names.at(-1);
  if (last !== undefined && last !== "**" && !testName(last, name, meter)) return false;
  const [first] = names;
  if (names.length === 2 && first === "**" && last !== "**") return true;
  const count = above.length - from + 1;
  const nameAt = (at: number): string => (at === count - 1 ? name : composed(above[from + at] ?? ""));
  if (first !== undefined && first !== "**" && !testName(first, nameAt(0), meter)) return false;
  let matches = false;
  compare(names, count, nameAt, meter, (at) => {
    matches = at === count - 1;
  });
  return matches;
}

/** Some file systems return decomposed names; patterns are composed. */
// oxlint-disable-next-line no-control-regex
export const composed = (name: string): string => (/[^\0-\x7f]/.test(name) ? name.normalize("NFC") : name);
