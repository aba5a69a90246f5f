import { deepEqual, equal } from "node:assert/strict";
import { describe, test } from "vitest";
import type { Question } from "../../contract/ask.ts";
import { answerOf, hunkAnswerOf, menuOf, promptOf } from "./ask.ts";

const question: Question = {
  permission: "edit",
  patterns: ["/w/src/a.ts"],
  always: ["Edit(/src/a.ts)", "Edit(/src/**)", "Edit(/**)"],
  keep: ["session", "project", "user"],
  metadata: {},
};
const everyTime: Question = { ...question, always: [], keep: [] };

describe("what is typed", () => {
  for (const [typed, answer] of [
    ["y", { reply: "once" }],
    [" YES ", { reply: "once" }],
    ["a", { reply: "always", rule: "Edit(/src/a.ts)", keep: "session" }],
    ["always", { reply: "always", rule: "Edit(/src/a.ts)", keep: "session" }],
    ["A2", { reply: "always", rule: "Edit(/src/**)", keep: "session" }],
    ["a3", { reply: "always", rule: "Edit(/**)", keep: "session" }],
    ["p", { reply: "always", rule: "Edit(/src/a.ts)", keep: "project" }],
    ["u2", { reply: "always", rule: "Edit(/src/**)", keep: "user" }],
    ["n", { reply: "reject" }],
    ["no", { reply: "reject" }],
    ["n  use the other  file ", { reply: "reject", feedback: "use the other  file" }],
    ["No, not that", { reply: "reject", feedback: "not that" }],
    ["?", "help"],
    ["help", "help"],
    // What is not understood is a no, and never a yes.
    ["", { reply: "reject" }],
    [undefined, { reply: "reject" }],
    ["a1", { reply: "reject" }],
    ["a4", { reply: "reject" }],
    ["a 2", { reply: "reject" }],
    ["y but only here", { reply: "reject" }],
    ["yep", { reply: "reject" }],
    ["constructor", { reply: "reject" }],
  ] as const) {
    test(`${JSON.stringify(typed)} is ${JSON.stringify(answer)}`, () => deepEqual(answerOf(typed, question), answer));
  }

  test("always is a no where it cannot be answered", () => {
    for (const typed of ["a", "always", "p", "u"]) deepEqual(answerOf(typed, everyTime), { reply: "reject" });
    deepEqual(answerOf("p", { ...question, keep: ["session", "user"] }), { reply: "reject" });
  });
});

test("the answers are told one a line, and only those that can be given", () => {
  deepEqual(menuOf({ ...question, keep: ["session", "user"] }), [
    "  y       yes, this once",
    "  a       always, in this run: Edit(/src/a.ts)",
    "  a2      always, in this run: Edit(/src/**)",
    "  a3      always, in this run: Edit(/**)",
    "  u       always, kept in your settings: Edit(/src/a.ts)",
    "  u2, u3  the same for the wider rules, kept in your settings",
    "  n       no; words behind it are passed on: n use the other file",
  ]);
  deepEqual(menuOf(everyTime), ["  y  yes, this once", "  n  no; words behind it are passed on: n use the other file"]);
  deepEqual([promptOf(question), promptOf(everyTime)], ["[y/N/always/?]", "[y/N/?]"]);
});

test("a rule made of a hostile name does not act on the terminal", () => {
  equal(
    menuOf({ ...question, always: ["Edit(/a\x1b[2J\n)"], keep: ["session"] })[1],
    "  a  always, in this run: Edit(/a\\x1b[2J\\n)",
  );
});

const parted: Question = {
  ...everyTime,
  hunks: [
    { file: 0, hunk: 0 },
    { file: 0, hunk: 1 },
  ],
};

test("some of it can be chosen where there are several hunks", () => {
  equal(answerOf("s", parted), "some");
  equal(answerOf(" S ", parted), "some");
  deepEqual(answerOf("s 1", parted), { reply: "reject" });
  deepEqual(answerOf("s", { ...everyTime, hunks: [{ file: 0 }] }), { reply: "reject" });
  deepEqual(answerOf("s", everyTime), { reply: "reject" });
  equal(promptOf(parted), "[y/N/s/?]");
  equal(menuOf(parted)[1], "  s  some of it: each of the 2 hunks is asked about");
});

for (const [typed, answer] of [
  ["y", "yes"],
  ["Yes", "yes"],
  ["n", "no"],
  ["a", "all the rest"],
  ["q", "none of the rest"],
  ["d", "none of the rest"],
  ["?", "help"],
  // What is not understood is asked again.
  ["", "help"],
  ["yep", "help"],
  [undefined, "none of it"],
] as const) {
  test(`${JSON.stringify(typed)} for a hunk is ${answer}`, () => equal(hunkAnswerOf(typed), answer));
}
