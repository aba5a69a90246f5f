import { expect, test } from "vitest";
import { depthMax, idInPassing, parseMessage, requestFault, structureFault } from "./stdio-wire.ts";

const nested = (levels: number): string => `${'{"a":'.repeat(levels - 1)}{}${"}".repeat(levels - 1)}`;

for (const [text, parsed] of [
  ['{"jsonrpc":"2.0","id":1,"method":"ping"}', { message: { jsonrpc: "2.0", id: 1, method: "ping" } }],
  ['{"jsonrpc":"2.0","id":1,"result":{}}', { message: { jsonrpc: "2.0", id: 1, result: {} } }],
  ["{", { code: -32700, fault: "Parse error: not valid JSON", id: null }],
  ["[]", { code: -32600, fault: "Invalid request: a message is one JSON object", id: null }],
  ["null", { code: -32600, fault: "Invalid request: a message is one JSON object", id: null }],
  ['{"id":"x","method":"ping"}', { code: -32600, fault: 'Invalid request: "jsonrpc" must be "2.0"', id: "x" }],
  ['{"jsonrpc":"2.0","id":2}', { code: -32600, fault: "Invalid request: neither a method nor a result", id: 2 }],
  [
    '{"jsonrpc":"2.0","id":{},"METHOD":"x"}',
    { code: -32600, fault: "Invalid request: neither a method nor a result", id: null },
  ],
] as const) {
  test(`${text} is understood`, () => expect(parseMessage(text)).toEqual(parsed));
}

test("depth is limited, and a million levels are no stack overflow", () => {
  expect(structureFault(JSON.parse(nested(depthMax)) as object)).toBeUndefined();
  expect(structureFault(JSON.parse(nested(depthMax + 1)) as object)).toContain("levels deep");
  const deep = `{"jsonrpc":"2.0","id":7,"method":"m","params":${"[".repeat(1e6)}${"]".repeat(1e6)}}`;
  expect(parseMessage(deep)).toMatchObject({ code: -32600, id: 7 });
});

test("a message with more objects, lists or keys than are parsed is refused, with its id", () => {
  const fault =
    "Invalid request: the message has more than 70000 objects and lists or 10000 different keys, send it in parts";
  const keys = Array.from({ length: 10_001 }, (_, index) => `"k${index}":1`).join(",");
  for (const value of [`[${"[],".repeat(70_000)}1]`, `{${keys}}`]) {
    expect(parseMessage(`{"jsonrpc":"2.0","id":7,"method":"m","params":{"a":${value}}}`)).toEqual({
      code: -32600,
      fault,
      id: 7,
    });
    expect(parseMessage(`{"method":"m","params":{"a":${value}},"jsonrpc":"2.0","id":8}`)).toMatchObject({
      fault,
      id: 8,
    });
  }
});

test("a key that names the prototype is refused, and changes none", () => {
  const text = '{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[{"__proto__":{"polluted":true}}]}}';
  expect(parseMessage(text)).toMatchObject({ code: -32600, id: 1 });
  expect("polluted" in {}).toBe(false);
});

for (const [head, tail, id] of [
  ['{"jsonrpc":"2.0","id":12,"method"', "", 12],
  ['{"id":"a-1","jsonrpc"', "", "a-1"],
  ['{"method":"tools/call","params":{"id":5', '"},"jsonrpc":"2.0","id":3}', 3],
  ['{"method":"tools/call"', ',"id":"x"} ', "x"],
  ['{"method":"tools/call","params":{"id":5', "xxxx", null],
] as const) {
  test(`the id of ${head}…${tail} is ${id}`, () => expect(idInPassing(head, tail)).toBe(id));
}

for (const [what, message, code] of [
  ["an id that is null", { method: "x", id: null }, -32600],
  ["an id that is a fraction", { method: "x", id: 1.5 }, -32600],
  ["an id that no answer could repeat", { method: "x", id: "i".repeat(1_025) }, -32600],
  ["a key that no request has", { jsonrpc: "2.0", method: "x", id: 1, params: {}, more: 1 }, -32600],
  ["a result beside it", { method: "x", id: 1, result: {} }, -32600],
  ["a method that is a number", { method: 1, id: 1, result: {} }, -32600],
  ["params that are a list", { method: "x", id: 1, params: [] }, -32602],
  ["a _meta that is text", { method: "x", id: 1, params: { _meta: "y" } }, -32602],
  ["a token that is an object", { method: "x", id: 1, params: { _meta: { progressToken: {} } } }, -32602],
  ["a token that is a number", { method: "x", id: "a", params: { _meta: { progressToken: 3 } } }, undefined],
  ["nothing but a method", { method: "x", id: 0 }, undefined],
  ["no id, so no request", { method: "x", params: [] }, undefined],
] as const) {
  test(`a request with ${what}`, () => expect(requestFault(message)?.code).toBe(code));
}

for (const [what, text] of [
  ["as it is", '{"jsonrpc":"2.0","id":1,"method":"x","params":{"__proto__":{}}}'],
  ["in disguise", '{"jsonrpc":"2.0","id":1,"method":"x","params":{"\\u005f_proto__":{}}}'],
] as const) {
  test(`a forbidden name is found in a short message, ${what}`, () => {
    expect(parseMessage(text)).toMatchObject({ code: -32600, id: 1 });
  });
}
