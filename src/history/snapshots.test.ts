import { deepEqual, equal } from "node:assert/strict";
import { describe, test } from "vitest";
import type { FileVersion, HistoryRecord } from "../contract/history.ts";
import { growsLikeItsInput } from "../../test/support/growth.ts";
import { changedSince } from "./rewind-plan.ts";
import { condenseStory, pruneStory, snapshotsOf, storyOf, undoTargets } from "./snapshots.ts";

const version = (letter: string): FileVersion =>
  letter === "-" ? { kind: "absent" } : { kind: "file", sizeBytes: 1, content: letter.repeat(64) };

/** "m1 a>b" is a change of `f` in turn m1; "m1" alone is a turn, "m2 undo m1" one that rewinds, "m2 begun m1" one that begins to. */
const storyFrom = (...lines: readonly string[]) => storyOfLines(lines);

function storyOfLines(lines: readonly string[]) {
  const records = lines.map((line): HistoryRecord => {
    const [messageId = "", what = "", to = ""] = line.split(" ");
    if (what === "begun" || what === "ended")
      return { type: "turn", messageId, timeMs: 0, rewinds: { to, as: "undo", state: what } };
    if (what === "undo" || what === "redo") return { type: "turn", messageId, timeMs: 0, rewinds: { to, as: what } };
    if (what === "") return { type: "turn", messageId, timeMs: 0 };
    const [before = "", after = ""] = what.split(">");
    const rest = { path: "/f", relative: "f", tool: "Edit", timeMs: 0 };
    return { type: "change", messageId, before: version(before), after: version(after), ...rest };
  });
  return storyOf(records.map((record, index) => ({ id: String(index), record })));
}

const letters = ({ steps }: ReturnType<typeof storyFrom>): string =>
  steps
    .map((step) => {
      if (step.type === "turn") return step.messageId;
      const [before, after] = [step.before, step.after].map((one) => (one.kind === "file" ? one.content?.[0] : "-"));
      return `${step.messageId}:${before}>${after}${step.broken === true ? "!" : ""}`;
    })
    .join(" ");

describe("a story", () => {
  test("changes of a turn are merged, except the last, whose outcome is not known yet", () => {
    const story = storyFrom("m1", "m1 a>b", "m1 b>c", "m1 c>d");
    equal(letters(condenseStory(story)), "m1 m1:a>c m1:c>d");
  });

  test("the next change shows that a change never happened; it does not count as another program's", () => {
    const story = storyFrom("m1", "m1 a>b", "m1 b>c", "m2", "m2 b>d", "m2 d>e");
    equal(letters(condenseStory(story)), "m1 m1:a>b m2 m2:b>d m2:d>e");
    const since = changedSince(condenseStory(story), "m1");
    equal(since.found === "turn" && since.files[0]?.broken, false);
  });

  test("a change by another program in between stays visible", () => {
    const story = storyFrom("m1", "m1 a>b", "m1 x>y", "m1 y>z", "m2", "m2 z>q");
    equal(letters(condenseStory(story)), "m1 m1:a>b m1:x>z m2 m2:z>q");
    equal(letters(pruneStory(story, 1)), ":a>z! m2 m2:z>q");
  });

  test("pruning keeps the first version of each file and the names of the turns", () => {
    const story = storyFrom("m1", "m1 ->a", "talk", "m2", "m2 a>b", "m3", "m3 b>c", "m4", "m4 c>d");
    const short = pruneStory(story, 2);
    equal(letters(short), ":->b m3 m3:b>c m4 m4:c>d");
    deepEqual(short.pruned, ["m1", "talk", "m2"]);
    deepEqual(
      snapshotsOf(short).map(({ messageId }) => messageId),
      ["m3", "m4"],
    );
    equal(letters(pruneStory(story, 0)), ":->c :c>d");
  });

  test("a message that is announced again is the same turn", () => {
    equal(letters(storyFrom("m1", "m1 a>b", "m2", "m1", "m1 b>c")), "m1 m1:a>b m2 m1:b>c");
  });
});

describe("the limit", () => {
  const writes = (count: number): readonly string[] =>
    Array.from({ length: count }, (_, n) => [`m${n}`, `m${n} ${"abcdefghij"[n]}>${"abcdefghij"[n + 1]}`]).flat();

  test("does not count undos, so that every turn that is kept can be undone", () => {
    const undos = [2, 1, 0].flatMap((n) => [`u${n} undo m${n}`, `u${n} ${"abc"[n + 1] ?? "d"}>${"abc"[n]}`]);
    const lines = [...writes(3), ...undos];
    for (const done of [8, 10, 12]) {
      const { undo } = undoTargets(pruneStory(storyFrom(...lines.slice(0, done)), 3));
      deepEqual(undo, ["m2", "m1", "m0"].slice((done - 6) / 2));
    }
  });

  test("undos that were undone are pruned before anything else", () => {
    const again = Array.from({ length: 9 }, (_, n) => [`u${n} undo m2`, `u${n} d>c`, `r${n} redo u${n}`, `r${n} c>d`]);
    const short = pruneStory(storyFrom(...writes(3), ...again.flat()), 3);
    deepEqual(undoTargets(short).undo, ["m2", "m1", "m0"]);
    // Whether the very last change happened, nobody knows yet.
    equal(letters(short), "m0 m0:a>b m1 m1:b>c m2 m2:c>d u8 u8:d>c r8 r8:c>d");
  });

  test("the names of the oldest turns are pruned too", () => {
    const again = Array.from({ length: 800 }, (_, n) => [
      `u${n} undo m2`,
      `u${n} d>c`,
      `r${n} redo u${n}`,
      `r${n} c>d`,
    ]);
    const { pruned } = pruneStory(storyFrom(...writes(3), ...again.flat()), 3);
    deepEqual([pruned.length, pruned.at(-1)], [1_000, "r798"]);
  });

  test("nested pairs of undo and redo are pruned too", () => {
    const lines = [
      "u undo m1",
      "u c>b",
      "v undo m0",
      "v b>a",
      "s redo v",
      "s a>b",
      "r redo u",
      "r b>c",
      "m2",
      "m2 c>d",
    ];
    equal(letters(pruneStory(storyFrom(...writes(2), ...lines), 3)), "m0 m0:a>b m1 m1:b>c m2 m2:c>d");
    const short = pruneStory(storyFrom(...writes(2), ...lines, "m3", "m3 d>e", "m4", "m4 e>f", "m5", "m5 f>g"), 4);
    equal(letters(short), ":a>c m2 m2:c>d m3 m3:d>e m4 m4:e>f m5 m5:f>g");
    equal(undoTargets(short).forgotten, true);
  });

  test("they are kept if another program changed the file in between, or a later rewind names the first", () => {
    for (const lines of [
      ["u undo m1", "u c>b", "r redo u", "r x>c", "m2", "m2 c>d"],
      ["u undo m1", "u c>b", "r redo u", "r b>c", "s undo u", "s c>c", "m2", "m2 c>d"],
    ]) {
      const names = letters(pruneStory(storyFrom(...writes(2), ...lines), 2)).split(" ");
      deepEqual([names.includes("u"), names.includes("r")], [true, true]);
    }
  });
});

describe("a message that continues", () => {
  test("after its turn was pruned is a turn again from there on, and the limit holds", () => {
    const story = storyFrom("m1", "m1 a>b", "m2", "m2 b>c", "m3", "m3 c>d", "m1 d>e");
    const short = pruneStory(story, 2);
    equal(letters(short), ":a>c m3 m3:c>d m1 m1:d>e");
    deepEqual(short.pruned, ["m2"]);
    equal(letters(pruneStory(short, 2)), letters(short));
  });

  test("without a turn of its own, as after damage, has one where its first change is", () => {
    const story = storyFrom("m1", "m1 a>b", "m2 b>c", "m2 c>d");
    equal(letters(story), "m1 m1:a>b m2 m2:b>c m2:c>d");
    deepEqual(undoTargets(story).undo, ["m2", "m1"]);
  });
});

describe("undo and redo", () => {
  for (const [title, lines, expected] of [
    ["nothing to undo", ["m1"], [undefined, undefined]],
    ["the last turn that changed something", ["m1", "m1 a>b", "talk"], ["m1", undefined]],
    ["one undo", ["m1", "m1 a>b", "m2", "m2 b>c", "u undo m2", "u c>b"], ["m1", "u"]],
    ["two undos", ["m1", "m1 a>b", "m2", "m2 b>c", "u undo m2", "u c>b", "v undo m1", "v b>a"], [undefined, "v"]],
    ["a redo", ["m1", "m1 a>b", "u undo m1", "u b>a", "r redo u", "r a>b"], ["m1", undefined]],
    ["a new change ends redo", ["m1", "m1 a>b", "u undo m1", "u b>a", "m2", "m2 a>c"], ["m2", undefined]],
    [
      "back to before the first of two undos",
      ["m1", "m1 a>b", "m2", "m2 b>c", "u undo m2", "u c>b", "v undo m1", "v b>a", "r redo u", "r a>c"],
      ["m2", undefined],
    ],
    [
      "a message that continues after it was undone",
      ["m1", "m1 a>b", "u undo m1", "u b>a", "m1", "m1 a>c"],
      ["m1", undefined],
    ],
    [
      "and is undone again",
      ["m1", "m1 a>b", "u undo m1", "u b>a", "m1", "m1 a>c", "v undo m1", "v c>a"],
      [undefined, "v"],
    ],
    [
      "back to before an undo that a change followed: what it took is in effect again",
      ["m1", "m1 a>b", "m2", "m2 b>c", "u undo m2", "u c>b", "m3", "m3 b>d", "r undo u", "r d>c"],
      ["m2", "r"],
    ],
    [
      "and that taken back: the change is, and the undo too",
      ["m1", "m1 a>b", "m2", "m2 b>c", "u undo m2", "u c>b", "m3", "m3 b>d", "r undo u", "r d>c", "s redo r", "s c>d"],
      ["m3", undefined],
    ],
    [
      "back to before a turn that came when another was undone",
      ["m1", "m1 a>b", "u undo m1", "u b>a", "m2", "m2 a>c", "r undo u", "r c>b", "s undo m2", "s b>a"],
      [undefined, "s"],
    ],
    [
      "an undo in part can be made again, and be taken back",
      ["m1", "m1 a>b", "m2", "m2 b>c", "u begun m2", "u c>b"],
      ["m2", "u"],
    ],
    [
      "an undo in part, made again, is one undo",
      ["m1", "m1 a>b", "m2", "m2 b>c", "u begun m2", "u c>b", "v begun m2", "v c>b", "v ended m2"],
      ["m1", "u"],
    ],
    [
      "which a redo takes back as a whole",
      ["m1", "m1 a>b", "u begun m1", "u b>a", "v undo m1", "v b>a", "r begun u", "r a>b", "r ended u"],
      ["m1", undefined],
    ],
    [
      "a redo in part can be made again, and be taken back",
      ["m1", "m1 a>b", "u undo m1", "u b>a", "r begun u", "r a>b"],
      ["m1", "u"],
    ],
    [
      "a redo in part that is taken back can be made as a whole",
      ["m1", "m1 a>b", "u undo m1", "u b>a", "r begun u", "r a>b", "v undo m1", "v b>a"],
      [undefined, "u"],
    ],
    ["an undo that came to its end", ["m1", "m1 a>b", "u begun m1", "u b>a", "u ended m1"], [undefined, "u"]],
    ["a rewind that changed nothing does not count", ["m1", "m1 a>b", "u undo m1"], ["m1", undefined]],
  ] as const) {
    test(title, () => {
      const { undo, redo } = undoTargets(storyFrom(...lines));
      deepEqual([undo[0], redo[0]], expected);
    });
  }
});

describe("many turns", () => {
  const turns = (count: number): readonly string[] =>
    Array.from({ length: count }, (_, at) => [`m${at}`, `m${at} a>b`]).flat();

  test("the turns to undo are found in steps that grow with the turns", () =>
    growsLikeItsInput(2_000, (count) => storyOfLines(turns(count)), undoTargets));

  test("so are those to redo, after an undo of each", () =>
    growsLikeItsInput(
      1_000,
      (count) => {
        const undone = Array.from({ length: count }, (_, at) => [`u${at} undo m${count - 1 - at}`, `u${at} b>a`]);
        return storyOfLines([...turns(count), ...undone.flat()]);
      },
      (story) => {
        const { undo, redo } = undoTargets(story);
        equal(undo.length, 0);
        equal(redo.length * 2, story.steps.length / 2);
      },
    ));
});
