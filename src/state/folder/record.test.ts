import { deepEqual, equal } from "node:assert/strict";
import * as fc from "fast-check";
import { describe, test } from "vitest";
import type { ChangeRecord, FileVersion, HistoryRecord } from "../../contract/history.ts";
import { decodeLines, encodeEntry } from "./record.ts";

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

describe("decoding returns what was encoded", () => {
  test("for any change record", () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 5 }), (changes) => {
        const back = decoded(...changes);
        const written = changes.map((one) => JSON.parse(JSON.stringify(one)));
        deepEqual(back, written);
      }),
    );
  });
});

describe("checksums", () => {
  const records = ["m1", "m2", "ä € 𝄞"].map((messageId) => ({ ...usual, messageId }));
  const lines = records.map((record, index) => encodeEntry({ id: `s-${index}`, record }));
  const bytes = Buffer.from(lines.join(""));

  test("every single changed byte loses at most two lines and invents none", () => {
    for (let at = 1; at < bytes.length; at += 1) {
      for (const flip of [1, 32, 128]) {
        const damaged = Buffer.from(bytes);
        damaged[at] = (damaged[at] ?? 0) ^ flip;
        const { entries, damagedAt } = decodeLines(damaged);
        equal(entries.length < records.length && damagedAt.length > 0, true, `byte ${at} by ${flip}`);
        for (const { id, record } of entries) deepEqual(record, records[Number(id.slice(2))]);
      }
    }
  });

  test("bodies that were exchanged, and a checksum in capitals, are damaged", () => {
    const [first = "", second = ""] = lines;
    const exchanged = first.slice(0, 10) + second.slice(10) + second.slice(0, 10) + first.slice(10);
    const capitals = first.slice(0, 10).toUpperCase() + first.slice(10);
    equal(decodeLines(Buffer.from(exchanged)).damagedAt.length, 2);
    equal(decodeLines(Buffer.from(capitals)).damagedAt.length, capitals === first ? 0 : 1);
  });

  test("empty lines are no damage", () => {
    const { entries, damagedAt } = decodeLines(Buffer.from(`\n\n${lines.join("\n\n")}\n\n\n`));
    deepEqual([entries.map(({ record }) => record), damagedAt], [records, []]);
  });
});

describe("a malformed record is rejected although its checksum is right", () => {
  const wrong: readonly (readonly [string, unknown])[] = [
    ["an unknown type", { ...usual, type: "later" }],
    ["a content id that is a path", { ...usual, after: { kind: "file", sizeBytes: 1, content: "../../x" } }],
    [
      "a content id of the right length that is not hex",
      { ...usual, after: { kind: "file", sizeBytes: 1, content: "/".repeat(64) } },
    ],
    ["a size that is no number", { ...usual, before: { kind: "file", sizeBytes: "1" } }],
    ["a time that is no number", { ...usual, timeMs: "1" }],
    ["a path that is no string", { ...usual, path: 1 }],
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
        entries.map(({ record }) => record),
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

  test("is skipped without a fault if its writer was killed there, at any byte of the line", () => {
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

  test("is reported as damaged if it is complete, or if it ends elsewhere", () => {
    const whole = filled(pageBytes);
    const changed = whole.replace("xxx", "xyx");
    deepEqual(decode(changed + line(turn("next"))), { turns: ["next"], damagedAt: [1] });
    const shorter = filled(pageBytes - 1).slice(0, -1);
    deepEqual(decode(shorter + line(turn("next"))), { turns: ["next"], damagedAt: [1] });
    const zeros = filled(pageBytes).slice(0, -9) + "\0".repeat(9);
    deepEqual(decode(zeros + line(turn("next"))), { turns: ["next"], damagedAt: [1] });
  });
});
