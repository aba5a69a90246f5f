import { equal } from "node:assert/strict";
import { test } from "vitest";
import { leftOutText } from "./hidden-files.ts";

for (const [name, lines, text] of [
  ["nothing", [], ""],
  ["one name", ["**/a"], "**/a\n"],
  ["names that follow each other are one line", ["**/a", "**/*.b", "**/c[dD]"], "**/{a,*.b,c[dD]}\n"],
  [
    "an exception stays behind what it is taken out of",
    ["**/a*", "**/b", "!**/ab", "**/c"],
    "**/{a*,b}\n!**/ab\n**/c\n",
  ],
  ["exceptions are one line too", ["!**/a", "!**/b"], "!**/{a,b}\n"],
  [
    "folders and anchors stay as they are, in their place",
    ["**/a", "**/b/**", "/c", "*", "**/d"],
    "**/a\n**/b/**\n/c\n*\n**/d\n",
  ],
  ["what is about folders only stays so", ["**/a", "!**/*/"], "**/a\n!**/*/\n"],
  ["signs that mean something in braces", ["**/a,b", "**/{a,b}", "**/c\\d"], "**/a,b\n**/{a,b}\n**/c\\d\n"],
  ["what is about something else", ["", "**/a", ""], "**/a\n"],
] as const) {
  test(name, () => equal(leftOutText(lines), text));
}
