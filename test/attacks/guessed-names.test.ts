/** G15, A69: no number of an answer depends on how a pattern fits names that the caller may not see. */

import { deepEqual, equal, match } from "node:assert/strict";
import * as fs from "node:fs";
import { describe, test } from "vitest";
import { createFilehand } from "../../src/index.ts";
import { textOf } from "../support/reading.ts";
import { onLinux, onWindows, workspace } from "../support/workspace.ts";

const { path: at } = workspace({
  ws: {
    ".gitignore": "build/\nlost-*\n",
    src: { "a.txt": "x", "token-abc.py": "x" },
    ".hidden": { "token-x1.py": "x", deep: { "token-x2.py": "x" } },
    build: { "token-q1.py": "x" },
    "token-[x": "x",
    private: { "a.txt": "x" },
    // Links of which the target is denied are not named either.
    "way-abc": { link: "private/a.txt" },
    ".way-abc": { link: "private/a.txt" },
    "lost-abc": { link: "private/a.txt" },
    links: { "way-abc": { link: "../private/a.txt" } },
  },
});
const session = createFilehand({
  roots: [at("ws")],
  permissions: { deny: ["Read(**/token-*)", "Read(/private/**)"] },
}).session({ dialect: "claude" });

describe.skipIf(onWindows)("a right guess is answered like a wrong one", () => {
  for (const [tool, right, wrong] of [
    ["Glob", { pattern: "**/token-a*" }, { pattern: "**/token-b*" }],
    ["Glob", { pattern: "**/token-x*" }, { pattern: "**/token-y*" }],
    ["Glob", { pattern: "**/token-x2*" }, { pattern: "**/token-x3*" }],
    ["Glob", { pattern: "**/token-q*" }, { pattern: "**/token-r*" }],
    ["Glob", { pattern: "way-a*" }, { pattern: "way-b*" }],
    ["Glob", { pattern: "?way-a*" }, { pattern: "?way-b*" }],
    ["Glob", { pattern: "lost-a*" }, { pattern: "lost-b*" }],
    ["Glob", { pattern: "token-[x" }, { pattern: "token-[y" }],
    ["Grep", { pattern: "y", glob: "token-a*" }, { pattern: "y", glob: "token-b*" }],
    ["Grep", { pattern: "y", glob: "src/token-ab?.py" }, { pattern: "y", glob: "src/token-ac?.py" }],
    ["Grep", { pattern: "y", type: "py" }, { pattern: "y", type: "java" }],
    ["Grep", { pattern: "y", path: "links", glob: "way-a*" }, { pattern: "y", path: "links", glob: "way-b*" }],
    ["LS", { path: "src", ignore: ["token-a*"] }, { path: "src", ignore: ["token-b*"] }],
  ] as const) {
    test(`${tool} ${JSON.stringify(right)}`, async () => {
      const answer = async (input: object): Promise<string> =>
        textOf(await session.call(tool, input)).replace(/token-\[./, "token-[");
      equal(await answer(right), await answer(wrong));
    });
  }
});

test.skipIf(!onLinux)("a link to a denied path does not reveal whether that exists", async () => {
  const { top } = workspace({
    private: { "a.txt": "x" },
    folder: {
      right: { link: "../private/a.txt" },
      wrong: { link: "../private/b.txt" },
      deeper: { link: "../private/none/b.txt" },
      free: { link: "nowhere" },
    },
  });
  const linked = createFilehand({ roots: [top], ask: "yes", permissions: { deny: ["Read(/private/**)"] } }).session({
    dialect: "claude",
  });
  const told = async (name: string) => {
    const path = `folder/${name}`;
    const calls = [
      linked.call("Read", { file_path: path }),
      linked.call("Write", { file_path: path, content: "y" }),
      linked.call("Glob", { pattern: path }),
      linked.call("Grep", { pattern: "x", path }),
    ];
    return (await Promise.all(calls)).map((reply) => textOf(reply).replaceAll(name, "NAME"));
  };
  for (const wrong of ["wrong", "deeper"]) deepEqual(await told(wrong), await told("right"));
  match(textOf(await linked.call("LS", { path: "folder" })), /- free \(link\)\n\[3 entries are withheld/);
  match((await told("free")).join("\n"), /does not exist.*leads nowhere.*folder\/NAME/s);
});

describe.skipIf(!onLinux)("of files whose names are not UTF-8", () => {
  test("denied ones are not counted by what they hold", async () => {
    const { top } = workspace({ "priv\u00e9": {}, open: {} });
    for (const [folder, text] of [
      ["priv\u00e9", "hunter2\n"],
      ["open", "found\n"],
    ] as const) {
      fs.writeFileSync(Buffer.concat([Buffer.from(`${top}/${folder}/caf`), Buffer.from([0xe9])]), text);
    }
    const deny = [`Read(/${top}/priv\u00e9/**)`];
    const grep = createFilehand({ roots: [top], permissions: { deny } }).session({ dialect: "claude" });
    const answer = async (pattern: string): Promise<string> => textOf(await grep.call("Grep", { pattern }));
    equal(await answer("hunter2"), await answer("hunter3"));
    match(await answer("found"), /1 file matches whose name is not UTF-8/);
  });
});
