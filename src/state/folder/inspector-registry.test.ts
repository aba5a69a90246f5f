import { expect, test } from "vitest";
import { containsAll } from "./inspector-registry.ts";

for (const [folders, roots, expected] of [
  [["/w"], ["/w"], true],
  [["/w"], ["/w/part", "/w/other/part"], true],
  [["/w", "/v"], ["/v/part", "/w"], true],
  [["/w"], ["/"], false],
  [["/w"], ["/word"], false],
  [["/w"], ["/w/part", "/v"], false],
  [["/w"], ["/w/..more"], true],
  [["/w"], [], false],
] as const) {
  test(`${folders.join(" ")} ${expected ? "hold" : "do not hold"} all of: ${roots.join(" ")}`, () =>
    expect(containsAll(folders, roots)).toBe(expected));
}
