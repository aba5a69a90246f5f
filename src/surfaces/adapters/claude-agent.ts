/** Filehand in the Claude Agent SDK: an in-process server, our tools under the built-in names, and who is asked about their calls. */

import { defaultDialect } from "../../dialects/dialects.ts";
import type { Filehand } from "../../options.ts";
import { createMcpServer, type McpServerOptions, type McpTransport } from "./mcp.ts";
import { asksHost, type NeedsApproval, offered } from "./offered.ts";

export type { FileToolOptions, NeedsApproval, PendingCall } from "./offered.ts";
export type { McpServerOptions, McpTransport } from "./mcp.ts";

/** As `PermissionResult` of the SDK. */
export type Permission =
  | { behavior: "allow"; updatedInput: Record<string, unknown> }
  | { behavior: "deny"; message: string };

/** As `CanUseTool` of the SDK; the context is passed on as it is. */
export type CanUseTool<Context> = (
  tool: string,
  input: Record<string, unknown>,
  context: Context,
) => Promise<Permission>;

/** Without `questions`: the SDK's client passes no questions on, so `createFilehand({ ask })` gets them. */
export interface ClaudeAgentOptions<Context> extends Omit<McpServerOptions, "questions"> {
  /** The server's name: its tools are `mcp__<name>__Read` and so on; `files` by default. */
  readonly name?: string;
  /** Which calls of our tools `canUseTool` decides; none by default, since Filehand's rules ask about files. */
  readonly needsApproval?: NeedsApproval;
  /** Decides about all other tools, and about ours where `needsApproval` says so. Without it those are denied. */
  readonly canUseTool?: CanUseTool<Context>;
}

/** The part of the SDK's `Options` that is filled in here. */
export interface FileAgentOptions<Context> {
  mcpServers: Record<string, { type: "sdk"; name: string; instance: never }>; // `never` fits the SDK's class, which has private members
  /** Built-in names to our tools: a call of `Read` is answered by Filehand. */
  toolAliases: Record<string, string>;
  /** The same names, so that the model has each tool once and the SDK itself uses none of them. */
  disallowedTools: string[];
  canUseTool: CanUseTool<Context>;
}

/** The built-in tools whose parameters ours share. */
const builtIns: ReadonlySet<string> = new Set([
  "Read",
  "Edit",
  "MultiEdit",
  "Write",
  "NotebookEdit",
  "Grep",
  "Glob",
  "LS",
]);

/** For `query({ prompt, options: { ...fileOptions(filehand), … } })`. One call for each query. */
export function fileOptions<Context>(
  filehand: Filehand,
  options: ClaudeAgentOptions<Context> = {},
): FileAgentOptions<Context> {
  const { name = "files", dialect = defaultDialect, needsApproval, canUseTool } = options;
  const tools = offered(filehand.session({ dialect }), options);
  const server = createMcpServer(filehand, { ...options, name });
  const fullName = (tool: string): string => `mcp__${name}__${tool}`;
  const replaced = tools.filter((tool) => builtIns.has(tool.name)).map((tool) => tool.name);
  const ours = new Map(tools.map((tool) => [fullName(tool.name), tool]));
  return {
    mcpServers: {
      [name]: {
        type: "sdk",
        name,
        // The SDK calls nothing else of its own class.
        instance: {
          connect: (transport: McpTransport) => server.connect(transport),
          close: () => server.close(),
        } as never,
      },
    },
    toolAliases: Object.fromEntries(replaced.map((tool) => [tool, fullName(tool)])),
    disallowedTools: replaced,
    canUseTool: async (tool, input, context) => {
      const own = ours.get(tool);
      const asks = own === undefined || (needsApproval !== undefined && (await asksHost(needsApproval, own, input)));
      if (!asks) return { behavior: "allow", updatedInput: input };
      if (canUseTool !== undefined) return canUseTool(tool, input, context);
      return { behavior: "deny", message: `Cannot use ${tool}: nobody is connected who could approve it` };
    },
  };
}
