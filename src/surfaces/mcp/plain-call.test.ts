import type { CallToolResult } from "@modelcontextprotocol/server";
import { describe, expect, test } from "vitest";
import { metaNames } from "./names.ts";
import { envelopeOf, isSameEnvelope, legacyAnswer, modernAnswers, plainCall } from "./tool-call.ts";

const tools = new Set(["Read"]);
const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "Read", arguments: { a: 1 } } };

describe("a plain call", () => {
  for (const [what, message] of [
    ["with an id that is a text", { ...call, id: "x" }],
    ["without arguments", { ...call, params: { name: "Read" } }],
    ["with a token for progress", { ...call, params: { ...call.params, _meta: { progressToken: 7, mine: 1 } } }],
  ] as const) {
    test(`is one ${what}`, () => expect(plainCall(message, tools)).toMatchObject({ id: message.id, name: "Read" }));
  }

  for (const [what, message] of [
    ["of another method", { ...call, method: "tools/list" }],
    ["without an id", { ...call, id: undefined }],
    ["with half an id", { ...call, id: 1.5 }],
    ["with more than a message has", { ...call, result: {} }],
    ["of a tool that nobody knows", { ...call, params: { name: "Raed" } }],
    ["with more than a name and arguments", { ...call, params: { ...call.params, requestState: "x" } }],
    ["with arguments that are a list", { ...call, params: { name: "Read", arguments: [] } }],
    ["with a token that is none", { ...call, params: { ...call.params, _meta: { progressToken: {} } } }],
    [
      "with what the protocol reserves",
      { ...call, params: { ...call.params, _meta: { "io.modelcontextprotocol/x": 1 } } },
    ],
  ] as const) {
    test(`is none ${what}`, () => expect(plainCall(message, tools)).toBeUndefined());
  }
});

test("envelopes are the same if the SDK would see no difference, whatever else is in `_meta`", () => {
  const [version, info] = [metaNames.protocolVersion, metaNames.clientInfo];
  const one = { [version]: "1", [info]: { name: "a", more: { deep: 1 } }, own: 1 };
  for (const [other, isSame] of [
    [{ [info]: { more: { deep: 1 }, name: "a" }, [version]: "1", own: 2 }, true],
    [{ ...one, [version]: "2" }, false],
    [{ ...one, [info]: { name: "a", more: { deep: 2 } } }, false],
    [{ ...one, [info]: { name: "a" } }, false],
    [{ ...one, [info]: { name: "a", more: { deep: 1 }, most: 1 } }, false],
    [{ [version]: "1" }, false],
    [undefined, false],
  ] as const) {
    expect([isSameEnvelope(one, other), isSameEnvelope(other, one)]).toEqual([isSame, isSame]);
    if (!isSame) expect(envelopeOf(one)).not.toBe(envelopeOf(other));
  }
  expect(isSameEnvelope(undefined, undefined)).toBe(true);
});

describe("an answer", () => {
  const content: CallToolResult["content"] = [{ type: "text", text: 'a "→"\n\u2028' }];
  const server = { name: 'a "b"', version: "1" };
  const results: readonly CallToolResult[] = [
    { content },
    { content, isError: true, _meta: { [metaNames.code]: "NOT_FOUND" } },
    { content, structuredContent: { a: 1 } },
  ];
  for (const result of results) {
    test(`of ${Object.keys(result).join(", ")} is the same however it is put together`, () => {
      const _meta = { ...result._meta, [metaNames.serverInfo]: server };
      expect(JSON.parse(modernAnswers(server)('i"d', result))).toEqual({
        jsonrpc: "2.0",
        id: 'i"d',
        result: { ...result, resultType: "complete", _meta },
      });
      expect(JSON.parse(legacyAnswer(1, result))).toEqual({ jsonrpc: "2.0", id: 1, result });
    });
  }
});
