/** What a call claims in the call queue of its session: the paths that it will read, search or change. */

import * as nodePath from "node:path";
import { limits } from "../contract/limits.ts";
import { Problem } from "../contract/problem.ts";
import type { Request } from "../contract/call.ts";
import type { Claim, PathUse } from "../session/session.ts";
import { pathsNamed } from "../text/text.ts";
import type { ToolContext } from "./tool.ts";

export function claimsOf(request: Request, context: ToolContext): readonly Claim[] {
  switch (request.verb) {
    case "read":
    case "outline":
      return claimed("read", [request.path], context);
    case "ls":
      return claimed("search", [request.path], context);
    case "grep":
      return request.path === undefined ? everything("search") : claimed("search", [request.path], context);
    case "glob": {
      const { path, pattern } = request;
      // Other patterns may name files outside the folder.
      const isBelow = !/^[/\\~]|^[A-Za-z]:|\.\./.test(pattern);
      return path === undefined || !isBelow ? everything("search") : claimed("search", [path], context);
    }
    case "edit":
    case "edit-lines":
    case "write":
    case "notebook-edit":
    case "delete":
    case "make-folder":
      return claimed("change", [request.path], context);
    case "copy":
      return [...claimed("search", [request.path], context), ...claimed("change", [request.to], context)];
    case "move":
      // Imports of any file may change with it.
      if (context.updateImports && context.languages !== undefined) return everything("change");
      return claimed("change", [request.path, request.to], context);
    case "edit-files":
      return claimed(
        "change",
        request.files.map(({ path }) => path),
        context,
      );
    case "patch":
      return claimed("change", pathsNamed(request.patchText), context);
    case "history":
    case "lsp":
      return everything("search");
    // Which files these change is only known later.
    case "rewind":
    case "rename":
      return everything("change");
  }
}

/** A claim on all files of the session, also those outside the roots. */
export const everything = (use: PathUse): readonly Claim[] => [{ names: [], use }];

/** More claims than needed only make calls wait, so a call with very many paths claims everything. */
export function claimed(use: PathUse, paths: readonly string[], context: ToolContext): readonly Claim[] {
  if (paths.length > limits.callClaimsMax) return everything(use);
  return paths.flatMap((path) => {
    const { absolute, inode } = resolvedNow(path, context);
    return [
      ...(absolute === undefined ? [] : [{ names: namesOf(absolute), use }]),
      ...(inode === undefined ? [] : [{ names: ["inode", inode], use }]),
    ];
  });
}

/** A path that no tool accepts claims nothing: its call fails without touching a file. */
function resolvedNow(
  path: string,
  { guard }: ToolContext,
): { readonly absolute?: string | undefined; readonly inode?: string } {
  try {
    const resolved = guard.resolve(path);
    if (resolved.seen !== "node") {
      const { place } = resolved;
      return { absolute: (resolved.seen === "missing" ? resolved.target?.real : undefined) ?? place.absolute };
    }
    const { handle } = resolved.node;
    handle.close();
    const { device, inode } = handle.identity;
    // Two calls may name the same file by different hard links.
    const byInode = resolved.node.kind === "file" ? { inode: `${device}:${inode}` } : {};
    return { absolute: resolved.target.real, ...byInode };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { absolute: "place" in error.data ? error.data.place.absolute : undefined };
  }
}

/**
 * Names that differ only in case or Unicode form count as one, because some file systems treat them so; elsewhere that costs a
 * wait at most. Below a depth that no project has, files share the claim of their folder.
 */
const namesOf = (absolute: string): readonly string[] =>
  absolute
    .normalize("NFKC")
    .toLowerCase()
    .split(nodePath.sep === "/" ? "/" : /[\\/]/)
    .filter((name) => name !== "")
    .slice(0, limits.claimNamesMax);
