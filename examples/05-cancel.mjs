// @ts-check
// A call can be cancelled while it works: here while it looks for a line far down in a large file.

import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFilehand } from "filehand";

const root = mkdtempSync(join(tmpdir(), "filehand-"));
const log = openSync(join(root, "big.log"), "w");
const chunk = "2026-11-15 12:00:00 all is well\n".repeat(32_768);
for (let megabyte = 0; megabyte < 64; megabyte += 1) writeSync(log, chunk);
closeSync(log);

const session = createFilehand({ roots: [root], reminder: false }).session();
const line = { file_path: "big.log", offset: 2_000_000, limit: 1 };

const controller = new AbortController();
const cancelled = session.call("Read", line, { signal: controller.signal });
setImmediate(() => controller.abort());
console.log((await cancelled).error?.code);

// The session goes on as if nothing had happened.
const reply = await session.call("Read", line);
for (const part of reply.content) if (part.type === "text") console.log(part.text);

rmSync(root, { recursive: true });
