import { dirname, join, resolve, sep } from "node:path";
import { describe, expect, test } from "vitest";
import type { Place } from "../contract/target.ts";
import { similarPaths, type Surroundings, type Wanted } from "./similar.ts";

const root = resolve("/w/app");
const otherRoot = resolve("/w/lib");

/** A tree of the given files (folders end in `/`) below `root`, or elsewhere if absolute; `hidden` ones cannot be seen. */
function world(files: readonly string[], options: { roots?: readonly string[]; hidden?: readonly string[] } = {}) {
  const roots = options.roots ?? [root];
  const kinds = new Map<string, "file" | "directory">(roots.map((path) => [path, "directory"]));
  for (const file of files) {
    const path = resolve(root, file);
    for (let above = dirname(path); above !== dirname(above); above = dirname(above)) kinds.set(above, "directory");
    kinds.set(path, file.endsWith("/") ? "directory" : "file");
  }
  const hidden = new Set(options.hidden?.map((file) => resolve(root, file)));
  const isInside = (path: string) => roots.some((home) => path === home || path.startsWith(home + sep));
  const calls = { lookup: 0 };
  const around: Surroundings = {
    roots,
    list: async (folder, take) => {
      if (!isInside(folder) || kinds.get(folder) !== "directory") return false;
      for (const [path, kind] of kinds) {
        if (dirname(path) === folder && path !== folder) take({ name: path.slice(folder.length + 1), kind });
      }
      return true;
    },
    lookup: async (path) => {
      calls.lookup += 1;
      return isInside(path) && !hidden.has(path) ? kinds.get(path) : undefined;
    },
  };
  return { around, calls };
}

/** Below `root`, or outside if absolute. */
function place(asked: string): Place {
  const absolute = resolve(root, asked);
  const inside = absolute.startsWith(root + sep);
  return {
    asked,
    absolute,
    relative: inside
      ? absolute
          .slice(root.length + 1)
          .split(sep)
          .join("/")
      : absolute,
  };
}

async function suggested(asked: string, files: readonly string[], wants: Wanted = "file or folder") {
  return (await similarPaths(place(asked), wants, world(files).around)).map(({ relative }) => relative);
}

describe("in the same folder", () => {
  for (const [name, asked, files, expected] of [
    ["letter case", "readme.md", ["README.md"], ["README.md"]],
    ["decomposed for composed", "caf\u00e9.txt", ["cafe\u0301.txt"], ["cafe\u0301.txt"]],
    ["composed for decomposed", "cafe\u0301.txt", ["caf\u00e9.txt"], ["caf\u00e9.txt"]],
    [
      "the space of macOS before AM/PM",
      "Screenshot 2025-01-01 at 9.41 AM.png",
      ["Screenshot 2025-01-01 at 9.41\u202fAM.png"],
      ["Screenshot 2025-01-01 at 9.41\u202fAM.png"],
    ],
    ["a no-break space", "a b.txt", ["a\u00a0b.txt"], ["a\u00a0b.txt"]],
    ["a curly apostrophe", "it's.md", ["it\u2019s.md"], ["it\u2019s.md"]],
    ["an entry that contains the asked name", "config", ["app.config.ts"], ["app.config.ts"]],
    ["an entry that the asked name contains", "Dockerfile.dev", ["dockerfile"], ["dockerfile"]],
    ["another extension", "config.json", ["config.yaml"], ["config.yaml"]],
    ["only the last extension is another", "index.test.ts", ["index.test.tsx", "index.spec.css"], ["index.test.tsx"]],
    ["a name that begins with a dot has no extension", ".env", [".npmrc"], []],
    ["a slip of the fingers", "utlis.ts", ["utils.ts"], ["utils.ts"]],
    ["two neighbours swapped are one slip", "amke", ["make"], ["make"]],
    ["a short name allows one slip only", "ab", ["ax", "xy"], ["ax"]],
    [
      "four slips at most",
      "abcdefghijklmnop.ts",
      ["abcdefghijkl1234.ts", "abcdefghijk12345.ts"],
      ["abcdefghijkl1234.ts"],
    ],
    ["nothing alike", "main.ts", ["README.md", "LICENSE"], []],
    ["an empty folder", "a.ts", [], []],
    [
      "twins, then containment, then stem, then slips",
      "Parser.ts",
      ["sub/", "passer.ts", "parser.js", "my-parser.ts", "parser.ts"],
      ["parser.ts", "my-parser.ts", "parser.js"],
    ],
    ["the nearer first, then by name", "log", ["logs-old", "log-b", "log-a"], ["log-a", "log-b", "logs-old"]],
    ["three at most", "log", ["log1", "log2", "log3", "log4"], ["log1", "log2", "log3"]],
    ["a folder after files when a file is wanted", "util", ["utils/", "util-all.ts"], ["util-all.ts", "utils"]],
    ["no folder for a name with an extension", "src.ts", ["src/"], []],
    ["a folder that is a twin", "V1.0", ["v1.0/"], ["v1.0"]],
  ] as const) {
    test(name, async () => expect(await suggested(asked, files)).toEqual(expected));
  }

  test("a folder counts like a file when anything is wanted", async () => {
    expect(await suggested("util", ["utils/", "util-all.ts"], "anything")).toEqual(["utils", "util-all.ts"]);
    expect(await suggested("src.ts", ["src/"], "anything")).toEqual(["src"]);
  });

  test("a suggestion says where and what it is", async () => {
    expect(await similarPaths(place("src/util"), "file", world(["src/utils/", "src/util.ts"]).around)).toEqual([
      { absolute: join(root, "src", "util.ts"), relative: "src/util.ts", kind: "file" },
      { absolute: join(root, "src", "utils"), relative: "src/utils", kind: "directory" },
    ]);
  });

  test("the same name at the root, if the folder has nothing alike", async () => {
    expect(await suggested("app/package.json", ["app/main.py", "package.json"])).toEqual(["package.json"]);
  });
});

describe("when the folder is missing", () => {
  for (const [name, asked, files, expected] of [
    ["a prefix that is not there", "/project/src/x.ts", ["src/x.ts"], ["src/x.ts"]],
    ["a path from the top of the tree", "/src/x.ts", ["src/x.ts"], ["src/x.ts"]],
    ["a name too many", "project/src/x.ts", ["src/x.ts"], ["src/x.ts"]],
    ["the longest end first", "/p/src/a/x.ts", ["a/x.ts", "src/a/x.ts", "x.ts"], ["src/a/x.ts", "a/x.ts", "x.ts"]],
    ["the name alone at the root", "/elsewhere/x.ts", ["x.ts", "src/y.ts"], ["x.ts"]],
    ["the name alone elsewhere is not looked for", "/elsewhere/x.ts", ["src/x.ts"], []],
    ["a misspelt folder", "scr/a/x.ts", ["src/a/x.ts", "lib/a/x.ts"], ["src/a/x.ts"]],
    ["a folder in other letter case", "lib/Src/x.ts", ["lib/src/x.ts"], ["lib/src/x.ts"]],
    [
      "a misspelt folder before the name alone",
      "scr/index.ts",
      ["index.ts", "src/index.ts"],
      ["src/index.ts", "index.ts"],
    ],
    ["the nearest folder above", "src/a/b/c/x.ts", ["src/a/y.ts"], ["src/a"]],
    ["the root, if nothing is nearer", "nowhere/x.ts", ["src/y.ts"], [""]],
    ["a file on the way", "src/a.txt/b.txt", ["src/a.txt"], ["src/a.txt"]],
    ["nothing for a path outside", "/elsewhere/deep/x.ts", ["src/y.ts"], []],
  ] as const) {
    test(name, async () => expect(await suggested(asked, files)).toEqual(expected));
  }

  test("no folder where only a file can be read", async () => {
    expect(await suggested("src/a/b/c/x.ts", ["src/a/y.ts"], "file")).toEqual([]);
    expect(await suggested("nowhere/x.ts", ["src/y.ts"], "file")).toEqual([]);
    expect(await suggested("scr/a.ts", ["src/a.ts"], "file")).toEqual(["src/a.ts"]);
  });

  test("every root is tried, and each suggestion is told below its own", async () => {
    const files = [join(otherRoot, "src", "x.ts"), "src/y.ts"];
    const { around } = world(files, { roots: [root, otherRoot] });
    expect(await similarPaths(place("/project/src/x.ts"), "file", around)).toEqual([
      { absolute: join(otherRoot, "src", "x.ts"), relative: "src/x.ts", kind: "file" },
    ]);
  });

  test("a root spelled through a link keeps the asked spelling", async () => {
    const linked = resolve("/tmp/app");
    const { around } = world([join(linked, "src", "utils.ts")], { roots: [linked] });
    const asked = { asked: "src/utlis.ts", absolute: join(linked, "src", "utlis.ts"), relative: "src/utlis.ts" };
    const found = await similarPaths(asked, "file", { ...around, roots: [resolve("/private/tmp/app")] });
    expect(found).toEqual([{ absolute: join(linked, "src", "utils.ts"), relative: "src/utils.ts", kind: "file" }]);
  });
});

describe("limits", () => {
  test("what rules hide is never suggested, and the next best takes its place", async () => {
    const { around } = world([".env.local", ".env.sample"], { hidden: [".env.local"] });
    const found = await similarPaths(place(".env"), "file", around);
    expect(found.map(({ relative }) => relative)).toEqual([".env.sample"]);
  });

  test("a hidden file below a misspelt folder or another prefix is not suggested", async () => {
    const { around } = world(["src/key.pem"], { hidden: ["src/key.pem"] });
    const found = await Promise.all(
      ["scr/key.pem", "/p/src/key.pem"].map((path) => similarPaths(place(path), "file or folder", around)),
    );
    expect(found.map((some) => some.map(({ relative }) => relative))).toEqual([[""], []]);
  });

  test("a thousand hidden names cost forty looks", async () => {
    const files = Array.from({ length: 1_000 }, (_, at) => `log-${at}`);
    const { around, calls } = world(files, { hidden: files });
    expect(await similarPaths(place("log"), "file", around)).toEqual([]);
    expect(calls).toEqual({ lookup: 40 });
  });

  test("the nearest of a million names is found, and no more are held than are looked at", async () => {
    const names = Array.from({ length: 1_000_000 }, (_, at) => `${at.toString(36)}-file.txt`);
    const around: Surroundings = {
      roots: [root],
      list: async (folder, take) => {
        if (folder !== root) return false;
        for (const name of names) take({ name, kind: "file" });
        return true;
      },
      lookup: async (path) => (dirname(path) === root ? "file" : undefined),
    };
    const last = names.at(-1) ?? "";
    const [first] = await similarPaths(place(last.replace("file", "flie")), "file", around);
    expect(first?.relative).toBe(last);
  });

  test("a path of two thousand names is bounded too, and finds the nearest folder", async () => {
    const { around, calls } = world(["a/a/a/x.ts", ..."bcdefghijklmnop".split("").map((name) => `a/a/a/${name}/`)]);
    const found = await similarPaths(place(`${"a/".repeat(2_000)}y.ts`), "file or folder", around);
    expect(calls.lookup).toBeLessThanOrEqual(40);
    expect(found.map(({ relative }) => relative)).toEqual(["a/a/a"]);
  });

  test("a root that is gone has no suggestions", async () => {
    const { around } = world([], { roots: [] });
    expect(await similarPaths({ asked: ".", absolute: root, relative: "" }, "anything", around)).toEqual([]);
  });
});
