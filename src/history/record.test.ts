import { deepEqual, equal } from "node:assert/strict";
import * as fc from "fast-check";
import { describe, test } from "vitest";
import type { ChangeRecord, FileVersion, HistoryRecord } from "../contract/history.ts";
import { decodeLines, encodeEntry, plainOf } from "./record.ts";

const content = "0123456789abcdef".repeat(4);
const usual: ChangeRecord = {
  type: "change",
  messageId: "m1",
  path: "/work/a file.ts",
  relative: "a file.ts",
  before: { kind: "absent" },
  after: { kind: "file", sizeBytes: 12, mode: 0o644, content },
  tool: "Write",
  timeMs: 1,
};
const decoded = (...records: readonly HistoryRecord[]): readonly HistoryRecord[] => {
  const lines = records.map((record, index) => encodeEntry({ id: `s-${index}`, record }));
  const { entries, damagedAt } = decodeLines(Buffer.from(lines.join("")));
  deepEqual(damagedAt, []);
  deepEqual(
    entries.map(({ id }) => id),
    records.map((_, index) => `s-${index}`),
  );
  return entries.map(({ record }) => record);
};
const plain = (record: HistoryRecord): HistoryRecord => (record.type === "change" ? plainOf(record) : record);

const text = fc.oneof(
  fc.string({ maxLength: 8 }),
  fc.constantFrom("/a/ä", 'quo"te', "back\\slash", "tab\t", "__proto__"),
);
const mark = fc.constant("inode-1-2a-3-ff");
const version: fc.Arbitrary<FileVersion> = fc.oneof(
  fc.constant({ kind: "absent" } as const),
  fc.record(
    {
      kind: fc.constant("file" as const),
      sizeBytes: fc.nat(),
      mode: fc.nat(0o7777),
      links: fc.nat(9),
      mark,
      content: fc.oneof(fc.constant(content), mark),
      notKept: fc.constantFrom("secret", "too large", "failed"),
    },
    { requiredKeys: ["kind", "sizeBytes"] },
  ),
);
const change: fc.Arbitrary<ChangeRecord> = fc.record(
  {
    type: fc.constant("change" as const),
    messageId: fc.oneof(text, fc.constantFrom("m1", "m2")),
    path: text,
    relative: text,
    before: version,
    after: version,
    tool: text,
    timeMs: fc.oneof(fc.nat(), fc.double({ noNaN: true, noDefaultInfinity: true })),
    movedTo: text,
    movedFrom: text,
    broken: fc.constant(true as const),
  },
  { requiredKeys: ["type", "messageId", "path", "relative", "before", "after", "tool", "timeMs"] },
);

describe("what is decoded is what was encoded", () => {
  test("whatever a change says", () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 5 }), (changes) => {
        const back = decoded(...changes);
        const written = changes.map((one) => JSON.parse(JSON.stringify(one)));
        deepEqual(back.map(plain), written);
        // And in each single value, and when it is written again.
        for (const [at, record] of back.entries()) {
          for (const key of Object.keys(usual)) equal(Reflect.get(record, key) !== undefined, true, key);
          equal(JSON.stringify(record), JSON.stringify(written[at]));
        }
      }),
    );
  });

  test("a change of the usual shape is not taken apart before somebody asks for more than its message", () => {
    const [one, two] = decoded(usual, { ...usual, messageId: "m2", path: "/work/b" });
    deepEqual(
      [one, two].map((record) => Object.keys(record ?? {})),
      [
        ["type", "messageId"],
        ["type", "messageId"],
      ],
    );
    deepEqual(
      [one, two].map((record) => record?.type === "change" && [record.messageId, record.path]),
      [
        ["m1", "/work/a file.ts"],
        ["m2", "/work/b"],
      ],
    );
  });
});

describe("a line is not believed, though its checksum is right", () => {
  const wrong: readonly (readonly [string, unknown])[] = [
    ["a type that nobody knows", { ...usual, type: "later" }],
    ["a content that would lead elsewhere", { ...usual, after: { kind: "file", sizeBytes: 1, content: "../../x" } }],
    ["a content of the right length", { ...usual, after: { kind: "file", sizeBytes: 1, content: "/".repeat(64) } }],
    ["a size that is none", { ...usual, before: { kind: "file", sizeBytes: "1" } }],
    ["a time that is none", { ...usual, timeMs: "1" }],
    ["a path that is none", { ...usual, path: 1 }],
    ["no version after", { ...usual, after: undefined }],
  ];
  for (const [name, record] of wrong) {
    test(name, () => {
      // As somebody else could have written it.
      const lines = [usual, record as HistoryRecord, usual].map((one, index) =>
        encodeEntry({ id: `s-${index}`, record: one }),
      );
      const { entries, damagedAt } = decodeLines(Buffer.from(lines.join("")));
      deepEqual(damagedAt, [Buffer.byteLength(lines[0] ?? "") + 1]);
      deepEqual(
        entries.map((entry) => plain(entry.record)),
        [usual, usual],
      );
    });
  }
});

describe("a line that ends between two pages of its file", () => {
  const pageBytes = 4_096;
  const turn = (messageId: string): HistoryRecord => ({ type: "turn", messageId, timeMs: 1 });
  const line = (record: HistoryRecord): string => encodeEntry({ id: "a1b2c3d4e5f6-1z", record });
  const filled = (bytes: number): string => line(turn("x".repeat(bytes - line(turn("")).length)));
  const decode = (text: string) => {
    const { entries, damagedAt } = decodeLines(Buffer.from(text));
    return { turns: entries.map(({ record }) => record.type === "turn" && record.messageId), damagedAt };
  };

  test("is passed over if its writer was killed there, wherever in the line that is", () => {
    const torn = line(turn("torn — ü"));
    const bytes = Buffer.from(torn);
    for (let cut = 2; cut < bytes.length; cut += 1) {
      const head = Buffer.from(filled(pageBytes - cut));
      const text = Buffer.concat([head, bytes.subarray(0, cut)]);
      for (const after of ["", line(turn("next"))]) {
        const { entries, damagedAt } = decodeLines(Buffer.concat([text, Buffer.from(after)]));
        deepEqual([cut, entries.length, damagedAt], [cut, after === "" ? 1 : 2, []]);
      }
    }
  });

  test("is damaged if it is whole, and so is one that ends elsewhere", () => {
    const whole = filled(pageBytes);
    const changed = whole.replace("xxx", "xyx");
    deepEqual(decode(changed + line(turn("next"))), { turns: ["next"], damagedAt: [1] });
    const shorter = filled(pageBytes - 1).slice(0, -1);
    deepEqual(decode(shorter + line(turn("next"))), { turns: ["next"], damagedAt: [1] });
    const zeros = filled(pageBytes).slice(0, -9) + "\0".repeat(9);
    deepEqual(decode(zeros + line(turn("next"))), { turns: ["next"], damagedAt: [1] });
  });
});
