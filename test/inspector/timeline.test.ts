/** What a person sees of calls: live and later, filtered, with the exact reply, within limits. */

import * as fs from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import type { CallPage, CallView, WorkspaceUsage, Hello, SessionList } from "../../src/surfaces/inspector/wire.ts";
import { temporaryFolder } from "../ends/run.ts";
import { connectHttp } from "../mcp/http-server.ts";
import { textOf } from "../mcp/server.ts";
import { enter, serveInspected } from "./inspected.ts";

const workspace = temporaryFolder();
afterAll(() => workspace.remove());
const at = (name: string): string => join(workspace.path, name);
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
  "base64",
);

beforeEach(() => {
  fs.writeFileSync(at("a.txt"), "one\ntwo\nthree\n");
  fs.writeFileSync(at("dot.png"), png);
});

const call = (name: string, input: object) => ({ name, arguments: { ...input } });

test("every call is told live and can be looked at later, with the very reply that the client got", async () => {
  const served = await serveInspected(workspace.path, ["--allow", "Edit"]);
  const browser = await enter(served);
  const hello = await browser.ask<Hello>("/api/hello");
  expect(hello.workspaces).toMatchObject([
    { name: "filehand", roots: [workspace.path], dialect: "claude", mode: "default", history: true },
  ]);
  const events = await browser.events(hello.lastEvent);
  const client = await connectHttp(served, "modern", { headers: { "filehand-session": "first" } });
  const read = await client.callTool(call("Read", { file_path: "a.txt", offset: 2, limit: 1 }));
  const { call: told } = await events.next("call");
  expect(told).toMatchObject({
    workspace: "filehand",
    principal: expect.stringMatching(/^token-[0-9a-f]{12}$/),
    tool: "Read",
    verb: "read",
    path: "a.txt",
    real: at("a.txt"),
    range: { of: "lines", from: 2, to: 2, total: 3 },
    outcome: "ok",
    reason: "text",
    kept: true,
  });
  expect(told.tokensGiven).toBeGreaterThan(0);
  const view = await browser.ask<CallView>(`/api/w/filehand/calls/${told.id}`);
  expect(view.detail).toMatchObject({
    input: { file_path: "a.txt", offset: 2, limit: 1 },
    isError: false,
    error: null,
  });
  expect(view.detail?.content).toEqual([{ type: "text", text: textOf(read) }]);

  // The same file as a whole: a picture, a failure, a change, and a read that is not spent twice.
  await client.callTool(call("Read", { file_path: "dot.png" }));
  const image = await events.next("call", (event) => event.call.path === "dot.png");
  const imageView = await browser.ask<CallView>(`/api/w/filehand/calls/${image.call.id}`);
  expect(imageView.detail?.content[0]).toMatchObject({ type: "image", mimeType: "image/png" });
  await client.callTool(call("Read", { file_path: "missing.txt" }));
  await client.callTool(call("Edit", { file_path: "a.txt", old_string: "two", new_string: "2" }));
  const changed = await events.next("call", (event) => event.call.tool === "Edit");
  expect(changed.call.changes).toMatchObject([{ relative: "a.txt", did: "updated", additions: 1, deletions: 1 }]);
  expect(changed.call.turn).toBe((await events.next("turn")).turn);
  for (let times = 0; times < 2; times += 1) await client.callTool(call("Read", { file_path: "a.txt" }));
  const again = await events.next("call", (event) => event.call.reason === "unchanged");
  expect(again.call.tokensSaved).toBeGreaterThan(0);

  const { sessions } = await browser.ask<SessionList>("/api/w/filehand/sessions");
  expect(sessions).toMatchObject([{ calls: 6, failures: 1, principal: expect.stringMatching(/^token-/) }]);
  const failed = await browser.ask<CallPage>("/api/w/filehand/calls?errors=1");
  expect(failed.calls).toMatchObject([{ outcome: "NOT_FOUND", reason: "missing", path: "missing.txt" }]);
  expect((await browser.ask<CallPage>("/api/w/filehand/calls?tool=Edit&tool=Write")).calls).toHaveLength(1);
  expect((await browser.ask<CallPage>("/api/w/filehand/calls?path=A.TXT")).calls).toHaveLength(4);
  expect((await browser.ask<CallPage>("/api/w/filehand/calls?session=other")).calls).toHaveLength(0);
  const first = await browser.ask<CallPage>("/api/w/filehand/calls?max=4");
  expect(first.calls.map(({ id }) => id)).toEqual([6, 5, 4, 3]);
  const second = await browser.ask<CallPage>(`/api/w/filehand/calls?max=4&before=${first.next}`);
  expect([second.calls.map(({ id }) => id), second.next, second.total]).toEqual([[2, 1], null, 6]);

  const usage = await browser.ask<WorkspaceUsage>("/api/w/filehand/usage?buckets=4");
  expect(usage.all).toEqual(usage.ever);
  expect(usage.tools[0]).toMatchObject({ tool: "Read", calls: 5, failures: 1 });
  expect(usage.time).toHaveLength(4);
  expect(usage.time.reduce((sum, { calls }) => sum + calls, 0)).toBe(6);
  expect(usage.failedOthers).toEqual([{ tool: "Read", code: "NOT_FOUND", reason: "missing", count: 1 }]);
  expect(usage.all.tokensSaved).toBeGreaterThan(0);
});

test("sessions of two clients are two, and a stream that was cut goes on where it was", async () => {
  const served = await serveInspected(workspace.path);
  const browser = await enter(served);
  const events = await browser.events();
  const [one, two] = [
    await connectHttp(served, "legacy", { headers: { "filehand-session": "one" } }),
    await connectHttp(served, "modern", { headers: { "filehand-session": "two" } }),
  ];
  await one.callTool(call("Read", { file_path: "a.txt" }));
  const first = await events.next("call");
  events.close();
  await two.callTool(call("Glob", { pattern: "*.txt" }));
  await two.callTool(call("Grep", { pattern: "three" }));
  const later = await browser.events(events.ids.at(-1));
  const second = await later.next("call");
  expect([second.call.tool, second.call.pattern]).toEqual(["Glob", "*.txt"]);
  expect((await later.next("call")).call.tool).toBe("Grep");
  expect(second.call.session).not.toBe(first.call.session);
  // What nobody can have seen: the lists are to be asked for again.
  await (await browser.events(1_000_000)).next("reset");
  expect((await browser.ask<SessionList>("/api/w/filehand/sessions")).sessions).toHaveLength(2);
});

test("two workspaces are told apart", async () => {
  fs.mkdirSync(at("inner"), { recursive: true });
  fs.writeFileSync(at("inner/b.txt"), "b\n");
  const served = await serveInspected(workspace.path, ["--workspace", `x=${workspace.path}`, "--workspace", "y=inner"]);
  const browser = await enter(served);
  const client = await connectHttp(served, "modern", { path: "/w/y/mcp" });
  await client.callTool(call("Read", { file_path: "b.txt" }));
  expect((await browser.ask<CallPage>("/api/w/y/calls")).calls).toMatchObject([{ workspace: "y", path: "b.txt" }]);
  expect((await browser.ask<CallPage>("/api/w/x/calls")).calls).toEqual([]);
  expect((await browser.raw("/api/w/z/calls")).status).toBe(404);
});
