import { describe, expect, test } from "vitest";
import { uriOf } from "./diagnostics.ts";
import { createWatchedFiles } from "./server.ts";

const wants = (globPattern: unknown, path: string, kind?: number): boolean => {
  const files = createWatchedFiles();
  files.registered("1", { watchers: [{ globPattern, ...(kind === undefined ? {} : { kind }) }] });
  return files.wants({ path, did: "changed" });
};

describe("watched files", () => {
  test.each([
    ["**/*.ts", "/w/a.ts", true],
    ["**/*.ts", "/w/deep/er/a.ts", true],
    ["**/*.ts", "/w/a.tsx", false],
    ["**/*.{ts,tsx}", "/w/a.tsx", true],
    ["**/{package,tsconfig}*.json", "/w/tsconfig.base.json", true],
    ["**/[a-c].x", "/w/b.x", true],
    ["**/[!a-c].x", "/w/b.x", false],
    ["**/?.x", "/w/ab.x", false],
    ["/w/**/*", "/w/x/y.z", true],
    ["/w/**/*", "/other/y.z", false],
    ["**/go.mod", "/w/go.mod", true],
    ["**/go.mod", "/w/gozmod", false],
    ["**/{a", "/w/a", false],
    [`**/${"x".repeat(1_000)}`, "/w/a", false],
    [{ baseUri: uriOf("/w/sub dir"), pattern: "**/*.py" }, "/w/sub dir/a.py", true],
    [{ baseUri: uriOf("/w/sub dir"), pattern: "**/*.py" }, "/w/a.py", false],
    [{ baseUri: { uri: uriOf("/w"), name: "w" }, pattern: "*.py" }, "/w/a.py", true],
    [{ baseUri: "https://example.org/", pattern: "*" }, "/w/a.py", false],
    [{ baseUri: { uri: uriOf("/w"), name: "w" }, pattern: "*.py" }, "/w/deep/a.py", false],
    [{ baseUri: uriOf("/w"), pattern: "**" }, "/w/.hidden/a", true],
    [{ baseUri: uriOf("/w"), pattern: "**" }, "/wide/a", false],
    ["**/cafe\u0301.x", "/w/caf\u00e9.x", true],
    ["src/*.ts", "/w/src/a.ts", true],
    ["src/*.ts", "/w/src/deep/a.ts", false],
    ["**/.env*", "/w/.env.local", true],
    [7, "/w/a", false],
  ])("%j and %s: %s", (pattern, path, expected) => expect(wants(pattern, path)).toBe(expected));

  test("only the kinds of change that were asked for", () => {
    expect(wants("**", "/a", 1)).toBe(false);
    expect(wants("**", "/a", 2)).toBe(true);
  });

  test("until it is taken back", () => {
    const files = createWatchedFiles();
    files.registered("1", { watchers: [{ globPattern: "**" }] });
    files.unregistered("1");
    expect(files.wants({ path: "/a", did: "deleted" })).toBe(false);
  });

  test("a pattern that an expression would compare without end is compared, and only its files are meant", () => {
    const path = `/${"a/".repeat(1_000)}b`;
    expect(wants("**/a".repeat(100), path)).toBe(false);
    expect(wants(`${"**/a*/".repeat(50)}b`, path)).toBe(true);
    expect(wants(`**/${"*a".repeat(240)}b`, `/${"a".repeat(4_000)}`)).toBe(false);
  });

  test("all registrations together have at most 1,000 patterns", () => {
    const files = createWatchedFiles();
    const watchers = Array.from({ length: 600 }, () => ({ globPattern: "**/a" }));
    files.registered("1", { watchers });
    files.registered("2", { watchers: [...watchers.slice(0, 399), { globPattern: "**/b" }] });
    files.registered("3", { watchers: [{ globPattern: "**/c" }] });
    const changed = (path: string): boolean => files.wants({ path, did: "changed" });
    expect([changed("/a"), changed("/b"), changed("/c")]).toEqual([true, true, false]);
    files.unregistered("1");
    files.registered("3", { watchers: [{ globPattern: "**/c" }] });
    expect(changed("/c")).toBe(true);
  });
});
