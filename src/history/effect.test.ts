import { deepEqual } from "node:assert/strict";
import { describe, test } from "vitest";
import type { FileVersion, HistoryRecord } from "../contract/history.ts";
import { undoneIn } from "./effect.ts";
import { storyOf } from "./snapshots.ts";

const version = (letter: string): FileVersion => {
  if (letter === "-") return { kind: "absent" };
  if (letter === "?") return { kind: "file", sizeBytes: 1, notKept: "secret" };
  return { kind: "file", sizeBytes: 1, content: letter.repeat(64) };
};

/** "m1" is a turn, "m1 f a>b" a change in it, "r1 rewind m1" a turn that goes back; `partial` with some files only. */
function undone(...lines: readonly string[]): readonly string[] {
  const records = lines.map((line): HistoryRecord => {
    const [messageId = "", what = "", more = ""] = line.split(" ");
    if (what === "") return { type: "turn", messageId, timeMs: 0 };
    if (what === "rewind" || what === "partial" || what === "redo") {
      return { type: "turn", messageId, timeMs: 0, rewinds: { to: more, as: what } };
    }
    const [before = "", after = ""] = more.split(">").map(version);
    if (typeof before === "string" || typeof after === "string") throw new Error(`"${line}" has no versions`);
    return { type: "change", messageId, path: what, relative: what, before, after, tool: "Edit", timeMs: 0 };
  });
  const isUndone = undoneIn(storyOf(records.map((record, index) => ({ id: String(index), record }))));
  const changes = records.filter((record) => record.type === "change");
  return changes
    .filter(({ messageId, path }) => isUndone(messageId, path))
    .map((one) => `${one.messageId} ${one.path}`);
}

const two = ["m1", "m1 f a>b", "m2", "m2 f b>c", "m2 g ->x"] as const;

const table: readonly (readonly [what: string, lines: readonly string[], undone: readonly string[]])[] = [
  ["nothing is undone before a rewind", two, []],
  ["a rewind undoes the turn it names", [...two, "r rewind m2", "r f c>b", "r g x>-"], ["m2 f", "m2 g"]],
  ["and all later ones", [...two, "r rewind m1", "r f c>a", "r g x>-"], ["m1 f", "m2 f", "m2 g"]],
  ["the beginning is before all", [...two, "r rewind start", "r f c>a", "r g x>-"], ["m1 f", "m2 f", "m2 g"]],
  [
    "a rewind that is taken back is undone itself, and what it took is in effect",
    [...two, "r rewind m2", "r f c>b", "r g x>-", "s redo r", "s f b>c", "s g ->x"],
    ["r f", "r g"],
  ],
  [
    "also where something was changed in between",
    [...two, "r rewind m2", "r f c>b", "r g x>-", "m3", "m3 f b>d", "s rewind r", "s f d>c", "s g ->x"],
    ["r f", "r g", "m3 f"],
  ],
  ["a file that the rewind left alone is not undone", [...two, "r rewind m1", "r g x>-"], ["m2 g"]],
  [
    "unless a later one forces it",
    [...two, "r rewind m1", "r g x>-", "s rewind m1", "s f c>a"],
    ["m1 f", "m2 f", "m2 g"],
  ],
  [
    "a file that was as it shall be needs no change",
    ["m1", "m1 f a>b", "m2", "m2 f b>a", "m2 g ->x", "r rewind m1", "r g x>-"],
    ["m1 f", "m2 f", "m2 g"],
  ],
  ["of a secret nobody knows that", ["m1", "m1 s ?>?", "m1 g ->x", "r rewind m1", "r g x>-"], ["m1 g"]],
  ["a rewind of some files takes those", [...two, "p partial m2", "p g x>-"], ["m2 g"]],
  ["until it is taken back itself", [...two, "p partial m2", "p g x>-", "s rewind p", "s g ->x"], ["p g"]],
  ["but not of turns before the one it names", [...two, "p partial m2", "p f c>b"], ["m2 f"]],
  [
    "a rewind of some files that takes back an undo: what that took is in effect",
    ["m1", "m1 f ->a", "u rewind m1", "u f a>-", "p partial u", "p f ->a"],
    ["u f"],
  ],
  ["and only for its files", [...two, "u rewind m2", "u f c>b", "u g x>-", "p partial u", "p g ->x"], ["m2 f", "u g"]],
  ["not a message that went on after it was undone", ["m1", "m1 f a>b", "u rewind m1", "u f b>a", "m1 f a>c"], []],
  ["a rewind that changed nothing counts for nothing", [...two, "r rewind m1"], []],
];

describe("undone is", () => {
  test.each(table)("%s", (_, lines, expected) => {
    deepEqual(undone(...lines), expected);
  });
});
