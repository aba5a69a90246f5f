/**
 * The lines of one ignore file, as git reads them: which of them speaks last of a name. Each name is judged by itself;
 * that nothing below an ignored folder can come back follows from never opening that folder.
 */

import { compileName, type NameTest, testName } from "./wildcard.ts";

export interface IgnoreRules {
  /**
   * What the file says of a name. `above` are the names of the folders that it lies in, of which those from `from` on
   * are below the ignore file. Undefined: nothing.
   */
  judge(above: readonly string[], from: number, name: string, is: "file" | "folder"): "ignored" | "kept" | undefined;
}

interface Rule {
  readonly order: number;
  readonly keeps: boolean;
  readonly folderOnly: boolean;
  /** Of the whole path below the ignore file; one name alone is looked for at any depth. */
  readonly path: readonly (NameTest | "**")[];
  readonly anyDepth: boolean;
}

/** Undefined if no line says anything. */
export function ignoreRules(text: string): IgnoreRules | undefined {
  const rules = linesOf(text).flatMap((line, order) => ruleOf(line, order) ?? []);
  if (rules.length === 0) return undefined;
  // Most lines are a name or `*.extension`: those are looked up, not tried one by one.
  const byName = new Map<string, Rule[]>();
  const byExtension = new Map<string, Rule[]>();
  const others: Rule[] = [];
  for (const rule of rules.toReversed()) {
    const key = keyOf(rule);
    if (key === undefined) others.push(rule);
    else {
      const shelf = key.by === "name" ? byName : byExtension;
      shelf.set(key.text, [...(shelf.get(key.text) ?? []), rule]);
    }
  }
  return {
    judge(above, from, given, is) {
      const name = composed(given);
      let best: Rule | undefined;
      const consider = (rule: Rule): void => {
        if (best !== undefined && rule.order < best.order) return;
        if (rule.folderOnly && is === "file") return;
        best = rule;
      };
      for (const rule of byName.get(name) ?? []) consider(rule);
      const dot = name.lastIndexOf(".");
      if (dot !== -1 && byExtension.size > 0) for (const rule of byExtension.get(name.slice(dot)) ?? []) consider(rule);
      for (const rule of others) {
        if (best !== undefined && rule.order < best.order) break;
        if (covers(rule, above, from, name)) consider(rule);
      }
      return best === undefined ? undefined : best.keeps ? "kept" : "ignored";
    },
  };
}

const linesOf = (text: string): readonly string[] => text.replace(/^\ufeff/, "").split(/\r?\n/);

function ruleOf(line: string, order: number): Rule | undefined {
  if (line.startsWith("#")) return undefined;
  // Blanks at the end count only if the first of them is escaped.
  let text = line.replace(/((?:[^\\]|^)(?:\\\\)*) +$/, "$1").normalize("NFC");
  const keeps = text.startsWith("!");
  if (keeps) text = text.slice(1);
  const folderOnly = text.endsWith("/");
  if (folderOnly) text = text.slice(0, -1);
  if (text === "" || text === "/") return undefined;
  const anyDepth = !text.includes("/");
  const path: (NameTest | "**")[] = [];
  for (const part of text.replace(/^\//, "").split("/")) {
    if (/^\*\*+$/.test(part) && !anyDepth) {
      if (path.at(-1) !== "**") path.push("**");
      continue;
    }
    const test = compileName(part, "ignore");
    // What git cannot read matches nothing.
    if ("fault" in test) return undefined;
    path.push(test);
  }
  return { order, keeps, folderOnly, path, anyDepth };
}

function keyOf({ anyDepth, path }: Rule): { readonly by: "name" | "extension"; readonly text: string } | undefined {
  const [test] = path;
  if (!anyDepth || test === undefined || test === "**") return undefined;
  if (test.is === "literal") return { by: "name", text: test.text };
  const isExtension =
    test.is === "parts" && test.first === "" && test.inner.length === 0 && /^\.[^.]+$/.test(test.last);
  return isExtension ? { by: "extension", text: test.last } : undefined;
}

function covers({ anyDepth, path }: Rule, above: readonly string[], from: number, name: string): boolean {
  const [first] = path;
  if (anyDepth) return first !== undefined && first !== "**" && testName(first, name);
  const count = above.length - from + 1;
  const nameAt = (at: number): string => (at === count - 1 ? name : composed(above[from + at] ?? ""));
  if (first !== undefined && first !== "**" && !testName(first, nameAt(0))) return false;
  // The set of places that the parts so far can have come to, so that several `**` cost no more than one.
  let places = new Uint8Array(count + 1);
  places[0] = 1;
  for (const [index, part] of path.entries()) {
    const next = new Uint8Array(count + 1);
    if (part === "**") {
      const reached = places.indexOf(1);
      // At the end `**` is everything below; elsewhere any number of folders, also none.
      if (index === path.length - 1) return reached !== -1 && reached < count;
      if (reached !== -1) next.fill(1, reached);
    } else {
      for (let at = 0; at < count; at += 1) if (places[at] === 1 && testName(part, nameAt(at))) next[at + 1] = 1;
    }
    places = next;
  }
  return places[count] === 1;
}

/** Names of other systems may come decomposed. */
// oxlint-disable-next-line no-control-regex
const composed = (name: string): string => (/[^\0-\x7f]/.test(name) ? name.normalize("NFC") : name);
