/** Two clients of one server, and time: what one was shown or allowed is none of the other's, and a yes does not keep. */

import * as fs from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { ask, connectHttp } from "./http-server.ts";
import { startInProcess } from "./in-process.ts";
import { modernMeta, type RawMessage, textOf } from "./server.ts";

const edit = (from: string, to: string) => ({
  name: "Edit",
  arguments: { file_path: "a.txt", old_string: from, new_string: to },
});
const read = { name: "Read", arguments: { file_path: "a.txt" } };

test("two clients share neither what was read nor what was allowed, nor each other's answers", async () => {
  const { port, folder } = await startInProcess();
  const questions: string[] = [];
  const open = (who: string) =>
    connectHttp({ port, token: "" }, "legacy", {
      capabilities: { elicitation: { form: {} } },
      prepare: (client) =>
        client.setRequestHandler("elicitation/create", () => {
          questions.push(who);
          return { action: "accept", content: { decision: "allow once", always: true } };
        }),
    });
  const [one, other] = [await open("one"), await open("other")];
  await one.callTool(read);
  expect((await one.callTool(edit("one", "two"))).isError).toBeUndefined();
  expect(questions).toEqual(["one"]);
  // The other one has read nothing, so it may change nothing.
  expect(await other.callTool(edit("two", "three"))).toMatchObject({
    isError: true,
    _meta: { "io.github.filehand/code": "NOT_READ" },
  });
  await other.callTool(read);
  expect((await other.callTool(edit("two", "three"))).isError).toBeUndefined();
  expect(questions).toEqual(["one", "other"]); // "always" was the first one's
  fs.writeFileSync(join(folder, "b.txt"), "b\n");
  const names = Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? "a.txt" : "b.txt"));
  const texts = await Promise.all(
    names.map(async (file_path, index) => {
      const client = index % 2 === 0 ? one : other;
      return textOf(await client.callTool({ name: "Read", arguments: { file_path, offset: 1, limit: 1 + index } }));
    }),
  );
  expect(texts.map((text) => (/1\t(\w+)/.exec(text)?.[1] === "three" ? "a.txt" : "b.txt"))).toEqual(names);
});

describe("a question", () => {
  for (const [afterSeconds, holds] of [
    [290, true],
    [310, false],
  ] as const) {
    test(`that was answered after ${afterSeconds} s ${holds ? "counts" : "is too old"}`, async () => {
      // Only the clock: what waits for the network still waits for the network.
      vi.useFakeTimers({ toFake: ["Date"] });
      try {
        const served = await startInProcess();
        const _meta = modernMeta({ elicitation: { form: {} } });
        let id = 0;
        const call = async (params: {
          readonly name: string;
          readonly [more: string]: unknown;
        }): Promise<RawMessage> => {
          const body = JSON.stringify({ jsonrpc: "2.0", id: ++id, method: "tools/call", params: { ...params, _meta } });
          const headers = {
            "mcp-protocol-version": "2026-07-28",
            "mcp-method": "tools/call",
            "mcp-name": params.name,
          };
          const { text } = await ask({ port: served.port, token: "" }, { body, headers });
          return JSON.parse(text) as RawMessage;
        };
        await call(read);
        const { requestState } = (await call(edit("one", "two"))).result ?? {};
        expect(requestState).toBeTypeOf("string");
        vi.setSystemTime(Date.now() + afterSeconds * 1_000);
        const inputResponses = { approval: { action: "accept", content: { decision: "allow once" } } };
        const answer = await call({ ...edit("one", "two"), requestState, inputResponses });
        expect(answer.error?.code).toBe(holds ? undefined : -32602);
        expect(fs.readFileSync(join(served.folder, "a.txt"), "utf8")).toBe(holds ? "two\n" : "one\n");
      } finally {
        vi.useRealTimers();
      }
    });
  }
});
