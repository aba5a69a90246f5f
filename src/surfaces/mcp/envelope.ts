/**
 * What every request of the newer protocol says about its client in `_meta`: version, capabilities, name. The checks repeat the
 * SDK's schemas, because `filehand mcp` answers its first requests before the SDK is loaded. An invalid request goes to the SDK,
 * which words the refusal.
 */

import { metaNames } from "./names.ts";

export const modernVersion = "2026-07-28";

export type Meta = Readonly<Record<string, unknown>>;

export const isRecord = (value: unknown): value is Meta =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Does the request claim to be of the newer protocol? */
export const hasEnvelope = (meta: Meta | undefined): meta is Meta =>
  meta !== undefined && metaNames.protocolVersion in meta;

export const isValidEnvelope = (meta: Meta): boolean =>
  meta[metaNames.protocolVersion] === modernVersion &&
  meta[metaNames.clientCapabilities] !== undefined &&
  isEnvelope(meta);

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === "string";
const isFlag: Check = (value) => typeof value === "boolean";
const isOneOf =
  (...words: readonly unknown[]): Check =>
  (value) =>
    words.includes(value);
const isListOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const isRecordOf =
  (check: Check): Check =>
  (value) =>
    isRecord(value) && Object.values(value).every(check);

/** Keys without a check may have any value; keys that are not in `required` may be absent. */
function isObject(checks: Readonly<Record<string, Check>>, required: readonly string[] = []): Check {
  const pairs = Object.entries(checks);
  return (value) =>
    isRecord(value) &&
    required.every((key) => value[key] !== undefined) &&
    pairs.every(([key, check]) => value[key] === undefined || check(value[key]));
}

const isIcon = isObject({ src: isText, mimeType: isText, sizes: isListOf(isText), theme: isOneOf("light", "dark") }, [
  "src",
]);

const isEnvelope = isObject({
  [metaNames.clientInfo]: isObject(
    {
      name: isText,
      version: isText,
      title: isText,
      websiteUrl: isText,
      description: isText,
      icons: isListOf(isIcon),
    },
    ["name", "version"],
  ),
  [metaNames.clientCapabilities]: isObject({
    experimental: isRecordOf(isRecord),
    extensions: isRecordOf(isRecord),
    sampling: isObject({ context: isRecord, tools: isRecord }),
    elicitation: isObject({ form: isObject({ applyDefaults: isFlag }), url: isRecord }),
    roots: isObject({ listChanged: isFlag }),
  }),
  [metaNames.logLevel]: isOneOf("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"),
});
