/** The types that a user of the library sees. `UPDATE=1` rewrites them: read what changed, each line of it is a promise. */

import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { publicTypes } from "../../scripts/public-types.js";

const kept = "test/ends/public-types.txt";

test("the public types are those that were reviewed", () => {
  const now = publicTypes("dist/types/index.d.ts");
  if (process.env["UPDATE"] === "1") writeFileSync(kept, now);
  expect(now).toBe(readFileSync(kept, "utf8"));
});

test("every public name has a declaration", () => {
  const [names = "", ...declarations] = publicTypes("dist/types/index.d.ts").split("\n");
  const declared = new Set(declarations.map((line) => /^\w+ ([\w$]+)/.exec(line)?.[1]));
  const exported = names.slice("export { ".length, -" };".length).split(", ");
  expect(exported.length).toBeGreaterThan(50);
  expect(exported.filter((name) => !declared.has(name.split(" as ")[0] ?? ""))).toEqual([]);
});
