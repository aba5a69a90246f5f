/**
 * Paths of a workspace as the database has them: relative to its roots, since another node may mount them elsewhere. A path outside the
 * roots stays as it is.
 */

import * as nodePath from "node:path";
import { contains } from "../../contract/common.ts";
import type { HistoryRecord } from "../../contract/history.ts";

export type SharedPaths = ReturnType<typeof createSharedPaths>;

/** Begins no absolute path of any system. */
const mark = "root:";
const shape = /^root:(\d{1,4}):/;

export function createSharedPaths(roots: readonly string[]) {
  const encode = (path: string): string => {
    const at = roots.findIndex((root) => contains(root, path));
    const root = roots[at];
    if (root === undefined) return path;
    return `${mark}${at}:${nodePath.relative(root, path).split(nodePath.sep).join("/")}`;
  };
  const decode = (path: string): string => {
    const [found, at] = shape.exec(path) ?? [];
    const root = found === undefined ? undefined : roots[Number(at)];
    if (found === undefined || root === undefined) return path;
    return nodePath.join(root, ...path.slice(found.length).split("/"));
  };
  const mapped = (record: HistoryRecord, map: (path: string) => string): HistoryRecord => {
    switch (record.type) {
      case "start":
        return { ...record, roots: record.roots.map(map) };
      case "change": {
        const { movedTo, movedFrom } = record;
        const moved = {
          ...(movedTo === undefined ? {} : { movedTo: map(movedTo) }),
          ...(movedFrom === undefined ? {} : { movedFrom: map(movedFrom) }),
        };
        return { ...record, path: map(record.path), ...moved };
      }
      case "turn":
      case "after":
      case "void":
      case "base":
        return record;
    }
  };
  return {
    encode,
    decode,
    encodeRecord: (record: HistoryRecord): HistoryRecord => mapped(record, encode),
    decodeRecord: (record: HistoryRecord): HistoryRecord => mapped(record, decode),
  };
}
