import { describe, expect, test } from "vitest";
import { mapTools, missingIn, type OfferedTool } from "./mapping.ts";

const tool = (name: string, properties: object, required: readonly string[] = []): OfferedTool => ({
  name,
  inputSchema: { type: "object", properties, required },
});
const text = { type: "string" };
const number = { type: "number" };

const serverFilesystem = mapTools([
  tool("read_file", { path: text, tail: number, head: number }),
  tool("read_text_file", { path: text, tail: number, head: number }),
  tool("write_file", { path: text, content: text }),
  tool("edit_file", {
    path: text,
    edits: { type: "array", items: { type: "object", properties: { oldText: text, newText: text } } },
    dryRun: { type: "boolean" },
  }),
]);

const desktopCommander = mapTools([
  tool("read_file", { path: text, isUrl: { type: "boolean" }, offset: number, length: number }),
  tool("write_file", { path: text, content: text, mode: text }),
  tool("edit_block", { file_path: text, old_string: text, new_string: text, expected_replacements: number }),
]);

const one = { oldText: "a", newText: "b", all: false };

describe("server-filesystem", () => {
  test("reads the lines before a range as well: it has no first line", () => {
    expect(serverFilesystem.read("/f", 10, 5)).toEqual({ tool: "read_text_file", input: { path: "/f", head: 14 } });
    expect(serverFilesystem.read("/f", undefined, undefined)).toEqual({
      tool: "read_text_file",
      input: { path: "/f" },
    });
  });
  test("edits in a list", () => {
    const input = { path: "/f", edits: [{ oldText: "a", newText: "b" }] };
    expect(serverFilesystem.edit("/f", [one], () => 1)).toEqual([{ tool: "edit_file", input }]);
  });
  test("replaces several places by as many edits", () => {
    const [call] = serverFilesystem.edit("/f", [{ ...one, all: true }], () => 3) ?? [];
    expect(call?.input["edits"]).toHaveLength(3);
  });
});

describe("DesktopCommander", () => {
  test("counts lines from 0", () => {
    expect(desktopCommander.read("/f", 10, 5)?.input).toEqual({ path: "/f", offset: 9, length: 5 });
  });
  test("is told how many places an edit has", () => {
    const [call] = desktopCommander.edit("/f", [{ ...one, all: true }], () => 3) ?? [];
    expect(call).toEqual({
      tool: "edit_block",
      input: { file_path: "/f", old_string: "a", new_string: "b", expected_replacements: 3 },
    });
  });
  test("makes several edits one by one", () => {
    expect(desktopCommander.edit("/f", [one, one], () => 1)).toHaveLength(2);
  });
});

test("a schema that refers to a definition is followed", () => {
  const items = { $ref: "#/$defs/Edit" };
  const schema = {
    properties: { path: text, edits: { type: "array", items } },
    $defs: { Edit: { properties: { old_string: text, new_string: text } } },
  };
  const mapped = mapTools([{ name: "edit", inputSchema: schema }]);
  expect(mapped.edit("/f", [one], () => 1)?.[0]?.input["edits"]).toEqual([{ old_string: "a", new_string: "b" }]);
});

test("tools without a known name are not used", () => {
  const mapped = mapTools([tool("search", { path: text }), { name: "read", inputSchema: null }]);
  expect(mapped.read("/f", undefined, undefined)).toBeUndefined();
  expect(mapped.edit("/f", [one], () => 1)).toBeUndefined();
});

test("a required parameter that no call gives is named", () => {
  const tools = [tool("read", { path: text, reason: text }, ["path", "reason"])];
  expect(missingIn(tools, { tool: "read", input: { path: "/f" } })).toEqual(["reason"]);
});
