/** Every dialect runs the shared suite. */

import { expect, test } from "vitest";
import { dialectNames } from "../src/dialects/index.ts";
import { type DialectCase, dialectSuite } from "./suites/dialect.ts";

const cases: readonly DialectCase[] = [
  { name: "claude", tool: "Read", path: "file_path", offset: "offset", first: 1 },
  { name: "opencode", tool: "read", path: "filePath", offset: "offset", first: 1 },
  { name: "opencode-legacy", tool: "read", path: "filePath", offset: "offset", first: 0 },
  { name: "envelope", tool: "Read", path: "path", offset: "start_line", first: 1 },
];

for (const given of cases) dialectSuite(given);

test("no dialect is left out", () => {
  expect(cases.map(({ name }) => name).toSorted()).toEqual(dialectNames.toSorted());
});
