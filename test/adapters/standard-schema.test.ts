/** The tools with Standard Schema inputs, held against the standard's own types. */

import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import { describe, expect, test } from "vitest";
import { type FileTool, fileTools } from "../../src/surfaces/adapters/standard-schema.ts";
import { createFilehand } from "../../src/index.ts";
import { dialectNames } from "../../src/dialects/index.ts";
import { adapterFiles, describeAdapter, type Seen, sessionIn } from "../suites/adapter.ts";

/** A host that knows the standard and nothing of Filehand: it checks the input, and calls the tool if it is right. */
async function host(tool: FileTool | undefined, input: unknown, signal?: AbortSignal): Promise<Seen> {
  if (tool === undefined) throw new Error("no such tool");
  const schema: StandardSchemaV1 = tool.inputSchema;
  const checked = await schema["~standard"].validate(input);
  if (checked.issues !== undefined) {
    return { text: checked.issues.map(({ message }) => message).join("; "), images: [], failed: true };
  }
  const reply = await tool.execute(checked.value, signal === undefined ? {} : { signal });
  return {
    text: reply.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n"),
    images: reply.content
      .flatMap((part) => (part.type === "image" ? [part] : []))
      .map(({ data, mimeType }) => ({ data, mimeType })),
    failed: reply.isError,
  };
}

const jsonSchemaOf = (schema: StandardJSONSchemaV1, target: string): Record<string, unknown> =>
  schema["~standard"].jsonSchema.input({ target });

describeAdapter("Standard Schema", {
  driver: (session) => {
    const tools = fileTools(session);
    const named = (name: string) => tools.find((tool) => tool.name === name);
    return {
      list: async () =>
        tools.map(({ name, description, inputSchema }) => {
          const { properties = {} } = jsonSchemaOf(inputSchema, "draft-2020-12");
          return { name, description, parameters: Object.keys(properties as object) };
        }),
      call: (tool, input) => host(named(tool), input),
      cancellable: (tool, input, signal) => host(named(tool), input, signal),
    };
  },
});

describe("a schema", () => {
  const [read] = fileTools(sessionIn(adapterFiles()), { only: ["Read"] });
  const schema = read?.inputSchema;
  if (schema === undefined) throw new Error("there is a Read");

  test("names every argument that is wrong", () => {
    expect(schema["~standard"].validate({ file_path: 7, limit: 0, color: "red" })).toEqual({
      issues: [
        { message: expect.stringContaining('"file_path" must be'), path: ["file_path"] },
        { message: expect.stringContaining('"limit" must be'), path: ["limit"] },
        { message: expect.stringContaining('"color" is not a parameter'), path: ["color"] },
      ],
    });
  });

  test("lets right ones through as they are", () => {
    const value = { file_path: "notes.txt", limit: 1 };
    expect(schema["~standard"].validate(value)).toEqual({ value });
  });

  test("is there as JSON Schema of two drafts, and says so of others", () => {
    expect(jsonSchemaOf(schema, "draft-2020-12")).toMatchObject({
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      required: ["file_path"],
    });
    expect(jsonSchemaOf(schema, "draft-07")).toMatchObject({ $schema: "http://json-schema.org/draft-07/schema#" });
    expect(() => jsonSchemaOf(schema, "openapi-3.0")).toThrow('Cannot make a schema for "openapi-3.0"');
  });
});

for (const dialect of dialectNames) {
  test(`every tool of ${dialect} has one, and none takes an empty call for a right one but those that may`, () => {
    const session = createFilehand({ roots: [adapterFiles().top] }).session({ dialect });
    for (const { name, inputSchema } of fileTools(session)) {
      const { required = [] } = jsonSchemaOf(inputSchema, "draft-07") as { required?: string[] };
      expect("issues" in Object(inputSchema["~standard"].validate({})), name).toBe(required.length > 0);
    }
  });
}
