import { expect, test } from "vitest";
import { pathOf, uriOf } from "./diagnostics.ts";

test.each([
  ["/a b/c.ts", "file:///a%20b/c.ts"],
  ["/50%/c#?.ts", "file:///50%25/c%23%3F.ts"],
  ["/späß/日本/😀", "file:///sp%C3%A4%C3%9F/%E6%97%A5%E6%9C%AC/%F0%9F%98%80"],
  ["/%41", "file:///%2541"],
])("%s there and back", (path, uri) => {
  expect(uriOf(path)).toBe(uri);
  expect(pathOf(uri)).toBe(path);
});

test.each([
  ["file:///sp%c3%a4t", "/spät"],
  ["FILE:///a", "/a"],
  ["file://host/share", undefined],
  ["https://example.org/a", undefined],
  ["untitled:one", undefined],
  ["file:///a%00b", undefined],
  ["file:///%zz", undefined],
  [7, undefined],
  [undefined, undefined],
])("%s is %s", (uri, path) => expect(pathOf(uri)).toBe(path));
