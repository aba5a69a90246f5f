import * as fc from "fast-check";
import { expect, test } from "vitest";
import { isWellFormed } from "../../text/encoding/escape.ts";
import { decodeFileUri, encodeFileUri } from "./resources.ts";

for (const [uri, decoded] of [
  ["file:///ws/a.txt", { path: "/ws/a.txt" }],
  ["FILE://localhost/ws/a.txt", { path: "/ws/a.txt" }],
  ["file:///ws/a%20b.txt", { path: "/ws/a b.txt" }],
  ["file:///ws/100%25", { path: "/ws/100%" }],
  ["file:///ws/%2e%2e/out", { path: "/ws/../out" }],
  ["file:///ws/../out", { path: "/ws/../out" }],
  ["file:///ws/%252e%252e/out", { path: "/ws/%2e%2e/out" }],
  ["file:///ws/..%2fout", { fault: "encoded separator" }],
  ["file:///ws/..%5cout", { fault: "encoded separator" }],
  ["file:///ws/..\\out", { fault: "encoded separator" }],
  ["file:///ws/a%00b", { fault: "encoded separator" }],
  ["file:///ws/a%", { fault: "bad encoding" }],
  ["file:///ws/%ff", { fault: "bad encoding" }],
  ["file:///ws/%c0%ae", { fault: "bad encoding" }],
  ["file://other-host/ws/x", { fault: "another host" }],
  ["file://127.0.0.1/ws/x", { fault: "another host" }],
  ["file://user@/ws/x", { fault: "another host" }],
  ["file:///ws/a?b", { fault: "query or fragment" }],
  ["file:///ws/a#b", { fault: "query or fragment" }],
  ["file:/ws/a", { fault: "not a file URI" }],
  ["http:///ws/a", { fault: "not a file URI" }],
  ["/ws/a", { fault: "not a file URI" }],
  ["", { fault: "not a file URI" }],
] as const) {
  test(`${uri} is ${JSON.stringify(decoded)}`, () => expect(decodeFileUri(uri, "linux")).toEqual(decoded));
}

test("on Windows a drive stands behind the third slash", () => {
  expect(decodeFileUri("file:///C:/ws/a", "win32")).toEqual({ path: "C:/ws/a" });
  expect(encodeFileUri("C:\\ws\\a b", "win32")).toBe("file:///C:/ws/a%20b");
});

test("every path that has a URI comes back from it", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ minLength: 1, unit: "binary" }).filter((name) => !/[/\0]/.test(name))),
      (names) => {
        const path = `/${names.join("/")}`;
        const uri = encodeFileUri(path, "linux");
        if (uri === undefined) expect(path.includes("\\") || !isWellFormed(path)).toBe(true);
        else expect(decodeFileUri(uri, "linux")).toEqual({ path });
      },
    ),
  );
});
