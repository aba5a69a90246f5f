import { expect, test } from "vitest";
import type { Question } from "../../contract/ask.ts";
import type { QuestionInfo } from "./wire.ts";
import { createQuestions, type RecordedAnswer } from "./questions.ts";

const question: Question = {
  permission: "edit",
  patterns: ["/ws/a"],
  always: ["Edit(/a)"],
  keep: ["session"],
  metadata: { path: "/ws/a", rule: "Edit", diff: "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\n" },
};
const asked = { workspace: "w", session: "s", principal: null, client: null, tool: "Edit", question };

function board(waitMsMax?: number) {
  const [put, ended]: [QuestionInfo[], RecordedAnswer[]] = [[], []];
  const questions = createQuestions({
    isWatched: () => true,
    relativeOf: (_workspace, path) => path.slice(4),
    onAsked: (info) => put.push(info),
    onAnswered: (_id, notified) => ended.push(notified),
    ...(waitMsMax === undefined ? {} : { waitMsMax }),
  });
  const say = (id: string, reply: "once" | "always" | "reject") =>
    questions.answer(id, { shown: put.at(-1)?.shown ?? "", reply }, "b1");
  return { questions, put, ended, say };
}

test("who is not answered in time is told that nobody was there", async () => {
  const { questions, put, ended } = board(5);
  expect(await questions.ask(asked, new AbortController().signal)).toEqual({ reply: "nobody" });
  expect(ended).toMatchObject([{ reply: "nobody", by: "time" }]);
  expect(put).toMatchObject([{ relative: "a", rule: "Edit", asked: null, diff: { additions: 1, deletions: 1 } }]);
  expect(questions.open()).toEqual([]);
});

test("a client that comes back gets what the page said first, and otherwise what it says itself", () => {
  const { questions, say, ended } = board();
  const first = questions.show(asked);
  say(first, "reject");
  expect(questions.settle(first, { reply: "always" })).toEqual({ reply: "reject" });
  const second = questions.show(asked);
  expect(questions.settle(second, { reply: "once" })).toEqual({ reply: "once" });
  expect(say(second, "reject")).toMatchObject({ refused: "answered", answered: { reply: "once", by: "client" } });
  const third = questions.show(asked);
  questions.drop(third);
  expect(say(third, "once")).toMatchObject({ refused: "answered", answered: { by: "cancelled" } });
  expect(ended).toHaveLength(3);
  expect(questions.past().map(({ id }) => id)).toEqual([third, second, first]);
});

test("the same question has the same mark, another diff another one", () => {
  const { questions, put } = board();
  const other = { ...question, metadata: { ...question.metadata, diff: "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+z\n" } };
  for (const one of [question, question, other]) questions.show({ ...asked, question: one });
  expect(put[0]?.shown).toBe(put[1]?.shown);
  expect(put[2]?.shown).not.toBe(put[0]?.shown);
  questions.close();
  expect(questions.open()).toEqual([]);
});

test("a plan that was approved covers its own files, to be edited, in its own call", () => {
  const { questions } = board();
  const [mine, other] = [new AbortController().signal, new AbortController().signal];
  questions.approve(mine, new Set(["/ws/a"]));
  expect(questions.approved(question, mine)).toBe(true);
  expect(questions.approved(question, other)).toBe(false);
  expect(questions.approved({ ...question, patterns: ["/ws/b"] }, mine)).toBe(false);
  expect(questions.approved({ ...question, permission: "read" }, mine)).toBe(false);
});

test("only so many questions wait at once", async () => {
  const { questions } = board();
  for (let count = 0; count < 200; count += 1) questions.show(asked);
  expect([questions.isWatched, questions.show(asked)]).toEqual([false, ""]);
  expect(await questions.ask(asked, new AbortController().signal)).toEqual({ reply: "nobody" });
  questions.close();
});
