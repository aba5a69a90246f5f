/**
 * What a request of the newer protocol says about its client in `_meta`. The checks repeat the SDK's schemas, because the first
 * requests are answered before the SDK is loaded.
 */

import { isRecord } from "../../contract/common.ts";
import { metaNames } from "./names.ts";

export const modernVersion = "2026-07-28";

export type Meta = Readonly<Record<string, unknown>>;

export type Id = string | number;

export const isId = (id: unknown): id is Id => typeof id === "string" || Number.isSafeInteger(id);

/** What the SDK's schemas refuse in `_meta` of a request of any protocol. */
export function metaFault({ progressToken, [metaNames.relatedTask]: task }: Meta): string | undefined {
  if (task !== undefined && (!isRecord(task) || typeof task["taskId"] !== "string")) {
    return `"${metaNames.relatedTask}" must be an object with a "taskId"`;
  }
  const isToken = progressToken === undefined || isId(progressToken);
  return isToken ? undefined : '"progressToken" must be text or a whole number';
}

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
  // Loops: with a function per key the check of one call takes as long as opening a file.
  return (value) => {
    if (!isRecord(value)) return false;
    for (const key of required) if (value[key] === undefined) return false;
    for (const [key, check] of pairs) if (value[key] !== undefined && !check(value[key])) return false;
    return true;
  };
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
