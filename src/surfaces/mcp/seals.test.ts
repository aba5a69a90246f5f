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

for (const text of ["", "a", "ab", "abc"]) {
  test(`the sealed text "${text}" with a character added is refused`, () => {
    const seals = createSeals();
    for (const added of ["x", "=", "\n", "é"]) expect(seals.open(seals.seal(text) + added)).toBeUndefined();
  });
}
