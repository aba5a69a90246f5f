/** The folders that are open, as one list of rows from top to bottom. */

import type { FileEntry } from "../../../src/surfaces/inspector/wire.ts";

export interface Folder {
  readonly entries: readonly FileEntry[];
  readonly total: number;
  readonly next: number | null;
  readonly message: string;
}

export type TreeRow =
  | { readonly kind: "root"; readonly path: string; readonly name: string; readonly level: 1; readonly open: boolean }
  | {
      readonly kind: "entry";
      readonly path: string;
      readonly entry: FileEntry;
      readonly level: number;
      /** Undefined for a file. */
      readonly open: boolean | undefined;
    }
  /** A row for entries that are not loaded yet. */
  | {
      readonly kind: "more";
      readonly path: string;
      readonly folder: string;
      readonly left: number;
      readonly level: number;
    }
  | { readonly kind: "message"; readonly path: string; readonly message: string; readonly level: number };

export interface TreeState {
  readonly roots: readonly string[];
  readonly open: ReadonlySet<string>;
  readonly folders: ReadonlyMap<string, Folder>;
}

export function treeRows({ roots, open, folders }: TreeState): readonly TreeRow[] {
  const rows: TreeRow[] = [];
  const put = (path: string, level: number): void => {
    const folder = folders.get(path);
    if (folder === undefined) {
      rows.push({ kind: "message", path: `${path}/…`, message: "Asking…", level });
      return;
    }
    for (const entry of folder.entries) {
      const isOpen = entry.kind === "directory" ? open.has(entry.path) : undefined;
      rows.push({ kind: "entry", path: entry.path, entry, level, open: isOpen });
      if (isOpen === true) put(entry.path, level + 1);
    }
    if (folder.message !== "") rows.push({ kind: "message", path: `${path}/!`, message: folder.message, level });
    else if (folder.entries.length === 0) rows.push({ kind: "message", path: `${path}/…`, message: "Empty", level });
    if (folder.next !== null) {
      const left = folder.total - folder.entries.length;
      rows.push({ kind: "more", path: `${path}/+`, folder: path, left, level });
    }
  };
  for (const root of roots) {
    rows.push({ kind: "root", path: root, name: root, level: 1, open: open.has(root) });
    if (open.has(root)) put(root, 2);
  }
  return rows;
}

/** The effect of a key in a tree: another row, or a folder that opens or closes. */
export type TreeMove = { readonly to: number } | { readonly open: string } | { readonly close: string } | undefined;

export function treeMove(key: string, rows: readonly TreeRow[], at: number): TreeMove {
  const row = rows[at];
  if (row === undefined) return undefined;
  const isOpen = row.kind === "root" || row.kind === "entry" ? row.open : undefined;
  switch (key) {
    case "ArrowDown":
      return { to: Math.min(rows.length - 1, at + 1) };
    case "ArrowUp":
      return { to: Math.max(0, at - 1) };
    case "Home":
      return { to: 0 };
    case "End":
      return { to: rows.length - 1 };
    case "ArrowRight":
      if (isOpen === false) return { open: row.path };
      return isOpen === true ? { to: Math.min(rows.length - 1, at + 1) } : undefined;
    case "ArrowLeft": {
      if (isOpen === true) return { close: row.path };
      const above = rows.slice(0, at).findLastIndex(({ level }) => level < row.level);
      return above < 0 ? undefined : { to: above };
    }
    default:
      return undefined;
  }
}
