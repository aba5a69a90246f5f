/** Questions to the person behind the client: bound to what was shown, good for one use, and never needed for a no. */

import * as fs from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { temporaryFolder } from "../ends/run.ts";
import { connect, type Era, eras, initialize, modernMeta, type RawMessage, startRaw, textOf } from "./server.ts";

const workspace = temporaryFolder();
afterAll(() => workspace.remove());
const at = (name: string): string => join(workspace.path, name);
const content = (name: string): string => fs.readFileSync(at(name), "utf8");

beforeEach(() => {
  fs.writeFileSync(at("a.txt"), "one\n");
  fs.writeFileSync(at("b.txt"), "one\n");
  fs.writeFileSync(at(".env"), "KEY=1\n");
});

const edit = (name: string, to = "two") => ({
  name: "Edit",
  arguments: { file_path: name, old_string: "one", new_string: to },
});
const read = (name: string) => ({ name: "Read", arguments: { file_path: name } });

type Response = { action: "accept" | "decline" | "cancel"; content?: Record<string, string | boolean> };

/** A client whose person gives these answers, one after another. */
async function asking(era: Era, ...answers: readonly Response[]) {
  const questions: string[] = [];
  const { client } = await connect({
    era,
    cwd: workspace.path,
    capabilities: { elicitation: { form: {} } },
    prepare: (made) =>
      made.setRequestHandler("elicitation/create", ({ params }) => {
        questions.push(params.message);
        return answers[questions.length - 1] ?? { action: "cancel" };
      }),
  });
  return { client, questions };
}

const yes = (decision: string): Response => ({ action: "accept", content: { decision } });
const rejectedAlways: Response = { action: "accept", content: { decision: "reject", always: true } };

for (const era of eras) {
  describe(`the ${era} era`, () => {
    test("a change is made after a yes, and the question shows it", async () => {
      const { client, questions } = await asking(era, yes("allow once"), yes("allow once"));
      await client.callTool(read("a.txt"));
      expect((await client.callTool(edit("a.txt"))).isError).toBeUndefined();
      expect(content("a.txt")).toBe("two\n");
      expect(questions).toHaveLength(1);
      expect(questions[0]).toContain(`Change "${at("a.txt")}"?`);
      expect(questions[0]).toContain("| -one\n| +two");
      // Once is once.
      await client.callTool({
        name: "Edit",
        arguments: { file_path: "a.txt", old_string: "two", new_string: "three" },
      });
      expect(questions).toHaveLength(2);
    });

    const closed = /closed without approval, .*: the rule Edit\(\/a\.txt\) would allow it/;
    for (const [what, answer, words] of [
      ["declined", { action: "decline" }, closed],
      ["cancelled", { action: "cancel" }, closed],
      ["rejected in the form", yes("reject"), /the user rejected it/],
      ["rejected with the box ticked", rejectedAlways, /the user rejected it/],
      ["answered with something else", yes("sure"), closed],
      ["answered with the box alone", { action: "accept", content: { always: true } }, closed],
      ["accepted without a word", { action: "accept" }, closed],
    ] as const) {
      test(`nothing is changed if it was ${what}, and the model is told what is so`, async () => {
        const { client } = await asking(era, answer);
        await client.callTool(read("a.txt"));
        const refused = await client.callTool(edit("a.txt"));
        expect(refused).toMatchObject({ isError: true, _meta: { "io.github.filehand/code": "ACCESS_DENIED" } });
        expect(textOf(refused)).toMatch(words);
        expect(content("a.txt")).toBe("one\n");
      });
    }

    test("always holds for this session and this file", async () => {
      const { client, questions } = await asking(era, {
        action: "accept",
        content: { decision: "allow once", always: true },
      });
      for (const name of ["a.txt", "b.txt"]) await client.callTool(read(name));
      await client.callTool(edit("a.txt", "one one"));
      expect((await client.callTool(edit("a.txt", "two"))).isError).toBe(true); // two places now: an answer of the tool
      expect(questions).toHaveLength(1);
      await client.callTool(edit("b.txt"));
      expect(questions).toHaveLength(2);
      expect(content("b.txt")).toBe("one\n");
    });

    test("one call may need two answers", async () => {
      const { client, questions } = await asking(era, yes("allow once"), yes("allow once"), yes("allow once"));
      await client.callTool(read(".env"));
      const changed = await client.callTool({
        name: "Edit",
        arguments: { file_path: ".env", old_string: "KEY=1", new_string: "KEY=2" },
      });
      expect(changed.isError).toBeUndefined();
      expect(questions.map((text) => text.split(" ")[0])).toEqual(["Read", "Read", "Change"]);
      expect(content(".env")).toBe("KEY=2\n");
    });

    test("a client that cannot ask is refused, and the rule is named", async () => {
      const { client } = await connect({ era, cwd: workspace.path });
      await client.callTool(read("a.txt"));
      const refused = await client.callTool(edit("a.txt"));
      expect(refused.isError).toBe(true);
      expect(textOf(refused)).toContain("Edit(/a.txt)");
      expect(content("a.txt")).toBe("one\n");
    });

    test("the refusal names three ways out, with the command for a known client", async () => {
      for (const [name, way] of [
        ["gemini-cli-mcp-client-filehand", 'run filehand init gemini --allow "Edit"'],
        ["strange", 'add --allow "Edit" to the arguments of this server in the configuration of strange'],
      ] as const) {
        const { client } = await connect({ era, cwd: workspace.path, name });
        await client.callTool(read("a.txt"));
        const words = JSON.stringify((await client.callTool(edit("a.txt"))).content);
        for (const part of [way, '"allow": ["Edit(/a.txt)"]', "run filehand inspect"]) {
          expect(words).toContain(JSON.stringify(part).slice(1, -1));
        }
        expect(JSON.stringify((await client.callTool(read("a.txt"))).content)).not.toContain("filehand inspect");
      }
    });

    test("no yes lifts a deny rule", async () => {
      const { client } = await connect({
        era,
        cwd: workspace.path,
        args: ["--deny", "Read(a.txt)"],
        capabilities: { elicitation: {} },
        prepare: (made) => made.setRequestHandler("elicitation/create", () => yes("allow once")),
      });
      expect((await client.callTool(read("a.txt"))).isError).toBe(true);
    });
  });
}

describe("a client of the older protocol that fails at a question", () => {
  for (const [what, answer] of [
    ["with an error", { error: { code: -1, message: "SECRET" } }],
    ["with an action that there is not", { result: { action: "banana" } }],
    ["with nothing", { result: {} }],
  ] as const) {
    test(`${what} has closed it, and may ask again`, async () => {
      const server = startRaw(workspace.path);
      await server.call(1, "initialize", { ...initialize, capabilities: { elicitation: {} } });
      server.send({ jsonrpc: "2.0", method: "notifications/initialized" });
      await server.call(2, "tools/call", read("a.txt"));
      const answered = async (id: number, response: object): Promise<RawMessage> => {
        server.send({ jsonrpc: "2.0", id, method: "tools/call", params: edit("a.txt") });
        const question = await server.next(({ method }) => method === "elicitation/create");
        server.send({ jsonrpc: "2.0", id: question.id, ...response });
        return server.next((message) => message.id === id && message.method === undefined);
      };
      const { result } = await answered(10, answer);
      expect(result).toMatchObject({ isError: true, _meta: { "io.github.filehand/code": "ACCESS_DENIED" } });
      expect(result?.content?.[0]?.text).toMatch(
        /closed without approval, .*: the rule Edit\(\/a\.txt\) would allow it/,
      );
      expect(content("a.txt")).toBe("one\n");
      expect(server.log()).not.toContain("SECRET");
      const allowed = await answered(11, { result: yes("allow once") });
      expect([allowed.result?.["isError"], content("a.txt")]).toEqual([undefined, "two\n"]);
    });
  }
});

describe("a client that cheats", () => {
  const _meta = modernMeta({ elicitation: { form: {} } });
  const accepted = { approval: { action: "accept", content: { decision: "allow once" } } };

  async function started() {
    const server = startRaw(workspace.path);
    for (const [id, name] of [
      [1, "a.txt"],
      [2, "b.txt"],
    ] as const)
      await server.call(id, "tools/call", { ...read(name), _meta });
    let id = 10;
    const call = (what: object, more: object = {}): Promise<RawMessage> =>
      server.call(++id, "tools/call", { ...what, ...more, _meta });
    const question = await call(edit("a.txt"));
    expect(question.result).toMatchObject({ resultType: "input_required" });
    return { call, requestState: String(question.result?.["requestState"]) };
  }

  test("the honest way goes, once", async () => {
    const { call, requestState } = await started();
    expect((await call(edit("a.txt"), { requestState, inputResponses: accepted })).result?.["isError"]).toBeUndefined();
    expect(content("a.txt")).toBe("two\n");
    fs.writeFileSync(at("a.txt"), "one\n");
    expect((await call(edit("a.txt"), { requestState, inputResponses: accepted })).error?.code).toBe(-32602);
    expect(content("a.txt")).toBe("one\n");
  });

  test("a yes for one call is none for another", async () => {
    for (const other of [edit("b.txt"), edit("a.txt", "three"), { ...edit("a.txt"), name: "MultiEdit" }]) {
      const { call, requestState } = await started();
      expect((await call(other, { requestState, inputResponses: accepted })).error?.code).toBe(-32602);
    }
    expect([content("a.txt"), content("b.txt")]).toEqual(["one\n", "one\n"]);
  });

  test("a state that was tampered with, or made up, is refused", async () => {
    const { call, requestState } = await started();
    const [version, body = "", mac] = requestState.split(".");
    const forged = Buffer.from(
      Buffer.from(body, "base64url")
        .toString("utf8")
        .replace(/"exp":\d+/, '"exp":9999999999'),
    ).toString("base64url");
    for (const state of [`${version}.${forged}.${mac}`, `${requestState}x`, "", "made up"]) {
      const { error, result } = await call(edit("a.txt"), { requestState: state, inputResponses: accepted });
      expect(error?.code ?? result?.["resultType"]).toBe(-32602);
    }
    expect(content("a.txt")).toBe("one\n");
  });

  test("an answer without state is a first call", async () => {
    const { call } = await started();
    const again = await call(edit("a.txt"), { inputResponses: accepted });
    expect(again.result).toMatchObject({ resultType: "input_required" });
    expect(content("a.txt")).toBe("one\n");
  });

  test("what was shown has changed: it is asked anew", async () => {
    fs.writeFileSync(at("a.txt"), "first\none\n");
    const server = startRaw(workspace.path);
    const call = (id: number, what: object, more: object = {}): Promise<RawMessage> =>
      server.call(id, "tools/call", { ...what, ...more, _meta });
    const write = (text: string) => ({ name: "Write", arguments: { file_path: "a.txt", content: text } });
    await call(1, read("a.txt"));
    const question = await call(2, write("new\n"));
    const { requestState } = question.result ?? {};
    fs.writeFileSync(at("a.txt"), "somebody else's\n");
    const answer = await call(3, write("new\n"), { requestState, inputResponses: accepted });
    expect(answer.result?.["isError"] === true || answer.result?.["resultType"] === "input_required").toBe(true);
    expect(content("a.txt")).toBe("somebody else's\n");
  });
});
