/** Which changes of files a server has asked to hear of. Its patterns are untrusted: they are bounded and never run as they are. */

import type { WatchedChange } from "../contract/language.ts";
import { fieldsOf } from "./capabilities.ts";
import { pathOf } from "./uris.ts";

export interface WatchedFiles {
  registered(id: string, options: unknown): void;
  unregistered(id: string): void;
  wants(change: WatchedChange): boolean;
}

interface Watcher {
  readonly matches: RegExp;
  /** Bits: created 1, changed 2, deleted 4. */
  readonly kinds: number;
}

const watchersMax = 1_000;
const patternCharsMax = 500;
/** Beyond so many an expression can take long; then all files are meant, which only tells the server more than it asked for. */
const wildcardsMax = 6;
const bits = { created: 1, changed: 2, deleted: 4 } as const;

export function createWatchedFiles(): WatchedFiles {
  const byId = new Map<string, readonly Watcher[]>();
  return {
    registered: (id, options) => {
      const { watchers } = fieldsOf(options);
      if (!Array.isArray(watchers) || byId.size >= watchersMax) return;
      byId.set(id, watchers.slice(0, watchersMax).flatMap(watcherOf));
    },
    unregistered: (id) => void byId.delete(id),
    wants: ({ path, did }) => {
      const name = path.replaceAll("\\", "/");
      for (const list of byId.values()) {
        if (list.some(({ matches, kinds }) => (kinds & bits[did]) !== 0 && matches.test(name))) return true;
      }
      return false;
    },
  };
}

function watcherOf(value: unknown): readonly Watcher[] {
  const { globPattern, kind } = fieldsOf(value);
  const kinds = typeof kind === "number" ? kind : 7;
  if (typeof globPattern === "string") return made("", globPattern, kinds);
  const { baseUri, pattern } = fieldsOf(globPattern);
  const base = pathOf(typeof baseUri === "string" ? baseUri : fieldsOf(baseUri)["uri"]);
  return typeof pattern === "string" && base !== undefined ? made(base, pattern, kinds) : [];
}

function made(base: string, pattern: string, kinds: number): readonly Watcher[] {
  if (pattern.length > patternCharsMax) return [];
  const source = (pattern.match(/\*+/g)?.length ?? 0) > wildcardsMax ? ".*" : expressionOf(pattern);
  if (source === undefined) return [];
  const folder = base.replaceAll("\\", "/").replace(/\/$/, "");
  // A bare pattern is one of absolute paths, or of what lies somewhere below.
  const before = folder === "" ? "^(?:.*/)?" : `^${escaped(folder)}/`;
  return [
    {
      matches: new RegExp(pattern.startsWith("/") && folder === "" ? `^${source}$` : `${before}${source}$`, "s"),
      kinds,
    },
  ];
}

/** A glob of the protocol; undefined where its braces are not closed. */
function expressionOf(pattern: string): string | undefined {
  let depth = 0;
  const parts = pattern.match(/\*\*\/?|[*?{},]|\[!?[^\]]*\]|[^*?{},[]+|\[/g) ?? [];
  const made = parts.map((part) => {
    if (part === "**/") return "(?:[^/]*/)*";
    if (part === "**") return ".*";
    if (part === "*") return "[^/]*";
    if (part === "?") return "[^/]";
    if (part === "{") return (depth += 1) > 0 ? "(?:" : "";
    if (part === "}") return (depth -= 1) >= 0 ? ")" : "";
    if (part === ",") return depth > 0 ? "|" : ",";
    if (/^\[.*\]$/.test(part))
      return `[${part[1] === "!" ? "^" : ""}${classOf(part.slice(part[1] === "!" ? 2 : 1, -1))}]`;
    return escaped(part);
  });
  return depth === 0 ? made.join("") : undefined;
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
const classOf = (text: string): string => text.replace(/[\\\]^[]/g, "\\$&") || "\\0";
