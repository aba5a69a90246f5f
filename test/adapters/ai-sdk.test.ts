/** The AI SDK's own loop, with its own mock model, over our tools. */

import { readFileSync } from "node:fs";
import { asSchema, generateText, isStepCount, type ModelMessage, streamText } from "ai";
import { convertArrayToReadableStream, MockLanguageModelV4 } from "ai/test";
import { describe, expect, test } from "vitest";
import { fileTools, toolApproval } from "../../src/surfaces/adapters/ai-sdk.ts";
import { adapterFiles, describeAdapter, type Seen, sessionIn } from "../suites/adapter.ts";

type Result = Awaited<ReturnType<MockLanguageModelV4["doGenerate"]>>;
type Call = readonly [tool: string, input: unknown];

const usage: Result["usage"] = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

/** A model that makes these calls, one after the other, and then says that it is done. */
const scripted = (...calls: readonly Call[]): MockLanguageModelV4 =>
  new MockLanguageModelV4({
    doGenerate: [
      ...calls.map(
        ([toolName, input], index): Result => ({
          content: [{ type: "tool-call", toolCallId: `call-${index}`, toolName, input: JSON.stringify(input) }],
          finishReason: { unified: "tool-calls", raw: undefined },
          usage,
          warnings: [],
        }),
      ),
      {
        content: [{ type: "text", text: "done" }],
        finishReason: { unified: "stop", raw: undefined },
        usage,
        warnings: [],
      },
    ],
  });

/** What the model was sent as the answer to its last call. */
function lastAnswer(model: MockLanguageModelV4): Seen {
  const message = model.doGenerateCalls.at(-1)?.prompt.at(-1);
  const part = message?.role === "tool" ? message.content[0] : undefined;
  if (part?.type !== "tool-result") throw new Error("the model got no result");
  const { output } = part;
  if (output.type === "text" || output.type === "error-text") {
    return { text: output.value, images: [], failed: output.type === "error-text" };
  }
  if (output.type !== "content") throw new Error(`a result of the type ${output.type}`);
  return {
    text: output.value.flatMap((one) => (one.type === "text" ? [one.text] : [])).join("\n"),
    images: output.value.flatMap((one) =>
      one.type === "file" && one.data.type === "data" ? [{ data: String(one.data.data), mimeType: one.mediaType }] : [],
    ),
    failed: false,
  };
}

describeAdapter("AI SDK", {
  driver: (session) => {
    const tools = fileTools(session);
    return {
      list: async () =>
        Promise.all(
          Object.entries(tools).map(async ([name, tool]) => {
            const { properties } = await asSchema(tool.inputSchema).jsonSchema;
            return { name, description: String(tool.description), parameters: Object.keys(properties ?? {}) };
          }),
        ),
      call: async (tool, input) => {
        const model = scripted([tool, input]);
        await generateText({ model, tools, prompt: "go", stopWhen: isStepCount(3) });
        return lastAnswer(model);
      },
      // The SDK does not send a cancelled answer to the model, so the tool is asked by itself.
      cancellable: async (tool, input, abortSignal) => {
        const reply = await tools[tool]?.execute?.(input, { toolCallId: "c", messages: [], abortSignal, context: {} });
        if (reply === undefined || !("isError" in reply)) throw new Error("no reply");
        const [part] = reply.content;
        return { text: part?.type === "text" ? part.text : "", images: [], failed: reply.isError };
      },
    };
  },
});

describe("the SDK's loop", () => {
  test("reads, edits and answers", async () => {
    const files = adapterFiles();
    const model = scripted(
      ["Read", { file_path: "notes.txt" }],
      ["Edit", { file_path: "notes.txt", old_string: "two", new_string: "2" }],
    );
    const { text, steps } = await generateText({
      model,
      tools: fileTools(sessionIn(files)),
      prompt: "go",
      stopWhen: isStepCount(5),
    });
    expect(text).toBe("done");
    expect(steps).toHaveLength(3);
    expect(readFileSync(files.path("notes.txt"), "utf8")).toBe("one\n2\n");
    // Programs get the whole reply, with what is meant for them.
    const [result] = steps[0]?.toolResults ?? [];
    expect(result?.output).toMatchObject({ isError: false, structured: { type: "text", file: { totalLines: 2 } } });
  });

  test("streams", async () => {
    const model = new MockLanguageModelV4({
      doStream: {
        stream: convertArrayToReadableStream([
          { type: "stream-start" as const, warnings: [] },
          { type: "tool-call" as const, toolCallId: "c", toolName: "Read", input: '{"file_path":"notes.txt"}' },
          { type: "finish" as const, finishReason: { unified: "tool-calls" as const, raw: undefined }, usage },
        ]),
      },
    });
    const { toolResults } = streamText({ model, tools: fileTools(sessionIn(adapterFiles())), prompt: "go" });
    expect((await toolResults)[0]?.output).toMatchObject({ isError: false });
  });

  test("waits for an approval of what changes files, and goes on once it is there", async () => {
    const files = adapterFiles();
    const session = sessionIn(files);
    const options = {
      tools: fileTools(session),
      toolApproval: toolApproval(session, "changes"),
      stopWhen: isStepCount(3),
    };
    const prompt: ModelMessage[] = [{ role: "user", content: "go" }];
    const first = await generateText({
      ...options,
      model: scripted(["Read", { file_path: "notes.txt" }], ["Write", { file_path: "new.txt", content: "x\n" }]),
      messages: prompt,
    });
    expect(() => readFileSync(files.path("new.txt"))).toThrow("ENOENT");
    const request = first.content.find(({ type }) => type === "tool-approval-request");
    if (request?.type !== "tool-approval-request") throw new Error("nobody was asked");

    await generateText({
      ...options,
      model: scripted(),
      messages: [
        ...prompt,
        ...first.responseMessages,
        {
          role: "tool",
          content: [{ type: "tool-approval-response", approvalId: request.approvalId, approved: true }],
        },
      ],
    });
    expect(readFileSync(files.path("new.txt"), "utf8")).toBe("x\n");
  });
});

test("only some tools", () => {
  const session = sessionIn(adapterFiles());
  expect(Object.keys(fileTools(session, { readOnly: true }))).toEqual(["Read", "Outline", "Grep", "Glob", "LS"]);
  expect(Object.keys(fileTools(session, { only: ["Edit", "Read"] }))).toEqual(["Read", "Edit"]);
  expect(() => fileTools(session, { only: ["Bash"] })).toThrow('Cannot offer the tool "Bash"');
});
