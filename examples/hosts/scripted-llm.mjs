// @ts-check
// A model for LlamaIndex that is a script: it makes one call and repeats the answer.

import { ToolCallLLM } from "@llamaindex/core/llms";

/** @typedef {{ readonly options?: { readonly toolResult?: { readonly result: unknown } } }} Message */

/** Its `chat` has two overloads, which a script does not tell apart. @type {any} */
const Base = ToolCallLLM;

class ScriptedLlm extends Base {
  supportToolCall = true;
  metadata = { model: "scripted", temperature: 0, topP: 1, contextWindow: 100_000, structuredOutput: false };

  /** @param {string} name @param {Record<string, unknown>} input */
  constructor(name, input) {
    super();
    this.toolCall = [{ id: "call-1", name, input }];
  }

  /** @param {{ readonly messages: readonly Message[], readonly stream?: boolean }} params */
  async chat({ messages, stream }) {
    const answer = messages.at(-1)?.options?.toolResult;
    const content = answer === undefined ? "" : `I read: ${String(answer.result)}`;
    const options = answer === undefined ? { toolCall: this.toolCall } : {};
    if (stream !== true) return { raw: {}, message: { role: "assistant", content, options } };
    return (async function* () {
      yield { raw: {}, delta: content, options };
    })();
  }
}

/** @param {string} name @param {Record<string, unknown>} input @returns {ToolCallLLM} */
export const scripted = (name, input) => /** @type {any} */ (new ScriptedLlm(name, input));
