/** Filehand's tools for LangChain: structured tools whose answers are content blocks, with the whole reply as artifact. */

import { ToolMessage } from "@langchain/core/messages";
import { DynamicStructuredTool, ToolInputParsingException } from "@langchain/core/tools";
import type { Session } from "../../options.ts";
import type { Reply, ReplyPart, ToolDefinition } from "../../contract/call.ts";
import { FilehandError } from "../../contract/problem.ts";
import { type FileToolOptions, offered, textOf, withSignal } from "./offered.ts";

export type { FileToolOptions } from "./offered.ts";

/** For `model.bindTools(tools)` and for agents. */
export const fileTools = (session: Session, options: FileToolOptions = {}): DynamicStructuredTool[] =>
  offered(session, options).map((definition) => new FileTool(definition));

/** The part of LangChain's configuration that a tool uses. */
interface Config {
  readonly signal?: AbortSignal;
  readonly toolCall?: { readonly id?: string };
}

type Answer = readonly [content: string | readonly Block[] | ToolMessage, artifact: Reply];

class FileTool extends DynamicStructuredTool {
  readonly #answer: (input: unknown, signal: AbortSignal | undefined, callId: string | undefined) => Promise<Answer>;

  constructor(definition: ToolDefinition) {
    const { name, description, inputSchema } = definition;
    const answer = async (input: unknown, signal?: AbortSignal, callId?: string): Promise<Answer> => {
      const reply = await definition.execute(input, withSignal(signal));
      return [reply.isError ? failed(name, reply, callId) : contentOf(reply), reply];
    };
    super({
      name,
      description,
      schema: { ...inputSchema },
      responseFormat: "content_and_artifact",
      func: (input: unknown, _manager, config?: Config) => answer(input, config?.signal, config?.toolCall?.id),
    });
    this.#answer = answer;
  }

  /** LangChain's own check says only that arguments are wrong; the dialect says what would be right. */
  override async call(...args: Parameters<DynamicStructuredTool["call"]>): ReturnType<DynamicStructuredTool["call"]> {
    try {
      return await super.call(...args);
    } catch (error) {
      if (!(error instanceof ToolInputParsingException)) throw error;
      const [given, config] = args as [unknown, Config | undefined]; // a tool call with arguments inside, or the arguments
      const call = isToolCall(given) ? given : undefined;
      const callId = call?.id ?? config?.toolCall?.id;
      const [content, artifact] = await this.#answer(call === undefined ? given : call.args, config?.signal, callId);
      if (callId === undefined || content instanceof ToolMessage) return content;
      // The dialect accepts more than the schema, such as a number that is sent as a string.
      return new ToolMessage({
        name: this.name,
        content: typeof content === "string" ? content : [...content],
        artifact,
        tool_call_id: callId,
      });
    }
  }
}

const isToolCall = (given: unknown): given is { readonly id?: string; readonly args: unknown } =>
  typeof given === "object" && given !== null && "type" in given && given.type === "tool_call" && "args" in given;

/** For a call of a model, a message with the status `error`; for a call of a program, an exception. */
function failed(name: string, reply: Reply, callId: string | undefined): ToolMessage {
  const { code, message } = reply.error ?? { code: "INTERNAL", message: textOf(reply) };
  if (callId === undefined) throw new FilehandError(code as FilehandError["code"], message); // dialects copy the code of the problem
  return new ToolMessage({ name, status: "error", content: textOf(reply), artifact: reply, tool_call_id: callId });
}

type Block =
  | { readonly type: "text"; readonly text: string }
  /** The form of an image that the packages of all providers accept in the answer of a tool. */
  | { readonly type: "image_url"; readonly image_url: { readonly url: string } };

const contentOf = (reply: Reply): string | readonly Block[] =>
  reply.content.every(({ type }) => type === "text") ? textOf(reply) : reply.content.map(blockOf);

const blockOf = (part: ReplyPart): Block =>
  part.type === "text" ? part : { type: "image_url", image_url: { url: `data:${part.mimeType};base64,${part.data}` } };
