import { describe, expect, test } from "vitest";
import { knowFiles, withHunks } from "./known-files.ts";

const path = "f";
const lines = (from: number, list: readonly string[], linesTotal?: number) =>
  ({
    path,
    at: "before",
    is: "lines",
    from,
    lines: list,
    ...(linesTotal === undefined ? {} : { linesTotal }),
  }) as const;

describe("what is known of a file", () => {
  test("unknown lines are empty lines, so that others keep their numbers", () => {
    const known = knowFiles();
    known.learn(lines(3, ["c", "d"], 6));
    expect(known.text(path)).toBe("\n\nc\nd\n\n");
    expect(known.isWhole(path)).toBe(false);
  });
  test("parts that cover a file are the file", () => {
    const known = knowFiles();
    known.learn(lines(1, ["a", "b"], 4));
    known.learn(lines(3, ["c"], 4));
    expect(known.text(path)).toBe("a\nb\nc\n");
    expect(known.isWhole(path)).toBe(true);
  });
  test("a line that differs makes the rest doubtful", () => {
    const known = knowFiles();
    known.learn({ path, at: "before", is: "whole", text: "a\nb\nc\n" });
    known.learn(lines(2, ["B"], 4));
    expect(known.text(path)).toBe("a\nB\nc\n");
    expect(known.isWhole(path)).toBe(false);
  });
  test("a line that agrees changes nothing", () => {
    const known = knowFiles();
    known.learn({ path, at: "before", is: "whole", text: "a\nb\nc\n" });
    known.learn(lines(2, ["b"]));
    expect(known.isWhole(path)).toBe(true);
  });
  test("unknown lines stay unknown after a change", () => {
    const known = knowFiles();
    known.learn(lines(2, ["b"], 4));
    known.change(path, "\nx\ny\n\n");
    expect(known.text(path)).toBe("\nx\ny\n\n");
    expect(known.isWhole(path)).toBe(false);
  });
  test("a file that is too large is not known, however its lines are given", () => {
    const known = knowFiles();
    known.learn(
      lines(
        190_000,
        Array.from({ length: 20_000 }, () => "x"),
      ),
    );
    expect(known.text(path)).toBeUndefined();
    known.learn(lines(1, ["x"], 999_999_999));
    expect(known.text(path)).toBeUndefined();
    known.learn({ path, at: "before", is: "whole", text: "x".repeat(9_000_000) });
    expect(known.text(path)).toBeUndefined();
  });
});

describe("hunks", () => {
  const hunk = { oldStart: 2, oldLines: 1, newStart: 2, newLines: 2, lines: ["-b", "+B", "+BB"] };
  test("are applied at their lines", () => expect(withHunks("a\nb\nc\n", [hunk])).toBe("a\nB\nBB\nc\n"));
  test("that do not fit are refused", () => expect(withHunks("a\nx\nc\n", [hunk])).toBeUndefined());
  test("without old lines go after the line that they name", () => {
    const added = { oldStart: 1, oldLines: 0, newStart: 2, newLines: 1, lines: ["+x"] };
    expect(withHunks("a\nb\n", [added])).toBe("a\nx\nb\n");
  });
});
