/** A14 A75: whoever approves sees every character that hides: over MCP, on the terminal, on the page, in content and in names. */

import { equal, ok } from "node:assert/strict";
import { describe, test } from "vitest";
import { paintDiff } from "../../src/surfaces/cli/diff.ts";
import { questionText } from "../../src/surfaces/mcp/approval-state.ts";
import { escapeName, visibleText } from "../../src/text/encoding/escape.ts";
import { unified } from "../../src/text/diff/unified.ts";
import { shownText } from "../../web/src/text/shown.ts";

const range = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at);

const groups: Readonly<Record<string, readonly number[]>> = {
  "Unicode tags": range(0xe0000, 0xe007f),
  "variation selectors": [...range(0xfe00, 0xfe0f), ...range(0xe0100, 0xe01ef)],
  "Hangul fillers": [0x115f, 0x1160, 0x3164, 0xffa0],
  "soft hyphen and grapheme joiner": [0xad, 0x34f],
  "no width and marks of direction": [0x61c, ...range(0x200b, 0x200f), ...range(0x2028, 0x202e)],
  "invisible operators, isolates and deprecated formats": range(0x2060, 0x206f),
  "byte order mark and interlinear notes": [0xfeff, 0xfff9, 0xfffa, 0xfffb],
  "blanks that are no spaces": [0x2800, 0x180e, 0x17b4, 0x17b5],
};

const hunk = { oldStart: 1, oldLines: 0, newStart: 1, newLines: 1 };

/** What a person gets to see of a text, at each place where they see it. */
const places: Readonly<Record<string, (text: string) => string>> = {
  "a name in an answer": escapeName,
  "content on the terminal": visibleText,
  "a diff on the terminal": (text) => paintDiff("a.txt", [{ ...hunk, lines: [`+${text}`] }], { colour: false }),
  "a name above a diff on the terminal": (text) => paintDiff(text, [{ ...hunk, lines: ["+x"] }], { colour: false }),
  "a diff over MCP": (text) =>
    questionText({
      permission: "edit",
      patterns: ["/ws/a.txt"],
      always: [],
      keep: [],
      metadata: { path: "/ws/a.txt", diff: unified("a.txt", [{ ...hunk, lines: [`+${text}`] }], "update") },
    }),
  "names over MCP": (text) =>
    questionText({
      permission: "read",
      patterns: [`/ws/${text}`],
      always: [`Read(/${text})`],
      keep: [],
      metadata: { path: `/ws/link-${text}`, rule: `Read(${text})`, movedFrom: text, movedTo: text },
    }),
  "a name in the header of a diff": (text) => unified(text, [{ ...hunk, lines: ["+x"] }], "update"),
  "the page": shownText,
};

describe("hidden characters show", () => {
  for (const [place, show] of Object.entries(places)) {
    for (const [group, codes] of Object.entries(groups)) {
      test(`${place}: ${group}`, () => {
        for (const code of codes) {
          const character = String.fromCodePoint(code);
          const shown = show(`pass${character}word`);
          ok(!shown.includes(character), `U+${code.toString(16)}: ${JSON.stringify(shown)}`);
          ok(shown.includes("pass") && shown.includes("word") && !shown.includes("password"), shown);
        }
      });
    }

    test(`${place}: what is hidden behind an emoji, one after the other`, () => {
      const shown = show("ok\u{1f600}\ufe00\ufe01\ufe0f\u{e0100}\u200d\u200dend");
      ok(!/[\ufe00\ufe01]|\u{e0100}|\u200d\u200d/u.test(shown), JSON.stringify(shown));
    });
  }

  test("emoji, and scripts that join their letters, stay as they are", () => {
    for (const text of [
      "\u2764\ufe0f\u200d\u{1f525}",
      "\u{1f468}\u{1f3fd}\u200d\u{1f4bb}",
      "1\ufe0f\u20e3",
      "\u0645\u06cc\u200c\u062e",
    ]) {
      for (const show of [escapeName, visibleText, shownText]) equal(show(text), text);
    }
  });
});
