/** The entries of a search that an answer shows: the files, and of `content` the lines, read through the one door. */

import * as nodePath from "node:path";
import type { GrepFile, GrepLine, GrepRequest } from "../contract/grep.ts";
import { limits } from "../contract/limits.ts";
import type { LineSpan } from "../contract/problem.ts";
import type { Target } from "../contract/target.ts";
import { type OpenFile, ReadFailed } from "../disk/open-file.ts";
import { FileCut } from "../disk/scan.ts";
import { linesAt } from "../kinds/lines-at.ts";
import type { FoundFile } from "../search/grep-collector.ts";
import type { FoundLine } from "../search/grep-output.ts";
import { merged } from "../session/line-spans.ts";
import { isHashed, signOf, stampOf } from "./stamp.ts";
import type { Bench } from "./tool.ts";
import { atPath } from "./workspace-walk.ts";

export interface Shown {
  readonly files: readonly GrepFile[];
  /** How many entries of the search these are, those that could not be shown among them. */
  readonly entries: number;
  readonly unshown: number;
  /** What ended it, if there are more. */
  readonly stopped: "entries" | "bytes";
  /** Where the lines are from: by the file's absolute path, its real one and the sign of its state. */
  readonly states: ReadonlyMap<string, FileState>;
}

interface FileState {
  readonly real: string;
  readonly sign: string;
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
    const states = new Map<string, FileState>();
    return { files, entries: wanted.length, unshown: wanted.length - there.length, stopped: "entries", states };
  }
  const files: GrepFile[] = [];
  const states = new Map<string, FileState>();
  let toSkip = skip;
  let entries = 0;
  let unshown = 0;
  let chars = 0;
  for (const { file, target } of found) {
    const wanted = file.lines.slice(toSkip, toSkip + entriesMax - entries);
    toSkip = Math.max(0, toSkip - file.lines.length);
    if (wanted.length === 0) continue;
    bench.signal.throwIfAborted();
    let isFull = false;
    const { lines: kept, state } = await linesShown(file, wanted, request, target, bench, (line) => {
      chars += (line?.text.length ?? 0) + linePrefixChars;
      isFull ||= chars > limits.searchCharsMax && entries > 0;
      if (isFull) return false;
      entries += 1;
      if (line === undefined) unshown += 1;
      return true;
    });
    const real = below(target.real, file.path);
    if (kept.length > 0) files.push({ ...placeOf(file, target), real, lines: kept, count: 0 });
    if (state !== undefined) states.set(placeOf(file, target).absolute, state);
    if (isFull) return { files, entries, unshown, stopped: "bytes", states };
    if (entries >= entriesMax) break;
  }
  return { files, entries, unshown, stopped: "entries", states };
}

/** About what a path and a number take. */
const linePrefixChars = 40;

/** A path below a folder that is searched; empty for the very file that is. */
export const below = (folder: string, path: string): string =>
  path === "" ? folder : folder.endsWith(nodePath.sep) ? folder + path : `${folder}${nodePath.sep}${path}`;

const placeOf = ({ path }: FoundFile, { absolute }: Target): Pick<GrepFile, "absolute"> => ({
  absolute: below(absolute, path),
});

/** The lines of a file that the answer has room for, and the state of the file that they are from. */
async function linesShown(
  found: FoundFile,
  places: readonly FoundLine[],
  { lineCharsMax }: GrepRequest,
  target: Target,
  bench: Bench,
  fits: (line: GrepLine | undefined) => boolean,
): Promise<{ readonly lines: readonly GrepLine[]; readonly state: FileState | undefined }> {
  const path = below(target.real, found.path);
  const opened = atPath(path, bench, (there) => bench.disk.open(there));
  const file = opened === undefined || "errno" in opened ? undefined : opened;
  try {
    const texts = file === undefined ? [] : await textsIn(file, places, lineCharsMax);
    const kept: GrepLine[] = [];
    for (const [index, { line, column }] of places.entries()) {
      const text = texts[index];
      const shown = text && ({ line, is: column > 0 ? "match" : "context", ...text } as const);
      if (!fits(shown)) break;
      if (shown !== undefined) kept.push(shown);
    }
    const isSure = file !== undefined && file.changed() === "no";
    return { lines: kept, state: isSure ? { real: path, sign: signOf(file.identity) } : undefined };
  } finally {
    file?.close();
  }
}

async function textsIn(file: OpenFile, places: readonly FoundLine[], charsMax: number): ReturnType<typeof linesAt> {
  try {
    return await linesAt(file, places, charsMax);
  } catch (error) {
    if (error instanceof ReadFailed) return [];
    throw error;
  }
}

/** Lines that an answer shows whole, the session was shown: those of the answer as it is sent. */
export async function noteShown(
  files: readonly GrepFile[],
  states: ReadonlyMap<string, FileState>,
  bench: Bench,
): Promise<void> {
  for (const { absolute, lines } of files) {
    const state = states.get(absolute);
    const whole = lines.filter(({ cutBefore, cutBehind }) => !cutBefore && !cutBehind);
    if (state === undefined || whole.length === 0) continue;
    const views = merged(whole.map(({ line }) => ({ from: line, to: line })));
    if (views.every((view) => bench.ledger.knows(state.real, state.sign, view))) continue;
    const file = atPath(state.real, bench, (there) => bench.disk.open(there));
    if (file === undefined || "errno" in file) continue;
    try {
      await noteLines(file, state, views, bench);
    } finally {
      file.close();
    }
  }
}

async function noteLines(
  file: OpenFile,
  { real, sign }: FileState,
  views: readonly LineSpan[],
  { ledger }: Bench,
): Promise<void> {
  if (signOf(file.identity) !== sign) return;
  // What the session knows of a large file in another state may still be true, which these lines could not tell.
  if (!isHashed(file) && ledger.has(real) && !ledger.isOf(real, sign)) return;
  const sight = { views: views.map((span) => ({ ...span, hash: undefined })), cut: [], linesTotal: undefined };
  try {
    await ledger.saw(real, stampOf(file, sign), sight);
  } catch (error) {
    // It cannot be read to its end: then nothing is known of its state.
    if (!(error instanceof ReadFailed || error instanceof FileCut)) throw error;
  }
}
