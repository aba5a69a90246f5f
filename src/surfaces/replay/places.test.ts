import * as fc from "fast-check";
import { expect, test } from "vitest";
import { placeOf } from "./places.ts";

test.each([
  ["src/a.ts", "/home/ada/p", "home/ada/p/src/a.ts"],
  ["/etc/passwd", "/home/ada/p", "etc/passwd"],
  ["../../../../../etc/passwd", "/home/ada/p", "etc/passwd"],
  ["..", "/", ""],
  ["C:\\Users\\ada\\a.ts", "/", "C/Users/ada/a.ts"],
  ["src/a.ts", "C:\\Users\\ada", "C/Users/ada/src/a.ts"],
  ["a\0b", "/w", "w/a_b"],
])("%j in %s", (path, cwd, place) => expect(placeOf(path, cwd)).toBe(place));

test("no path leads out of the folder, or is longer than a file system takes", () => {
  const piece = fc.oneof(
    fc.constantFrom("..", ".", "/", "\\", "C:", "~", "a", "\u0000"),
    fc.string({ unit: "binary", maxLength: 300 }),
  );
  const path = fc.array(piece, { maxLength: 80 }).map((parts) => parts.join("/"));
  fc.assert(
    fc.property(path, path, (one, cwd) => {
      const place = placeOf(one, cwd);
      expect(place.startsWith("/")).toBe(false);
      for (const name of place.split("/")) {
        expect(name).not.toMatch(/^\.\.?$/);
        expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
      }
      expect(Buffer.byteLength(place)).toBeLessThanOrEqual(3_000);
      expect(place).not.toMatch(/[\0-\x1f]/);
    }),
  );
});
