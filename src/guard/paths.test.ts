import { deepEqual, equal, ok } from "node:assert/strict";
import * as path from "node:path";
import * as fc from "fast-check";
import { describe, test } from "vitest";
import { pathFault, placeOf, relativeTo } from "./paths.ts";
import { growsLikeItsInput } from "../../test/support/growth.ts";

describe("a path's letters", () => {
  for (const [asked, onPosix, onWindows] of [
    ["", "empty", "empty"],
    ["a", undefined, undefined],
    [".", undefined, undefined],
    ["..", undefined, undefined],
    ["a/b", undefined, undefined],
    ["/a/b", undefined, undefined],
    ["//a/b", undefined, "network"],
    ["//./a", undefined, "device namespace"],
    ["//?/a", undefined, "device namespace"],
    ["///a", undefined, "network"],
    ["\\\\a\\b", "network", "network"],
    ["\\\\?\\a", "device namespace", "device namespace"],
    ["\\\\.\\a", "device namespace", "device namespace"],
    ["\\??\\a", "device namespace", "device namespace"],
    ["\\a", undefined, undefined],
    ["a\\\\b", undefined, undefined],
    ["C:\\a", undefined, undefined],
    ["C:/a", undefined, undefined],
    ["C:a", undefined, "drive relative"],
    ["C:", undefined, "drive relative"],
    ["a:b", undefined, "drive relative"],
    ["ab:c", undefined, "stream"],
    ["a/b:c", undefined, "stream"],
    ["a.", undefined, "reserved"],
    ["a ", undefined, "reserved"],
    ["a./b", undefined, "reserved"],
    ["...", undefined, "reserved"],
    ["nul", undefined, "reserved"],
    ["a/NUL.txt/b", undefined, "reserved"],
    ["null", undefined, undefined],
    ["a\0", "nul", "nul"],
    ["\0", "nul", "nul"],
    ["\\\\a\0", "nul", "nul"],
  ] as const) {
    test(`${JSON.stringify(asked)}: ${onPosix ?? "fine"} on POSIX, ${onWindows ?? "fine"} on Windows`, () => {
      equal(pathFault(asked, path.posix), onPosix);
      equal(pathFault(asked, path.win32), onWindows);
    });
  }

  for (const [name, asked, fault] of [
    ["4,096 bytes", "x".repeat(4_096), undefined],
    ["4,097 bytes", "x".repeat(4_097), "too long"],
    ["4,098 bytes in 2,049 letters", "é".repeat(2_049), "too long"],
    ["a megabyte", "/x".repeat(500_000), "too long"],
  ] as const) {
    test(`${name}: ${fault ?? "fine"}`, () => equal(pathFault(asked, path.posix), fault));
  }

  test("four times the letters are no more than four times the work, of any kind", async () => {
    for (const part of ["\\", "/", ".", " ", ":", "con.", "\\\\?\\"]) {
      for (const flavour of [path.posix, path.win32]) {
        await growsLikeItsInput(
          100_000,
          (chars) => part.repeat(chars / part.length),
          (asked) => pathFault(asked, flavour),
        );
      }
    }
  });

  // An expression that tries every end for every beginning would take hours.
  for (const part of ["\\", "/", ".", " ", ":", "con.", "\\\\?\\"]) {
    test(`ten megabytes of "${part}" are refused`, () => {
      for (const flavour of [path.posix, path.win32]) ok(pathFault(part.repeat(10_000_000 / part.length), flavour));
    });
  }
});

describe("below its root", () => {
  for (const [flavour, absolute, roots, below] of [
    ["posix", "/ws/a/b", ["/ws"], "a/b"],
    ["posix", "/ws", ["/ws"], ""],
    ["posix", "/ws-evil/a", ["/ws"], undefined],
    ["posix", "/ws/..a", ["/ws"], "..a"],
    ["posix", "/ws/...", ["/ws"], "..."],
    ["posix", "/", ["/ws"], undefined],
    ["posix", "/etc/x", ["/"], "etc/x"],
    ["posix", "/b/x", ["/a", "/b"], "x"],
    ["posix", "/a/b/x", ["/a", "/a/b"], "b/x"],
    ["posix", "/a/b/x", ["/a/b", "/a"], "x"],
    ["posix", "/ws/a\\b", ["/ws"], "a\\b"],
    ["posix", "/ws/a", [], undefined],
    ["win32", "C:\\ws\\a\\b", ["C:\\ws"], "a/b"],
    ["win32", "c:\\WS\\a", ["C:\\ws"], "a"],
    ["win32", "D:\\ws\\a", ["C:\\ws"], undefined],
    ["win32", "C:\\ws-evil", ["C:\\ws"], undefined],
    ["win32", "\\\\host\\share\\a", ["C:\\ws"], undefined],
  ] as const) {
    test(`${flavour}: ${absolute} below ${roots.join(", ") || "nothing"} is ${JSON.stringify(below)}`, () =>
      equal(relativeTo(absolute, roots, path[flavour]), below));
  }

  test("is found for every path that is made from the root, and joins back to it", () => {
    const name = fc.string({ minLength: 1, maxLength: 8 }).filter((text) => !/[/\0]|^\.\.?$/.test(text));
    fc.assert(
      fc.property(fc.array(name, { maxLength: 5 }), (names) => {
        const absolute = ["/ws", ...names].join("/");
        equal(relativeTo(absolute, ["/ws"], path.posix), names.join("/"));
      }),
    );
  });

  test("is never found for a path that leaves the root", () => {
    const part = fc.constantFrom("..", ".", "a", "ws", "ws-evil", "", "...");
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
        const absolute = path.posix.resolve("/ws", parts.join("/"));
        const inside = absolute === "/ws" || absolute.startsWith("/ws/");
        equal(relativeTo(absolute, ["/ws"], path.posix) !== undefined, inside);
      }),
    );
  });
});

describe("a place", () => {
  test("is what `resolve` and `relative` say, also where they are not asked", () => {
    const part = fc.constantFrom("..", ".", "a", "b.txt", ".git", "", "...", "~", "a.b", "ws");
    const roots = fc.constantFrom(["/ws"], ["/ws/a", "/ws"], ["/"], ["/ws/.git"]);
    const base = fc.constantFrom("/ws", "/", "/ws/a", "/ws/.git");
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), fc.boolean(), base, roots, (parts, isWhole, from, within) => {
        const asked = `${isWhole ? "/" : ""}${parts.join("/")}`;
        const absolute = path.posix.resolve(from, asked);
        const below = within
          .map((root) => path.posix.relative(root, absolute))
          .find((rest) => !/^\.\.($|\/)/.test(rest));
        deepEqual(placeOf(asked, from, within, path.posix), { asked, absolute, relative: below ?? absolute });
      }),
      { numRuns: 2_000 },
    );
  });

  for (const [asked, base, absolute, relative] of [
    ["a.txt", "/ws", "/ws/a.txt", "a.txt"],
    ["./a//b/../c", "/ws", "/ws/a/c", "a/c"],
    ["a.txt", "/ws/sub", "/ws/sub/a.txt", "sub/a.txt"],
    ["/ws", "/ws", "/ws", ""],
    [".", "/ws", "/ws", ""],
    ["../x", "/ws", "/x", "/x"],
    ["/etc/passwd", "/ws", "/etc/passwd", "/etc/passwd"],
    ["~", "/ws", "/ws/~", "~"],
    ["a%20b", "/ws", "/ws/a%20b", "a%20b"],
  ] as const) {
    test(`"${asked}" from ${base} is ${absolute}`, () =>
      deepEqual(placeOf(asked, base, ["/ws"], path.posix), { asked, absolute, relative }));
  }
});
