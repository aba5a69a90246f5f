/** Text off a wire as a message, or what is wrong with it. What is nested without end is refused before anybody walks it. */

/** Levels of braces and brackets. A call of ours has five at most. */
export const depthMax = 64;

export type Parsed =
  | { readonly message: object }
  | { readonly code: -32700 | -32600; readonly fault: string; readonly id: string | number | null };

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
  const fault = structureFault(value);
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
