import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import { readErrors } from "../../state/state.ts";
import { internalError, jsonLine } from "./print.ts";

test("a line of JSON holds no character that acts on a terminal, and says the same", () => {
  const controls = Array.from({ length: 0xa0 }, (_, code) => String.fromCharCode(code)).join("");
  const value = { [controls]: [controls, "é\u2028 \ufffd 😀"] };
  const line = jsonLine(value);
  expect(JSON.parse(line)).toEqual(value);
  expect(line.endsWith("\n")).toBe(true);
  // oxlint-disable-next-line no-control-regex
  expect(line.slice(0, -1)).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
});

test("an internal error names where to report it, and is kept for the report", () => {
  const home = mkdtempSync(join(tmpdir(), "fh-home-"));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const stderr = new PassThrough();
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr };
  const world = { env: {}, cwd: home, home, platform: "linux", signal: new AbortController().signal } as const;
  const bug = new Error("x is not a function");
  expect(internalError(bug, { ...streams, ...world })).toMatchObject({ isError: true, error: { code: "INTERNAL" } });
  expect(String(stderr.read())).toMatch(
    /this is a bug in Filehand: report it at .*filehand doctor --report.*\nError: x is/,
  );
  expect(readErrors(join(home, ".local/state/filehand"))).toMatchObject([{ stack: bug.stack }]);
});
