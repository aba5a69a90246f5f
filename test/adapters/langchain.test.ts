/** LangChain's own tool classes and messages over our tools. */

import { readFileSync } from "node:fs";
import { ToolMessage } from "@langchain/core/messages";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import { describe, expect, test } from "vitest";
import { fileTools } from "../../src/surfaces/adapters/langchain.ts";
import { adapterFiles, describeAdapter, type Seen, sessionIn } from "../suites/adapter.ts";

type Tools = ReturnType<typeof fileTools>;

async function invoke(tools: Tools, name: string, args: unknown, signal?: AbortSignal): Promise<ToolMessage> {
  const tool = tools.find((one) => one.name === name);
  const call = { type: "tool_call" as const, id: "call-1", name, args: args as Record<string, unknown> };
  const message: unknown = await tool?.invoke(call, signal === undefined ? {} : { signal });
  if (!ToolMessage.isInstance(message)) throw new Error("a call is answered with a message");
  expect(message.tool_call_id).toBe("call-1");
  return message;
}

const seen = (message: ToolMessage): Seen => ({
  text: message.text,
  images: message.contentBlocks.flatMap((block) =>
    block.type === "image" ? [{ data: String(block.data), mimeType: String(block.mimeType) }] : [],
  ),
  failed: message.status === "error",
});

describeAdapter("LangChain", {
  driver: (session) => {
    const tools = fileTools(session);
    return {
      list: async () =>
        tools.map((tool) => {
          const { name, description, parameters } = convertToOpenAITool(tool).function;
          const { properties } = parameters as { properties?: object };
          return { name, description: String(description), parameters: Object.keys(properties ?? {}) };
        }),
      call: async (tool, input) => seen(await invoke(tools, tool, input)),
      cancellable: async (tool, input, signal) => seen(await invoke(tools, tool, input, signal)),
    };
  },
});

describe("as a program calls them", () => {
  test("the answer is text, and a failure is thrown with its code", async () => {
    const [read] = fileTools(sessionIn(adapterFiles()), { only: ["Read"] });
    expect(await read?.invoke({ file_path: "notes.txt" })).toBe("1\tone\n2\ttwo");
    await expect(read?.invoke({ file_path: "none.txt" })).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(read?.invoke({ file: "none.txt" })).rejects.toMatchObject({ code: "INVALID_PARAM" });
  });

  test("the whole reply is the artifact", async () => {
    const message = await invoke(fileTools(sessionIn(adapterFiles())), "Read", { file_path: "notes.txt" });
    expect(message.artifact).toMatchObject({ isError: false, structured: { file: { totalLines: 2 } } });
  });

  test("a signal that was aborted before the call ends it", async () => {
    const files = adapterFiles();
    const [write] = fileTools(sessionIn(files), { only: ["Write"] });
    const signal = AbortSignal.abort();
    await expect(write?.invoke({ file_path: "new.txt", content: "" }, { signal })).rejects.toThrow();
    expect(() => readFileSync(files.path("new.txt"))).toThrow("ENOENT");
  });
});
