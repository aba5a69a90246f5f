/**
 * What a change leaves behind in V8's old memory until that is collected. An object literal with getters has a shape of its
 * own each time it is made, shapes are old from the beginning, and each kept all of its call: 20 to 33 kB for a file of 9 kB.
 */

import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { workspace } from "../support/workspace.ts";

const kBPerCallMax = 10;

/** Runs in a process of its own: the collector is then ours alone. */
const program = `
import * as fs from "node:fs";
import * as v8 from "node:v8";
const [library, folder, dryRun] = process.argv.slice(1);
const { createFilehand } = await import(library);
const session = createFilehand({ roots: [folder], ask: "yes" }).session({ dialect: "claude" });
const content = (word) => (word + " of a line that stands in a file of nine kB\\n").repeat(180);
const file_path = folder + "/file.txt";
fs.writeFileSync(file_path, content("Begin"));
await session.call("Read", { file_path });
let made = 0;
const write = async () => {
  const words = (made += 1) % 2 === 1 ? "Start" : "Begin";
  const { isError } = await session.call("Write", { file_path, content: content(words) }, { dryRun: dryRun === "true" });
  if (isError) throw new Error("the call failed");
};
for (let call = 0; call < 600; call += 1) await write();
globalThis.gc();
const old = () =>
  v8.getHeapSpaceStatistics()
    .filter(({ space_name: name }) => /^(old|large_object)_/.test(name))
    .reduce((sum, { space_used_size: bytes }) => sum + bytes, 0);
const before = old();
for (let call = 0; call < 300; call += 1) await write();
console.log((old() - before) / 300 / 1_000);
`;

for (const dryRun of [true, false]) {
  test(`a Write ${dryRun ? "that is only tried " : ""}leaves little in old memory`, () => {
    const { top } = workspace({});
    const library = new URL("../../dist/index.js", import.meta.url).href;
    const argv = ["--expose-gc", "--input-type=module", "-e", program, "--", library, top, String(dryRun)];
    const kB = Number(execFileSync(process.execPath, argv, { encoding: "utf8" }));
    expect(kB).toBeLessThan(kBPerCallMax);
  });
}
