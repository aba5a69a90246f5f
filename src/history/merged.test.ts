import { describe, expect, test } from "vitest";
import type { FileVersion, HistoryRecord, RewindKind } from "../contract/history.ts";
import { memoryStore } from "../../test/history/memory-store.ts";
import { openHistory } from "./history.ts";
import { type Member, merged, mergedTargets } from "./merged.ts";
import { storyOf } from "./snapshots.ts";

const version = (letter: string): FileVersion =>
  letter === "-" ? { kind: "absent" } : { kind: "file", sizeBytes: 1, content: letter.repeat(64) };

const kinds: readonly string[] = ["undo", "redo", "rewind", "partial"] satisfies RewindKind[];

/** "3 m1": a turn at that time; "3 m1 /w/f a>b": a change in it; "5 r undo m1": a turn that goes back, over sessions after it. */
function recordOf(line: string): HistoryRecord {
  const [time = "", messageId = "", what = "", more = "", ...sessions] = line.split(" ");
  const timeMs = Number(time);
  if (what === "") return { type: "turn", messageId, timeMs };
  if (kinds.includes(what)) {
    const several = sessions.length === 0 ? {} : { sessions };
    return { type: "turn", messageId, timeMs, rewinds: { to: more, as: what as RewindKind, ...several } }; // one of `kinds`
  }
  const [before = "", after = ""] = more.split(">");
  const versions = { before: version(before), after: version(after) };
  return { type: "change", messageId, path: what, relative: what, ...versions, tool: "Edit", timeMs };
}

const members = (sessions: Readonly<Record<string, readonly string[]>>): readonly Member[] =>
  Object.entries(sessions).map(([id, lines]) => ({
    id,
    story: storyOf(lines.map((line, at) => ({ id: `${id} ${at}`, record: recordOf(line) }))),
  }));

const shown = (list: readonly Member[], within?: readonly string[]): readonly string[] =>
  merged(list, within).story.steps.map((step) =>
    step.type === "turn" ? step.messageId : `${step.messageId} ${step.path}`,
  );

describe("the order", () => {
  test("turns are merged by time", () => {
    const list = members({ a: ["1 m1", "1 m1 /f a>b", "5 m3", "5 m3 /f b>c"], b: ["3 m2", "3 m2 /g a>b"] });
    expect(shown(list)).toEqual(["m1", "m1 /f", "m2", "m2 /g", "m3", "m3 /f"]);
  });

  test("a clock that was set back does not change the order within a session", () => {
    const list = members({ a: ["9 m1", "9 m1 /f a>b", "2 m2", "2 m2 /f b>c"], b: ["5 m3", "5 m3 /g a>b"] });
    expect(shown(list)).toEqual(["m3", "m3 /g", "m1", "m1 /f", "m2", "m2 /f"]);
  });

  test("turns at the same time stay whole, so that each can be undone alone", () => {
    const list = members({ a: ["1 m1", "3 m1 /f a>b"], b: ["2 m2", "4 m2 /g a>b"] });
    expect(shown(list)).toEqual(["m1", "m1 /f", "m2", "m2 /g"]);
  });

  test("but the changes of one file stay in their order", () => {
    const list = members({ a: ["1 m1", "1 m1 /f a>b", "4 m1 /f c>d", "4 m1 /g a>b"], b: ["2 m2", "2 m2 /f b>c"] });
    expect(shown(list)).toEqual(["m1", "m1 /f", "m2", "m2 /f", "m1 /f", "m1 /g"]);
  });

  test("turns that changed nothing below the folder are left out, others are kept whole", () => {
    const list = members({ a: ["1 m1", "1 m1 /w/f a>b", "1 m1 /x/f a>b", "2 m2", "2 m2 /x/f b>c"] });
    expect(shown(list, ["/w"])).toEqual(["m1", "m1 /w/f", "m1 /x/f"]);
  });
});

describe("ids", () => {
  test("an id that two sessions use is written with the session; so is what names it", () => {
    const list = members({
      a: ["1 m", "1 m /f a>b", "3 r undo m", "3 r /f b>a"],
      b: ["2 m", "2 m /g a>b"],
    });
    expect(shown(list)).toEqual(["a/m", "a/m /f", "b/m", "b/m /g", "r", "r /f"]);
    const { story, origins } = merged(list);
    expect(story.steps.findLast((step) => step.type === "turn")).toMatchObject({ rewinds: { to: "a/m" } });
    expect(origins.get("b/m")).toEqual([{ member: 1, messageId: "m" }]);
  });

  test("a rewind over two sessions is one turn", () => {
    const list = members({
      a: ["1 m1", "1 m1 /f a>b", "3 r rewind m1 a b", "3 r /f c>a"],
      b: ["2 m2", "2 m2 /f b>c", "3 r rewind m2 a b", "3 r /f c>a", "3 r /g b>a"],
    });
    expect(shown(list)).toEqual(["m1", "m1 /f", "m2", "m2 /f", "r", "r /f", "r /g"]);
    const { recordedBy } = merged(list);
    expect(recordedBy.slice(-3)).toEqual([[0, 1], [0, 1], [1]]);
  });

  test("rewinds that happen to have the same id are two", () => {
    const list = members({
      a: ["1 m1", "1 m1 /f a>b", "3 r undo m1", "3 r /f b>a"],
      b: ["2 m2", "2 m2 /g a>b", "4 r undo m2", "4 r /g b>a"],
    });
    expect(shown(list).filter((line) => line.endsWith("r"))).toEqual(["a/r", "b/r"]);
  });
});

const a = ["1 a1", "1 a1 /f a>b", "5 a2", "5 a2 /f b>c"];
const b = ["3 b1", "3 b1 /g a>b"];
for (const [what, sessions, undo, redo] of [
  ["the newest of any session comes first", { a, b }, ["a2", "b1", "a1"], []],
  ["an undone turn is skipped", { a: [...a, "6 r undo a2", "6 r /f c>b"], b }, ["b1", "a1"], ["r"]],
  [
    "undo goes on through all sessions, and redo takes the undos back in their order",
    { a: [...a, "6 r1 undo a2", "6 r1 /f c>b"], b: [...b, "7 r2 undo b1", "7 r2 /g b>a"] },
    ["a1"],
    ["r2", "r1"],
  ],
  [
    "what was redone is in effect",
    {
      a: [...a, "6 r1 undo a2", "6 r1 /f c>b"],
      b: [...b, "7 r2 undo b1", "7 r2 /g b>a", "8 r3 redo r2", "8 r3 /g a>b"],
    },
    ["b1", "a1"],
    ["r1"],
  ],
  [
    "a new change of another session ends redo",
    { a: [...a, "6 r1 undo a2", "6 r1 /f c>b"], b: [...b, "7 b2", "7 b2 /g b>c"] },
    ["b2", "b1", "a1"],
    [],
  ],
  [
    "a rewind over two sessions is undone as one",
    { a: [...a, "6 r rewind a2 a b", "6 r /f c>b"], b: [...b, "6 r rewind b1 a b", "6 r /g b>a"] },
    ["a1"],
    ["r"],
  ],
] as const) {
  test(what, () => {
    const list = members(sessions);
    expect(mergedTargets(list, merged(list))).toEqual({ undo, redo, forgotten: false });
  });
}

test("a turn that began while an undo was planned in another process is still in effect", () => {
  const records: readonly HistoryRecord[] = [
    ...["1 m1", "1 m1 /f a>b", "2 m2", "2 m2 /g a>b"].map(recordOf),
    { type: "turn", messageId: "r", timeMs: 3, rewinds: { to: "m1", as: "undo", upTo: "m1" } },
    recordOf("3 r /f b>a"),
  ];
  const story = storyOf(records.map((record, at) => ({ id: String(at), record })));
  const list = [{ id: "a", story }];
  expect(mergedTargets(list, merged(list)).undo).toEqual(["m2"]);
});

test("10,000 turns in 200 sessions: each journal is read once for all that one command asks", async () => {
  const store = memoryStore();
  let reads = 0;
  const counting = {
    ...store,
    records: (session: string) => {
      reads += 1;
      return store.records(session);
    },
  };
  const ids = Array.from({ length: 200 }, (_, at) => `s${at}`);
  for (const [at, session] of ids.entries()) {
    const lines = Array.from({ length: 50 }, (_, turn) => {
      const [time, id] = [turn * 200 + at, `${session}-${turn}`];
      return [`${time} ${id}`, `${time} ${id} /w/f${at} a>b`];
    });
    store.append(session, lines.flat().map(recordOf));
  }
  const options = { stateDir: "/nowhere", isSecret: () => false, nowMs: Date.now, store: counting };
  const history = openHistory(options).session({
    id: "own",
    roots: ["/w"],
    dialect: "claude",
    over: { sessions: ids },
  });
  expect(history.turns()).toHaveLength(10_000);
  expect(history.turns().at(-1)?.messageId).toBe("s199-49");
  expect(history.undoTargets().undo.slice(0, 2)).toEqual(["s199-49", "s198-49"]);
  const plan = await history.plan("s0-0", { current: async () => ({ kind: "absent" }), files: [] });
  expect(plan.found).toBe("turn");
  expect(history.changes("s0-0", "s199-49")).toHaveLength(200);
  expect(reads).toBe(200);
});
