/**
 * `file:` URIs and paths. A URI is decoded exactly once, name by name, and what comes out is judged like any other path;
 * Node's own parser would resolve `%2e%2e` before anybody has looked at it.
 */

import { isWellFormed } from "../../text/well-formed.ts";

export type DecodedUri = { readonly path: string } | { readonly fault: UriFault };
export type UriFault = "not a file URI" | "another host" | "query or fragment" | "bad encoding" | "encoded separator";

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
    // No name can hold these: a decoder on the way would have found another path than we.
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

/** The URI of an absolute path; undefined for a name that no URI of ours can hold. */
export function encodeFileUri(path: string, platform: NodeJS.Platform = process.platform): string | undefined {
  const slashed = platform === "win32" ? `/${path.replaceAll("\\", "/")}` : path;
  if (slashed.includes("\\") || !isWellFormed(slashed)) return undefined;
  return `file://${slashed
    .split("/")
    .map((name) => encodeURIComponent(name).replace(/%3A/gi, ":"))
    .join("/")}`;
}
