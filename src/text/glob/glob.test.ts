/** Whole patterns against whole paths. */

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { limits } from "../../contract/limits.ts";
import { parseGlob } from "./glob.ts";
import { startGlobState } from "./glob-state.ts";

function finds(pattern: string, path: string): boolean | string {
  const glob = parseGlob(pattern);
  if ("fault" in glob) return glob.fault;
  const names = path.split("/");
  const file = names.pop() ?? "";
  let state: ReturnType<typeof startGlobState> | undefined = startGlobState(glob);
  for (const name of names) state = state?.enter(name, "visible");
  return state?.accepts(file, "visible") ?? false;
}

describe("globs", () => {
  for (const [pattern, path, expected] of [
    ["**/*.ts", "a.ts", true],
    ["**/*.ts", "x/y/a.ts", true],
    ["*.ts", "x/a.ts", true],
    ["./*.ts", "x/a.ts", false],
    ["./*.ts", "a.ts", true],
    ["src/*.ts", "src/a.ts", true],
    ["src/*.ts", "src/x/a.ts", false],
    ["src/*.ts", "x/src/a.ts", false],
    ["src/**", "src/x/y", true],
    ["src/**", "src", false],
    ["**", "a/b", true],
    ["**/x/**", "a/x/b/c", true],
    ["a/**/b/**/c.ts", "a/1/2/b/c.ts", true],
    ["{src,test}/**/*.{ts,js}", "test/x/a.js", true],
    ["{src,test}/**/*.{ts,js}", "lib/x/a.js", false],
    ["{src/a,b}/c", "src/a/c", true],
    ["file{1..3}.md", "file2.md", true],
    ["**/*", ".hidden", false],
    ["**/*", ".github/x", false],
    [".github/**", ".github/x", true],
    [".github/**", ".github/.x", false],
    ["**/.*", "a/.env", true],
    ["**/.github/*", "a/.github/x", true],
    ["@(.env|x)", ".env", true],
    ["app/[id]/page.tsx", "app/[id]/page.tsx", true],
    ["app/[id]/page.tsx", "app/i/page.tsx", true],
    ["app/[...slug]/*.tsx", "app/[...slug]/page.tsx", true],
    ["app/[[...slug]]/*.tsx", "app/[[...slug]]/page.tsx", true],
    ["app/(shop)/**", "app/(shop)/a/b", true],
    ["{a,b}", "{a,b}", true],
    ["{{name}}/x", "{{name}}/x", true],
    ["a//b", "a/b", true],
    ["a/./b", "a/b", true],
    ["cafe\u0301/*", "caf\u00e9/x", true],
    ["-x", "-x", true],
    ["", "", "empty"],
    ["  ", "", "empty"],
    ["a\0", "", "nul"],
    ["../a", "", "parent"],
    ["a/{b,..}/c", "", "parent"],
    ["./", "", "no name"],
    ["[a", "[a", "unclosed bracket"],
    ["{a", "{a", "unclosed brace"],
    ["@(a/b)", "", "unclosed group"],
  ] as const) {
    test(`${JSON.stringify(pattern)} and ${path}`, () => expect(finds(pattern, path)).toBe(expected));
  }

  test("what would take too long is refused", () => {
    expect(finds("{a,b}".repeat(30), "a")).toBe("too many choices");
    expect(finds("a".repeat(limits.globCharsMax + 1), "a")).toBe("too long");
    expect(finds("a/".repeat(limits.globDepthMax + 1), "a")).toBe("too many names");
    expect(finds(`{1..900}/${"a/".repeat(100)}b`, "a")).toBe("too many names");
  });

  test("many ** are many steps and no more", () => {
    const deep = `${"a/".repeat(500)}b`;
    expect(finds(`${"**/a/".repeat(90)}b`, deep)).toBe(true);
    expect(finds(`${"**/a/".repeat(90)}c`, deep)).toBe(false);
    expect(finds("**/".repeat(150) + "b", deep)).toBe(true);
  });
});

/** The reference, plain and slow: tries every way to match the pattern. */
function slowly(pattern: readonly string[], path: readonly string[]): boolean {
  const [part, ...parts] = pattern;
  if (part === undefined) return path.length === 0;
  if (part === "**") {
    if (parts.length === 0) return path.length > 0;
    return path.length > 0 && (slowly(parts, path) || slowly(pattern, path.slice(1)));
  }
  const [name, ...names] = path;
  if (name === undefined) return false;
  const shape = new RegExp(`^${part.replaceAll("*", "[^]*").replaceAll("?", "[^]")}$`);
  return shape.test(name) && slowly(parts, names);
}

test("the steps find what trying every way finds", () => {
  const parts = fc.array(fc.constantFrom("**", "*", "a", "b", "a*", "?", "*b"), { minLength: 2, maxLength: 6 });
  const path = fc.array(fc.constantFrom("a", "b", "ab", "c"), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(parts, path, (pattern, names) => {
      expect(finds(pattern.join("/"), names.join("/"))).toBe(slowly(pattern, names));
    }),
    { numRuns: 2_000 },
  );
});
