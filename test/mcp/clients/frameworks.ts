/**
 * The MCP clients of agent frameworks, each with the same four things to do. Loaded by their paths, as the SDK's first generation is:
 * what they export is named here as far as it is used.
 */

import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { MCPServerStdio, MCPServerStreamableHttp } from "@openai/agents";

/** How a server is reached. */
export type Wire =
  | {
      readonly by: "stdio";
      readonly command: string;
      readonly args: string[];
      readonly cwd: string;
      readonly env: Record<string, string>;
    }
  | { readonly by: "HTTP"; readonly url: string; readonly headers: Record<string, string> };

export interface Framework {
  names(): Promise<readonly string[]>;
  /** What the model would be given. */
  call(name: string, input: object): Promise<{ readonly text: string; readonly failed: boolean | "not told" }>;
  close(): Promise<void>;
}

const from = createRequire(join(import.meta.dirname, "package.json"));
const load = async <Module>(name: string): Promise<Module> =>
  (await import(pathToFileURL(from.resolve(name)).href)) as Module; // named where it is loaded

interface AiTool {
  execute(input: object, options: object): Promise<{ content: readonly { text?: string }[]; isError?: boolean }>;
}
interface AiClient {
  tools(): Promise<Record<string, AiTool>>;
  close(): Promise<void>;
}

async function aiSdk(wire: Wire): Promise<Framework> {
  const { createMCPClient } = await load<{ createMCPClient: (options: object) => Promise<AiClient> }>("@ai-sdk/mcp");
  const stdio = await load<{ Experimental_StdioMCPTransport: new (options: object) => object }>(
    "@ai-sdk/mcp/mcp-stdio",
  );
  const transport =
    wire.by === "stdio"
      ? new stdio.Experimental_StdioMCPTransport(wire)
      : { type: "http", url: wire.url, headers: wire.headers };
  const client = await createMCPClient({ transport });
  const tools = await client.tools();
  return {
    names: async () => Object.keys(tools),
    call: async (name, input) => {
      const result = await tools[name]?.execute(input, { toolCallId: "1", messages: [] });
      return { text: result?.content[0]?.text ?? "", failed: result?.isError === true };
    },
    close: () => client.close(),
  };
}

interface LangChainClient {
  getTools(): Promise<readonly { readonly name: string; invoke(input: object): Promise<unknown> }[]>;
  close(): Promise<void>;
}

async function langChain(wire: Wire): Promise<Framework> {
  const { MultiServerMCPClient } = await load<{ MultiServerMCPClient: new (options: object) => LangChainClient }>(
    "@langchain/mcp-adapters",
  );
  const server =
    wire.by === "stdio"
      ? { ...wire, transport: "stdio" }
      : { transport: "http", url: wire.url, headers: wire.headers, automaticSSEFallback: false };
  const client = new MultiServerMCPClient({ mcpServers: { files: server } });
  const tools = await client.getTools();
  return {
    names: async () => tools.map(({ name }) => name),
    call: async (name, input) => {
      try {
        const told = await tools.find((tool) => tool.name === name)?.invoke(input);
        return { text: String(told), failed: false };
      } catch (error) {
        return { text: String(error), failed: true };
      }
    },
    close: () => client.close(),
  };
}

async function openaiAgents(wire: Wire): Promise<Framework> {
  const server =
    wire.by === "stdio"
      ? new MCPServerStdio({ name: "files", command: wire.command, args: wire.args, cwd: wire.cwd, env: wire.env })
      : new MCPServerStreamableHttp({ name: "files", url: wire.url, requestInit: { headers: wire.headers } });
  await server.connect();
  return {
    names: async () => (await server.listTools()).map(({ name }) => name),
    call: async (name, input) => {
      const [first] = await server.callTool(name, { ...input });
      return { text: first?.type === "text" ? String(first["text"]) : "", failed: "not told" };
    },
    close: () => server.close(),
  };
}

export const frameworks = {
  "AI SDK": aiSdk,
  LangChain: langChain,
  "OpenAI Agents": openaiAgents,
} as const satisfies Readonly<Record<string, (wire: Wire) => Promise<Framework>>>;
