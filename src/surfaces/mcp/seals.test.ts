import { expect, test } from "vitest";
import { createSeals } from "./mcp-workspace.ts";

test("a sealed text opens for those who sealed it", () => {
  const seals = createSeals();
  const cursor = seals.seal("/ws/ä.txt");
  expect(seals.open(cursor)).toBe("/ws/ä.txt");
  expect(createSeals().open(cursor)).toBeUndefined();
});

for (const cursor of ["", "x", "L3dzL2EudHh0", Buffer.alloc(40).toString("base64url")]) {
  test(`"${cursor}" is none of ours`, () => expect(createSeals().open(cursor)).toBeUndefined());
}
