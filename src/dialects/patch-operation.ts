/** One operation on one file as a patch. A host approves one operation, so the patch must contain no other. */

import { parsePatch, type PatchFile } from "../text/text.ts";

export type PatchOperation =
  | { readonly does: "add"; readonly path: string; readonly diff: string }
  | { readonly does: "update"; readonly path: string; readonly diff: string; readonly moveTo?: string | undefined }
  | { readonly does: "delete"; readonly path: string };

/** Does not judge a malformed diff: applying the patch reports what is wrong. */
export function patchForOperation(operation: PatchOperation): { readonly text: string } | { readonly refusal: string } {
  const lines = ["*** Begin Patch", ...linesOf(operation), "*** End Patch"];
  const text = lines.join("\n");
  const parsed = parsePatch(text);
  if ("fault" in parsed) return { text };
  const [file, ...others] = parsed.files;
  if (others.length === 0 && isMeant(file, operation)) return { text };
  return {
    refusal: `Cannot patch ${JSON.stringify(operation.path)}: the path or the diff holds lines of other operations, nothing was changed, send one file's diff without lines that begin with ***`,
  };
}

function linesOf(operation: PatchOperation): readonly string[] {
  switch (operation.does) {
    case "add":
      return [`*** Add File: ${operation.path}`, ...diffLines(operation.diff)];
    case "delete":
      return [`*** Delete File: ${operation.path}`];
    case "update": {
      const { moveTo, diff, path } = operation;
      const move = moveTo === undefined ? [] : [`*** Move to: ${moveTo}`];
      return [`*** Update File: ${path}`, ...move, ...diffLines(diff)];
    }
  }
}

const diffLines = (diff: string): readonly string[] => (diff === "" ? [] : diff.replace(/\r?\n$/, "").split("\n"));

const isMeant = (file: PatchFile, operation: PatchOperation): boolean =>
  file.does === operation.does &&
  file.path === operation.path &&
  (file.does !== "update" || operation.does !== "update" || file.moveTo === operation.moveTo);
