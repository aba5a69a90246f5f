/** Mastra's own agent, with a model that is a script, over our tools. */

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { type FileTool, fileTools, type MastraToolOptions } from "../../src/surfaces/adapters/mastra.ts";
import { adapterFiles, describeAdapter, type Seen, sessionIn } from "../suites/adapter.ts";
import { workspace } from "../support/workspace.ts";
import { loadHost } from "./hosts.ts";

interface Answer {
  readonly text: string;
  readonly finishReason: string;
  readonly runId: string;
  readonly toolResults: readonly { readonly payload: { readonly result: unknown } }[];
}
interface MastraAgent {
  generate(prompt: string, options?: object): Promise<Answer>;
  approveToolCallGenerate(options: { readonly runId: string; readonly toolCallId?: string }): Promise<Answer>;
}
const { Agent } = await loadHost<{ Agent: new (options: object) => MastraAgent }>("@mastra/core/dist/agent/index.js");
const { Mastra } = await loadHost<{ Mastra: new (options: object) => { getAgent(name: string): MastraAgent } }>(
  "@mastra/core/dist/mastra/index.js",
);
const { InMemoryStore } = await loadHost<{ InMemoryStore: new () => object }>("@mastra/core/dist/storage/index.js");

interface Output {
  readonly type: string;
  readonly value: unknown;
}
/** A request as a provider of a model gets it. */
interface Asked {
  readonly prompt: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools?: readonly {
    readonly name: string;
    readonly description: string;
    readonly inputSchema: { readonly properties?: object };
  }[];
}

type Call = readonly [tool: string, input: unknown];

/** A model that makes these calls, one after the other, and then says that it is done. */
function scripted(...calls: readonly Call[]) {
  const asked: Asked[] = [];
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
  return {
    asked,
    specificationVersion: "v2",
    provider: "scripted",
    modelId: "scripted",
    supportedUrls: {},
    async doGenerate(options: Asked) {
      const call = calls[asked.push(options) - 1];
      if (call === undefined) {
        return { content: [{ type: "text", text: "done" }], finishReason: "stop", usage, warnings: [] };
      }
      const [toolName, input] = call;
      const toolCall = {
        type: "tool-call",
        toolCallId: `call-${asked.length}`,
        toolName,
        input: JSON.stringify(input),
      };
      return { content: [toolCall], finishReason: "tool-calls", usage, warnings: [] };
    },
  };
}

const agentOf = (session: Session, model: object, options: MastraToolOptions = {}): MastraAgent =>
  new Agent({ id: "files", name: "files", instructions: "Work.", model, tools: fileTools(session, options) });

/** What the model was sent as the answer to its last call. */
function lastAnswer(model: ReturnType<typeof scripted>): Seen {
  const { content } = model.asked.at(-1)?.prompt.at(-1) ?? { content: [] };
  const [part] = content as readonly { readonly output: Output }[];
  if (part === undefined) throw new Error("the model got no result");
  const { type, value } = part.output;
  if (typeof value === "string") return { text: value, images: [], failed: type === "error-text" };
  expect(type).toBe("content");
  const parts = value as readonly { text?: string; data?: string; mediaType?: string }[];
  return {
    text: parts.flatMap(({ text }) => text ?? []).join("\n"),
    images: parts.flatMap(({ data, mediaType = "" }) => (data === undefined ? [] : [{ data, mimeType: mediaType }])),
    failed: false,
  };
}

describeAdapter("Mastra", {
  driver: (session) => ({
    list: async () => {
      const model = scripted();
      await agentOf(session, model).generate("go");
      return (model.asked[0]?.tools ?? []).map(({ name, description, inputSchema }) => ({
        name,
        description,
        parameters: Object.keys(inputSchema.properties ?? {}),
      }));
    },
    call: async (tool, input) => {
      const model = scripted([tool, input]);
      await agentOf(session, model).generate("go");
      return lastAnswer(model);
    },
    // A run that is aborted makes no further request, so the tool is called by itself, as Mastra calls it.
    cancellable: async (tool, input, abortSignal) => {
      const file: FileTool | undefined = fileTools(session)[tool];
      const reply = await file?.execute(input, { abortSignal });
      const [part] = reply?.content ?? [];
      return { text: part?.type === "text" ? part.text : "", images: [], failed: reply?.isError === true };
    },
  }),
});

describe("Mastra's agent", () => {
  test("the model gets each character of a long page once, a program the whole reply", async () => {
    const line = "a line of text that is quite long";
    const files = workspace({ "long.txt": `${line}\n`.repeat(1_000) });
    const model = scripted(["Read", { file_path: "long.txt" }]);
    const { text, toolResults } = await agentOf(sessionIn(files), model).generate("go");
    expect(text).toBe("done");
    const { prompt = [] } = model.asked.at(-1) ?? {};
    const results = prompt.at(-1)?.content as readonly { readonly output: Output }[] | undefined;
    expect(JSON.stringify(results?.[0]?.output).split(line)).toHaveLength(1_001);
    expect(toolResults[0]?.payload.result).toMatchObject({
      isError: false,
      structured: { file: { totalLines: 1_000 } },
    });
  });

  test("a run that is cancelled changes nothing", async () => {
    const files = adapterFiles();
    const controller = new AbortController();
    const ask = async () => {
      controller.abort();
      return { reply: "once" as const };
    };
    const model = scripted(["Write", { file_path: "new.txt", content: "x" }]);
    const options = { abortSignal: controller.signal };
    await agentOf(sessionIn(files, { ask }), model).generate("go", options);
    expect(model.asked).toHaveLength(1);
    expect(() => readFileSync(files.path("new.txt"))).toThrow("ENOENT");
  });

  test("waits for an approval of what changes files, and goes on once it is there", async () => {
    const files = adapterFiles();
    const model = scripted(["Read", { file_path: "notes.txt" }], ["Write", { file_path: "new.txt", content: "x\n" }]);
    const agent = agentOf(sessionIn(files), model, { needsApproval: "changes" });
    const host = new Mastra({ agents: { agent }, storage: new InMemoryStore(), logger: false }).getAgent("agent");
    const first = await host.generate("go");
    expect(first.finishReason).toBe("suspended");
    expect(() => readFileSync(files.path("new.txt"))).toThrow("ENOENT");
    await host.approveToolCallGenerate({ runId: first.runId, toolCallId: "call-2" });
    expect(readFileSync(files.path("new.txt"), "utf8")).toBe("x\n");
  });
});
