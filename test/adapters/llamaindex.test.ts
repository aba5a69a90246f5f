/** LlamaIndex' own agent, with a model that is a script, over our tools. */

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { type FileTool, fileTools, withFileAnswers } from "../../src/surfaces/adapters/llamaindex.ts";
import { adapterFiles, describeAdapter, type Seen, sessionIn } from "../suites/adapter.ts";
import { workspace } from "../support/workspace.ts";
import { loadHost } from "./hosts.ts";

interface Message {
  readonly role: string;
  readonly content: unknown;
  readonly options?: { readonly toolResult?: { readonly result: string; readonly isError: boolean } };
}
interface Asked {
  readonly messages: readonly Message[];
  readonly tools: readonly FileTool[];
  readonly stream?: boolean;
}

const { agent } = await loadHost<{
  agent: (options: object) => { run(prompt: string): Promise<{ data: { result: unknown } }> };
}>("@llamaindex/workflow/dist/index.js");
const { ToolCallLLM } = await loadHost<{ ToolCallLLM: new () => object }>("@llamaindex/core/llms/dist/index.js");

type Call = readonly [tool: string, input: unknown];

/** A model that makes the calls of each turn together, one turn after the other, and then says that it is done. */
class Scripted extends ToolCallLLM {
  readonly asked: Asked[] = [];
  readonly supportToolCall = true;
  readonly metadata = { model: "scripted", temperature: 0, topP: 1, contextWindow: 100_000, structuredOutput: false };
  readonly #turns: readonly (readonly Call[])[];

  constructor(turns: readonly (readonly Call[])[]) {
    super();
    this.#turns = turns;
  }

  async chat(params: Asked): Promise<object> {
    const calls = this.#turns[this.asked.push(params) - 1];
    const toolCall = calls?.map(([name, input], index) => ({ id: `call-${this.asked.length}-${index}`, name, input }));
    const options = toolCall === undefined ? {} : { toolCall };
    const content = toolCall === undefined ? "done" : "";
    if (params.stream !== true) return { raw: {}, message: { role: "assistant", content, options } };
    return (async function* () {
      yield { raw: {}, delta: content, options };
    })();
  }
}

async function converse(session: Session, turns: readonly (readonly Call[])[]): Promise<readonly Asked[]> {
  const tools = fileTools(session);
  const llm = new Scripted(turns);
  const { data } = await agent({ llm: withFileAnswers(llm, tools), tools }).run("go");
  expect(data.result).toBe("done");
  return llm.asked;
}

/** What the model was sent since its last call. */
function lastAnswer({ messages }: Asked): Seen {
  const start = messages.findLastIndex(({ options }) => options?.toolResult !== undefined);
  const [answer, ...after] = messages.slice(start);
  const { result = "", isError = false } = answer?.options?.toolResult ?? {};
  expect(answer?.content).toBe(result);
  const images = after
    .flatMap(({ content }) => content as readonly { readonly image_url?: { readonly url: string } }[])
    .flatMap(({ image_url }) => image_url?.url ?? []);
  return {
    text: result,
    images: images.map((url) => {
      const [, mimeType = "", data = ""] = /^data:([^;]*);base64,(.*)$/.exec(url) ?? [];
      return { mimeType, data };
    }),
    failed: isError,
  };
}

const last = (asked: readonly Asked[]): Asked => asked.at(-1) ?? { messages: [], tools: [] };

describeAdapter("LlamaIndex", {
  passesNoSignal: true,
  driver: (session) => ({
    list: async () =>
      last(await converse(session, [])).tools.map(({ metadata: { name, description, parameters } }) => ({
        name,
        description,
        parameters: Object.keys(parameters.properties ?? {}),
      })),
    call: async (tool, input) => lastAnswer(last(await converse(session, [[[tool, input]]]))),
  }),
});

describe("LlamaIndex' agent", () => {
  test("the model gets quotation marks, newlines and images of several calls as they are", async () => {
    const files = workspace({
      "a.ts": 'const a = "x\\n";\nconst b = "";\n',
      "pixel.png": readFileSync(adapterFiles().path("pixel.png")),
    });
    const asked = await converse(sessionIn(files), [
      [
        ["Read", { file_path: "pixel.png" }],
        ["Read", { file_path: "a.ts" }],
      ],
      [["Read", { file_path: "a.ts", offset: 2 }]],
    ]);
    const messages = last(asked).messages.slice(2);
    expect(messages.map(({ role, content }) => (role === "assistant" ? role : content))).toEqual([
      "assistant",
      expect.stringMatching(/^\[image\/png [0-9a-f]{12}\]\n\[Image: 1x1 pixels, image\/png\]$/),
      '1\tconst a = "x\\n";\n2\tconst b = "";',
      [
        { type: "text", text: String(messages[1]?.content).split("\n")[0] },
        { type: "image_url", image_url: { url: expect.stringMatching(/^data:image\/png;base64,/) } },
      ],
      "assistant",
      expect.stringContaining('2\tconst b = "";'),
    ]);
  });

  test("tools of other making are refused", () => {
    expect(() => withFileAnswers({}, [])).toThrow("give the array that fileTools() made");
  });
});

test("a program that calls a tool gets its text, and a failure is thrown with its code", async () => {
  const [read] = fileTools(sessionIn(adapterFiles()), { only: ["Read"] });
  expect(await read?.call({ file_path: "notes.txt" })).toBe("1\tone\n2\ttwo");
  await expect(read?.call({ file_path: "none.txt" })).rejects.toMatchObject({ code: "NOT_FOUND" });
});
