import { describe, expect, test } from "vitest";
import { limits } from "../contract/limits.ts";
import { createFraming, frameMessage } from "./client.ts";

const lists = Array.from({ length: limits.languageContainersMax }, () => []);
const keys = Object.fromEntries(Array.from({ length: limits.jsonKeysMax }, (_, at) => [`key${at}`, 1]));
const parts = `${limits.languageContainersMax} objects and lists or ${limits.jsonKeysMax} keys`;
const message = (value: unknown) => ({ is: "message", value });

describe("framing", () => {
  test("messages come out whole, however they are cut", () => {
    const bytes = Buffer.concat([frameMessage({ a: "ä😀" }), frameMessage([]), frameMessage({ b: "x".repeat(500) })]);
    for (const step of [1, 2, 7, 33, bytes.length]) {
      const framing = createFraming();
      const frames = [];
      for (let at = 0; at < bytes.length; at += step) frames.push(...framing.feed(bytes.subarray(at, at + step)));
      expect(frames).toEqual([message({ a: "ä😀" }), message([]), message({ b: "x".repeat(500) })]);
    }
  });

  test("other headers and other letter case are fine", () => {
    const text = "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\ncontent-length: 2\r\n\r\n{}";
    expect(createFraming().feed(Buffer.from(text))).toEqual([message({})]);
  });

  test.each([
    ["with the version first", { jsonrpc: "2.0", id: 7, result: lists }],
    ["with the id first", { id: 7, jsonrpc: "2.0", result: lists }],
  ])("an answer with too many parts, %s, fails its request alone", (_, answer) => {
    const framing = createFraming();
    const error = { code: -32_000, message: `it sent a message with more than ${parts}` };
    expect(framing.feed(frameMessage(answer))).toEqual([message({ id: 7, error })]);
    expect(framing.feed(frameMessage({ id: 8, result: 1 }))).toEqual([message({ id: 8, result: 1 })]);
  });

  test.each([
    ["no header", "Starting server...\n", "something that is no message"],
    ["no header before one", "Starting...\nContent-Length: 2\r\n\r\n{}", "something that is no message"],
    ["no length", "Content-Type: x\r\n\r\n", "a header without a length"],
    ["a negative length", "Content-Length: -1\r\n\r\n", "a header without a length"],
    ["no JSON", "Content-Length: 3\r\n\r\n{,}", "a message that is no JSON"],
    ["many lists", frameMessage({ method: "a", params: lists }).toString(), `a message with more than ${parts}`],
    ["many keys", frameMessage({ method: "a", params: keys }).toString(), `a message with more than ${parts}`],
    ["a huge body", "Content-Length: 999999999\r\n\r\n", "a message of 999999999 bytes"],
    ["a huge header", `Content-${"x".repeat(limits.languageHeaderBytesMax)}`, "a header that is too long"],
  ])("%s is a fault, and the end", (_, text, why) => {
    const framing = createFraming();
    expect(framing.feed(Buffer.from(text))).toEqual([{ is: "fault", why }]);
    expect(framing.feed(frameMessage({}))).toEqual([]);
  });
});
