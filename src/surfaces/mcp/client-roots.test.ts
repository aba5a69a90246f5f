import { expect, test } from "vitest";
import { namedRoots, narrowedRoots } from "./server.ts";

for (const [what, uris, roots, kept] of [
  ["a folder inside a root narrows", ["file:///ws/inner"], ["/ws"], ["/ws/inner"]],
  ["a folder that is named through a link narrows", ["file:///link/inner"], ["/ws"], ["/ws/inner"]],
  ["the root itself through a link changes nothing", ["file:///link"], ["/ws"], undefined],
  ["the root itself changes nothing", ["file:///ws"], ["/ws"], undefined],
  ["a folder above a root does not widen it", ["file:///"], ["/ws"], undefined],
  ["one of two roots is kept", ["file:///a/b"], ["/a", "/b"], ["/a/b"]],
  ["both, one of them narrowed", ["file:///a/b", "file:///b"], ["/a", "/b"], ["/a/b", "/b"]],
  ["a stranger beside it is left out", ["file:///etc", "file:///ws/inner"], ["/ws"], ["/ws/inner"]],
  ["strangers alone change nothing", ["file:///etc", "http://x/ws/inner"], ["/ws"], undefined],
  ["a like name is no folder inside", ["file:///ws-evil"], ["/ws"], undefined],
  ["dots are resolved before they are judged", ["file:///ws/../etc"], ["/ws"], undefined],
] as const) {
  test(what, () => {
    expect(
      narrowedRoots(
        uris.map((uri) => ({ uri })),
        roots,
        (path) => path.replace(/^\/link(?=\/|$)/, "/ws"),
      ),
    ).toEqual(kept);
  });
}

for (const [what, answer, named] of [
  ["what is no root is left out", { roots: [{ uri: "file:///a" }, { uri: 1 }, null, "x"] }, [{ uri: "file:///a" }]],
  ["one of another kind stays, to be judged", { roots: [{ uri: "http://x" }] }, [{ uri: "http://x" }]],
  ["an empty list is a list", { roots: [] }, []],
  ["a list of nothing but faults is none", { roots: [null, {}] }, undefined],
  ["text is no list", { roots: "junk" }, undefined],
  ["nothing is no list", undefined, undefined],
] as const) {
  test(what, () => expect(namedRoots(answer)).toEqual(named));
}
