/** Which tools of a session an adapter offers to its host, and which calls need the host's approval first. */

import type { Session } from "../../options.ts";
import type { Reply, ToolDefinition } from "../../contract/call.ts";
import { FilehandError } from "../../contract/problem.ts";

export interface FileToolOptions {
  /** Only these tools, by their names in the session's dialect; all by default. */
  readonly only?: readonly string[];
  /** Only tools that change nothing. */
  readonly readOnly?: boolean;
}

/** A call that waits for an approval. */
export interface PendingCall {
  readonly tool: string;
  readonly input: unknown;
  readonly readOnly: boolean;
}

/** `changes`: every call of a tool that writes. A function decides call by call. */
export type NeedsApproval = "changes" | ((call: PendingCall) => boolean | Promise<boolean>);

export function offered(session: Session, { only, readOnly = false }: FileToolOptions): readonly ToolDefinition[] {
  const all = session.definitions();
  const unknown = only?.find((name) => !all.some((tool) => tool.name === name));
  if (unknown !== undefined) {
    const known = all.map(({ name }) => name).join(", ");
    throw new FilehandError("UNKNOWN_TOOL", `Cannot offer the tool "${unknown}": there is no such tool, use ${known}`);
  }
  return all.filter((tool) => (only?.includes(tool.name) ?? true) && (tool.readOnly || !readOnly));
}

export const asksHost = async (needs: NeedsApproval, { name, readOnly }: ToolDefinition, input: unknown) =>
  needs === "changes" ? !readOnly : needs({ tool: name, input, readOnly });

export const withSignal = (signal: AbortSignal | null | undefined): { readonly signal?: AbortSignal } =>
  signal === undefined || signal === null ? {} : { signal };

export const textOf = ({ content }: Reply): string =>
  content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
