/**
 * What another process says, looked at before it is believed. It is the same user's and most likely the same program, but it may be
 * of another version, and whatever it sends must not bring the page or the other calls down.
 */

import type { Question } from "../../contract/ask.ts";
import type { CallChange, CallDetail, CallEvent } from "../../contract/event.ts";
import type { FromReporter, NoDetail, Program } from "../../contract/report.ts";

type Fields = Readonly<Record<string, unknown>>;
type Is = (value: unknown) => boolean;

const textCharsMax = 8_192;
const changesMax = 1_000;

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isText: Is = (value) => typeof value === "string" && value.length <= textCharsMax;
const isLongText: Is = (value) => typeof value === "string";
const isCount: Is = (value) => typeof value === "number" && Number.isFinite(value) && value >= 0;
/** A moment that there is: the page tells it as a date. */
const isTime: Is = (value) => isCount(value) && Number(value) <= 8.64e15;
const isFlag: Is = (value) => typeof value === "boolean";
const isNull: Is = (value) => value === null;
const isAnything: Is = () => true;
const either =
  (...all: readonly Is[]): Is =>
  (value) =>
    all.some((is) => is(value));
const listOf =
  (is: Is, countMax = Number.POSITIVE_INFINITY): Is =>
  (value) =>
    Array.isArray(value) && value.length <= countMax && value.every(is);
const shaped =
  (shape: Readonly<Record<string, Is>>): Is =>
  (value) =>
    isFields(value) &&
    Object.entries(shape).every(([name, is]) => is(Object.hasOwn(value, name) ? value[name] : undefined));
const oneOf =
  (...words: readonly string[]): Is =>
  (value) =>
    words.some((word) => word === value);
const maybe = (is: Is): Is => either(is, (value) => value === undefined);

const programs = ["mcp", "serve", "cli"] as const satisfies readonly Program[];

const hello = shaped({
  key: isText,
  workspace: isText,
  roots: listOf(isText, 100),
  pid: isCount,
  program: oneOf(...programs),
});

const change = shaped({
  path: isText,
  relative: isText,
  did: oneOf("created", "updated", "deleted", "moved"),
  movedFrom: either(isText, isNull),
  additions: isCount,
  deletions: isCount,
} satisfies Record<keyof CallChange, Is>);

const range = shaped({
  of: oneOf("lines", "pages", "cells", "entries"),
  from: isCount,
  to: either(isCount, isNull),
  total: either(isCount, isNull),
});

const event = shaped({
  type: oneOf("call"),
  id: isCount,
  session: isText,
  principal: either(isText, isNull),
  dialect: isText,
  tool: isText,
  verb: either(isText, isNull),
  path: either(isText, isNull),
  real: either(isText, isNull),
  pattern: either(isText, isNull),
  range: either(range, isNull),
  outcome: isText,
  reason: either(isText, isNull),
  startedMs: isTime,
  elapsedMs: isCount,
  tokensGiven: isCount,
  tokensSaved: isCount,
  changes: listOf(change, changesMax),
  changesTotal: isCount,
  dryRun: isFlag,
  turn: either(isText, isNull),
} satisfies Record<keyof CallEvent, Is>);

const part = either(
  shaped({ type: oneOf("text"), text: isLongText }),
  shaped({ type: oneOf("image"), data: isLongText, mimeType: isText }),
);
const reply = shaped({
  content: listOf(part),
  structured: isAnything,
  isError: isFlag,
  error: maybe(shaped({ code: isText, message: isLongText })),
});
const hunk = shaped({
  oldStart: isCount,
  oldLines: isCount,
  newStart: isCount,
  newLines: isCount,
  lines: listOf(isLongText),
});
const detail = shaped({
  input: isAnything,
  // Left out after a bug.
  reply: maybe(reply),
  diffs: listOf(shaped({ hunks: listOf(hunk), complete: isFlag })),
} satisfies Record<keyof CallDetail, Is>);

const question = shaped({
  permission: oneOf("read", "edit", "external_directory"),
  patterns: listOf(isText, 100),
  always: listOf(isText, 100),
  keep: listOf(oneOf("session", "project", "user"), 3),
  metadata: isFields,
} satisfies Record<keyof Question, Is>);

const shapes: Readonly<Record<FromReporter["type"], Is>> = {
  hello,
  call: shaped({
    event,
    detail: either(detail, oneOf("dropped" satisfies NoDetail, "too large" satisfies NoDetail)),
  }),
  ask: shaped({ id: isCount, session: isText, principal: either(isText, isNull), tool: isText, question }),
  cancel: shaped({ id: isCount }),
};

/** Undefined for anything that is not as it should be. */
export function reportIn(text: string): FromReporter | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isFields(value) || typeof value["type"] !== "string" || !Object.hasOwn(shapes, value["type"])) return undefined;
  const { [value["type"] as FromReporter["type"]]: is } = shapes; // it is one of its keys
  return is(value) ? (value as unknown as FromReporter) : undefined; // every field that is used was looked at
}
