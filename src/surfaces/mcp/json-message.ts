/** Text off a wire as a message, or what is wrong with it. What is nested without end is refused before anybody walks it. */

import { escapeName } from "../../text/escape.ts";

/** Levels of braces and brackets. A call of ours has five at most. */
export const depthMax = 64;

export type Parsed =
  | { readonly message: object }
  | { readonly code: -32700 | -32600 | -32602; readonly fault: string; readonly id: string | number | null };

export function parseMessage(text: string): Parsed {
  let value: unknown;
  try {
    value = JSON.parse(text); // V8 needs no stack for this, however deep it is
  } catch {
    return { code: -32700, fault: "Parse error: not valid JSON", id: null };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return { code: -32600, fault: "Invalid request: a message is one JSON object", id: null };
  }
  const id = idOf(value);
  const fault = isPlainText(text) ? undefined : structureFault(value);
  if (fault !== undefined) return { code: -32600, fault: `Invalid request: ${fault}`, id };
  if (!("jsonrpc" in value) || value.jsonrpc !== "2.0") {
    return { code: -32600, fault: 'Invalid request: "jsonrpc" must be "2.0"', id };
  }
  const isCall = "method" in value && typeof value.method === "string";
  const isAnswer = "id" in value && ("result" in value || "error" in value);
  return isCall || isAnswer
    ? { message: value }
    : { code: -32600, fault: "Invalid request: neither a method nor a result", id };
}

/** Short, with few braces, and nowhere a name that is forbidden or could be one in disguise: most calls are, and need no walk. */
function isPlainText(text: string): boolean {
  if (text.length > 4_096 || text.includes("__proto__") || text.includes("\\u")) return false;
  let opened = 0;
  for (const bracket of "{[") {
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) opened += 1;
  }
  return opened <= depthMax;
}

/** The answer repeats it, and must be smaller than a message may be. */
const idCharsMax = 1_024;

/** What the SDK would leave without an answer: a request with a shape that no request has. */
export function requestFault(message: object): Exclude<Parsed, { readonly message: object }> | undefined {
  if (!("method" in message) || !("id" in message)) return undefined;
  const id = idOf(message);
  if (id === null || (typeof id === "number" ? !Number.isSafeInteger(id) : id.length > idCharsMax)) {
    const text = `text of at most ${idCharsMax} characters`;
    return { code: -32600, fault: `Invalid request: "id" must be ${text} or a whole number`, id: null };
  }
  if (typeof message.method !== "string") {
    return { code: -32600, fault: 'Invalid request: "method" must be text', id };
  }
  for (const key in message) {
    if (key === "jsonrpc" || key === "id" || key === "method" || key === "params") continue;
    const fault = `a request has "jsonrpc", "id", "method" and "params" only, not "${escapeName(key.slice(0, 100))}"`;
    return { code: -32600, fault: `Invalid request: ${fault}`, id };
  }
  const params = "params" in message ? message.params : undefined;
  if (params !== undefined && !isRecord(params)) {
    return { code: -32602, fault: 'Invalid params: "params" must be an object', id };
  }
  const meta = params?.["_meta"];
  if (meta !== undefined && !isRecord(meta)) {
    return { code: -32602, fault: 'Invalid params: "_meta" must be an object', id };
  }
  const token = meta?.["progressToken"];
  return token === undefined || typeof token === "string" || Number.isSafeInteger(token)
    ? undefined
    : { code: -32602, fault: 'Invalid params: "progressToken" must be text or a whole number', id };
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** What no message of the protocol has. Level by level, without a stack of its own. */
export function structureFault(value: object): string | undefined {
  let level: object[] = [value];
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > depthMax) return `nested more than ${depthMax} levels deep`;
    const next: object[] = [];
    for (const node of level) {
      // Parsers on the way drop such a key or obey it; a call that is half honoured is worse than none.
      if (Object.hasOwn(node, "__proto__")) return 'a key is named "__proto__"';
      for (const child of Object.values(node)) if (typeof child === "object" && child !== null) next.push(child);
    }
    level = next;
  }
  return undefined;
}

function idOf(value: object): string | number | null {
  const id = "id" in value ? value.id : null;
  return typeof id === "string" || typeof id === "number" ? id : null;
}

/**
 * The id of a message that is too long to be parsed, from its first or its last characters: there it stands at the top
 * level, and nowhere else can that be told.
 */
export function idInPassing(head: string, tail: string): string | number | null {
  const found =
    /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(-?\d{1,15}|"[^"\\]{1,200}")\s*[,}]/.exec(head) ??
    /[,{]\s*"id"\s*:\s*(-?\d{1,15}|"[^"\\]{1,200}")\s*\}\s*$/.exec(tail);
  return found?.[1] === undefined ? null : (JSON.parse(found[1]) as string | number); // the pattern allows nothing else
}
