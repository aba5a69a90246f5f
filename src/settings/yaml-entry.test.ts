/** An entry in a YAML text of the plain form: where it goes, what is refused, and that no other line changes. */

import { describe, expect, test } from "vitest";
import type { Entry, EntryWish } from "./client-file.ts";
import { withYamlEntry } from "./yaml-entry.ts";

const entry: Entry = { under: "extensions", name: "filehand", value: { enabled: true, cmd: "a b", args: ["x", "y"] } };
const block = '  filehand:\n    enabled: true\n    cmd: "a b"\n    args: ["x","y"]\n';
const textOf = (before: string, wish: EntryWish = "put"): unknown => {
  const merged = withYamlEntry(before, entry, wish);
  return merged.merged === "text" ? merged.text : merged;
};

describe("put and taken out again", () => {
  for (const [name, before, after, back] of [
    ["nothing", "", `extensions:\n${block}`, "extensions: {}\n"],
    [
      "other keys",
      "A: b\nlist:\n- x\n",
      `A: b\nlist:\n- x\nextensions:\n${block}`,
      "A: b\nlist:\n- x\nextensions: {}\n",
    ],
    [
      "others before and after",
      "extensions:\n  other:\n    cmd: z\n\nB: c\n",
      `extensions:\n  other:\n    cmd: z\n${block}\nB: c\n`,
      "extensions:\n  other:\n    cmd: z\n\nB: c\n",
    ],
    ["an empty table", "extensions: {}\n# end\n", `extensions:\n${block}# end\n`, "extensions: {}\n# end\n"],
    ["no newline at the end", "A: b", `A: b\nextensions:\n${block}`, "A: b\nextensions: {}\n"],
    [
      "four spaces",
      "extensions:\n    other:\n        cmd: z\n",
      `extensions:\n    other:\n        cmd: z\n${block.replaceAll(/^( +)/gm, "$1$1")}`,
      "extensions:\n    other:\n        cmd: z\n",
    ],
  ] as const) {
    test(name, () => {
      expect(textOf(before)).toBe(after);
      expect(textOf(after)).toEqual({ merged: "same" });
      expect(textOf(after, "remove")).toBe(back);
    });
  }

  test("another entry of that name is replaced only on request", () => {
    const other = "extensions:\n  filehand:\n    cmd: mine\n    envs:\n      A: b\n  z:\n    cmd: z\n";
    expect(textOf(other)).toEqual({ merged: "other" });
    expect(textOf(other, "replace")).toBe(`extensions:\n${block}  z:\n    cmd: z\n`);
    expect(textOf(other, "remove")).toBe("extensions:\n  z:\n    cmd: z\n");
  });

  test("nothing to remove", () => {
    expect(textOf("A: b\n", "remove")).toEqual({ merged: "same" });
    expect(textOf("extensions:\n  a:\n    cmd: z\n", "remove")).toEqual({ merged: "same" });
  });
});

describe("refused", () => {
  for (const [name, text] of [
    ["on one line", "extensions: {a: {cmd: x}}\n"],
    ["twice", "extensions:\n  a: 1\nextensions:\n  b: 1\n"],
    ["tabs", "extensions:\n\ta: 1\n"],
    ["several documents", "A: b\n---\nextensions:\n  a: 1\n"],
    ["not a mapping", "{ half\n"],
    ["an entry of that name twice", "extensions:\n  filehand:\n    a: 1\n  filehand:\n    b: 1\n"],
  ] as const) {
    test(name, () => expect(textOf(text)).toEqual({ merged: "refused", why: expect.any(String) }));
  }
});
