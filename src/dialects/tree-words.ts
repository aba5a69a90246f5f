/** The size of what is deleted, moved or copied as a whole, for answers and for questions to people. */

import type { TreeSize } from "../contract/edit.ts";
import { counted } from "./words.ts";

/** "214 files, 2 links, 1.2 MB"; folders only where there is nothing else to count. */
export function treeSizeWords({ files, links, folders, bytes }: TreeSize): string {
  const parts = [
    ...(files > 0 || links + folders === 0 ? [counted(files, "file")] : []),
    ...(links > 0 ? [counted(links, "link")] : []),
    ...(files === 0 && folders > 0 ? [counted(folders, "folder")] : []),
  ];
  return [...parts, ...(files > 0 ? [bytesWords(bytes)] : [])].join(", ");
}

const units = ["kB", "MB", "GB", "TB"] as const;

/** In decimal units, with one digit where that says more. */
function bytesWords(bytes: number): string {
  if (bytes < 1_000) return counted(bytes, "byte");
  let [size, unit] = [bytes / 1_000, 0];
  // 999.96 kB would be rounded to 1000.0 kB.
  while (size >= 999.95 && unit < units.length - 1) [size, unit] = [size / 1_000, unit + 1];
  return `${size < 9.95 ? size.toFixed(1) : Math.round(size)} ${units[unit]}`;
}

/** What a question about a tree says besides the path, one sentence a line; empty if the question is about no tree. */
export function treeQuestionWords(tree: unknown): readonly string[] {
  const given = tree as Partial<Record<keyof TreeSize | "does" | "is" | "protected" | "lost", unknown>> | undefined; // each is checked
  const number = (value: unknown): number => (typeof value === "number" ? value : 0);
  const does = typeof given?.does === "string" ? given.does : undefined;
  if (given === undefined || does === undefined) return [];
  const { files, links, folders, bytes } = given;
  const size = { files: number(files), links: number(links), folders: number(folders), bytes: number(bytes) };
  const [guarded, lost] = [number(given.protected), number(given.lost)];
  return [
    ...(given.is === "folder" && does !== "makes" ? [`This ${does} ${treeSizeWords(size)}`] : []),
    ...(given.is === "link" ? [`This ${does} the link itself, not what it leads to`] : []),
    ...(does === "makes" ? ["This makes a folder"] : []),
    ...(guarded > 0 ? [`${counted(guarded, "file")} of it can run code later, or guide agents`] : []),
    ...(lost > 0
      ? [`${counted(lost, "file")} of it cannot be kept, so undo does not bring ${lost === 1 ? "it" : "them"} back`]
      : []),
  ];
}

const treeVerbs: Readonly<Record<string, string>> = {
  moves: "Move",
  copies: "Make a copy as",
  makes: "Make the folder",
};

/** The verb of such a question; undefined for others. */
export const treeVerb = (tree: unknown): string | undefined => {
  const does = (tree as { readonly does?: unknown } | undefined)?.does;
  return typeof does === "string" && Object.hasOwn(treeVerbs, does) ? treeVerbs[does] : undefined;
};
