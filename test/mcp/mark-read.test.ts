/** A host of the MCP server says what it showed by other means, and answers say what others changed. */

import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../ends/run.ts";
import { connect, eras, textOf } from "./server.ts";

const result = { "~standard": { version: 1, vendor: "test", validate: (value: unknown) => ({ value }) } } as const;

test.each(eras)("over stdio, in the %s era", async (era) => {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  const text = "one\ntwo\nthree\n";
  for (const name of ["a.txt", "b.txt"]) fs.writeFileSync(join(folder.path, name), text);
  const { client } = await connect({ era, cwd: folder.path, args: ["--yes"] });
  const edit = (oldText: string) =>
    client.callTool({ name: "Edit", arguments: { file_path: "a.txt", old_string: oldText, new_string: "x" } });
  expect(textOf(await edit("two"))).toContain("it was not read in this session");
  const sha256 = createHash("sha256").update(text).digest("hex");
  const mark = (params: Record<string, unknown>) => client.request({ method: "filehand/markRead", params }, result);
  await expect(mark({ path: "a.txt", sha256: "none" })).rejects.toThrow("Cannot call markRead");
  await mark({ path: "a.txt", sha256, lines: [{ from: 1, to: 3 }] });
  expect(textOf(await edit("two"))).toContain("1 replacement at line 2");
  fs.writeFileSync(join(folder.path, "a.txt"), "one\nx\nIII\n");
  await setTimeout(300); // a pause, as while a model thinks
  const reply = await client.callTool({ name: "Read", arguments: { file_path: "b.txt" } });
  expect(JSON.stringify(reply.content)).toContain("since it was shown: line 3 (+1 -1)");
});
