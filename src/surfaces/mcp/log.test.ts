import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { logTo } from "./log.ts";

test("one JSON object a line, whatever is told", () => {
  const stderr = new PassThrough();
  const log = logTo(stderr);
  log("warn", "a request was refused", { path: 'x\n{"level":"error"}', status: 403 });
  log("info", "listening");
  const lines = String(stderr.read()).split("\n");
  expect(lines).toHaveLength(3);
  const [first, second] = lines.slice(0, 2).map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(first).toMatchObject({
    level: "warn",
    event: "a request was refused",
    path: 'x\n{"level":"error"}',
    status: 403,
  });
  expect(Object.keys(second ?? {})).toEqual(["time", "level", "event"]);
  expect(new Date(String(second?.["time"])).toISOString()).toBe(second?.["time"]);
});
