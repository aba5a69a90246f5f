/**
 * What the server says about itself, and the answer to a client that asks just that. It is the first thing that most clients
 * do, and they wait for it: it is answered before the SDK is loaded, with the very words of the SDK.
 */

import instructions from "../../dialects/instructions.txt";
import { metaNames } from "./names.ts";

export const capabilities = { tools: {}, resources: { subscribe: true }, completions: {} };

/** Lists that do not depend on files may be kept by clients for a while. */
export const listHint = { ttlMs: 3_600_000, cacheScope: "public" } as const;

export { instructions };

const modernVersion = "2026-07-28";

/** The answer; undefined for any other message, and for one that the SDK should look at closely. */
export function greeting(message: object, server: { readonly name: string; readonly version: string }) {
  const { method, id, params } = message as Partial<Record<"method" | "id" | "params", unknown>>; // looked at below
  if (method !== "server/discover" || (typeof id !== "string" && typeof id !== "number")) return undefined;
  if (!isRecord(params) || Object.keys(params).some((key) => key !== "_meta") || !isPlainEnvelope(params["_meta"])) {
    return undefined;
  }
  const { name, version } = server;
  const result = {
    supportedVersions: [modernVersion],
    capabilities,
    instructions,
    resultType: "complete",
    ...listHint,
    _meta: { [metaNames.serverInfo]: { name, version } },
  };
  return { result, jsonrpc: "2.0" as const, id };
}

/** Nothing in it that could be wrong in a way that only the SDK's schemas know. */
function isPlainEnvelope(meta: unknown): boolean {
  if (!isRecord(meta)) return false;
  const { protocolVersion, clientCapabilities, clientInfo } = metaNames;
  const known: readonly string[] = [protocolVersion, clientCapabilities, clientInfo];
  if (Object.keys(meta).some((key) => !known.includes(key)) || meta[protocolVersion] !== modernVersion) return false;
  const offered = meta[clientCapabilities];
  if (!isRecord(offered) || !Object.entries(offered).every(isPlainCapability)) return false;
  const who = meta[clientInfo];
  if (who === undefined) return true;
  return (
    isRecord(who) &&
    typeof who["name"] === "string" &&
    typeof who["version"] === "string" &&
    Object.values(who).every((value) => typeof value === "string")
  );
}

const isPlainCapability = ([name, value]: readonly [string, unknown]): boolean =>
  ["elicitation", "sampling", "roots"].includes(name) &&
  isRecord(value) &&
  Object.entries(value).every(([key, part]) =>
    key === "listChanged" ? typeof part === "boolean" : isRecord(part) && Object.keys(part).length === 0,
  );

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
