/** Google's own client with automatic function calling, and a server on this machine that plays its API. */

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import {
  type FileFunctionDeclaration,
  type FileFunctionResponse,
  type FileFunctions,
  fileFunctions,
} from "../../src/surfaces/adapters/google-genai.ts";
import { adapterFiles, describeAdapter, type Seen, sessionIn } from "../suites/adapter.ts";
import { loadHost, startApi } from "./hosts.ts";

interface Client {
  readonly models: { generateContent(request: object): Promise<{ readonly text?: string }> };
}
const { GoogleGenAI } = await loadHost<{ GoogleGenAI: new (options: object) => Client }>(
  "@google/genai/dist/node/index.mjs",
);

/** A request as the API gets it. */
interface Asked {
  readonly contents: readonly { readonly role: string; readonly parts: readonly Partial<FileFunctionResponse>[] }[];
  readonly tools: readonly { readonly functionDeclarations: readonly FileFunctionDeclaration[] }[];
}

type Call = readonly [tool: string, input: unknown];

/** The model makes the calls of each turn together, one turn after the other, and then says that it is done. */
async function converse(functions: FileFunctions, turns: readonly (readonly Call[])[]): Promise<readonly Asked[]> {
  const asked: Asked[] = [];
  const baseUrl = await startApi((body, res) => {
    const turn = turns[asked.push(JSON.parse(body) as Asked) - 1];
    const calls = turn?.map(([name, args], index) => ({ functionCall: { id: `call-${index}`, name, args } }));
    const content = { role: "model", parts: calls ?? [{ text: "done" }] };
    res.setHeader("content-type", "application/json").end(JSON.stringify({ candidates: [{ content }] }));
  });
  const client = new GoogleGenAI({ apiKey: "none", httpOptions: { baseUrl } });
  const config = { tools: [functions] };
  const { text } = await client.models.generateContent({ model: "gemini-2.5-pro", contents: "go", config });
  expect(text).toBe("done");
  return asked;
}

function seen(part: Partial<FileFunctionResponse> | undefined): Seen {
  if (part?.functionResponse === undefined) throw new Error("the model got no result");
  const { response, parts = [] } = part.functionResponse;
  return {
    text: String(response["output"] ?? response["error"]),
    images: parts.map(({ inlineData }) => inlineData),
    failed: "error" in response,
  };
}

describeAdapter("Google Gen AI", {
  driver: (session) => {
    const functions = fileFunctions(session);
    return {
      list: async () => {
        const [asked] = await converse(functions, []);
        return (asked?.tools[0]?.functionDeclarations ?? []).map(({ name, description, parametersJsonSchema }) => ({
          name,
          description,
          parameters: Object.keys(parametersJsonSchema.properties ?? {}),
        }));
      },
      call: async (tool, input) => {
        const asked = await converse(functions, [[[tool, input]]]);
        return seen(asked.at(-1)?.contents.at(-1)?.parts[0]);
      },
      // The client passes no signal to tools, so a program that cancels makes the calls itself.
      cancellable: async (name, input, signal) => {
        const args = input as Record<string, unknown>;
        const [answer] = await functions.callTool([{ name, args }], { signal });
        return seen(answer);
      },
    };
  },
});

describe("function calls", () => {
  test("of one turn run in order, each answer with the id of its call", async () => {
    const files = adapterFiles();
    const asked = await converse(fileFunctions(sessionIn(files)), [
      [
        ["Read", { file_path: "notes.txt" }],
        ["Edit", { file_path: "notes.txt", old_string: "two", new_string: "2" }],
      ],
    ]);
    const { role, parts = [] } = asked.at(-1)?.contents.at(-1) ?? {};
    expect(role).toBe("user");
    expect(parts.map(({ functionResponse }) => [functionResponse?.id, functionResponse?.name])).toEqual([
      ["call-0", "Read"],
      ["call-1", "Edit"],
    ]);
    expect(readFileSync(files.path("notes.txt"), "utf8")).toBe("one\n2\n");
  });

  test("of other tools are left to them", async () => {
    const functions = fileFunctions(sessionIn(adapterFiles()), { only: ["Read"] });
    expect(functions.functionDeclarations.map(({ name }) => name)).toEqual(["Read"]);
    expect(await functions.callTool([{ name: "weather" }, { name: "Write", args: {} }, {}])).toEqual([]);
  });
});
