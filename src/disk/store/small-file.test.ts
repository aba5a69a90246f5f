import { equal, throws } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, test } from "vitest";
import { readSmallFile } from "./small-file.ts";

const folder = mkdtempSync(join(tmpdir(), "filehand-small-"));
afterAll(() => rmSync(folder, { recursive: true }));

const written = (name: string, content: string | Uint8Array): string => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};

test("a file is read whole, without its byte order mark", () => {
  equal(readSmallFile(written("plain", "a\r\n\u00e9"), 100), "a\r\n\u00e9");
  equal(readSmallFile(written("marked", "\ufeffa"), 100), "a");
  equal(readSmallFile(written("empty", ""), 100), "");
  equal(readSmallFile(written("large", "x".repeat(200_000)), 200_000)?.length, 200_000);
});

test("a missing file is undefined, also below a file", () => {
  equal(readSmallFile(join(folder, "none"), 100), undefined);
  equal(readSmallFile(join(written("file", ""), "below"), 100), undefined);
});

test("a file that is too large, not text or not regular is refused with a message", () => {
  throws(() => readSmallFile(written("eleven", "x".repeat(11)), 10), /Cannot read ".*eleven": it has 11 bytes/);
  throws(() => readSmallFile(written("bytes", Uint8Array.of(0x61, 0xff)), 10), /not valid UTF-8/);
  mkdirSync(join(folder, "sub"));
  throws(() => readSmallFile(join(folder, "sub"), 10), /not a regular file/);
});

test.skipIf(process.platform === "win32")("a FIFO, a device and a circle of links do not block", () => {
  execFileSync("mkfifo", [join(folder, "fifo")]);
  throws(() => readSmallFile(join(folder, "fifo"), 10), /not a regular file/);
  throws(() => readSmallFile("/dev/zero", 10), /not a regular file/);
  symlinkSync("circle", join(folder, "circle"));
  throws(() => readSmallFile(join(folder, "circle"), 10), /circle/);
});

test.skipIf(process.platform !== "linux")("a file that says it is empty is read up to the limit", () => {
  throws(() => readSmallFile("/proc/self/status", 10), /more than 10 bytes/);
});
