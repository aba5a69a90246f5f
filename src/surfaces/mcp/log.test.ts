import { once } from "node:events";
import { PassThrough, Writable } from "node:stream";
import { expect, test } from "vitest";
import { limits } from "../../contract/limits.ts";
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

test("what nobody reads does not pile up, and how many lines were left out is told to who reads again", async () => {
  const lines: string[] = [];
  let readOn = (): void => undefined;
  let reads = false;
  const stderr = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      if (reads) done();
      else readOn = done;
    },
  });
  const log = logTo(stderr);
  const path = "x".repeat(10_000);
  for (let times = 0; times < 1_000; times += 1) log("info", "request refused", { path });
  expect(stderr.writableLength).toBeLessThan(limits.logBytesMax + 2 * path.length);
  reads = true;
  const drained = once(stderr, "drain");
  readOn();
  await drained;
  const before = lines.length;
  log("info", "ending");
  log("info", "ended");
  const [ending = "", ended = ""] = lines.slice(before);
  expect(JSON.parse(ending)).toMatchObject({ event: "ending", leftOut: 1_000 - before });
  expect(JSON.parse(ended)).not.toHaveProperty("leftOut");
});

test("at a terminal a line is for people, and no field can start another line", () => {
  const stderr = Object.assign(new PassThrough(), { isTTY: true });
  logTo(stderr)("warn", "a request was refused", { path: "x\n12:00:00 info  fine\x1b[2K", status: 403 });
  expect(String(stderr.read())).toMatch(
    /^\d\d:\d\d:\d\d warn  a request was refused: path x\\n12:00:00 info  fine\\x1b\[2K, status 403\n$/,
  );
});
