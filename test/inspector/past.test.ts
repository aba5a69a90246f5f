/** Diffs, pictures, history and files on the page: what was, what would be, what is. */

import * as fs from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import type {
  CallInfo,
  DiffPage,
  Explained,
  FolderView,
  ImageView,
  PastSessions,
  Refused,
  RewindView,
  TurnPage,
  VersionList,
} from "../../src/surfaces/inspector/wire.ts";
import { createFilehand } from "../../src/index.ts";
import { temporaryFolder } from "../ends/run.ts";
import { connectHttp } from "../mcp/http-server.ts";
import { type Browser, type Events, enter, serveInspected } from "./inspected.ts";

let workspace = temporaryFolder();
beforeEach(() => {
  workspace.remove();
  workspace = temporaryFolder();
});
afterAll(() => workspace.remove());
const at = (name: string): string => join(workspace.path, name);
const content = (name: string): string => fs.readFileSync(at(name), "utf8");

interface Scene {
  readonly browser: Browser;
  readonly events: Events;
  /** Makes a call and says what the page was told about it. */
  readonly call: (name: string, input: object) => Promise<CallInfo>;
}

async function scene(...args: readonly string[]): Promise<Scene> {
  const served = await serveInspected(workspace.path, args.length === 0 ? ["--allow", "Edit"] : args);
  const browser = await enter(served);
  const events = await browser.events();
  const client = await connectHttp(served, "modern");
  return {
    browser,
    events,
    call: async (name, input) => {
      await client.callTool({ name, arguments: { ...input } });
      return (await events.next("call")).call;
    },
  };
}

test("a diff of 10,000 lines is told page by page, and the pages are the whole", async () => {
  const lines = (mark: string): string => Array.from({ length: 10_000 }, (_, line) => `${mark} ${line}\n`).join("");
  const { browser, call } = await scene();
  await call("Write", { file_path: "large.txt", content: lines("old") });
  const written = await call("Write", { file_path: "large.txt", content: lines("new") });
  expect(written.changes).toMatchObject([{ additions: 10_000, deletions: 10_000 }]);
  const rows: string[] = [];
  for (let from: number | null = 0; from !== null; ) {
    const page: DiffPage = await browser.ask("/api/w/filehand/diff", {
      of: { call: written.id, change: 0 },
      from,
      rows: 1_999,
    });
    expect(page).toMatchObject({ rowsTotal: 20_000, complete: true, none: null, from });
    for (const hunk of page.hunks) {
      // The numbers of a part are those of its own first lines.
      const first = hunk.lines[0] ?? "";
      if (first.startsWith("-")) expect(first).toBe(`-old ${hunk.oldStart - 1}`);
      else expect(first).toBe(`+new ${hunk.newStart - 1}`);
      expect(hunk.continued).toBe(from > 0);
      rows.push(...hunk.lines);
    }
    from = page.next;
  }
  expect(
    rows
      .filter((row) => row.startsWith("-"))
      .map((row) => `${row.slice(1)}\n`)
      .join(""),
  ).toBe(lines("old"));
  expect(
    rows
      .filter((row) => row.startsWith("+"))
      .map((row) => `${row.slice(1)}\n`)
      .join(""),
  ).toBe(lines("new"));
});

const pixel = (colour: string): Buffer =>
  Buffer.from(
    `iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==${colour}`,
    "base64",
  );

test("pictures before and after are shown, and a picture is no text", async () => {
  const { browser, call } = await scene();
  fs.writeFileSync(at("old.png"), pixel(""));
  const moved = await call("Write", { file_path: "made.txt", content: "one\n" });
  expect(moved.turn).not.toBeNull();
  const of = { before: { now: at("old.png") }, after: { nothing: true } };
  expect(await browser.ask("/api/w/filehand/diff", { of })).toMatchObject({
    none: "not text",
    image: true,
    did: "deleted",
  });
  const image = await browser.ask<ImageView>("/api/w/filehand/image", { of: { now: at("old.png") } });
  expect(image).toEqual({
    is: "image",
    mimeType: "image/png",
    data: pixel("").toString("base64"),
    sizeBytes: pixel("").length,
  });
  const text = { of: { call: moved.id, change: 0, when: "after" } };
  expect(await browser.ask("/api/w/filehand/image", text)).toEqual({ is: "none", why: "not an image" });
  const before = { of: { call: moved.id, change: 0, when: "before" } };
  expect(await browser.ask("/api/w/filehand/image", before)).toEqual({ is: "none", why: "nothing" });
});

test("turns and versions are listed, and any two versions are compared", async () => {
  fs.writeFileSync(at("a.txt"), "one\n");
  const { browser, call } = await scene();
  await call("Read", { file_path: "a.txt" });
  const [first, second] = [
    await call("Edit", { file_path: "a.txt", old_string: "one", new_string: "two" }),
    await call("Edit", { file_path: "a.txt", old_string: "two", new_string: "three" }),
  ];
  await call("Write", { file_path: "b.txt", content: "new\n" });
  const { sessions } = await browser.ask<PastSessions>("/api/w/filehand/history/sessions");
  expect(sessions).toMatchObject([{ id: first.session, client: "filehand-test", turns: 3, dialect: "claude" }]);
  const { session } = first;
  const page = await browser.ask<TurnPage>("/api/w/filehand/history/turns", { session, max: 2 });
  expect(page).toMatchObject({ total: 3, next: 2, redo: null });
  expect(page.undo).toBe(page.turns[0]?.id);
  expect(page.turns[0]?.files).toMatchObject([{ relative: "b.txt", did: "created", before: { sizeBytes: null } }]);
  const ofFile = await browser.ask<TurnPage>("/api/w/filehand/history/turns", { session, path: at("a.txt") });
  expect(ofFile.turns.map(({ id }) => id)).toEqual([second.turn, first.turn]);

  const { versions } = await browser.ask<VersionList>("/api/w/filehand/history/versions", { path: at("a.txt") });
  expect(versions.map(({ sizeBytes, current }) => [sizeBytes, current])).toEqual([
    [4, false],
    [4, false],
    [6, true],
  ]);
  const diffOf = (before: unknown, after: unknown) =>
    browser.ask<DiffPage>("/api/w/filehand/diff", { of: { before, after } });
  const apart = await diffOf(versions[0]?.ref, versions[2]?.ref);
  expect(apart.hunks[0]?.lines).toEqual(["-one", "+three"]);
  expect((await diffOf(versions[2]?.ref, { now: at("a.txt") })).none).toBe("same");
  fs.writeFileSync(at("a.txt"), "four\n");
  expect((await diffOf(versions[2]?.ref, { now: at("a.txt") })).hunks[0]?.lines).toEqual(["-three", "+four"]);
  const gone = await browser.raw<Refused>("/api/w/filehand/diff", {
    body: { of: { before: { session, turn: "none", path: at("a.txt"), when: "after" }, after: { nothing: true } } },
  });
  expect([gone.status, gone.json.error.code]).toEqual([404, "NO_SUCH_TURN"]);
});

test("a rewind is planned, shown, made with progress, and taken back", async () => {
  for (const name of ["a.txt", "b.txt"]) fs.writeFileSync(at(name), "one\n");
  // Without a rule every change would be asked about: the click on the plan is the answer.
  const { browser, events, call } = await scene("--ask", "Edit(/b.txt)", "--allow", "Edit(/a.txt)");
  for (const name of ["a.txt", "b.txt"]) await call("Read", { file_path: name });
  const edit = (name: string) => call("Edit", { file_path: name, old_string: "one", new_string: "two" });
  const first = await edit("a.txt");
  const asked = edit("b.txt");
  const { question } = await events.next("question");
  await browser.ask(`/api/questions/${question.id}/answer`, { shown: question.shown, reply: "once" });
  await asked;
  const { session } = first;
  const wanted = { session, to: first.turn };
  const plan = await browser.ask<RewindView>("/api/w/filehand/history/plan", wanted);
  expect(plan.files).toMatchObject([
    { relative: "a.txt", does: "restore", came: "planned", target: { turn: first.turn, when: "before" } },
    { relative: "b.txt", does: "restore", came: "planned" },
  ]);
  expect(content("a.txt")).toBe("two\n");

  // Somebody is faster: nothing is done, and the new plan comes with the refusal.
  fs.writeFileSync(at("a.txt"), "mine\n");
  const body = { ...wanted, plan: plan.plan, job: "j1" };
  const late = await browser.raw<Refused>("/api/w/filehand/history/rewind", { body });
  expect([late.status, late.json.error.code]).toEqual([409, "PLAN_CHANGED"]);
  const fresh = late.json.error.plan;
  expect(fresh?.files).toMatchObject([{ does: "conflict", why: "changed since", forced: "restore", came: "left" }, {}]);
  expect([content("a.txt"), content("b.txt")]).toEqual(["mine\n", "two\n"]);

  const done = await browser.ask<RewindView>("/api/w/filehand/history/rewind", { ...body, plan: fresh?.plan });
  expect(done.files.map(({ came }) => came)).toEqual(["left", "done"]);
  expect([content("a.txt"), content("b.txt")]).toEqual(["mine\n", "one\n"]);
  expect(await events.next("progress", ({ done: ready, total }) => ready === total)).toMatchObject({
    job: "j1",
    total: 2,
  });
  expect((await events.next("turn", ({ turn }) => turn === done.turn)).session).toBe(session);

  const undone = { session, to: { last: "redo" } };
  const back = await browser.ask<RewindView>("/api/w/filehand/history/plan", undone);
  await browser.ask("/api/w/filehand/history/rewind", { ...undone, plan: back.plan });
  expect(content("b.txt")).toBe("two\n");
  const forced = { ...wanted, files: [at("a.txt")], force: true };
  const over = await browser.ask<RewindView>("/api/w/filehand/history/plan", forced);
  expect(over.as).toBe("partial");
  await browser.ask("/api/w/filehand/history/rewind", { ...forced, plan: over.plan });
  expect(content("a.txt")).toBe("one\n");
  // The plan without force was another one.
  const mixed = await browser.raw("/api/w/filehand/history/rewind", {
    body: { ...wanted, force: true, plan: plan.plan },
  });
  expect(mixed.status).toBe(409);
});

test("a deny rule hides files of the past, and holds against a rewind", async () => {
  fs.writeFileSync(at("a.txt"), "one\n");
  fs.writeFileSync(at("hidden.txt"), "one\n");
  const state = temporaryFolder();
  const before = await scene("--allow", "Edit", "--state-dir", state.path);
  for (const name of ["a.txt", "hidden.txt"]) await before.call("Read", { file_path: name });
  const first = await before.call("Edit", { file_path: "a.txt", old_string: "one", new_string: "two" });
  await before.call("Edit", { file_path: "hidden.txt", old_string: "one", new_string: "the secret" });
  const { browser } = await scene("--deny", "Read(/hidden.txt)", "--allow", "Edit", "--state-dir", state.path);
  const { session } = first;
  const { turns } = await browser.ask<TurnPage>("/api/w/filehand/history/turns", { session });
  expect(turns.map(({ files, hiddenByRules }) => [files.length, hiddenByRules])).toEqual([
    [0, 1],
    [1, 0],
  ]);
  const ref = { session, turn: turns[0]?.id, path: at("hidden.txt"), when: "after" };
  const shown = await browser.raw("/api/w/filehand/diff", { body: { of: { before: { nothing: true }, after: ref } } });
  expect(shown.json).toMatchObject({ none: "hidden", hunks: [] });
  expect((await browser.raw("/api/w/filehand/history/versions", { body: { path: at("hidden.txt") } })).status).toBe(
    404,
  );
  const plan = await browser.ask<RewindView>("/api/w/filehand/history/plan", { session, to: "start" });
  expect([plan.files.map(({ relative }) => relative), plan.hiddenByRules]).toEqual([["a.txt"], 1]);
  await browser.ask("/api/w/filehand/history/rewind", { session, to: "start", plan: plan.plan });
  expect([content("a.txt"), content("hidden.txt")]).toEqual(["one\n", "the secret\n"]);
  state.remove();
});

test("the tree has marks, and says why", async () => {
  fs.mkdirSync(at("src/deep"), { recursive: true });
  for (const name of ["src/a.txt", "src/deep/b.txt", "c.txt", ".env"]) fs.writeFileSync(at(name), "one\n");
  const { browser, call } = await scene("--allow", "Edit(/src/**)", "--deny", "Edit(/c.txt)");
  await call("Read", { file_path: "src/a.txt" });
  await call("Read", { file_path: "src/deep/b.txt" });
  await call("Edit", { file_path: "src/deep/b.txt", old_string: "one", new_string: "two" });
  const folder = (path: string, more: object = {}) =>
    browser.ask<FolderView>("/api/w/filehand/folder", { path: at(path), ...more });
  expect((await folder("")).entries).toMatchObject([
    { name: "src", kind: "directory", read: "allow", wasRead: 2, wasChanged: 1 },
    { name: ".env", kind: "file", read: "ask", wasRead: 0, sizeBytes: 4 },
    { name: "c.txt", read: "allow", edit: "deny" },
  ]);
  expect((await folder("src")).entries).toMatchObject([
    { name: "deep", wasRead: 1, wasChanged: 1 },
    { name: "a.txt", relative: "src/a.txt", edit: "allow", wasRead: 1, wasChanged: 0 },
  ]);
  const page = await folder("", { from: 1, max: 1 });
  expect([page.entries.map(({ name }) => name), page.total, page.next]).toEqual([[".env"], 3, 2]);
  const why = await browser.ask<Explained>("/api/w/filehand/explain", { path: at("c.txt") });
  expect(why.read.explanation).toMatchObject({ verdict: "allow", by: "no rule" });
  expect(why.edit.explanation).toMatchObject({
    verdict: "deny",
    rule: { text: "Edit(/c.txt)", source: "command line" },
  });
  expect(why.edit.lines.join("\n")).toContain("deny Edit(/c.txt) (command line)");
});

test("calls are kept within their limits, and not at all when nobody listens", async () => {
  fs.writeFileSync(at("long.txt"), "a line of some length\n".repeat(4_000));
  const filehand = createFilehand({ roots: [workspace.path], dedup: false });
  const timeline = filehand.timeline({ callsMax: 100, bytesMax: 400_000 });
  const stop = filehand.listen(timeline.record);
  const session = filehand.session();
  for (let count = 0; count < 300; count += 1) {
    await session.call("Read", { file_path: "long.txt", offset: 1 + (count % 50), limit: 400 });
  }
  expect([timeline.size, timeline.dropped, timeline.ever().calls]).toEqual([100, 200, 300]);
  expect(timeline.bytes).toBeLessThanOrEqual(400_000);
  expect(timeline.detail(300)).toBeInstanceOf(Buffer);
  expect(timeline.detail(201)).toBe("dropped");
  stop();
  await session.call("Read", { file_path: "long.txt" });
  expect(timeline.ever().calls).toBe(300);
});
