/** What goes over a wire: the reply to a call, and the definition of a tool. */

import type { DiagnosticsReport } from "./language.ts";
import type { Verb } from "./verb.ts";

export type ReplyPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly data: string; readonly mimeType: string };

/** The answer to a call, also for a failure. */
export interface Reply<Structured = unknown> {
  /** What the model reads. */
  readonly content: readonly ReplyPart[];
  /** What programs read; null where the dialect has no structured failure. */
  readonly structured: Structured | null;
  readonly isError: boolean;
  readonly error?: { readonly code: string; readonly message: string };
  /** What language servers said of files after the answers to their changes; `content` has it too. */
  readonly late?: readonly DiagnosticsReport[];
}

/** JSON Schema as the tools need it. */
export interface JsonSchema {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly items?: JsonSchema;
  readonly enum?: readonly (string | number | boolean)[];
  readonly anyOf?: readonly JsonSchema[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly minItems?: number;
  readonly default?: unknown;
}

/** A tool as any agent loop can use it. */
export interface ToolDefinition {
  readonly name: string;
  /** What it does, whatever the dialect calls it. */
  readonly verb: Verb;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly readOnly: boolean;
  execute(input: unknown, options?: { readonly signal?: AbortSignal }): Promise<Reply>;
}
