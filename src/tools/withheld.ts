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
  const namesOf = (path: string): readonly string[] => {
    const real = nodePath.join(target.real, path);
    return target.absolute === target.real ? [real] : [nodePath.join(target.absolute, path), real];
  };
  return {
    hides: (path, is) => guard.denies && guard.denied("read", namesOf(path), is) !== undefined,
    shows: (path) => !mayBeSecret(path) || !namesOf(path).some((name) => guard.isSecret(name)),
  };
}

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
