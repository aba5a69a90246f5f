/** Files as MCP resources, `file:///{+path}`: lists, completions, contents, subscriptions. */

import {
  type CompleteRequest,
  type CompleteResult,
  type InputRequiredResult,
  type ListResourcesResult,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  ResourceNotFoundError,
} from "@modelcontextprotocol/server";
import { limits } from "../../contract/limits.ts";
import type { FilehandError } from "../../contract/problem.ts";
import type { Session } from "../../options.ts";
import { escapeName, isWellFormed } from "../../text/text.ts";
import type { AskingCall } from "./approvals.ts";
import type { Caller } from "./caller.ts";
import type { McpWorkspace } from "./mcp-workspace.ts";

const template = "file:///{+path}";
/** Files per page of a list; a client gets the next page with a cursor. */
const pageFilesMax = 200;
/** The most that the protocol permits in one answer. */
const completionsMax = 100;

export const templates = () => ({
  resourceTemplates: [{ uriTemplate: template, name: "file", description: "A file or a folder of the workspace" }],
});

export async function listResources(
  cursor: string | undefined,
  { session }: Caller,
  workspace: McpWorkspace,
  signal: AbortSignal,
): Promise<ListResourcesResult> {
  const after = cursor === undefined ? undefined : workspace.cursors.open(cursor);
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
    ...(more && last !== undefined ? { nextCursor: workspace.cursors.seal(last.path) } : {}),
  };
}

export async function readResource(
  uri: string,
  call: AskingCall,
  workspace: McpWorkspace,
): Promise<ReadResourceResult | InputRequiredResult> {
  const path = pathOf(uri);
  const { signal, caller } = call;
  return workspace.approvals.during("resources/read", call, async () => {
    const content = await orProtocolError(uri, () =>
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

/** Paths as the template needs them: without the first slash, which is part of the template. */
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
  const paths = await orProtocolError(template, () => session.workspace.paths(start, completionsMax + 1, { signal }));
  return {
    completion: {
      values: paths.slice(0, completionsMax).map((path) => path.slice(1)),
      hasMore: paths.length > completionsMax,
    },
  };
}

/** Throws for a URI that names no file of this machine. */
function pathOf(uri: string): string {
  const decoded = decodeFileUri(uri);
  if ("path" in decoded) return decoded.path;
  throw new ResourceNotFoundError(uri, `Cannot read "${escapeName(uri)}": ${decoded.fault}, use ${template}`);
}

/** A refusal of the engine becomes an error of the protocol. */
async function orProtocolError<Answer>(uri: string, work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    if (!isFailure(error)) throw error;
    if (error.code === "NOT_FOUND") throw new ResourceNotFoundError(uri, error.message);
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, error.message, { uri, code: error.code });
  }
}

/** By its name, because this bundle has its own copy of the class, which is not the one that the toolkit throws. */
const isFailure = (error: unknown): error is FilehandError => error instanceof Error && error.name === "FilehandError";

export type Subscriptions = ReturnType<typeof createSubscriptions>;

/** Per connection: each is a watch of the system. */
const subscriptionsMax = 256;
/** Changes within this time are reported once: a program that writes a file touches it several times. */
const quietMs = 25;

interface Entry {
  stop: () => void;
  timer: NodeJS.Timeout | undefined;
}

/** Subscriptions of one connection: one watch per URI; a burst of changes is reported once. */
export function createSubscriptions(notify: (uri: string) => void) {
  const entries = new Map<string, Entry>();
  const remove = (uri: string): void => {
    const entry = entries.get(uri);
    entries.delete(uri);
    clearTimeout(entry?.timer);
    entry?.stop();
  };
  return {
    /** Throws for a file that this session may not read, and if there are too many. */
    async add(uri: string, session: Session): Promise<void> {
      if (entries.has(uri)) return;
      if (entries.size >= subscriptionsMax) {
        throw new ProtocolError(
          ProtocolErrorCode.InvalidParams,
          `Cannot subscribe to more than ${subscriptionsMax} files, unsubscribe from others first`,
        );
      }
      const entry: Entry = { stop: () => undefined, timer: undefined };
      entries.set(uri, entry);
      const onChange = (): void => {
        entry.timer ??= setTimeout(() => {
          entry.timer = undefined;
          notify(uri);
        }, quietMs);
      };
      try {
        const watching = await orProtocolError(uri, () => session.workspace.watch(pathOf(uri), onChange));
        entry.stop = () => watching.stop();
        // The client may have unsubscribed meanwhile.
        if (entries.get(uri) !== entry) watching.stop();
      } catch (error) {
        entries.delete(uri);
        throw error;
      }
    },
    remove,
    removeAll: (): void => [...entries.keys()].forEach(remove),
    get size(): number {
      return entries.size;
    },
  };
}

/** Only types that clients treat specially. */
const byExtension: Readonly<Record<string, string>> = {
  css: "text/css",
  csv: "text/csv",
  gif: "image/gif",
  html: "text/html",
  jpeg: "image/jpeg",
  jpg: "image/jpeg",
  js: "text/javascript",
  json: "application/json",
  md: "text/markdown",
  pdf: "application/pdf",
  png: "image/png",
  py: "text/x-python",
  svg: "image/svg+xml",
  ts: "text/x-typescript",
  txt: "text/plain",
  webp: "image/webp",
  xml: "application/xml",
  yaml: "application/yaml",
  yml: "application/yaml",
};

const folderMime = "inode/directory";

/** By the extension; undefined if nothing better is known than text or bytes. */
function mimeOf(path: string): string | undefined {
  const extension = /\.([a-z0-9]{1,5})$/i.exec(path)?.[1]?.toLowerCase();
  return extension !== undefined && Object.hasOwn(byExtension, extension) ? byExtension[extension] : undefined;
}

export type DecodedUri = { readonly path: string } | { readonly fault: UriFault };
export type UriFault = "not a file URI" | "another host" | "query or fragment" | "bad encoding" | "encoded separator";

/** Decodes a URI exactly once, before the guard checks the path. Node's own parser would resolve `%2e%2e`. */
export function decodeFileUri(uri: string, platform: NodeJS.Platform = process.platform): DecodedUri {
  const [, host, encoded] = /^file:\/\/([^/?#]*)(\/[^?#]*)$/is.exec(uri) ?? [];
  if (host === undefined || encoded === undefined) {
    return { fault: /^file:\/\/[^?#]*[?#]/is.test(uri) ? "query or fragment" : "not a file URI" };
  }
  if (host !== "" && host.toLowerCase() !== "localhost") return { fault: "another host" };
  const names: string[] = [];
  for (const part of encoded.split("/")) {
    const name = decodedOnce(part);
    if (name === undefined) return { fault: "bad encoding" };
    // No file name contains these, so other decoders could read the URI as another path.
    if (/[/\\\0]/.test(name)) return { fault: "encoded separator" };
    names.push(name);
  }
  const path = names.join("/");
  return { path: platform === "win32" ? path.replace(/^\/(?=[a-z]:)/i, "") : path };
}

function decodedOnce(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

/** The URI of an absolute path; undefined for a name that cannot be encoded so that `decodeFileUri` accepts it. */
export function encodeFileUri(path: string, platform: NodeJS.Platform = process.platform): string | undefined {
  const slashed = platform === "win32" ? `/${path.replaceAll("\\", "/")}` : path;
  if (slashed.includes("\\") || !isWellFormed(slashed)) return undefined;
  return `file://${slashed
    .split("/")
    .map((name) => encodeURIComponent(name).replace(/%3A/gi, ":"))
    .join("/")}`;
}
