/** What a search may show: nothing that is denied, and of files that commonly hold secrets not even the names, unless named. */

import * as nodePath from "node:path";
import type { Target } from "../contract/target.ts";
import { defaultRules } from "../guard/secrets.ts";
import type { Bench } from "./tool.ts";

/** Paths are below the searched folder, with forward slashes. */
export interface SearchView {
  /** May not be named at all. What lies in a hidden folder is hidden too, so it need not be entered. */
  hides(path: string, is: "file" | "folder"): boolean;
  /** May be named to those who did not name it themselves. */
  shows(path: string): boolean;
}

export function searchView(target: Target, { guard }: Bench): SearchView {
  const below = (root: string, prefix: string) => {
    const view = guard.search(root);
    const pathOf = (path: string): string => (prefix === "" ? path : `${prefix}/${path}`);
    return {
      hides: (path: string, is: "file" | "folder"): boolean => view.hides(pathOf(path), is),
      shows: (path: string): boolean => view.shows(pathOf(path)),
    };
  };
  const views = [below(target.root, slashed(target.realRelative))];
  // By way of a link: a rule may speak of either name.
  if (target.absolute !== target.real && target.relative !== target.absolute) {
    const root = target.absolute.slice(0, target.absolute.length - target.relative.length).replace(/[\\/]$/, "");
    views.push(below(root, slashed(target.relative)));
  }
  return {
    hides: (path, is) => views.some((view) => view.hides(path, is)),
    shows: (path) => !mayBeSecret(path) || views.every((view) => view.shows(path)),
  };
}

const slashed = (path: string): string => (nodePath.sep === "\\" ? path.replaceAll("\\", "/") : path);

/**
 * Spares nearly every path the rules: they take microseconds each, and there may be a hundred thousand paths. A name is
 * looked at by itself; rules about folders all speak of hidden ones.
 */
const mayBeSecret = (path: string): boolean =>
  path.startsWith(".") || path.includes("/.") || hints().test(path.slice(path.lastIndexOf("/") + 1));

let made: RegExp | undefined;

/** The longest plain text of each pattern. */
function hints(): RegExp {
  made ??= new RegExp(
    defaultRules
      .map(({ text }) => /^Read\(([^!].*)\)$/.exec(text)?.[1] ?? "")
      .filter((pattern) => pattern !== "" && !pattern.includes("/"))
      .map((pattern) =>
        pattern.split(/[*?]|\[.*\]/).reduce((longest, part) => (part.length > longest.length ? part : longest)),
      )
      .map((text) => text.replace(/[.\\+^$(){}|]/g, "\\$&"))
      .join("|"),
    "i",
  );
  return made;
}
