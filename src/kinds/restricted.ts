/** Files that are refused by name, whatever their content. Settings can add to the list and remove from it. */

import * as nodePath from "node:path";

const extensions = [
  // executables and objects
  ".exe .dll .so .dylib .bin .class .o .obj .a .lib .wasm .pyc .pyo",
  // archives
  ".zip .tar .gz .bz2 .xz .zst .rar .7z .jar .war",
  // databases
  ".db .sqlite .sqlite3 .parquet .h5",
  // media other than images
  ".mp3 .mp4 .wav .avi .mov .mkv .flac .ogg .webm",
  // office files that no reader here understands
  ".doc .xls .ppt .odt .ods .odp",
].flatMap((line) => line.split(" "));

/** The default list: extensions, and whole names, since `path.extname(".DS_Store")` is empty. */
export const restrictedFiles: { readonly extensions: readonly string[]; readonly names: readonly string[] } = {
  extensions,
  names: [".ds_store", "thumbs.db"],
};

export interface Restricted {
  why(name: string): { readonly reason: "extension" | "name"; readonly restricted: string } | undefined;
}

/** `add` and `remove` contain extensions (".bin", with one dot) or whole names ("thumbs.db"), in any letter case. */
export function compileRestricted(
  changes: { readonly add?: readonly string[]; readonly remove?: readonly string[] } = {},
): Restricted {
  const added = (changes.add ?? []).map(lower);
  const refused = new Set([...restrictedFiles.extensions, ...added.filter(isExtension)]);
  const names = new Set([...restrictedFiles.names, ...added.filter((entry) => !isExtension(entry))]);
  for (const entry of (changes.remove ?? []).map(lower)) {
    refused.delete(entry);
    names.delete(entry);
  }
  return {
    why(name) {
      const whole = name.toLowerCase();
      if (names.has(whole)) return { reason: "name", restricted: name };
      const extension = nodePath.extname(whole);
      return refused.has(extension) ? { reason: "extension", restricted: extension } : undefined;
    },
  };
}

const lower = (entry: string): string => entry.trim().toLowerCase();
const isExtension = (entry: string): boolean => entry.lastIndexOf(".") === 0;
