/** Places that a language server names: what a session may be told of them, and the lines themselves. */

import * as nodePath from "node:path";
import type { TextRange } from "../contract/language.ts";
import { limits } from "../contract/limits.ts";
import type { CodePlace } from "../contract/lsp.ts";
import { relativeTo } from "../guard/paths.ts";
import { cutChars } from "../text/encoding.ts";
import { sourceOf } from "./languages.ts";
import type { AskedFile } from "./lsp-file.ts";
import type { Bench } from "./tool.ts";

export interface RawPlace {
  /** As the server names it. */
  readonly path: string;
  readonly range: TextRange;
}

export type Standing = "shown" | "withheld" | "outside";

/**
 * May this session be told of the file? Only what it could read without anybody being asked. What lies outside is named, since
 * nothing of it is read; what a rule denies is not even that.
 */
export function standingOf(path: string, bench: Bench): Standing {
  const { disk, guard } = bench;
  const roots = disk.roots.map(({ real }) => real);
  const look = disk.look(path);
  if (look.seen === "node") look.held.close();
  const real = look.seen === "node" ? look.real : path;
  if (guard.denied("read", [path, real], "file") !== undefined || guard.isSecret(real)) return "withheld";
  const root = roots.find((one) => relativeTo(real, [one], nodePath) !== undefined);
  if (root === undefined) return "outside";
  const relative = relativeTo(real, [root], nodePath) ?? "";
  return guard.search(root).shows(relative) ? "shown" : "withheld";
}

/** Those that may be told. The file itself that was asked about was permitted. */
export function tellable<Place extends RawPlace>(
  places: readonly Place[],
  { target }: AskedFile,
  bench: Bench,
): readonly Place[] {
  const known = new Map<string, boolean>([[target.real, true]]);
  return places.filter(({ path }) => {
    const may = known.get(path) ?? standingOf(path, bench) !== "withheld";
    known.set(path, may);
    return may;
  });
}

/** Reads the lines; each file once. */
export function codePlace(bench: Bench): (place: RawPlace) => Promise<CodePlace> {
  const { disk } = bench;
  const roots = disk.roots.flatMap(({ real, given }) => [real, given]);
  const texts = new Map<string, readonly string[]>();
  const linesOf = async (path: string): Promise<readonly string[]> => {
    const known = texts.get(path);
    if (known !== undefined) return known;
    const lines = (await sourceOf(path, bench))?.text.split("\n") ?? [];
    texts.set(path, lines);
    return lines;
  };
  return async ({ path, range }) => {
    const relative = relativeTo(path, roots, nodePath);
    const { line, column } = range.start;
    const place = { absolute: path, relative, line, column, endLine: Math.max(line, range.end.line) };
    if (relative === undefined) return { ...place, text: undefined };
    const text = (await linesOf(path))[line - 1]?.trim();
    return { ...place, text: text === undefined ? undefined : cutChars(text, limits.lspLineCharsMax) };
  };
}
