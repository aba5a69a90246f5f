/**
 * Calls with nothing in them that only the SDK knows: a known tool, a name and arguments, an envelope. A call through the SDK
 * costs more than a small Read: it and its answer are checked against schemas that nothing of ours can fail. So once the SDK
 * has answered one call with a result, those that differ from it in nothing but their arguments need not go through it.
 */

import type { CallToolResult } from "@modelcontextprotocol/server";
import { envelopeNames, metaNames } from "./names.ts";

export type Id = string | number;
export type Meta = Readonly<Record<string, unknown>>;

export interface PlainCall {
  readonly id: Id;
  readonly name: string;
  readonly input: unknown;
  readonly meta: Meta | undefined;
}

/** Undefined for a call with anything that the protocol gives a meaning to, beyond the tool and its arguments. */
export function plainCall(message: object, names: { has(name: string): boolean }): PlainCall | undefined {
  for (const key in message) {
    if (key !== "jsonrpc" && key !== "id" && key !== "method" && key !== "params") return undefined;
  }
  const { method, id, params } = message as Partial<Record<"method" | "id" | "params", unknown>>; // each is looked at
  if (method !== "tools/call" || !isId(id) || !isRecord(params)) return undefined;
  for (const key in params) if (key !== "name" && key !== "arguments" && key !== "_meta") return undefined;
  const { name, arguments: input = {}, _meta: meta } = params;
  if (typeof name !== "string" || !names.has(name) || !isRecord(input)) return undefined;
  if (meta !== undefined && (!isRecord(meta) || !isPlainMeta(meta))) return undefined;
  return { id, name, input, meta };
}

/** A token for progress, what clients say about themselves, and the envelope; nothing else that the protocol has reserved. */
function isPlainMeta(meta: Meta): boolean {
  for (const key in meta) {
    if (key.startsWith("io.modelcontextprotocol/") && !envelopeNames.includes(key)) return false;
  }
  const token = meta["progressToken"];
  return token === undefined || typeof token === "string" || Number.isSafeInteger(token);
}

/** What the newer protocol wants of every request: of two calls with the same, the SDK thinks the same. */
export const envelopeOf = (meta: Meta | undefined): string =>
  meta === undefined ? "" : JSON.stringify(envelopeNames.map((name) => meta[name]));

/** The same question about two calls, which is answered sooner; a doubt is a no. */
export const isSameEnvelope = (one: Meta | undefined, other: Meta | undefined): boolean =>
  one === undefined || other === undefined
    ? one === other
    : envelopeNames.every((name) => isSame(one[name], other[name]));

function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (!isRecord(one) || !isRecord(other)) return false;
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isSame(one[name], other[name]))
  );
}

/** The text of an answer, as the SDK would send it; the newer protocol wants more in it than the result. */
export type AnswerText = (id: Id, result: CallToolResult) => string;

export const legacyAnswer: AnswerText = (id, result) => JSON.stringify({ result, jsonrpc: "2.0", id });

export function modernAnswers({ name, version }: { readonly name: string; readonly version: string }): AnswerText {
  const serverInfo = { name, version };
  const rest = `"resultType":"complete","_meta":${JSON.stringify({ [metaNames.serverInfo]: serverInfo })}`;
  return (id, result) => {
    const { content, isError, structuredContent, _meta } = result;
    if (isError === undefined && structuredContent === undefined && _meta === undefined) {
      // What is always the same is not made anew: that would take longer than the content.
      return `{"result":{"content":${JSON.stringify(content)},${rest}},"jsonrpc":"2.0","id":${JSON.stringify(id)}}`;
    }
    const stamped = { ...result, resultType: "complete", _meta: { ..._meta, [metaNames.serverInfo]: serverInfo } };
    return JSON.stringify({ result: stamped, jsonrpc: "2.0", id });
  };
}

const isId = (id: unknown): id is Id => typeof id === "string" || Number.isSafeInteger(id);

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
