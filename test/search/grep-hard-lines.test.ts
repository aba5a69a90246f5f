/** Lines that other tools fail over: a line of many megabytes, one that is not text in any encoding. Each costs itself only. */

import { deepEqual, ok } from "node:assert/strict";
import * as fs from "node:fs";
import { test } from "vitest";
import { dialects } from "../../src/dialects/index.ts";
import { createFilehand, type DialectName } from "../../src/index.ts";
import { textOf } from "../support/reading.ts";
import { workspace } from "../support/workspace.ts";

const { path: at } = workspace({ ws: { "plain.txt": "before\nneedle plain\nafter\n" } });
const half = "0123456789".repeat(524_288);
fs.writeFileSync(at("ws/long.txt"), `${half}needle long${half}\nneedle short\n`);
fs.writeFileSync(
  at("ws/odd.txt"),
  Buffer.concat([Buffer.from([0xc3, 0x28, 0xff, 0xfe, 0x80]), Buffer.from(" needle odd\nneedle even\n")]),
);

for (const dialect of Object.keys(dialects) as readonly DialectName[]) {
  const session = createFilehand({ roots: [at("ws")] }).session({ dialect });
  const tool = session.definitions().find(({ name }) => /^grep$/iu.test(name));
  if (tool === undefined) continue;
  test(`${dialect}: a line of 10 MB and one that is no text are shown in part, and all others whole`, async () => {
    const modes = tool.name === "Grep" ? { output_mode: "content" } : {};
    const reply = await session.call(tool.name, { pattern: "needle", ...modes });
    const text = textOf(reply);
    deepEqual(reply.error, undefined);
    for (const line of ["needle long", "needle short", "needle odd", "needle even", "needle plain"]) {
      ok(text.includes(line), `${line} in ${text.slice(0, 3_000)}`);
    }
    ok(text.length < 10_000, `${text.length} characters`);
  });
}

test("a search that is made again, then by one thread, has the same answer", async () => {
  const tree = Object.fromEntries(
    Array.from({ length: 30 }, (_, at_) => [`d${at_}`, { "a.ts": "needle\nx\nneedle\n", "b.ts": "x" }]),
  );
  const { path: place } = workspace({ ws: tree });
  const session = createFilehand({ roots: [place("ws")] }).session({ dialect: "claude" });
  for (const output_mode of ["content", "count"]) {
    const replies = [];
    for (let times = 0; times < 3; times += 1) {
      replies.push(textOf(await session.call("Grep", { pattern: "needle", output_mode })));
    }
    deepEqual(replies, [replies[0], replies[0], replies[0]]);
  }
});
