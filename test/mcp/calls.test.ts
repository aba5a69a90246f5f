/** Calls over stdio: answered alike the first time and later, in order, and refused where the SDK refuses. */

import * as fs from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../ends/run.ts";
import { eras, initialize, modernMeta, type RawServer, startRaw } from "./server.ts";

const workspace = temporaryFolder();
afterAll(() => workspace.remove());
const at = (name: string): string => join(workspace.path, name);

beforeAll(() => {
  fs.writeFileSync(at("a.txt"), "one\ntwo\n");
});

test("the first greeting is the SDK's, word for word", async () => {
  const server = startRaw(workspace.path);
  const params = { _meta: modernMeta({ elicitation: { form: {} }, roots: { listChanged: true } }) };
  const first = await server.call(1, "server/discover", params);
  expect(first.result).toMatchObject({ supportedVersions: ["2026-07-28"] });
  await server.call(2, "tools/list", params);
  const second = await server.call(3, "server/discover", params);
  expect(second.result).toEqual(first.result);
});

for (const [what, _meta, code] of [
  ["of another version", { ...modernMeta(), "io.modelcontextprotocol/protocolVersion": "2099-01-01" }, -32022],
  ["without capabilities", { "io.modelcontextprotocol/protocolVersion": "2026-07-28" }, -32602],
  ["with capabilities that are none", modernMeta({ elicitation: "yes" }), -32602],
  ["of somebody without a name", { ...modernMeta(), "io.modelcontextprotocol/clientInfo": {} }, -32602],
] as const) {
  test(`a greeting ${what} is looked at by the SDK`, async () => {
    const server = startRaw(workspace.path);
    expect((await server.call(1, "server/discover", { _meta })).error?.code).toBe(code);
    expect((await server.call(2, "server/discover", { _meta: modernMeta() })).result).toBeDefined();
  });
}

for (const era of eras) {
  describe(`the ${era} era`, () => {
    const _meta = era === "modern" ? modernMeta() : undefined;
    const params = (name: string, input: object, more: object = {}) => ({
      name,
      arguments: input,
      ...(_meta === undefined && Object.keys(more).length === 0 ? {} : { _meta: { ..._meta, ...more } }),
    });
    async function started(...args: readonly string[]): Promise<RawServer> {
      const server = startRaw(workspace.path, args, { FILEHAND_DEDUP: "0" });
      if (era === "legacy") await server.call(1, "initialize", initialize);
      return server;
    }

    for (const [what, name, input] of [
      ["a page", "Read", { file_path: "a.txt" }],
      ["a refusal", "Read", { file_path: "missing.txt" }],
      ["bad arguments", "Read", { file: 1 }],
    ] as const) {
      test(`${what} is the same the first time and the second time`, async () => {
        // A model that is named gets the reminder with each page.
        const server = await started("--model", "a-model");
        const first = await server.call(2, "tools/call", params(name, input));
        const second = await server.call(3, "tools/call", params(name, input));
        expect(second).toEqual({ ...first, id: 3 });
        expect(first.result).toHaveProperty("content");
      });
    }

    test("what is no valid call is refused, and the next one is answered", async () => {
      const server = await started();
      await server.call(2, "tools/call", params("Read", { file_path: "a.txt" }));
      for (const [id, more] of [
        [3, { name: "Raed", arguments: {} }],
        [4, { name: "Read", arguments: [] }],
        [5, { name: "Read", arguments: {}, _meta: "x" }],
      ] as const) {
        expect((await server.call(id, "tools/call", { _meta, ...more })).error?.code).toBe(-32602);
      }
      const strange = { ...params("Read", { file_path: "a.txt" }), _meta: { ..._meta, progressToken: {} } };
      expect((await server.call(6, "tools/call", strange)).error?.code).toBe(-32602);
      expect((await server.call(7, "tools/call", params("Read", { file_path: "a.txt" }))).result).toBeDefined();
    });

    test("answers that came at once are all given, and writes keep their order", async () => {
      const server = await started("--allow", "Edit");
      await server.call(2, "tools/call", params("Read", { file_path: "a.txt" }));
      const name = `${era}.txt`;
      const rounds = Array.from({ length: 40 }, (_, index) => index + 100);
      for (const id of rounds) {
        // Every third one is part of a task of the client.
        const more = id % 3 === 0 ? { "io.modelcontextprotocol/related-task": { taskId: "x" } } : {};
        const call = params("Write", { file_path: name, content: `${id}\n` }, more);
        server.send({ jsonrpc: "2.0", id, method: "tools/call", params: call });
      }
      const left = new Set<unknown>(rounds);
      while (left.size > 0) {
        const answer = await server.next(({ id, method }) => left.has(id) && method === undefined);
        expect(answer.result?.["isError"]).toBeUndefined();
        left.delete(answer.id);
      }
      expect(fs.readFileSync(at(name), "utf8")).toBe("139\n");
    });

    test("a cancelled search gets no answer, and its program is no hindrance", async () => {
      const server = await started();
      await server.call(2, "tools/call", params("Read", { file_path: "a.txt" }));
      // Both messages are there before anything can be found.
      const call = { jsonrpc: "2.0", id: 3, method: "tools/call", params: params("Grep", { pattern: "one" }) };
      const cancelled = { requestId: 3, ...(_meta === undefined ? {} : { _meta }) };
      const stop = { jsonrpc: "2.0", method: "notifications/cancelled", params: cancelled };
      await server.sendText(`${JSON.stringify(call)}\n${JSON.stringify(stop)}\n`);
      expect(
        (await server.call(4, "tools/call", params("Grep", { pattern: "one", path: "a.txt" }))).result,
      ).toBeDefined();
      server.child.stdin?.end();
      expect(await server.ended).toBe(0);
      expect(server.lines.some((line) => line.includes('"id":3'))).toBe(false);
    });

    test("a cancelled call gets no answer, and the next one does", async () => {
      fs.writeFileSync(at("scanned.txt"), "head of a file that is text\n".repeat(1_000));
      fs.truncateSync(at("scanned.txt"), 2_000_000_000_000);
      const server = await started();
      await server.call(2, "tools/call", params("Read", { file_path: "a.txt" }));
      const scan = params("Read", { file_path: "scanned.txt", offset: 1_100, limit: 1 }, { progressToken: "p" });
      server.send({ jsonrpc: "2.0", id: 3, method: "tools/call", params: scan });
      await server.next(({ method }) => method === "notifications/progress");
      server.send({
        jsonrpc: "2.0",
        method: "notifications/cancelled",
        params: { requestId: 3, ...(_meta === undefined ? {} : { _meta }) },
      });
      expect((await server.call(4, "tools/call", params("Read", { file_path: "a.txt" }))).result).toBeDefined();
      // The scan is over: with its input ended the process would otherwise wait for its answer.
      server.child.stdin?.end();
      expect(await server.ended).toBe(0);
      expect(server.lines.some((line) => line.includes('"id":3'))).toBe(false);
      fs.rmSync(at("scanned.txt"));
    });
  });
}
