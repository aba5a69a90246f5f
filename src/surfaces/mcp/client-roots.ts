/**
 * Roots that a client names can only narrow what the operator allowed. Those that lie in no root of ours are left out; if
 * none is left, or a client root holds all of ours, everything stays as the operator wanted it.
 */

import * as nodePath from "node:path";
import { decodeFileUri } from "./file-uri.ts";

export interface NamedRoot {
  readonly uri: string;
}

/**
 * What a client answers to `roots/list`. The SDK's own schema drops the whole list for one entry that is no file, and then
 * nothing would be narrowed; here that entry is left out. A list of which nothing can be understood is no answer.
 */
export function namedRoots(answer: unknown): readonly NamedRoot[] | undefined {
  const given = typeof answer === "object" && answer !== null && "roots" in answer ? answer.roots : undefined;
  if (!Array.isArray(given)) return undefined;
  const named = given.filter(isNamedRoot);
  return named.length === 0 && given.length > 0 ? undefined : named;
}

const isNamedRoot = (entry: unknown): entry is NamedRoot =>
  typeof entry === "object" && entry !== null && "uri" in entry && typeof entry.uri === "string";

/** The same in the form that the SDK takes. */
export const rootsSchema: RootsSchema = {
  "~standard": {
    version: 1,
    vendor: "filehand",
    validate: (answer) => {
      const value = namedRoots(answer);
      return value === undefined ? { issues: [{ message: "no list of roots" }] } : { value };
    },
  },
};

interface RootsSchema {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (
      answer: unknown,
    ) => { readonly value: readonly NamedRoot[] } | { readonly issues: readonly { readonly message: string }[] };
    readonly types?: { readonly input: unknown; readonly output: readonly NamedRoot[] };
  };
}

/** Folders to keep to; undefined for all of the operator's roots, which are real paths, as those that a client names become. */
export function narrowedRoots(
  named: readonly NamedRoot[],
  roots: readonly string[],
  realPath: (path: string) => string,
): readonly string[] | undefined {
  const wanted = named.flatMap(({ uri }) => {
    const decoded = decodeFileUri(uri);
    return "path" in decoded ? [realPath(nodePath.resolve(decoded.path))] : [];
  });
  const kept = new Set<string>();
  for (const root of roots) {
    for (const folder of wanted) {
      if (holds(folder, root)) kept.add(root);
      else if (holds(root, folder)) kept.add(folder);
    }
  }
  if (kept.size === 0 || roots.every((root) => kept.has(root))) return undefined;
  return [...kept].toSorted();
}

function holds(folder: string, path: string): boolean {
  const rest = nodePath.relative(folder, path);
  return rest !== ".." && !rest.startsWith(`..${nodePath.sep}`) && !nodePath.isAbsolute(rest);
}
