/** Filehand's tools for `@google/genai`: function declarations, and a callable tool for automatic function calling. */

import type { JsonSchema, Reply, ReplyPart } from "../../contract/call.ts";
import type { CallOptions, Session } from "../../options.ts";
import { type FileToolOptions, offered, textOf } from "./offered.ts";

export type { FileToolOptions } from "./offered.ts";

/** As `FunctionDeclaration` of the SDK. */
export interface FileFunctionDeclaration {
  name: string;
  description: string;
  parametersJsonSchema: JsonSchema;
}

/** The part of the SDK's `FunctionCall` that is used. */
export interface FileFunctionCall {
  id?: string;
  name?: string;
  args?: Record<string, unknown>;
}

/** A `Part` of the SDK with the answer to one call. Images are parts of the function response. */
export interface FileFunctionResponse {
  functionResponse: {
    id?: string;
    name: string;
    response: Record<string, unknown>;
    parts?: { inlineData: { mimeType: string; data: string } }[];
  };
}

export interface FileFunctions {
  readonly functionDeclarations: FileFunctionDeclaration[];
  /** The answers to the function calls of one response, for the next message of role `user`. */
  callTool(calls: FileFunctionCall[], options?: CallOptions): Promise<FileFunctionResponse[]>;
  /** With this the object is a `CallableTool`: `config: { tools: [fileFunctions(session)] }` calls by itself. */
  tool(): Promise<{ functionDeclarations: FileFunctionDeclaration[] }>;
}

export function fileFunctions(session: Session, options: FileToolOptions = {}): FileFunctions {
  const definitions = offered(session, options);
  const functionDeclarations = definitions.map(({ name, description, inputSchema }) => ({
    name,
    description,
    parametersJsonSchema: inputSchema,
  }));
  const names = new Set(definitions.map(({ name }) => name));
  return {
    functionDeclarations,
    tool: async () => ({ functionDeclarations }),
    /** In order: a model may read and change one file in the same response. Calls of other tools are left to them. */
    async callTool(calls, callOptions) {
      const answers: FileFunctionResponse[] = [];
      for (const call of calls) {
        const { name } = call;
        if (name === undefined || !names.has(name)) continue;
        answers.push(answerTo(call, name, await session.call(name, call.args ?? {}, callOptions)));
      }
      return answers;
    },
  };
}

function answerTo({ id }: FileFunctionCall, name: string, reply: Reply): FileFunctionResponse {
  const images = reply.content.filter(isImage).map(({ mimeType, data }) => ({ inlineData: { mimeType, data } }));
  return {
    functionResponse: {
      ...(id === undefined ? {} : { id }),
      name,
      // The keys that the API defines.
      response: { [reply.isError ? "error" : "output"]: textOf(reply) },
      ...(images.length === 0 ? {} : { parts: images }),
    },
  };
}

const isImage = (part: ReplyPart): part is Extract<ReplyPart, { readonly type: "image" }> => part.type === "image";
