/** What a host's asker may answer, and what becomes of a call when it answers something else. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { type Asker, createFilehand } from "../src/index.ts";
import { temporaryFolder } from "./ends/run.ts";

const folder = temporaryFolder();
afterAll(() => folder.remove());
const file = join(folder.path, "a.txt");

const cyclic: Record<string, unknown> = {};
cyclic["reply"] = cyclic;

for (const [name, answer, said] of [
  ["undefined", undefined, "undefined"],
  ["null", null, "object"],
  ["true", true, "boolean"],
  ["a text", "once", '"once"'],
  ["an object without a reply", {}, "an object whose reply is undefined"],
  ["another reply", { reply: "yes" }, 'an object whose reply is "yes"'],
  ["a reply that holds itself", cyclic, "an object whose reply is object"],
  ["a number too large for JSON", 1n, "bigint"],
] as const) {
  test(`an asker that answers ${name} is a clear error, and nothing is changed`, async () => {
    writeFileSync(file, "one\n");
    const ask = (async () => answer) as unknown as Asker; // a host without types
    const session = createFilehand({ roots: [folder.path], ask }).session();
    await session.call("Read", { file_path: "a.txt" });
    const edited = session.call("Edit", { file_path: "a.txt", old_string: "one", new_string: "two" });
    await expect(edited).rejects.toThrow(
      new TypeError(
        `Cannot ask about "a.txt": the host's asker answered ${said} and nothing was done, let it answer { reply: "once" | "always" | "reject" | "nobody" }`,
      ),
    );
    expect(readFileSync(file, "utf8")).toBe("one\n");
    await expect(session.call("Write", { file_path: "new.txt", content: "x" })).rejects.toThrow(TypeError);
    expect(() => readFileSync(join(folder.path, "new.txt"))).toThrow("ENOENT");
  });
}
