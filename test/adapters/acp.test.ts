/** The Agent Client Protocol's own connection, in this process: an agent asks its client for files, and ours answers. */

import { readFileSync, writeFileSync } from "node:fs";
import { agent, type AgentContext, client, type RequestError } from "@agentclientprotocol/sdk";
import { describe, expect, test } from "vitest";
import { clientFiles } from "../../src/surfaces/adapters/acp.ts";
import { createFilehand, type FilehandOptions } from "../../src/index.ts";
import { type Workspace, workspace } from "../support/workspace.ts";
import { adapterFiles } from "../suites/adapter.ts";

/** Runs what an agent does with its client's files. */
async function asAgent<Result>(
  { top }: Workspace,
  work: (files: AgentContext) => Promise<Result>,
  options: Partial<FilehandOptions> = {},
): Promise<Result> {
  const files = clientFiles(
    createFilehand({ roots: [top], ask: "yes", permissions: { deny: ["Read(/private/**)"] }, ...options }),
  );
  const editor = client({ name: "editor" })
    .onRequest("fs/read_text_file", files.readTextFile)
    .onRequest("fs/write_text_file", files.writeTextFile);
  let context: AgentContext | undefined;
  const program = agent({ name: "agent" }).onRequest("initialize", ({ client: asked, params }) => {
    context = asked;
    return { protocolVersion: params.protocolVersion, agentCapabilities: {} };
  });
  return editor.connectWith(program, async (connected) => {
    await connected.request("initialize", { protocolVersion: 1, clientCapabilities: files.capabilities });
    if (context === undefined) throw new Error("the agent was not initialised");
    return work(context);
  });
}

const sessionId = "s1";

const reading = (files: Workspace, params: { path: string; line?: number; limit?: number }): Promise<string> =>
  asAgent(files, async (asked) => (await asked.request("fs/read_text_file", { sessionId, ...params })).content);

const failing = async (work: Promise<unknown>): Promise<RequestError> => {
  const failed: unknown = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (failed === undefined) throw new Error("it was answered");
  return failed as RequestError; // that is what the SDK throws, and the test looks at it
};

describe("reading", () => {
  const text = "one\r\ntwo\nthree\n";
  const files = workspace({
    "mixed.txt": text,
    "open.txt": "a\nb",
    "empty.txt": "",
    "long.txt": `${"x".repeat(100_000)}\n`,
  });

  for (const [what, name, range, expected] of [
    ["the whole text, line ends and all", "mixed.txt", {}, text],
    ["from a line on", "mixed.txt", { line: 2 }, "two\nthree\n"],
    ["some lines with their ends", "mixed.txt", { line: 1, limit: 2 }, "one\r\ntwo\n"],
    ["the last line", "mixed.txt", { line: 3, limit: 1 }, "three\n"],
    ["past the end", "mixed.txt", { line: 9 }, ""],
    ["no lines", "mixed.txt", { limit: 0 }, ""],
    ["a text without a final newline", "open.txt", {}, "a\nb"],
    ["its first line", "open.txt", { limit: 1 }, "a\n"],
    ["an empty one", "empty.txt", {}, ""],
    ["a long line, uncut", "long.txt", {}, `${"x".repeat(100_000)}\n`],
  ] as const) {
    test(what, async () => expect(await reading(files, { path: files.path(name), ...range })).toBe(expected));
  }

  test("pages make up the file", async () => {
    const pages = await Promise.all(
      [1, 2, 3, 4].map((line) => reading(files, { path: files.path("mixed.txt"), line, limit: 1 })),
    );
    expect(pages.join("")).toBe(text);
  });
});

describe("refusals have the protocol's numbers and our codes", () => {
  for (const [what, name, number, code] of [
    ["a file that is not there", "none.txt", -32002, "NOT_FOUND"],
    ["a file that a rule denies", "private/diary.txt", -32603, "ACCESS_DENIED"],
    ["a file outside", "../outside.txt", -32603, "ACCESS_DENIED"],
    ["an image", "pixel.png", -32603, "BINARY_FILE"],
    ["a folder", "private", -32603, "IS_DIRECTORY"],
  ] as const) {
    test(what, async () => {
      const files = adapterFiles();
      const { code: said, data } = await failing(reading(files, { path: `${files.top}/${name}` }));
      expect({ said, code: (data as { code: string }).code }).toEqual({ said: number, code });
    });
  }

  test("a relative path", async () => {
    expect(await failing(reading(adapterFiles(), { path: "notes.txt" }))).toMatchObject({ code: -32602 });
  });

  test("a file too large for one answer, and its lines are to be had", async () => {
    const files = workspace({ "large.txt": `${"0123456789abcde\n".repeat(2 ** 21)}${"x\n".repeat(2 ** 19)}` });
    const path = files.path("large.txt");
    expect(await failing(reading(files, { path }))).toMatchObject({ code: -32602 });
    expect(await reading(files, { path, line: 2_000_000, limit: 1 })).toBe("0123456789abcde\n");
  });
});

describe("writing", () => {
  test("a new file, with folders", async () => {
    const files = adapterFiles();
    const path = files.path("new/file.txt");
    await asAgent(files, (asked) => asked.request("fs/write_text_file", { sessionId, path, content: "x\r\n" }));
    expect(readFileSync(path, "utf8")).toBe("x\r\n");
  });

  test("over a file that the session has read, and not over one that changed since", async () => {
    const files = adapterFiles();
    const path = files.path("notes.txt");
    const stale = await asAgent(files, async (asked) => {
      const write = (content: string) => asked.request("fs/write_text_file", { sessionId, path, content });
      const unread = await failing(write("unread"));
      expect(unread.data).toMatchObject({ code: "NOT_READ" });
      await asked.request("fs/read_text_file", { sessionId, path });
      await write("mine\n");
      expect(readFileSync(path, "utf8")).toBe("mine\n");
      writeFileSync(path, "somebody else's\n");
      return failing(write("mine again\n"));
    });
    expect(stale.data).toMatchObject({ code: "STALE" });
    expect(readFileSync(path, "utf8")).toBe("somebody else's\n");
  });

  test("what one session has read, another has not", async () => {
    const files = adapterFiles();
    const path = files.path("notes.txt");
    const refused = await asAgent(files, async (asked) => {
      await asked.request("fs/read_text_file", { sessionId, path });
      return failing(asked.request("fs/write_text_file", { sessionId: "s2", path, content: "x" }));
    });
    expect(refused.data).toMatchObject({ code: "NOT_READ" });
  });

  test("is cancelled while somebody is being asked, and then changes nothing", async () => {
    const files = adapterFiles();
    const path = files.path("new.txt");
    const controller = new AbortController();
    const own = clientFiles(
      createFilehand({
        roots: [files.top],
        ask: async () => {
          controller.abort();
          return { reply: "once" };
        },
      }),
    );
    const writing = own.writeTextFile({ params: { sessionId, path, content: "x" }, signal: controller.signal });
    expect(await failing(writing)).toMatchObject({ code: -32800 });
    expect(() => readFileSync(path)).toThrow("ENOENT");
  });
});

test("sessions are forgotten when they are closed, and when there are too many", async () => {
  const files = adapterFiles();
  const path = files.path("notes.txt");
  const own = clientFiles(createFilehand({ roots: [files.top], ask: "yes" }));
  const read = (id: string) => own.readTextFile({ params: { sessionId: id, path } });
  const write = (id: string) => own.writeTextFile({ params: { sessionId: id, path, content: "one\ntwo\n" } });
  await read("closed");
  own.close("closed");
  expect((await failing(write("closed"))).data).toMatchObject({ code: "NOT_READ" });
  await read("first");
  for (let count = 0; count < 100; count += 1) await read(`other ${count}`);
  expect((await failing(write("first"))).data).toMatchObject({ code: "NOT_READ" });
  await write("other 99");
});
