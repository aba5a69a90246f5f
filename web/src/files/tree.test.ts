import { describe, expect, test } from "vitest";
import type { FileEntry } from "../../../src/surfaces/inspector/wire.ts";
import { type Folder, treeMove, treeRows } from "./tree.ts";

const entry = (path: string, kind: FileEntry["kind"]): FileEntry => ({
  name: path.slice(path.lastIndexOf("/") + 1),
  path,
  relative: path.slice(3),
  kind,
  sizeBytes: null,
  read: "allow",
  edit: "ask",
  wasRead: 0,
  wasChanged: 0,
});

const folder = (...entries: readonly FileEntry[]): Folder => ({
  entries,
  total: entries.length,
  next: null,
  message: "",
});

const state = {
  roots: ["/w"],
  open: new Set(["/w", "/w/src"]),
  folders: new Map([
    ["/w", { ...folder(entry("/w/src", "directory"), entry("/w/a", "file")), total: 9, next: 2 }],
    ["/w/src", folder(entry("/w/src/b", "file"))],
  ]),
};

test("open folders show what is in them, and how much more there is", () => {
  expect(treeRows(state).map(({ kind, path, level }) => `${level} ${kind} ${path}`)).toEqual([
    "1 root /w",
    "2 entry /w/src",
    "3 entry /w/src/b",
    "2 entry /w/a",
    "2 more /w/+",
  ]);
});

test("a folder that is being asked for says so", () => {
  expect(treeRows({ ...state, folders: new Map() }).at(-1)).toMatchObject({ kind: "message", message: "Asking…" });
});

describe("keys", () => {
  const rows = treeRows(state);
  for (const [key, at, move] of [
    ["ArrowDown", 0, { to: 1 }],
    ["ArrowDown", 4, { to: 4 }],
    ["ArrowUp", 0, { to: 0 }],
    ["ArrowLeft", 2, { to: 1 }],
    ["ArrowLeft", 1, { close: "/w/src" }],
    ["ArrowRight", 1, { to: 2 }],
    ["ArrowRight", 3, undefined],
    ["End", 0, { to: 4 }],
    ["x", 0, undefined],
  ] as const) {
    test(`${key} from row ${at}`, () => expect(treeMove(key, rows, at)).toEqual(move));
  }

  test("the right arrow opens what is closed", () => {
    const closed = treeRows({ ...state, open: new Set(["/w"]) });
    expect(treeMove("ArrowRight", closed, 1)).toEqual({ open: "/w/src" });
  });
});
