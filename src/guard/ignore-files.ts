/** Which files a `.gitignore` leaves out, folder by folder, as git has it: the nearest file that speaks of a path decides. */

import ignore, { type Ignore } from "ignore";

/** What is left out below one folder. Paths are relative to the top, with slashes; folders end in one. */
export interface IgnoreFiles {
  isIgnored(path: string): boolean;
  /** The same with one more file, which speaks of what lies below its folder; "" is the top. */
  with(folder: string, text: string): IgnoreFiles;
}

interface Level {
  readonly folder: string;
  readonly rules: Ignore;
}

export const ignoreFiles = (levels: readonly Level[] = []): IgnoreFiles => ({
  isIgnored(path) {
    for (const { folder, rules } of levels) {
      const below = folder === "" ? path : path.slice(folder.length + 1);
      const { ignored, unignored } = rules.test(below);
      if (ignored || unignored) return ignored;
    }
    return false;
  },
  with: (folder, text) => ignoreFiles([{ folder, rules: ignore().add(text) }, ...levels]),
});
