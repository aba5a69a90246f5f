/** The adapter suite through a client of the MCP SDK. */

import type { Client } from "@modelcontextprotocol/client";
import type { Filehand, Session } from "../../src/index.ts";
import type { Driver, Seen } from "../suites/adapter.ts";

type Content = readonly { type: string; text?: string; data?: string; mimeType?: string }[];

export const seenOverMcp = (result: { readonly content?: unknown; readonly isError?: unknown }): Seen => {
  const content = (result.content ?? []) as Content;
  return {
    text: content.flatMap(({ text }) => text ?? []).join("\n"),
    images: content.flatMap(({ data, mimeType = "" }) => (data === undefined ? [] : [{ data, mimeType }])),
    failed: result.isError === true,
  };
};

/** A toolkit that has this session only: the suite brings sessions, a server makes its own. */
export const toolkitOf = (session: Session): Filehand =>
  ({ roots: [], workspaceId: "test", session: () => session, recordUsage: () => undefined }) as unknown as Filehand; // the server uses nothing else for calls of tools

export function mcpDriver(client: Promise<Client>): Driver {
  const call = async (name: string, input: unknown, signal?: AbortSignal): Promise<Seen> => {
    const request = { name, arguments: input as Record<string, unknown> };
    return seenOverMcp(await (await client).callTool(request, signal === undefined ? {} : { signal }));
  };
  return {
    list: async () =>
      (await (await client).listTools()).tools.map(({ name, description = "", inputSchema }) => ({
        name,
        description,
        parameters: Object.keys(inputSchema.properties ?? {}),
      })),
    call,
    // A cancelled request has no answer in this protocol; the client reports that it was aborted.
    cancellable: (name, input, signal) =>
      call(name, input, signal).catch(() => ({ text: "was cancelled, nothing was changed", images: [], failed: true })),
  };
}
