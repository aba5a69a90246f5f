/** Paths in answers can be given back, in every dialect. */

import { expect, test } from "vitest";
import { dialectNames } from "../src/dialects/index.ts";
import { createFilehand } from "../src/index.ts";
import { givenBackSuite } from "./suites/given-back.ts";
import { readCalls, textOf } from "./support/reading.ts";
import { onWindows, workspace } from "./support/workspace.ts";

for (const name of dialectNames) {
  givenBackSuite(name);

  test.skipIf(onWindows)(`${name}: a name that alone would be a network path is told whole`, async () => {
    const { top } = workspace({ "\\\\host\\share.txt": "needle\n" });
    const session = createFilehand({ roots: [top] }).session({ dialect: name });
    const { tool, parameter } = readCalls[name];
    const found = await session.call(name.startsWith("opencode") ? "grep" : "Grep", { pattern: "needle" });
    const told = textOf(found)
      .split(/[\n:]/)
      .find((line) => line.includes("share.txt"));
    expect(told).toBe(`${top}/\\\\host\\share.txt`);
    expect(textOf(await session.call(tool, { [parameter]: told }))).toContain("needle");
  });
}
