import * as fc from "fast-check";
import { deepEqual, equal } from "node:assert/strict";
import { test } from "vitest";
import type { Hunk } from "../../contract/edit.ts";
import { finish } from "../steps.ts";
import { chooseHunks } from "./chosen-hunks.ts";
import { hunksOfTexts } from "./hunks.ts";

const noNewline = "\\ No newline at end of file";

function chosen(before: string, after: string, hunks: readonly Hunk[], indexes: readonly number[]) {
  const part = finish(chooseHunks(before, after, hunks, new Set(indexes)));
  let text = "";
  let at = 0;
  for (const { from, to, afterFrom, afterTo } of part.replaced) {
    text += before.slice(at, from) + after.slice(afterFrom, afterTo);
    at = to;
  }
  return { ...part, text: text + before.slice(at) };
}

/** Applies hunks to a text by their rows alone, line by line. */
function applied(text: string, hunks: readonly Hunk[], way: "make" | "undo" = "make"): string {
  const [gone, come] = way === "make" ? ["-", "+"] : ["+", "-"];
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const out: string[] = [];
  let at = 0;
  for (const { oldStart, oldLines, newStart, newLines, lines: rows, lineEnd = "\n" } of hunks) {
    const [start, count] = way === "make" ? [oldStart, oldLines] : [newStart, newLines];
    const from = count === 0 ? start : start - 1;
    out.push(...lines.slice(at, from));
    at = from;
    for (const [index, row] of rows.entries()) {
      const line = row.slice(1) + (rows[index + 1] === noNewline ? "" : lineEnd);
      if (row === noNewline) continue;
      if (!row.startsWith(come)) {
        equal(lines[at], line, "the hunk fits");
        at += 1;
      }
      if (!row.startsWith(gone)) out.push(line);
    }
  }
  return [...out, ...lines.slice(at)].join("");
}

const line = fc.constantFrom("a", "b", "c", "", "x y", "é", "\ud83d\ude00", "\udc80");
const end = fc.constantFrom("\n", "\n", "\n", "\r\n");
const text = fc
  .tuple(fc.array(fc.tuple(line, end), { maxLength: 40 }), line, fc.boolean())
  .map(([lines, last, open]) => lines.map((pair) => pair.join("")).join("") + (open ? last : ""));
/** Two texts that have much in common, so that there are several hunks. */
const pair = fc.oneof(
  fc.tuple(text, text),
  fc
    .tuple(text, fc.array(fc.tuple(fc.nat(40), fc.nat(2), fc.array(line, { maxLength: 3 }), end), { maxLength: 5 }))
    .map(([before, edits]) => {
      const lines: string[] = [...(before.match(/[^\n]*\n|[^\n]+$/g) ?? [])];
      for (const [at, gone, come, eol] of edits) {
        const place = Math.min(at, Math.max(0, lines.length - 1));
        lines.splice(place, gone, ...come.map((one) => one + eol));
      }
      return [before, lines.join("")] as const;
    }),
);

test("any choice of hunks gives the old text with exactly those hunks, all the new text, and none the old", () => {
  fc.assert(
    fc.property(pair, fc.array(fc.nat(20)), fc.nat(4), ([before, after], picks, context) => {
      const { hunks } = hunksOfTexts(before, after, { context });
      const picked = [...new Set(picks.filter((at) => at < hunks.length))];
      const all = hunks.map((_, at) => at);
      const others = all.filter((at) => !picked.includes(at));
      const part = chosen(before, after, hunks, picked);
      equal(
        part.text,
        applied(
          before,
          hunks.filter((_, at) => picked.includes(at)),
        ),
      );
      equal(chosen(before, after, hunks, all).text, after);
      equal(chosen(before, after, hunks, []).text, before);
      // The hunks of the part are numbered as they are in it: undone they give the old text.
      equal(applied(part.text, part.hunks, "undo"), before);
      equal(applied(before, part.hunks), part.text);
      // The others undone in the new text give the same.
      const rest = hunks.filter((_, at) => others.includes(at));
      equal(applied(after, rest, "undo"), part.text);
      equal(part.accepted.length, picked.length);
      deepEqual(
        part.refused.map(({ hunk }) => hunk),
        others,
      );
      const now = part.text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
      for (const { newStart, lines, lineEnd = "\n" } of part.now) {
        const rows = lines
          .filter((row) => row !== noNewline)
          .map((row, at) => row.slice(1) + (lines[at + 1] === noNewline ? "" : lineEnd));
        deepEqual(now.slice(newStart - 1, newStart - 1 + rows.length), rows);
      }
    }),
    { numRuns: 3_000 },
  );
});

const numbers = (from: number, to: number): string =>
  Array.from({ length: to - from + 1 }, (_, at) => `${from + at}\n`).join("");

test("accepted and refused lines are numbered as they are afterwards", () => {
  const before = numbers(1, 40);
  const after = before
    .replace("3\n", "three\nthree and a half\n")
    .replace("20\n21\n", "")
    .replace("35\n", "thirty-five\n");
  const { hunks } = hunksOfTexts(before, after);
  const { accepted, refused, now } = chosen(before, after, hunks, [0, 2]);
  deepEqual(accepted, [
    { hunk: 0, from: 3, to: 4 },
    { hunk: 2, from: 36, to: 36 },
  ]);
  deepEqual(refused, [{ hunk: 1, from: 21, to: 22 }]);
  deepEqual(now[0]?.lines, [" 17", " 18", " 19", " 20", " 21", " 22", " 23", " 24"]);
  equal(now[0]?.newStart, 18);
  // Lines that went, and lines that did not come, are a place between two lines.
  deepEqual(chosen(before, after, hunks, [1]).accepted, [{ hunk: 1, from: 20, to: 19 }]);
  const added = hunksOfTexts("a\n", "a\nb\n");
  deepEqual(chosen("a\n", "a\nb\n", added.hunks, []).refused, [{ hunk: 0, from: 2, to: 1 }]);
});
