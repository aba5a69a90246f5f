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

  test("a pattern that would take very long to compare means every file", () => {
    expect(wants("**/a".repeat(100), `/${"a/".repeat(1_000)}b`)).toBe(true);
  });
});
