import { describe, expect, test } from "vitest";
import { shownPieces, shownText } from "./shown.ts";

describe("what hides is shown", () => {
  for (const [name, text, shown] of [
    ["plain text stays", "const a = 1;", "const a = 1;"],
    ["a tab stays", "a\tb", "a\tb"],
    ["an escape of a terminal is named", "\x1b[31mred\x1b[0m", "[ESC][31mred[ESC][0m"],
    ["a carriage return is named", "a\rb", "a[CR]b"],
    ["an override of direction is named", "safe\u202egpj.exe", "safe[U+202E]gpj.exe"],
    ["isolates are named", "\u2066x\u2069", "[U+2066]x[U+2069]"],
    ["a zero width space is named", "pass\u200bword", "pass[U+200B]word"],
    ["a joiner between letters is named", "a\u200db", "a[U+200D]b"],
    ["a joiner in an emoji stays", "👩\u200d💻", "👩\u200d💻"],
    ["a variation selector behind an emoji stays", "❤\ufe0f", "❤\ufe0f"],
    ["a variation selector behind a letter is named", "a\ufe0f", "a[U+FE0F]"],
    ["tag characters are named", "a\u{e0041}", "a[U+E0041]"],
    ["half a pair is named", "a\ud800b", "a[U+D800]b"],
    ["markup is text", '<img src=x onerror="alert(1)">', '<img src=x onerror="alert(1)">'],
    ["nothing is nothing", "", ""],
  ] as const) {
    test(name, () => expect(shownText(text)).toBe(shown));
  }

  test("a mark says what it stands for", () => {
    expect(shownPieces("\u202e")).toEqual([{ kind: "mark", label: "[U+202E]", name: "right-to-left override U+202E" }]);
  });
});
