import { describe, expect, test } from "vitest";
import { createFilehand } from "../../filehand.ts";
import type { McpWorkspace } from "./mcp-workspace.ts";
import { giveBack, readCall, takeController } from "./tool-call.ts";

const definitions = createFilehand({ roots: [import.meta.dirname] })
  .session()
  .definitions();
const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "Read", arguments: { a: 1 } } };
const withMeta = (_meta: object) => ({ ...call, params: { ...call.params, _meta } });

describe("a call is read", () => {
  for (const [what, message] of [
    ["with an id that is a text", { ...call, id: "x" }],
    ["without arguments", { ...call, params: { name: "Read" } }],
    ["with a token for progress", withMeta({ progressToken: 7, mine: 1 })],
    ["of a task", withMeta({ "io.modelcontextprotocol/related-task": { taskId: "x" } })],
    ["with more than a call has", { ...call, params: { ...call.params, other: 1, task: { ttl: 1 } } }],
    ["with the answer to a question", { ...call, params: { ...call.params, requestState: "x", inputResponses: {} } }],
  ] as const) {
    test(what, () =>
      expect(readCall(message, { definitions, toolPrefix: "" })).toMatchObject({ id: message.id, name: "Read" }),
    );
  }
});

describe("a call is left to the SDK", () => {
  for (const [what, message] of [
    ["if it is of another method", { ...call, method: "tools/list" }],
    ["without an id", { ...call, id: undefined }],
    ["with half an id", { ...call, id: 1.5 }],
    ["with more than a message has", { ...call, result: {} }],
    ["of a tool that there is not", { ...call, params: { name: "Raed" } }],
    ["with a task that is none", { ...call, params: { ...call.params, task: "x" } }],
    ["with arguments that are a list", { ...call, params: { name: "Read", arguments: [] } }],
    ["with a token that is none", withMeta({ progressToken: {} })],
    ["of a task without a name", withMeta({ "io.modelcontextprotocol/related-task": {} })],
  ] as const) {
    test(what, () => expect(readCall(message, { definitions, toolPrefix: "" })).toBeUndefined());
  }
});

describe("a controller of a call that is over", () => {
  const workspace = { definitions, toolPrefix: "" } as unknown as McpWorkspace; // nothing else is used
  const isReused = (tool: string, prepare: (controller: AbortController) => void = () => undefined): boolean => {
    const controller = new AbortController();
    prepare(controller);
    giveBack(controller, tool, workspace);
    return takeController() === controller;
  };
  test("is used again after a read", () => expect(isReused("Read")).toBe(true));
  test("is not used again after a change", () => expect(isReused("Edit")).toBe(false));
  test("is not used again if it was aborted", () => expect(isReused("Read", (one) => one.abort())).toBe(false));
  test("is not used again while something listens to it", () =>
    expect(isReused("Read", ({ signal }) => signal.addEventListener("abort", () => undefined))).toBe(false));
});
