/**
 * The client of the SDK's first generation, from the packages beside this file. It is loaded by its path: as a dependency of the
 * project its types would be needed wherever the types are checked.
 */

import { join } from "node:path";
import { pathToFileURL } from "node:url";

export interface V1Result {
  readonly content: readonly { readonly type: string; readonly text?: string }[];
  readonly isError?: boolean;
}

interface CallOptions {
  readonly signal?: AbortSignal;
  readonly timeout?: number;
  readonly onprogress?: (note: { readonly progress: number }) => void;
}

export interface V1Client {
  connect(transport: object): Promise<void>;
  close(): Promise<void>;
  listTools(): Promise<{ readonly tools: readonly { readonly name: string }[] }>;
  readResource(params: { readonly uri: string }): Promise<{ readonly contents: readonly { readonly text?: string }[] }>;
  callTool(call: { name: string; arguments: object }, schema?: undefined, options?: CallOptions): Promise<V1Result>;
  setRequestHandler(
    schema: object,
    handler: (request: { readonly params: { readonly message: string } }) => object,
  ): void;
}

interface V1 {
  readonly Client: new (info: { name: string; version: string }, options: { capabilities: object }) => V1Client;
  readonly StdioClientTransport: new (parameters: object) => object;
  readonly StreamableHTTPClientTransport: new (url: URL, options: object) => object;
  readonly ElicitRequestSchema: object;
}

const folder = join(import.meta.dirname, "node_modules", "@modelcontextprotocol", "sdk", "dist", "esm");

export async function sdkV1(): Promise<V1> {
  const files = ["client/index.js", "client/stdio.js", "client/streamableHttp.js", "types.js"];
  const modules = await Promise.all(
    files.map((file) => import(pathToFileURL(join(folder, file)).href) as Promise<Partial<V1>>),
  );
  return Object.assign({}, ...modules) as V1; // what these four files export
}
