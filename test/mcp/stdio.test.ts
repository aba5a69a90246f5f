/** `filehand mcp`: the SDK's own client, both eras, a real process. */

import * as fs from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../ends/run.ts";
import { connect, eras, initialize, startRaw, textOf } from "./server.ts";

const workspace = temporaryFolder();
afterAll(() => workspace.remove());
const at = (name: string): string => join(workspace.path, name);

/** One red dot. */
const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

beforeAll(() => {
  fs.writeFileSync(at("a.txt"), "one\ntwo\n");
  fs.writeFileSync(at("dot.png"), Buffer.from(dot, "base64"));
  fs.mkdirSync(at("inner"));
  fs.writeFileSync(at("inner/b.txt"), "inside\n");
});

for (const era of eras) {
  describe(`the ${era} era`, () => {
    test("lists every tool with all four hints, within 14.2 kB", async () => {
      const { client } = await connect({ era, cwd: workspace.path });
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(["Read", "Edit", "MultiEdit", "Write"]));
      for (const { annotations, name } of tools) {
        expect(
          Object.values(annotations ?? {}).filter((hint) => typeof hint === "boolean"),
          name,
        ).toHaveLength(4);
      }
      const byName = Object.fromEntries(tools.map((tool) => [tool.name, tool]));
      expect(byName["Read"]).toMatchObject({
        annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
        _meta: { "anthropic/maxResultSizeChars": 500_000, "anthropic/alwaysLoad": true },
      });
      expect(byName["Outline"]).toMatchObject({
        annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
      });
      expect(byName["Write"]).toMatchObject({
        annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
      });
      for (const name of ["Edit", "Delete", "Move"]) {
        expect(byName[name]).toMatchObject({ annotations: { destructiveHint: true, idempotentHint: false } });
      }
      expect(Buffer.byteLength(JSON.stringify(tools))).toBeLessThan(14_200);
      expect(Buffer.byteLength(client.getInstructions() ?? "")).toBeLessThanOrEqual(2_048);
    });

    test("text comes as text, a picture as an image, and nothing else by default", async () => {
      const { client } = await connect({ era, cwd: workspace.path });
      const read = await client.callTool({ name: "Read", arguments: { file_path: "a.txt" } });
      expect(read.isError).toBeUndefined();
      expect(textOf(read)).toContain("1\tone\n2\ttwo");
      expect(read.structuredContent).toBeUndefined();
      const picture = await client.callTool({ name: "Read", arguments: { file_path: "dot.png" } });
      expect(picture.content).toContainEqual(expect.objectContaining({ type: "image", mimeType: "image/png" }));
    });

    test("what programs read comes with --structured, beside the text", async () => {
      const { client } = await connect({ era, cwd: workspace.path, args: ["--structured"] });
      const read = await client.callTool({ name: "Read", arguments: { file_path: "a.txt" } });
      expect(textOf(read)).toContain("1\tone");
      expect(read.structuredContent).toMatchObject({ type: "text", file: { content: "one\ntwo" } });
    });

    test("failures are marked, with the dialect's words and the code", async () => {
      const { client } = await connect({ era, cwd: workspace.path });
      const missing = await client.callTool({ name: "Read", arguments: { file_path: "a.tx" } });
      expect(missing).toMatchObject({ isError: true, _meta: { "io.github.filehand/code": "NOT_FOUND" } });
      expect(textOf(missing)).toContain("a.txt");
      const bad = await client.callTool({ name: "Read", arguments: { path: "a.txt" } });
      expect(bad.isError).toBe(true);
      expect(textOf(bad)).toContain('"file_path"');
      await expect(client.callTool({ name: "Raed", arguments: {} })).rejects.toMatchObject({
        code: -32602,
        message: expect.stringContaining("Read"),
      });
    });

    test("a session remembers what it has read", async () => {
      fs.writeFileSync(at(`${era}.txt`), "old\n");
      const { client } = await connect({ era, cwd: workspace.path, args: ["--allow", "Edit"] });
      const edit = { name: "Edit", arguments: { file_path: `${era}.txt`, old_string: "old", new_string: "new" } };
      expect(await client.callTool(edit)).toMatchObject({ _meta: { "io.github.filehand/code": "NOT_READ" } });
      await client.callTool({ name: "Read", arguments: { file_path: `${era}.txt` } });
      expect((await client.callTool(edit)).isError).toBeUndefined();
      expect(fs.readFileSync(at(`${era}.txt`), "utf8")).toBe("new\n");
    });

    test("another dialect brings its own tools", async () => {
      const { client } = await connect({ era, cwd: workspace.path, args: ["--dialect", "opencode"] });
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(["read", "edit", "write"]));
      expect(textOf(await client.callTool({ name: "read", arguments: { filePath: "a.txt" } }))).toContain("1: one");
    });

    test("the folders behind the command are the roots", async () => {
      const { client } = await connect({ era, cwd: "/", args: [at("inner")] });
      expect(textOf(await client.callTool({ name: "Read", arguments: { file_path: "b.txt" } }))).toContain("inside");
      expect((await client.callTool({ name: "Read", arguments: { file_path: at("a.txt") } })).isError).toBe(true);
    });

    test("a long scan tells how far it is, and ends when it is cancelled", async () => {
      makeSparse("scanned.txt", 2_000_000_000_000);
      const { client } = await connect({ era, cwd: workspace.path });
      const stop = new AbortController();
      const told: number[] = [];
      const call = client.callTool(
        { name: "Read", arguments: { file_path: "scanned.txt", offset: 1_100, limit: 1 } },
        {
          signal: stop.signal,
          timeout: 170_000,
          onprogress: ({ progress }) => {
            told.push(progress);
            if (told.length === 2) stop.abort();
          },
        },
      );
      await expect(call).rejects.toThrow();
      expect(told[1]).toBeGreaterThan(told[0] ?? 0);
      // The server goes on, and would not end before the test's time is up if it went on scanning.
      expect(textOf(await client.callTool({ name: "Read", arguments: { file_path: "a.txt" } }))).toContain("one");
      fs.rmSync(at("scanned.txt"));
    });
  });
}

/** Text, then a hole that takes no room on the disk. */
function makeSparse(name: string, bytes: number): void {
  fs.writeFileSync(at(name), Array.from({ length: 1_000 }, (_, index) => `head ${index + 1}\n`).join(""));
  fs.truncateSync(at(name), bytes);
}

describe("roots of a client", () => {
  const named = (...folders: readonly string[]) => ({
    era: "legacy" as const,
    cwd: workspace.path,
    capabilities: { roots: { listChanged: true } },
    prepare: (client: Awaited<ReturnType<typeof connect>>["client"]) => {
      client.setRequestHandler("roots/list", () => ({ roots: folders.map((folder) => ({ uri: `file://${folder}` })) }));
    },
  });
  const reads = async (options: Parameters<typeof connect>[0], name: string): Promise<boolean> => {
    const { client } = await connect(options);
    return (await client.callTool({ name: "Read", arguments: { file_path: at(name) } })).isError !== true;
  };

  test("narrow what the operator allowed", async () => {
    expect(await reads(named(at("inner")), "inner/b.txt")).toBe(true);
    expect(await reads(named(at("inner")), "a.txt")).toBe(false);
  });

  test("hold for searches and for resources too", async () => {
    const { client } = await connect(named(at("inner")));
    const search = async (name: string, input: Record<string, string>) =>
      textOf(await client.callTool({ name, arguments: input }));
    expect(await search("Glob", { pattern: "**/*.txt" })).toContain("inner/b.txt");
    expect(await search("Glob", { pattern: "**/*.txt" })).not.toContain("a.txt");
    fs.writeFileSync(at("same-word.txt"), "inside\n");
    const found = await search("Grep", { pattern: "inside", output_mode: "content" });
    expect(found).toContain("inner/b.txt");
    expect(found).not.toContain("same-word");
    expect(await search("Grep", { pattern: "inside", path: at("same-word.txt") })).not.toContain("1:inside");
    fs.rmSync(at("same-word.txt"));
    const uris = (await client.listResources()).resources.map(({ uri }) => uri);
    expect(uris).toEqual([`file://${at("inner/b.txt")}`]);
    await expect(client.readResource({ uri: `file://${at("a.txt")}` })).rejects.toThrow();
    const completed = await client.complete({
      ref: { type: "ref/resource", uri: "file:///{+path}" },
      argument: { name: "path", value: at("a").slice(1) },
    });
    expect(completed.completion.values).toEqual([]);
  });

  test("never widen it", async () => {
    expect(await reads({ ...named("/"), args: [at("inner")] }, "a.txt")).toBe(false);
    expect(await reads({ ...named(workspace.path), args: [at("inner")] }, "a.txt")).toBe(false);
  });

  test("may change in the middle of a conversation", async () => {
    let folder = workspace.path;
    const { client } = await connect({
      ...named(),
      prepare: (made) => made.setRequestHandler("roots/list", () => ({ roots: [{ uri: `file://${folder}` }] })),
    });
    const read = () => client.callTool({ name: "Read", arguments: { file_path: "a.txt" } });
    expect((await read()).isError).toBeUndefined();
    folder = at("inner");
    await client.sendRootsListChanged();
    expect((await read()).isError).toBe(true);
  });
});

describe("roots that a client names badly", () => {
  const started = async (roots: unknown) => {
    const server = startRaw(workspace.path);
    await server.call(1, "initialize", { ...initialize, capabilities: { roots: { listChanged: true } } });
    const name = async (response: object): Promise<void> => {
      const { id } = await server.next(({ method }) => method === "roots/list");
      server.send({ jsonrpc: "2.0", id, ...response });
    };
    server.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    await name({ result: { roots } });
    let id = 10;
    const reads = async (file: string): Promise<boolean> => {
      const call = { name: "Read", arguments: { file_path: at(file) } };
      return (await server.call((id += 1), "tools/call", call)).result?.["isError"] !== true;
    };
    return { server, name, reads };
  };

  test("narrow by those that can be understood", async () => {
    const { reads } = await started([{ uri: "http://x.example" }, { uri: `file://${at("inner")}` }, { uri: 1 }, null]);
    expect([await reads("inner/b.txt"), await reads("a.txt")]).toEqual([true, false]);
  });

  for (const [what, response] of [
    ["an error", { error: { code: -32603, message: "busy" } }],
    ["no list", { result: { roots: "junk" } }],
    ["a list of nothing", { result: { roots: [null] } }],
  ] as const) {
    test(`hold as they were if the next answer is ${what}`, async () => {
      const { server, name, reads } = await started([{ uri: `file://${at("inner")}` }]);
      expect(await reads("a.txt")).toBe(false);
      server.send({ jsonrpc: "2.0", method: "notifications/roots/list_changed" });
      await name(response);
      expect([await reads("inner/b.txt"), await reads("a.txt")]).toEqual([true, false]);
    });
  }
});

describe("what no client sends", () => {
  test("every line gets an answer, and the next one is as good as ever", async () => {
    const server = startRaw(workspace.path);
    await server.sendText("no json\n[]\n{}\n\n");
    for (const code of [-32700, -32600, -32600]) {
      expect((await server.next((message) => message.error !== undefined)).error?.code).toBe(code);
    }
    await server.sendText(
      `{"jsonrpc":"2.0","id":5,"method":"tools/list","params":${"[".repeat(1e6)}${"]".repeat(1e6)}}\n`,
    );
    expect(await server.next(({ id }) => id === 5)).toMatchObject({ error: { code: -32600 } });
    expect((await server.call(1, "initialize", initialize)).result).toHaveProperty("serverInfo");
    for (const params of [
      { Name: "Read", ARGUMENTS: {} },
      { name: "__proto__", arguments: {} },
      { name: "Read", arguments: [] },
      { name: "Read", arguments: "x" },
    ]) {
      expect((await server.call(2, "tools/call", params)).error?.code).toBe(-32602);
    }
    await server.sendText(
      '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"Read","arguments":{"file_path":"a.txt","__proto__":{}}}}\n',
    );
    expect(await server.next(({ id }) => id === 3)).toMatchObject({ error: { code: -32600 } });
    expect((await server.call(4, "no/such/method")).error?.code).toBe(-32601);
  });

  test("a request of a shape that no request has is answered, and the log holds nothing of what came", async () => {
    const server = startRaw(workspace.path);
    await server.call(1, "initialize", initialize);
    await server.call(2, "tools/list");
    const call = {
      jsonrpc: "2.0",
      method: "tools/call",
      params: { name: "Write", arguments: { file_path: "s", content: "SECRET" } },
    };
    for (const [id, more] of [
      [3, { more: "SECRET" }],
      [4, { result: { text: "SECRET" } }],
    ] as const) {
      server.send({ ...call, id, ...more });
      expect(await server.next((message) => message.id === id)).toMatchObject({ error: { code: -32600 } });
    }
    server.send({ ...call, id: "SECRET".repeat(1_000) });
    expect(await server.next(({ id }) => id === null)).toMatchObject({ error: { code: -32600 } });
    server.send({ ...call, more: "SECRET" });
    server.send({ jsonrpc: "2.0", id: 99, result: { text: "SECRET" } });
    server.send({ jsonrpc: "2.0", id: 98, result: "SECRET", more: 1 });
    server.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: { a: "SECRET" } } });
    server.send({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: 9, progress: "SECRET" } });
    await server.call(5, "tools/list");
    await expect.poll(server.log).toContain("unknown message ID");
    expect(server.log()).not.toContain("SECRET");
    expect(fs.existsSync(at("s"))).toBe(false);
  });

  test("what is not UTF-8 is refused, and nothing is written", async () => {
    const server = startRaw(workspace.path, ["--yes"]);
    await server.call(1, "initialize", initialize);
    const write = '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"Write","arguments":';
    await server.sendText(Buffer.from(`${write}{"file_path":"bad.txt","content":"caf\xe9"}}}\n`, "latin1"));
    expect(await server.next(({ id }) => id === 2)).toMatchObject({ error: { code: -32700 } });
    expect(fs.existsSync(at("bad.txt"))).toBe(false);
    // The last line counts without its newline too.
    server.child.stdin?.end('{"jsonrpc":"2.0","id":3,"method":"tools/list"}');
    expect(await server.next(({ id }) => id === 3)).toHaveProperty("result");
    expect(await server.ended).toBe(0);
  });

  test("a line of 10 MB and a Write of 30 MB are answered", async () => {
    const server = startRaw(workspace.path, ["--allow", "Edit"]);
    await server.call(1, "initialize", initialize);
    const padded = await server.call(2, "tools/call", {
      name: "Read",
      arguments: { file_path: "x".repeat(10_000_000) },
    });
    expect(padded.result?.["isError"]).toBe(true);
    const content = `${"z".repeat(99)}\n`.repeat(300_000);
    const written = await server.call(3, "tools/call", {
      name: "Write",
      arguments: { file_path: "large.txt", content },
    });
    expect(written.result?.["isError"]).toBeUndefined();
    expect(fs.statSync(at("large.txt")).size).toBe(30_000_000);
    const tooLong = `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"Write","arguments":{"file_path":"b","content":"${"y".repeat(70_000_000)}"}}}\n`;
    await server.sendText(tooLong);
    expect(await server.next(({ id }) => id === 4)).toMatchObject({ error: { code: -32600 } });
    expect((await server.call(5, "tools/list")).result).toHaveProperty("tools");
    expect(Math.max(...server.lines.map((line) => line.length))).toBeLessThan(10_485_760);
  });

  test("no answer is larger than a client takes", async () => {
    // In JSON a control character has six bytes, so a page of them outgrows any limit on pages.
    fs.writeFileSync(at("controls.txt"), `${"\x01".repeat(2_000)}\n`.repeat(5_000));
    const server = startRaw(workspace.path, ["--dialect", "envelope", "--structured"]);
    await server.call(1, "initialize", initialize);
    const { result } = await server.call(2, "tools/call", {
      name: "Read",
      arguments: { path: "controls.txt", limit: 100_000 },
    });
    expect(result?.content?.[0]?.text).toBeTypeOf("string");
    expect(Math.max(...server.lines.map((line) => Buffer.byteLength(line)))).toBeLessThan(10_485_760);
  });

  test("a client that asks much and reads nothing costs no memory without end, and keeps no process", async () => {
    fs.writeFileSync(at("page.txt"), `${"x".repeat(60)}\n`.repeat(1_500));
    const server = startRaw(workspace.path);
    await server.call(1, "initialize", initialize);
    const page = (id: number) =>
      server.send({
        jsonrpc: "2.0",
        id,
        method: "tools/call",
        params: { name: "Read", arguments: { file_path: "page.txt", offset: 1 + (id % 700) } },
      });
    page(2);
    await server.next(({ id }) => id === 2);
    server.child.stdout?.pause();
    for (let id = 100; id < 2_100; id += 1) page(id);
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    // With all of them begun at once it has 600 MB.
    if (process.platform === "linux") {
      const status = fs.readFileSync(`/proc/${server.child.pid}/status`, "utf8");
      expect(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1])).toBeLessThan(350_000);
    }
    server.child.stdout?.resume();
    for (let id = 100; id < 2_100; id += 1) if (server.lines.length < 2_002) await server.next(() => true);
    expect(new Set(server.lines.map((line) => (JSON.parse(line) as { readonly id: number }).id)).size).toBe(2_002);
    expect(server.log()).not.toContain("MaxListeners");

    server.child.stdout?.pause();
    for (let id = 3_000; id < 3_600; id += 1) page(id);
    server.child.stdin?.end();
    const exited = new Promise((resolve) => server.child.once("exit", resolve));
    expect(await exited).toBe(0);
    server.child.stdout?.resume();
  }, 60_000);

  test("a question that is open when the input ends is left at once", async () => {
    const server = startRaw(workspace.path);
    await server.call(1, "initialize", { ...initialize, capabilities: { elicitation: {} } });
    server.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    await server.call(2, "tools/call", { name: "Read", arguments: { file_path: "a.txt" } });
    const edit = { file_path: "a.txt", old_string: "one", new_string: "1" };
    server.send({ jsonrpc: "2.0", id: 3, method: "tools/call", params: { name: "Edit", arguments: edit } });
    await server.next(({ method }) => method === "elicitation/create");
    const startedMs = performance.now();
    server.child.stdin?.end();
    expect(await server.ended).toBe(0);
    expect(performance.now() - startedMs).toBeLessThan(8_000);
    expect(fs.readFileSync(at("a.txt"), "utf8")).toBe("one\ntwo\n");
    const answer = server.lines.map((line) => JSON.parse(line) as { readonly id: unknown }).find(({ id }) => id === 3);
    expect(answer).toMatchObject({ result: { isError: true } });
  });

  test("it ends in order when its input ends, when it is told to, and when nobody listens any more", async () => {
    const piped = startRaw(workspace.path);
    piped.send({ jsonrpc: "2.0", id: 1, method: "initialize", params: initialize });
    piped.child.stdin?.end(
      `${JSON.stringify({ jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "Read", arguments: { file_path: "a.txt" } } })}\n`,
    );
    expect(await piped.ended).toBe(0);
    expect(piped.lines).toHaveLength(2); // what was under way was answered

    const told = startRaw(workspace.path);
    await told.call(1, "initialize", initialize);
    told.child.kill("SIGTERM");
    expect(await told.ended).toBe(0);

    const deaf = startRaw(workspace.path);
    await deaf.call(1, "initialize", initialize);
    deaf.child.stdout?.destroy();
    deaf.send({ jsonrpc: "2.0", id: 2, method: "tools/list" });
    expect(await deaf.ended).toBe(0);
  });
});
