/** The entries of a search that an answer shows: the files, and of `content` the lines, read through the one door. */

import * as nodePath from "node:path";
import type { GrepFile, GrepLine, GrepRequest } from "../contract/grep.ts";
import { limits } from "../contract/limits.ts";
import type { Target } from "../contract/target.ts";
import { ReadFailed } from "../disk/open-file.ts";
import { linesAt } from "../kinds/lines-at.ts";
import type { FoundFile } from "../search/grep-collector.ts";
import type { FoundLine } from "../search/grep-output.ts";
import type { Bench } from "./tool.ts";
import { atPath } from "./workspace-walk.ts";

export interface Shown {
  readonly files: readonly GrepFile[];
  /** How many entries of the search these are, those that could not be shown among them. */
  readonly entries: number;
  readonly unshown: number;
  /** What ended it, if there are more. */
  readonly stopped: "entries" | "bytes";
}

/** A file, and the folder that was searched. */
export interface FoundIn {
  readonly file: FoundFile;
  readonly target: Target;
}

export async function showEntries(request: GrepRequest, found: readonly FoundIn[], bench: Bench): Promise<Shown> {
  const { mode, skip, entriesMax } = request;
  if (mode !== "content") {
    const wanted = found.slice(skip, skip + entriesMax);
    // A folder that was swapped for a link while ripgrep was in it would have names of outside told.
    const there = wanted.filter(
      ({ file, target }) => atPath(below(target.real, file.path), bench, () => true) === true,
    );
    const files = there.map(({ file, target }) => ({ ...placeOf(file, target), lines: [], count: file.count }));
    return { files, entries: wanted.length, unshown: wanted.length - there.length, stopped: "entries" };
  }
  const files: GrepFile[] = [];
  let toSkip = skip;
  let entries = 0;
  let unshown = 0;
  let chars = 0;
  for (const { file, target } of found) {
    const wanted = file.lines.slice(toSkip, toSkip + entriesMax - entries);
    toSkip = Math.max(0, toSkip - file.lines.length);
    if (wanted.length === 0) continue;
    bench.signal.throwIfAborted();
    const lines = await textsOf(file, wanted, request, target, bench);
    const kept: GrepLine[] = [];
    for (const line of lines) {
      chars += (line?.text.length ?? 0) + linePrefixChars;
      if (chars > limits.searchCharsMax && entries > 0) {
        if (kept.length > 0) files.push({ ...placeOf(file, target), lines: kept, count: 0 });
        return { files, entries, unshown, stopped: "bytes" };
      }
      entries += 1;
      if (line === undefined) unshown += 1;
      else kept.push(line);
    }
    if (kept.length > 0) files.push({ ...placeOf(file, target), lines: kept, count: 0 });
    if (entries >= entriesMax) break;
  }
  return { files, entries, unshown, stopped: "entries" };
}

/** About what a path and a number take. */
const linePrefixChars = 40;

/** A path below a folder that is searched; empty for the very file that is. */
export const below = (folder: string, path: string): string =>
  path === "" ? folder : folder.endsWith(nodePath.sep) ? folder + path : `${folder}${nodePath.sep}${path}`;

const placeOf = ({ path }: FoundFile, { absolute }: Target): Pick<GrepFile, "absolute"> => ({
  absolute: below(absolute, path),
});

async function textsOf(
  found: FoundFile,
  places: readonly FoundLine[],
  { lineCharsMax }: GrepRequest,
  target: Target,
  bench: Bench,
): Promise<readonly (GrepLine | undefined)[]> {
  const file = atPath(below(target.real, found.path), bench, (there) => bench.disk.open(there));
  if (file === undefined || "errno" in file) return places.map(() => undefined);
  try {
    const texts = await linesAt(file, places, lineCharsMax);
    return places.map(({ line, column }, index) => {
      const text = texts[index];
      return text && { line, is: column > 0 ? "match" : "context", ...text };
    });
  } catch (error) {
    if (error instanceof ReadFailed) return places.map(() => undefined);
    throw error;
  } finally {
    file.close();
  }
}
