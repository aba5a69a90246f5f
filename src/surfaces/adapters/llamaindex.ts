/**
 * Filehand's tools for LlamaIndex.TS. Its agents print the output of a tool as JSON without quotation marks: newlines become `\n`,
 * quoted words lose their quotes, an image is base64 text. `withFileAnswers(llm, tools)` puts the exact text and the images back before
 * the model gets the messages.
 */

import { createHash } from "node:crypto";
import type { JsonSchema, Reply } from "../../contract/call.ts";
import { FilehandError } from "../../contract/problem.ts";
import type { Session } from "../../options.ts";
import { type FileToolOptions, offered, textOf } from "./offered.ts";

export type { FileToolOptions } from "./offered.ts";

/** As `BaseToolWithCall` of LlamaIndex. It passes no abort signal to tools. */
export interface FileTool {
  metadata: { name: string; description: string; parameters: JsonSchema & Record<string, unknown> };
  call(input: unknown): Promise<string>;
}

/** An agent sends all earlier answers of its conversation with each request. */
const repliesMax = 1_000;
/** Characters of all replies together, images included. */
const charactersMax = 64 * 2 ** 20;

const repliesOf = new WeakMap<readonly FileTool[], Replies>();

export function fileTools(session: Session, options: FileToolOptions = {}): FileTool[] {
  const replies = createReplies();
  const tools = offered(session, options).map(
    (tool): FileTool => ({
      metadata: { name: tool.name, description: tool.description, parameters: { ...tool.inputSchema } },
      call: async (input) => {
        const reply = await tool.execute(input);
        const output = outputOf(reply);
        if (!reply.isError) {
          replies.remember(printedOutput(output), reply);
          return output;
        }
        const failure = new FilehandError((reply.error?.code ?? "INTERNAL") as FilehandError["code"], output); // dialects copy the code of the problem
        for (const printed of failuresPrinted(failure)) replies.remember(printed, reply);
        throw failure;
      },
    }),
  );
  repliesOf.set(tools, replies);
  return tools;
}

type Replies = ReturnType<typeof createReplies>;

/** Replies by the text that an agent of LlamaIndex makes of them. The oldest ones are dropped. */
function createReplies() {
  const kept = new Map<string, Reply>();
  let characters = 0;
  const forget = (printed: string): void => {
    const old = kept.get(printed);
    if (old !== undefined) characters -= charactersOf(old);
    kept.delete(printed);
  };
  return {
    remember(printed: string, reply: Reply): void {
      forget(printed);
      kept.set(printed, reply);
      characters += charactersOf(reply);
      for (const oldest of kept.keys()) {
        if (kept.size <= repliesMax && characters <= charactersMax) break;
        forget(oldest);
      }
    },
    find: (printed: string): Reply | undefined => kept.get(printed),
  };
}

const charactersOf = ({ content }: Reply): number =>
  content.reduce((sum, part) => sum + (part.type === "text" ? part.text.length : part.data.length), 0);

/** The text; an image is named by its digest, so that its place can be found again. */
const outputOf = ({ content }: Reply): string =>
  content.map((part) => (part.type === "text" ? part.text : imageName(part.mimeType, part.data))).join("\n");

const imageName = (mimeType: string, data: string): string =>
  `[${mimeType} ${createHash("sha256").update(data).digest("hex").slice(0, 12)}]`;

/** What LlamaIndex makes of an output: `stringifyJSONToMessageContent` of `@llamaindex/core`. */
const printedOutput = (output: string): string => JSON.stringify(output, null, 2).replace(/"([^"]*)"/g, "$1");

/** What LlamaIndex makes of an exception: alone, or once more as an error of its workflow. */
const failuresPrinted = ({ name, message }: Error): readonly string[] => {
  const printed = `Error(${name}): ${message}`;
  return [printed, `Error: Error: ${printed}`, printedOutput(printed)];
};

/** The parts of LlamaIndex's messages that are read or written here. */
interface Message {
  readonly role: string;
  readonly content: unknown;
  readonly options?: { readonly toolResult?: { readonly result?: unknown } };
}

/** The same language model; answers of these tools reach it as they are, images in a message after the tool results. */
export function withFileAnswers<Llm extends object>(llm: Llm, tools: readonly FileTool[]): Llm {
  const replies = repliesOf.get(tools);
  if (replies === undefined) {
    throw new FilehandError(
      "INVALID_PARAM",
      "Cannot restore the answers of these tools: give the array that fileTools() made",
    );
  }
  return new Proxy(llm, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key, target);
      if (typeof member !== "function") return member;
      const method = member as (...args: readonly unknown[]) => unknown;
      if (key !== "chat" && key !== "exec" && key !== "streamExec") return method.bind(target);
      return (params: { readonly messages?: readonly Message[] }, ...rest: readonly unknown[]) => {
        const { messages } = params;
        const restored = Array.isArray(messages) ? { ...params, messages: restoreAnswers(messages, replies) } : params;
        return method.call(target, restored, ...rest);
      };
    },
  });
}

function restoreAnswers(messages: readonly Message[], replies: Replies): readonly Message[] {
  const restored: Message[] = [];
  let images: Message[] = [];
  for (const message of messages) {
    const toolResult = message.options?.toolResult;
    // The results of one turn stay together: providers refuse another message between them.
    if (toolResult === undefined) {
      restored.push(...images);
      images = [];
    }
    const reply = typeof toolResult?.result === "string" ? replies.find(toolResult.result) : undefined;
    if (reply === undefined) {
      restored.push(message);
      continue;
    }
    const result = reply.isError ? textOf(reply) : outputOf(reply);
    restored.push({
      ...message,
      content: result,
      options: { ...message.options, toolResult: { ...toolResult, result } },
    });
    images.push(...imagesOf(reply));
  }
  return [...restored, ...images];
}

const imagesOf = ({ content }: Reply): readonly Message[] =>
  content.flatMap((part) => {
    if (part.type === "text") return [];
    const url = `data:${part.mimeType};base64,${part.data}`;
    const parts = [
      { type: "text", text: imageName(part.mimeType, part.data) },
      { type: "image_url", image_url: { url } },
    ];
    return [{ role: "user", content: parts }];
  });
