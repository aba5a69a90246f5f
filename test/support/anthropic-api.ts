/** A server on this machine that plays the Messages API: it answers with a script and keeps what it was sent. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import Anthropic from "@anthropic-ai/sdk";
import type { BetaRunnableTool } from "@anthropic-ai/sdk/lib/tools/BetaRunnableTool";
import type { BetaToolResultBlockParam } from "@anthropic-ai/sdk/resources/beta";
import type { Seen } from "../suites/adapter.ts";

export interface SentRequest {
  readonly tools: readonly Record<string, unknown>[];
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
}

export interface Conversation {
  readonly requests: readonly SentRequest[];
  /** One per call, as the model gets to see them. */
  readonly answers: readonly Seen[];
}

export type ScriptedCalls = readonly (readonly [tool: string, input: unknown])[];

/** The model makes these calls, one after the other, and then says that it is done. */
export async function playMessagesApi(calls: ScriptedCalls): Promise<{
  readonly url: string;
  readonly requests: readonly SentRequest[];
  readonly close: () => Promise<void>;
}> {
  const requests: SentRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const index = requests.push(JSON.parse(Buffer.concat(chunks).toString("utf8")) as SentRequest) - 1;
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(messageFor(calls[index], index)));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // a server that listens on a port has one
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export async function converse(tools: readonly BetaRunnableTool[], calls: ScriptedCalls): Promise<Conversation> {
  const { url, requests, close } = await playMessagesApi(calls);
  try {
    const client = new Anthropic({ apiKey: "none", baseURL: url, maxRetries: 0 });
    await client.beta.messages.toolRunner({
      model: "a-model",
      max_tokens: 100,
      max_iterations: calls.length + 1,
      messages: [{ role: "user", content: "go" }],
      tools: [...tools],
    });
  } finally {
    await close();
  }
  return { requests, answers: requests.flatMap(({ messages }) => resultsIn(messages.at(-1)?.content)).map(seen) };
}

/** Each request brings the answers to the calls of the turn before. */
const resultsIn = (content: unknown): readonly BetaToolResultBlockParam[] =>
  Array.isArray(content) ? (content as readonly BetaToolResultBlockParam[]) : [];

function messageFor(call: readonly [string, unknown] | undefined, index: number): object {
  const content =
    call === undefined
      ? [{ type: "text", text: "done" }]
      : [{ type: "tool_use", id: `call-${index}`, name: call[0], input: call[1] }];
  return {
    id: `message-${index}`,
    type: "message",
    role: "assistant",
    model: "a-model",
    content,
    stop_reason: call === undefined ? "end_turn" : "tool_use",
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  };
}

function seen({ content = [], is_error }: BetaToolResultBlockParam): Seen {
  const blocks = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
  return {
    text: blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n"),
    images: blocks.flatMap((block) =>
      block.type === "image" && block.source.type === "base64"
        ? [{ data: block.source.data, mimeType: block.source.media_type }]
        : [],
    ),
    failed: is_error === true,
  };
}
