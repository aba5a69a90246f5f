/** Files as resources: `file:///{+path}`, listed a page at a time, completed while one types, read byte for byte. */

import {
  type CompleteRequest,
  type CompleteResult,
  type InputRequiredResult,
  type ListResourcesResult,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  ResourceNotFoundError,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { FilehandError } from "../../contract/failure.ts";
import { limits } from "../../contract/limits.ts";
import { escapeName } from "../../text/escape.ts";
import type { Caller } from "./caller.ts";
import type { Desk } from "./desk.ts";
import { decodeFileUri, encodeFileUri } from "./file-uri.ts";
import { folderMime, mimeOf } from "./mime.ts";

const template = "file:///{+path}";
const pageFilesMax = 200;
const completionsMax = 100;

export const templates = () => ({
  resourceTemplates: [{ uriTemplate: template, name: "file", description: "A file or a folder of the workspace" }],
});

export async function listResources(
  cursor: string | undefined,
  { session }: Caller,
  desk: Desk,
  signal: AbortSignal,
): Promise<ListResourcesResult> {
  const after = cursor === undefined ? undefined : desk.cursors.open(cursor);
  if (cursor !== undefined && after === undefined) {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, "Invalid cursor: begin the list anew without one");
  }
  const page = { max: pageFilesMax, ...(after === undefined ? {} : { after }) };
  const { files, more } = await session.workspace.files(page, { signal });
  const last = files.at(-1);
  return {
    resources: files.flatMap(({ path, relative, sizeBytes, modifiedMs }) => {
      const uri = encodeFileUri(path);
      const mimeType = mimeOf(path);
      return uri === undefined
        ? []
        : [
            {
              uri,
              name: escapeName(relative),
              size: sizeBytes,
              annotations: { lastModified: new Date(modifiedMs).toISOString() },
              ...(mimeType === undefined ? {} : { mimeType }),
            },
          ];
    }),
    ...(more && last !== undefined ? { nextCursor: desk.cursors.seal(last.path) } : {}),
  };
}

export async function readResource(
  uri: string,
  ctx: ServerContext,
  caller: Caller,
  desk: Desk,
): Promise<ReadResourceResult | InputRequiredResult> {
  const path = pathOf(uri);
  const asked = { ctx, tool: "resources/read", input: { uri }, canAsk: caller.canAsk, session: caller.session.id };
  return desk.approvals.during(asked, async (signal) => {
    const content = await told(uri, () =>
      caller.session.workspace.content(path, limits.attachmentBytesMax, { signal }),
    );
    switch (content.is) {
      case "text":
        return { contents: [{ uri, mimeType: mimeOf(content.path) ?? "text/plain", text: content.text }] };
      case "bytes":
        return {
          contents: [{ uri, mimeType: mimeOf(content.path) ?? "application/octet-stream", blob: content.base64 }],
        };
      case "folder": {
        const text = content.paths.flatMap((entry) => encodeFileUri(entry) ?? []).join("\n");
        return { contents: [{ uri, mimeType: folderMime, text }] };
      }
      case "too large":
        throw new ProtocolError(
          ProtocolErrorCode.InvalidParams,
          `Cannot read "${uri}" whole: it has ${content.sizeBytes} bytes and ${limits.attachmentBytesMax} is the most, use a tool that reads a part`,
        );
    }
  });
}

/** Paths, as the template wants them: without the slash that it has itself. */
export async function complete(
  { params }: CompleteRequest,
  { session }: Caller,
  signal: AbortSignal,
): Promise<CompleteResult> {
  const { ref, argument } = params;
  if (ref.type !== "ref/resource" || ref.uri !== template || argument.name !== "path") {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Only "path" of ${template} can be completed`);
  }
  const start = argument.value.startsWith("/") ? argument.value : `/${argument.value}`;
  const paths = await told(template, () => session.workspace.paths(start, completionsMax + 1, { signal }));
  return {
    completion: {
      values: paths.slice(0, completionsMax).map((path) => path.slice(1)),
      hasMore: paths.length > completionsMax,
    },
  };
}

/** Decoded once, then judged like any path. What names no file of this machine is no resource of ours. */
export function pathOf(uri: string): string {
  const decoded = decodeFileUri(uri);
  if ("path" in decoded) return decoded.path;
  throw new ResourceNotFoundError(uri, `Cannot read "${escapeName(uri)}": ${decoded.fault}, use ${template}`);
}

/** A refusal of the engine in the words of the protocol. */
export async function told<Answer>(uri: string, work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    if (!isFailure(error)) throw error;
    if (error.code === "NOT_FOUND") throw new ResourceNotFoundError(uri, error.message);
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, error.message, { uri, code: error.code });
  }
}

/** By its name: this bundle has a class of that name too, but not the one that the toolkit throws. */
const isFailure = (error: unknown): error is FilehandError => error instanceof Error && error.name === "FilehandError";
