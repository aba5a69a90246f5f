/** The noted state of a tree: what is written is what is read, and nothing damaged is believed. */

import { deepEqual, equal } from "node:assert/strict";
import { describe, test } from "vitest";
import { decodeTree, encodeTree, nextTree, type NotedEntry, type TreeFacts } from "./noted-tree.ts";

const facts: TreeFacts = { root: "/w", scannedMs: 5, complete: true, rootStat: [0o40755, 1, 2, 3, 4] };
const entry = (name: string, place: NotedEntry["place"] = "stored", ctime = 3): NotedEntry => ({
  name,
  stat: [place === "folder" ? 0o40755 : 0o100644, 10, 2.5, ctime, 7],
  place,
  content: place === "stored" ? "ab".repeat(32) : place === "git sha1" ? "cd".repeat(20) : "",
});

const first = nextTree(
  undefined,
  {
    listed: new Map([
      ["", [entry("a"), entry("d", "folder"), entry("ü\nx", "git sha1")]],
      ["d", [entry("e", "folder"), entry("in", "too large")]],
      ["d/e", []],
    ]),
    replaced: new Map(),
    listAgain: false,
  },
  facts,
);

describe("a noted tree", () => {
  test("is read as it was written", () => {
    const read = decodeTree(encodeTree(first));
    deepEqual(read?.folders, ["", "d", "d/e"]);
    deepEqual(
      read?.names.map((_name, at) => read.entryAt(at)),
      first.names.map((_name, at) => first.entryAt(at)),
    );
    deepEqual(read?.facts, facts);
    equal(read?.copiedBytes(), 10);
    deepEqual([...(read?.storedContents() ?? [])], ["ab".repeat(32)]);
  });

  test("with any byte changed or cut off is not believed", () => {
    const bytes = encodeTree(first);
    for (let at = 0; at < bytes.length; at += 1) {
      const damaged = Buffer.from(bytes);
      damaged[at] = (damaged[at] ?? 0) ^ 1;
      equal(decodeTree(damaged), undefined, `byte ${at}`);
      equal(decodeTree(bytes.subarray(0, at)), undefined, `cut at ${at}`);
    }
  });

  test("keeps what did not change, and leaves out folders that are gone", () => {
    const changes = { listed: new Map([["", [entry("b")]]]), replaced: new Map(), listAgain: false };
    deepEqual(nextTree(first, changes, facts).folders, [""]);
    const replaced = nextTree(
      first,
      { listed: new Map(), replaced: new Map([[0, entry("a", "secret")]]), listAgain: true },
      facts,
    );
    deepEqual(replaced.names, first.names);
    equal(replaced.placeAt(0), "secret");
    equal(Number.isNaN(replaced.ctimes[1]), true, "the folder is listed again");
  });

  test("a stat whose ctime is no number is equal to nothing", () => {
    const tree = nextTree(
      undefined,
      { listed: new Map([["", [entry("a", "stored", Number.NaN)]]]), replaced: new Map(), listAgain: false },
      facts,
    );
    equal(tree.isSame(0, Float64Array.from([0o100644, 10, 2.5, Number.NaN, 7])), false);
    equal(first.isSame(0, Float64Array.from([0o100644, 10, 2.5, 3, 7])), true);
  });
});
