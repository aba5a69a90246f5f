import { expect, test } from "vitest";
import { sdkErrorMessage } from "./server.ts";

for (const [message, told] of [
  ['Unknown message type: {"jsonrpc":"2.0","params":{"content":"SECRET"}}', "Unknown message type"],
  [
    'Received a response for an unknown message ID: {"result":"SECRET"}',
    "Received a response for an unknown message ID",
  ],
  ["Uncaught error in notification handler: ZodError: [SECRET]", "Uncaught error in notification handler"],
  ["Dropped inbound request 'SECRET': not servable", "Dropped inbound request"],
  [`Unexpected token 'S', "SECRET" is not valid JSON`, "Unexpected token"],
  ["Not Acceptable: Client must accept text/event-stream", "Not Acceptable: Client must accept text/event-stream"],
  ["Bad Request: Unsupported protocol version: SECRET", "Bad Request: Unsupported protocol version"],
  ["Session not found", "Session not found"],
  ['[{"path":["SECRET"]}]', "Error"],
  ["", "Error"],
] as const) {
  test(`of "${message}" only a sentence is shown`, () => expect(sdkErrorMessage(new Error(message))).toBe(told));
}

test("a message without an end is told in part", () => {
  expect(sdkErrorMessage(new Error("x".repeat(1e6))).length).toBeLessThan(200);
  expect(sdkErrorMessage("SECRET")).toBe("unknown");
  expect(sdkErrorMessage(Object.assign(new Error("SECRET"), { code: -1 }))).toBe("error -1");
});
