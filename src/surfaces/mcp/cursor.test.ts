import { expect, test } from "vitest";
import { createCursors } from "./desk.ts";

test("a cursor opens for those who made it, and is not to be read", () => {
  const cursors = createCursors();
  const cursor = cursors.seal("/ws/ä.txt");
  expect(cursors.open(cursor)).toBe("/ws/ä.txt");
  expect(createCursors().open(cursor)).toBeUndefined();
});

for (const cursor of ["", "x", "L3dzL2EudHh0", Buffer.alloc(40).toString("base64url")]) {
  test(`"${cursor}" is none of ours`, () => expect(createCursors().open(cursor)).toBeUndefined());
}
