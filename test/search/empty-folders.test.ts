/** A folder is called empty only if it is: not if rules or the call itself leave out all that is in it. */

import { equal, ok } from "node:assert/strict";
import { describe, test } from "vitest";
import { createFilehand } from "../../src/index.ts";
import { everyDialect, textOf } from "../support/reading.ts";
import { workspace } from "../support/workspace.ts";

const { path: at } = workspace({ ws: { empty: {}, denied: { "a.txt": "x" }, full: { "b.txt": "x" } } });
const permissions = { deny: ["Read(denied/*)"] };
const saysEmpty = /is empty|\(0 entries\)/;

for (const dialect of everyDialect) {
  describe(`in ${dialect}`, () => {
    const session = createFilehand({ roots: [at("ws")], permissions }).session({ dialect });
    const ls = dialect.startsWith("opencode") ? "list" : "LS";

    test("a list", async () => {
      for (const [input, left] of [
        [{ path: "denied" }, "1 entry is withheld by permission rules"],
        [{ path: "full", ignore: ["*"] }, "1 entry is left out as asked by ignore"],
      ] as const) {
        const text = textOf(await session.call(ls, input));
        ok(!saysEmpty.test(text) && text.includes(left), text);
      }
      const text = textOf(await session.call(ls, { path: "empty" }));
      equal(saysEmpty.test(text), dialect !== "envelope", text);
    });

    // Others refuse a folder.
    test.skipIf(dialect !== "opencode")("a read", async () => {
      const read = async (filePath: string): Promise<string> => textOf(await session.call("read", { filePath }));
      const text = await read("denied");
      ok(!saysEmpty.test(text) && text.includes("(0 entries shown, all are withheld by permission rules)"), text);
      ok((await read("empty")).includes("(0 entries)"));
    });
  });
}
