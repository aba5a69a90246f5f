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

for (const [name, hunks, said] of [
  ["a hunk that is not there", [1], "the hunk 1 of 1"],
  ["a hunk before the first", [-1], "the hunk -1 of 1"],
  ["a part of a hunk", [0.5], "the hunk 0.5 of 1"],
  ["no number", [Number.NaN], "the hunk NaN of 1"],
  ["a hunk as a text", ["0"], 'the hunk "0" of 1'],
  ["a hunk twice", [0, 0], "the hunk 0 twice"],
  ["undefined", [undefined, 0], "the hunk undefined of 1"],
  ["no hunk", [], "an empty list of hunks"],
  ["a number instead of a list", 0, "hunks that are number"],
  ["null", null, "hunks that are object"],
  ["a very long list", Array.from({ length: 100_000 }, () => 7), "the hunk 7 of 1"],
] as const) {
  test(`an asker that chooses ${name} is a clear error, and nothing is changed`, async () => {
    writeFileSync(file, "one\n");
    const ask = (async () => ({ reply: "once", hunks })) as unknown as Asker; // a host without types
    const session = createFilehand({ roots: [folder.path], ask }).session();
    await session.call("Read", { file_path: "a.txt" });
    const edited = session.call("Edit", { file_path: "a.txt", old_string: "one", new_string: "two" });
    await expect(edited).rejects.toThrow(
      new TypeError(
        `Cannot ask about "a.txt": the host's asker answered ${said} and nothing was done, let it name each hunk once, as an integer from 0 to 0, or answer { reply: "reject" } if it wants none`,
      ),
    );
    expect(readFileSync(file, "utf8")).toBe("one\n");
  });
}

test("hunks of a question without hunks, and hunks with always, are an error too", async () => {
  writeFileSync(file, "one\n");
  const answers: unknown[] = [
    { reply: "once", hunks: [0] },
    { reply: "always", hunks: [0] },
  ];
  const ask = (async () => answers.shift()) as unknown as Asker; // a host without types
  const session = createFilehand({ roots: [folder.path], ask, permissions: { ask: ["Read(a.txt)"] } }).session();
  await expect(session.call("Read", { file_path: "a.txt" })).rejects.toThrow("can only be answered as a whole");
  const written = session.call("Write", { file_path: "new.txt", content: "x" });
  await expect(written).rejects.toThrow('answered hunks with the reply "always" and nothing was done');
  expect(() => readFileSync(join(folder.path, "new.txt"))).toThrow("ENOENT");
});
