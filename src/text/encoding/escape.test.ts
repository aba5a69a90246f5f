import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { escapeName, visibleControls } from "./escape.ts";

describe("escapeName", () => {
  for (const [name, given, shown] of [
    ["a plain name stays", "src/index.test.ts", "src/index.test.ts"],
    ["a backslash stays", "C:\\new\\table", "C:\\new\\table"],
    ["letters of any script and whole pairs stay", "Übung 数据 😀.md", "Übung 数据 😀.md"],
    ["a no-break space stays", "Screenshot 9.41\u202fAM.png", "Screenshot 9.41\u202fAM.png"],
    ["line ends and tabs have short escapes", "a\nb\rc\td", "a\\nb\\rc\\td"],
    ["controls are shown in two digits", "\0\x1b[31m\x7f\x9b", "\\x00\\x1b[31m\\x7f\\x9b"],
    ["line separators are shown", "a\u2028b\u2029", "a\\u2028b\\u2029"],
    ["a turned extension is shown", "invoice\u202efdp.exe", "invoice\\u202efdp.exe"],
    ["isolates and direction marks are shown", "\u2066\u2069\u200e\u200f\u061c", "\\u2066\\u2069\\u200e\\u200f\\u061c"],
    ["what has no width is shown", "a\u200b\u200c\u200d\u2060\ufeff", "a\\u200b\\u200c\\u200d\\u2060\\ufeff"],
    ["half a pair is shown, also beside a whole one", "\ud83d😀\ude00", "\\ud83d😀\\ude00"],
  ] as const) {
    test(name, () => expect(escapeName(given)).toBe(shown));
  }

  test("nothing unsafe is left, and escaping twice changes nothing more", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (name) => {
        const shown = escapeName(name);
        expect(shown).not.toMatch(/[\p{Cc}\p{Cs}\p{Bidi_Control}\u2028\u2029\ufeff]/u);
        expect(escapeName(shown)).toBe(shown);
      }),
    );
  });
});

describe("visibleControls", () => {
  for (const [name, given, shown] of [
    ["lines and tabs stay", "a\tb\n\nc\n", "a\tb\n\nc\n"],
    ["a colour sequence cannot act", "\x1b[31mred\x1b[0m", "^[[31mred^[[0m"],
    ["a carriage return cannot overwrite the line", "safe\revil", "safe^Mevil"],
    ["backspace, NUL and DEL are shown", "\b\0\x7f", "^H^@^?"],
    ["the one-character form of ESC [ is shown", "\x9b31m", "\\x9b31m"],
    ["other text stays", "Übung 数据 😀 \u00a0", "Übung 数据 😀 \u00a0"],
  ] as const) {
    test(name, () => expect(visibleControls(given)).toBe(shown));
  }
});
