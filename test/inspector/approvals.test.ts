/** Questions on the page: who waits, who answers first, what an answer is bound to. */

import * as fs from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { canConfine } from "../../src/confinement/confinement.ts";
import type { Answered, DiffPage, QuestionInfo, QuestionList, Refused } from "../../src/surfaces/inspector/wire.ts";
import { temporaryFolder } from "../ends/run.ts";
import { connectHttp } from "../mcp/http-server.ts";
import { eras, textOf } from "../mcp/server.ts";
import { type Browser, enter, serveInspected } from "./inspected.ts";

const workspace = temporaryFolder();
afterAll(() => workspace.remove());
const at = (name: string): string => join(workspace.path, name);
const content = (name: string): string => fs.readFileSync(at(name), "utf8");

beforeEach(() => {
  for (const name of ["a.txt", "b.txt"]) fs.writeFileSync(at(name), "one\n");
});

const read = (name: string) => ({ name: "Read", arguments: { file_path: name } });
const edit = (name: string, to = "two") => ({
  name: "Edit",
  arguments: { file_path: name, old_string: "one", new_string: to },
});
const answerTo = ({ id, shown }: QuestionInfo, browser: Browser, given: object) =>
  browser.raw<Answered & Refused>(`/api/questions/${id}/answer`, { body: { shown, ...given } });

for (const era of eras) {
  describe(`a client of the ${era} era that cannot ask`, () => {
    test("waits for the page, which shows what would be done", async () => {
      const served = await serveInspected(workspace.path);
      const browser = await enter(served);
      const events = await browser.events();
      const client = await connectHttp(served, era);
      await client.callTool(read("a.txt"));
      const changed = client.callTool(edit("a.txt"));
      const { question } = await events.next("question");
      expect(question).toMatchObject({
        workspace: "filehand",
        client: "filehand-test",
        tool: "Edit",
        permission: "edit",
        path: at("a.txt"),
        relative: "a.txt",
        always: ["Edit(/a.txt)", "Edit(/**)"],
        diff: { additions: 1, deletions: 1 },
        waits: "server",
      });
      expect(question.deadlineMs - question.askedMs).toBe(300_000);
      const diff = await browser.ask<DiffPage>("/api/w/filehand/diff", { of: { question: question.id } });
      expect(diff.hunks).toMatchObject([{ oldStart: 1, newStart: 1, lines: ["-one", "+two"], continued: false }]);
      expect(content("a.txt")).toBe("one\n");
      expect((await answerTo(question, browser, { reply: "once" })).json).toMatchObject({ reply: "once", by: "you" });
      expect((await changed).isError).toBeUndefined();
      expect(content("a.txt")).toBe("two\n");
      expect((await events.next("answered")).answered).toMatchObject({ reply: "once", by: "you" });
      const lists = await browser.ask<QuestionList>("/api/questions");
      expect([lists.open.length, lists.past.map(({ id }) => id)]).toEqual([0, [question.id]]);
    });

    test("is told why it was rejected", async () => {
      const served = await serveInspected(workspace.path);
      const browser = await enter(served);
      const events = await browser.events();
      const client = await connectHttp(served, era);
      await client.callTool(read("a.txt"));
      const changed = client.callTool(edit("a.txt"));
      const { question } = await events.next("question");
      await answerTo(question, browser, { reply: "reject", feedback: "use b.txt instead" });
      expect(textOf(await changed)).toContain("use b.txt instead");
      expect(content("a.txt")).toBe("one\n");
    });
  });

  test(`a client of the ${era} era that asks itself: the page was first, so its answer counts`, async () => {
    const served = await serveInspected(workspace.path);
    const browser = await enter(served);
    const events = await browser.events();
    let asked = 0;
    const client = await connectHttp(served, era, {
      capabilities: { elicitation: { form: {} } },
      prepare: (made) =>
        made.setRequestHandler("elicitation/create", async () => {
          asked += 1;
          const { question } = await events.next("question");
          expect(question.waits).toBe("client");
          await answerTo(question, browser, { reply: asked === 1 ? "once" : "reject", feedback: "no more" });
          // What the person at the client says comes later.
          return asked === 1
            ? { action: "decline" }
            : { action: "accept", content: { decision: "allow once", always: true } };
        }),
    });
    await client.callTool(read("a.txt"));
    expect((await client.callTool(edit("a.txt", "one two"))).isError).toBeUndefined();
    expect(content("a.txt")).toBe("one two\n");
    const second = await client.callTool(edit("a.txt", "three"));
    expect(second.isError).toBe(true);
    expect(textOf(second)).toContain("no more");
    expect(content("a.txt")).toBe("one two\n");
  });

  test(`a client of the ${era} era that asks itself and is first: the page hears of it`, async () => {
    const served = await serveInspected(workspace.path);
    const browser = await enter(served);
    const events = await browser.events();
    const client = await connectHttp(served, era, {
      capabilities: { elicitation: { form: {} } },
      prepare: (made) =>
        made.setRequestHandler("elicitation/create", () => ({
          action: "accept",
          content: { decision: "allow once" },
        })),
    });
    await client.callTool(read("a.txt"));
    await client.callTool(edit("a.txt"));
    const { question } = await events.next("question");
    expect((await events.next("answered")).answered).toMatchObject({ reply: "once", by: "client" });
    const late = await answerTo(question, browser, { reply: "reject" });
    expect(late.json.error).toMatchObject({ code: "ANSWERED", answered: { reply: "once", by: "client" } });
    expect(late.status).toBe(409);
    expect(content("a.txt")).toBe("two\n");
  });
}

test("of two browsers that answer at once one has answered, and the other hears who was first", async () => {
  const served = await serveInspected(workspace.path);
  const browsers = [await enter(served), await enter(served)] as const;
  const events = await browsers[0].events();
  const client = await connectHttp(served, "modern");
  await client.callTool(read("a.txt"));
  const changed = client.callTool(edit("a.txt"));
  const { question } = await events.next("question");
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      answerTo(question, browsers[index % 2] ?? browsers[0], { reply: index % 2 === 0 ? "once" : "reject" }),
    ),
  );
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, ...Array<number>(9).fill(409)]);
  const taken = answers.findIndex(({ status }) => status === 200);
  const reply = taken % 2 === 0 ? "once" : "reject";
  for (const [index, { status, json }] of answers.entries()) {
    if (status === 200) continue;
    expect(json.error.answered).toMatchObject({ reply, by: index % 2 === taken % 2 ? "you" : "page" });
  }
  expect((await changed).isError === true).toBe(reply === "reject");
  expect(content("a.txt")).toBe(reply === "once" ? "two\n" : "one\n");
});

test("an answer must name what was shown, and can choose only what was offered", async () => {
  const served = await serveInspected(workspace.path);
  const browser = await enter(served);
  const events = await browser.events();
  const client = await connectHttp(served, "modern");
  await client.callTool(read("a.txt"));
  const changed = client.callTool(edit("a.txt"));
  const { question } = await events.next("question");
  for (const [given, status, code] of [
    [{ shown: "other", reply: "once" }, 409, "NOT_WHAT_WAS_SHOWN"],
    [{ reply: "always", rule: "Edit(//**)" }, 409, "NOT_OFFERED"],
    [{ reply: "always", keep: "project" }, 409, "NOT_OFFERED"],
    [{ reply: "yes" }, 400, "BAD_REQUEST"],
    [{ reply: "reject", feedback: "x".repeat(2_001) }, 400, "BAD_REQUEST"],
  ] as const) {
    const answer = await answerTo(question, browser, given);
    expect([answer.status, answer.json.error.code], JSON.stringify(given)).toEqual([status, code]);
  }
  const unknown = await answerTo({ ...question, id: "nobody" }, browser, { reply: "once" });
  expect(unknown.status).toBe(404);
  const always = await answerTo(question, browser, { reply: "always", rule: "Edit(/a.txt)" });
  expect(always.json).toMatchObject({ reply: "always", rule: "Edit(/a.txt)", keep: "session" });
  expect((await changed).isError).toBeUndefined();
  // It holds for this file and no other.
  const again = { name: "Edit", arguments: { file_path: "a.txt", old_string: "two", new_string: "three" } };
  expect((await client.callTool(again)).isError).toBeUndefined();
  await client.callTool(read("b.txt"));
  const other = client.callTool(edit("b.txt"));
  const next = await events.next("question");
  expect(next.question.relative).toBe("b.txt");
  await answerTo(next.question, browser, { reply: "reject" });
  expect((await other).isError).toBe(true);
});

const unconfinable = (await canConfine()).is === "off";
for (const { name, args, logged, skipped } of [
  {
    name: "an always for good is written into the person's own settings",
    args: ["--no-confine"],
    logged: /Kept in .*: Edit\(\/\/.*a\.txt\)/,
    skipped: false,
  },
  {
    name: "a confined server cannot write the person's own settings, and says so (skipped without Landlock or koffi)",
    args: ["--confine"],
    logged: /Cannot keep the rule in .*confined/,
    skipped: unconfinable,
  },
]) {
  test.skipIf(skipped)(name, async () => {
    const served = await serveInspected(workspace.path, args);
    const browser = await enter(served);
    const events = await browser.events();
    const client = await connectHttp(served, "modern");
    await client.callTool(read("a.txt"));
    const changed = client.callTool(edit("a.txt"));
    const { question } = await events.next("question");
    expect(question.keep).toContain("user");
    await answerTo(question, browser, { reply: "always", keep: "user" });
    expect((await changed).isError).toBeUndefined();
    await served.logged(logged);
  });
}

test("a yes to a change of a file that is another by now changes nothing", async () => {
  const served = await serveInspected(workspace.path);
  const browser = await enter(served);
  const events = await browser.events();
  const client = await connectHttp(served, "modern");
  await client.callTool(read("a.txt"));
  const changed = client.callTool(edit("a.txt"));
  const { question } = await events.next("question");
  fs.writeFileSync(at("a.txt"), "zero\n");
  await answerTo(question, browser, { reply: "once" });
  expect((await changed).isError).toBe(true);
  expect(content("a.txt")).toBe("zero\n");
});

test("with no page open nobody is waited for; a client that gives up takes its question along", async () => {
  const served = await serveInspected(workspace.path);
  const browser = await enter(served);
  const client = await connectHttp(served, "modern");
  await client.callTool(read("a.txt"));
  expect(textOf(await client.callTool(edit("a.txt")))).toContain("Edit(/a.txt)");
  const events = await browser.events();
  const stop = new AbortController();
  const waiting = client.callTool(edit("a.txt"), { signal: stop.signal }).catch(() => "gone");
  const { question } = await events.next("question");
  stop.abort();
  expect(await waiting).toBe("gone");
  expect((await events.next("answered")).answered).toMatchObject({ reply: "nobody", by: "cancelled" });
  expect((await answerTo(question, browser, { reply: "once" })).json.error.answered).toMatchObject({ by: "cancelled" });
  expect(content("a.txt")).toBe("one\n");
});

test("a server that is told to end does not wait for people", async () => {
  const served = await serveInspected(workspace.path);
  const browser = await enter(served);
  const events = await browser.events();
  const client = await connectHttp(served, "modern");
  await client.callTool(read("a.txt"));
  const waiting = client.callTool(edit("a.txt")).catch(() => undefined);
  await events.next("question");
  served.child.kill("SIGTERM");
  expect(await served.ended).toBe(0);
  await waiting;
  expect(content("a.txt")).toBe("one\n");
});
