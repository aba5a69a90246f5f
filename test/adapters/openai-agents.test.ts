/** OpenAI Agents' own runner, with a model that we write, over our tools and our patch editor. */

import { readFileSync } from "node:fs";
import {
  Agent,
  applyPatchTool,
  type Model,
  type ModelRequest,
  type ModelResponse,
  RunContext,
  Runner,
  Usage,
} from "@openai/agents";
import { describe, expect, test } from "vitest";
import { fileTools, patchEditor } from "../../src/surfaces/adapters/openai-agents.ts";
import { adapterFiles, describeAdapter, type Seen, sessionIn } from "../suites/adapter.ts";

type Output = ModelResponse["output"];

/** A model that answers with these, one after the other, and then says that it is done. */
class Scripted implements Model {
  readonly requests: ModelRequest[] = [];
  readonly #outputs: Output[];

  constructor(...outputs: Output[]) {
    this.#outputs = outputs;
  }

  async getResponse(request: ModelRequest): Promise<ModelResponse> {
    this.requests.push(request);
    return { usage: new Usage(), output: this.#outputs.shift() ?? done };
  }

  getStreamedResponse(): never {
    throw new Error("nobody streams here");
  }
}

const done: Output = [
  { type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: "done" }] },
];

/** The runner takes no id twice. */
let calls = 0;
const callId = (): string => `call-${(calls += 1)}`;

const calling = (name: string, input: unknown): Output => [
  { type: "function_call", callId: callId(), name, status: "completed", arguments: JSON.stringify(input) },
];

const patching = (operation: Extract<Output[number], { type: "apply_patch_call" }>["operation"]): Output => [
  { type: "apply_patch_call", callId: callId(), status: "completed", operation },
];

type Tools = ConstructorParameters<typeof Agent>[0]["tools"];

async function runWith(tools: NonNullable<Tools>, model: Scripted, signal?: AbortSignal) {
  const agent = new Agent({ name: "tester", model, tools });
  return new Runner({ tracingDisabled: true }).run(agent, "go", signal === undefined ? {} : { signal });
}

/** What the model was sent as the answer to its last call. */
function lastAnswer({ requests }: Scripted): Seen {
  const input = requests.at(-1)?.input;
  const item = Array.isArray(input) ? input.at(-1) : undefined;
  if (item?.type !== "function_call_result") throw new Error("the model got no result");
  const { output } = item;
  const parts = Array.isArray(output) ? output : [output];
  return {
    text: parts.flatMap((part) => textOf(part)).join("\n"),
    images: parts.flatMap((part) => imageOf(part)),
    failed: false,
  };
}

const textOf = (part: unknown): readonly string[] => {
  if (typeof part === "string") return [part];
  return typeof part === "object" && part !== null && "text" in part ? [String(part.text)] : [];
};

function imageOf(part: unknown): Seen["images"] {
  if (typeof part !== "object" || part === null || !("image" in part)) return [];
  const [, mimeType = "", data = ""] = /^data:([^;]+);base64,(.*)$/s.exec(String(part.image)) ?? [];
  return [{ data, mimeType }];
}

describeAdapter("OpenAI Agents", {
  failuresAreWords: true,
  driver: (session) => {
    const tools = fileTools(session);
    return {
      list: async () => {
        const model = new Scripted();
        await runWith(tools, model);
        return (model.requests[0]?.tools ?? []).flatMap((tool) =>
          tool.type === "function"
            ? [{ name: tool.name, description: tool.description, parameters: Object.keys(tool.parameters.properties) }]
            : [],
        );
      },
      call: async (tool, input) => {
        const model = new Scripted(calling(tool, input));
        await runWith(tools, model);
        return lastAnswer(model);
      },
      // The runner does not send a cancelled answer to the model, so the tool is asked by itself.
      cancellable: async (name, input, signal) => {
        const tool = tools.find((one) => one.name === name);
        const text = await tool?.invoke(new RunContext(), JSON.stringify(input), { signal });
        return { text: typeof text === "string" ? text : "", images: [], failed: false };
      },
    };
  },
});

describe("the runner", () => {
  test("reads, edits and answers", async () => {
    const files = adapterFiles();
    const edit = { file_path: "notes.txt", old_string: "two", new_string: "2" };
    const model = new Scripted(calling("Read", { file_path: "notes.txt" }), calling("Edit", edit));
    const { finalOutput } = await runWith(fileTools(sessionIn(files)), model);
    expect(finalOutput).toBe("done");
    expect(readFileSync(files.path("notes.txt"), "utf8")).toBe("one\n2\n");
  });

  test("stops for an approval of what changes files, and goes on once it is there", async () => {
    const files = adapterFiles();
    const tools = fileTools(sessionIn(files), { needsApproval: "changes" });
    const write = { file_path: "new.txt", content: "x\n" };
    const model = new Scripted(calling("Read", { file_path: "notes.txt" }), calling("Write", write));
    const agent = new Agent({ name: "tester", model, tools });
    const runner = new Runner({ tracingDisabled: true });
    const { interruptions, state } = await runner.run(agent, "go");
    expect(interruptions.map(({ name }) => name)).toEqual(["Write"]);
    expect(() => readFileSync(files.path("new.txt"))).toThrow("ENOENT");

    for (const interruption of interruptions) state.approve(interruption);
    expect((await runner.run(agent, state)).finalOutput).toBe("done");
    expect(readFileSync(files.path("new.txt"), "utf8")).toBe("x\n");
  });
});

describe("the patch editor", () => {
  const patched = async (files = adapterFiles(), ...outputs: Output[]) => {
    const session = sessionIn(files);
    const model = new Scripted(...outputs);
    await runWith([...fileTools(session), applyPatchTool({ editor: patchEditor(session) })], model);
    const input = model.requests.at(-1)?.input;
    const item = Array.isArray(input) ? input.at(-1) : undefined;
    if (item?.type !== "apply_patch_call_output") throw new Error("the model got no result");
    return { status: item.status, output: String(item.output) };
  };

  test("creates a file", async () => {
    const files = adapterFiles();
    const { status } = await patched(files, patching({ type: "create_file", path: "src.txt", diff: "+a\n+b\n" }));
    expect(status).toBe("completed");
    expect(readFileSync(files.path("src.txt"), "utf8")).toBe("a\nb\n");
  });

  test("updates and moves a file that was read", async () => {
    const files = adapterFiles();
    const update = {
      type: "update_file",
      path: "notes.txt",
      diff: "@@\n one\n-two\n+2\n",
      moveTo: "moved.txt",
    } as const;
    const { status } = await patched(files, calling("Read", { file_path: "notes.txt" }), patching(update));
    expect(status).toBe("completed");
    expect(readFileSync(files.path("moved.txt"), "utf8")).toBe("one\n2\n");
    expect(() => readFileSync(files.path("notes.txt"))).toThrow("ENOENT");
  });

  test("deletes a file that was read", async () => {
    const files = adapterFiles();
    const remove = patching({ type: "delete_file", path: "notes.txt" });
    expect(await patched(files, calling("Read", { file_path: "notes.txt" }), remove)).toMatchObject({
      status: "completed",
    });
    expect(() => readFileSync(files.path("notes.txt"))).toThrow("ENOENT");
  });

  for (const [what, operation, says] of [
    ["a file that was not read", { type: "delete_file", path: "notes.txt" }, "read"],
    ["one that is there already", { type: "create_file", path: "notes.txt", diff: "+x" }, "notes.txt"],
    ["one that a rule denies", { type: "update_file", path: "private/diary.txt", diff: "@@\n-dear\n+x" }, "the rule"],
    ["one outside", { type: "create_file", path: "../out.txt", diff: "+x" }, "outside"],
    ["a diff that does not fit", { type: "update_file", path: "none.txt", diff: "@@\n-x\n+y" }, "does not exist"],
    [
      "a diff with another operation inside",
      { type: "create_file", path: "a.txt", diff: "+x\n*** Delete File: notes.txt" },
      "lines of other operations",
    ],
    [
      "a path with another operation inside",
      { type: "delete_file", path: "a.txt\n*** Add File: b.txt\n+x" },
      "lines of other operations",
    ],
  ] as const) {
    test(`refuses ${what}`, async () => {
      const files = adapterFiles();
      const { status, output } = await patched(files, patching(operation));
      expect({ status, output }).toEqual({ status: "failed", output: expect.stringContaining(says) });
      expect(readFileSync(files.path("notes.txt"), "utf8")).toBe("one\ntwo\n");
      expect(() => readFileSync(files.path("b.txt"))).toThrow("ENOENT");
    });
  }
});
