/**
 * All that ignore files say about a tree, found before it is searched: for searches by a program that must not read these
 * files by itself. Takes a walk of all that is not ignored, so it is for the few trees where ripgrep would go wrong.
 */

import { timeSlices } from "../disk/others-turn.ts";
import type { WalkFolder } from "../disk/walk.ts";
import { type Ignored, ignoredIn, isIgnored } from "./files-ignored.ts";

export interface Surveying {
  /** The names of the folders from the top of the workspace down to where the walk starts. */
  readonly above: readonly string[];
  /** What holds right in the start. */
  readonly ignored: Ignored;
  /** Is a folder of this name never searched? */
  isLeftOut(name: string): boolean;
  /** Folders that are remembered. */
  readonly foldersMax: number;
  /** Throws to end the walk. */
  onTurn(): "more" | "enough";
}

export interface Survey {
  /** Ignored folders, by their paths below the start. Only so many: what lies in others is known to be ignored too. */
  readonly folders: readonly string[];
  /** Of the path of a file below the start, with forward slashes. */
  isIgnored(path: string): boolean;
}

interface Frame {
  readonly folder: WalkFolder;
  /** Below the start, with its slash; empty for the start. */
  readonly path: string;
  readonly ignored: Ignored;
  readonly todo: string[];
}

/** The caller keeps the start open until this is over. */
export async function surveyIgnored(start: WalkFolder, search: Surveying): Promise<Survey> {
  /** Where something else holds than in the folder above. */
  const changes = new Map<string, Ignored>();
  const folders: string[] = [];
  const above = [...search.above];
  const stack: Frame[] = [];
  const slices = timeSlices();
  let isEnough = false;
  const turn = async (): Promise<void> => {
    await slices.next();
    isEnough = search.onTurn() === "enough";
  };
  const open = async (folder: WalkFolder, path: string, outer: Ignored): Promise<void> => {
    const entries = await folder.entries();
    const frame: Frame = { folder, path, ignored: outer, todo: [] };
    if ("errno" in entries) {
      stack.push(frame);
      return;
    }
    const ignored = path === "" ? outer : await ignoredIn(folder, entries, above.length, outer);
    if (ignored !== outer) changes.set(path, ignored);
    for (const entry of entries) {
      if (slices.isOver()) await turn();
      if (isEnough) break;
      if (!entry.isDirectory() || search.isLeftOut(entry.name)) continue;
      if (!isIgnored(ignored, above, entry.name, "folder")) frame.todo.push(entry.name);
      else if (folders.length < search.foldersMax) folders.push(path + entry.name);
    }
    stack.push({ ...frame, ignored });
  };
  try {
    await open(start, "", search.ignored);
    for (let frame = stack.at(-1); frame !== undefined; frame = stack.at(-1)) {
      const name = frame.todo.pop();
      if (name === undefined) {
        if (stack.length > 1) {
          frame.folder.close();
          above.pop();
        }
        stack.pop();
        continue;
      }
      const folder = frame.folder.enter(name);
      if ("errno" in folder) continue;
      above.push(name);
      try {
        await open(folder, `${frame.path}${name}/`, frame.ignored);
      } catch (error) {
        folder.close();
        throw error;
      }
      folder.leave();
      if (slices.isOver()) await turn();
      if (isEnough) break;
    }
  } finally {
    for (const { folder } of stack.slice(1).toReversed()) folder.close();
  }
  return { folders, isIgnored: (path) => isPathIgnored(path.split("/")) };

  function isPathIgnored(names: readonly string[]): boolean {
    const over = [...search.above];
    let { ignored } = search;
    let path = "";
    for (const [at, name] of names.entries()) {
      if (isIgnored(ignored, over, name, at === names.length - 1 ? "file" : "folder")) return true;
      over.push(name);
      path += `${name}/`;
      ignored = changes.get(path) ?? ignored;
    }
    return false;
  }
}
