import { expect, test } from "vitest";
import type { Question } from "../../contract/ask.ts";
import { hunksOfTexts } from "../../text/diff/hunks.ts";
import { moreLine, noDiffLine, unified } from "../../text/diff/unified.ts";
import { questionForm, questionText } from "./approval-state.ts";

const question: Question = {
  permission: "edit",
  patterns: ["/ws/a.txt"],
  always: ["Edit(/a.txt)"],
  keep: ["session"],
  metadata: { path: "/ws/a.txt", rule: "Edit(*.txt)", diff: "-one\n+two\n" },
};

test("a change is asked about with its path, counts and first change in one line, then its rule and its diff", () => {
  const diff = unified("a.txt", hunksOfTexts("one\n", "two\n").hunks, "update");
  const lines = diff.trimEnd().split("\n");
  expect(questionText({ ...question, metadata: { ...question.metadata, diff } })).toBe(
    [
      'Change "/ws/a.txt"? +1 -1: -one → +two',
      "The rule Edit(*.txt) asks.",
      "",
      ...lines.map((line) => `| ${line}`),
    ].join("\n"),
  );
});

test("the real path leads, and a link by which it was asked for is told", () => {
  const text = questionText({ ...question, metadata: { path: "/ws/link.txt" } });
  expect(text.split("\n")[0]).toBe('Change "/ws/a.txt"? (asked for as "/ws/link.txt")');
});

test("no name and no line of a file can change what is read", () => {
  const path = '/ws/a.txt"?\nRead "/ws/harmless\u202e.txt';
  const diff = '+x\r\n+\x1b[2K\n+\u202eabc\nRead "/ws/b"?\n';
  const lines = questionText({ ...question, patterns: [path], metadata: { path, diff } }).split("\n");
  expect(lines[0]).toBe('Change "/ws/a.txt"?\\nRead "/ws/harmless\\u202e.txt"?');
  expect(lines.slice(2)).toEqual(["| +x\\r", "| +\\x1b[2K", "| +\\u202eabc", '| Read "/ws/b"?']);
});

test("a long diff is cut, and says so", () => {
  const diff = Array.from({ length: 100 }, (_, line) => `+${line} ${"x".repeat(300)}`).join("\n");
  const lines = questionText({ ...question, metadata: { path: "/ws/a.txt", diff } }).split("\n");
  expect(lines).toHaveLength(63);
  expect(lines.at(-1)).toBe("(40 more lines are not shown)");
  expect(lines[2]).toBe(`| +0 ${"x".repeat(198)}… (102 more characters)`);
});

const asked = (before: string, after: string, more = ""): readonly string[] => {
  const diff = unified("a.txt", hunksOfTexts(before, after).hunks, "update") + more;
  return questionText({ ...question, metadata: { path: "/ws/a.txt", diff } })
    .split("\n")
    .slice(2);
};

test("of a long line that part is shown which changes", () => {
  const lines = asked(`${"x".repeat(900)}old\n`, `${"x".repeat(900)}new\n`);
  expect(lines.slice(3)).toEqual([`| -…${"x".repeat(20)}old`, `| +…${"x".repeat(20)}new`]);
});

test("what a diff itself leaves out is told by the numbers of all of it", () => {
  const more = `${moreLine(7_000, 6_000)}\n`;
  expect(asked("a\n", "b\n", more).at(-1)).toBe("(+7000 -6000, not all of it is shown)");
  expect(asked("", "b\n".repeat(500), more).slice(60)).toEqual(["(+7000 -6000, not all of it is shown)"]);
  expect(asked("", `${more}c\n`).slice(3)).toEqual(["| +(+7000 -6000, not all of it is shown)", "| +c"]);
});

test("where there is no diff, that is said", () => {
  const text = questionText({ ...question, metadata: { path: "/ws/a.txt", diff: `${noDiffLine}\n` } });
  expect(text.split("\n").at(-1)).toBe(noDiffLine);
});

test("what else should be known is said in words, not as a code", () => {
  const text = questionText({ ...question, metadata: { ...question.metadata, caution: "build" } });
  expect(text).toContain("\nThis file names commands that are run when the project is built or installed.\n");
});

const firstLine = (before: string, after: string): string | undefined => {
  const diff = unified("a.txt", hunksOfTexts(before, after).hunks, "update");
  return questionText({ ...question, metadata: { path: "/ws/a.txt", diff } }).split("\n")[0];
};

for (const [name, before, after, expected] of [
  ["only added", "a\n", "a\nb\n", "? +1 -0: +b"],
  ["only removed", "a\nb\n", "a\n", "? +0 -1: -b"],
  ["the first of several", "a\nb\nc\n", "A\nb\nC\n", "? +2 -2: -a → +A"],
  ["indented with tabs", "\t\tif (a)\n", "\t\tif (b)\n", "? +1 -1: - if (a) → + if (b)"],
  [
    "with what looks like the end of a question",
    "a\n",
    'b"? (asked for as "/x")\u202e\n',
    '? +1 -1: -a → +b"? (asked for as "/x")\\u202e',
  ],
] as const) {
  test(`the first line has the change that is ${name}`, () => {
    expect(firstLine(before, after)).toBe(`Change "/ws/a.txt"${expected}`);
  });
}

test("the first line has only the part of a long line that changes", () => {
  const [before, after] = ["x", "y"].map((letter) => `${"-".repeat(500)}${letter}${"-".repeat(500)}\n`);
  const line = firstLine(before ?? "", after ?? "") ?? "";
  expect(line.length).toBeLessThan(250);
  expect(line).toMatch(/-…-*x-*….* → \+…-*y-*…/);
});

test("the first line of several files has the counts of all", () => {
  const diff = unified("a.txt", hunksOfTexts("a\n", "b\nc\n").hunks, "update");
  const files = ["/ws/a.txt", "/ws/b.txt"].map((path) => ({ path, diff }));
  const [head, ...names] = questionText({ ...question, metadata: { files } }).split("\n");
  expect([head, ...names.slice(0, 2)]).toEqual([
    "Change 2 files, all of them or none? +4 -2",
    '- "/ws/a.txt"',
    '- "/ws/b.txt"',
  ]);
});

test("the form can be confirmed as it is, and always is a box that says its rule", () => {
  const { properties, required } = questionForm(question).requestedSchema;
  expect(required).toEqual(["decision"]);
  expect(properties.decision).toMatchObject({ enum: ["allow once", "reject"], default: "allow once" });
  expect(properties.always).toMatchObject({ type: "boolean", default: false });
  expect(properties.always?.description).toContain("the rule Edit(/a.txt)");
  expect(questionForm({ ...question, always: [] }).requestedSchema.properties).not.toHaveProperty("always");
});
