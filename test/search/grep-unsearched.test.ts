/** What a search passes over: how many files rules hide, and how many links lead elsewhere, whatever else is asked for. */

import { deepEqual, ok } from "node:assert/strict";
import * as fs from "node:fs";
import { describe, test } from "vitest";
import { createFilehand, type FilehandOptions } from "../../src/index.ts";
import { hiddenPatterns } from "../../src/guard/hidden-patterns.ts";
import { leftOutText } from "../../src/search/hidden-files.ts";
import { runRipgrep } from "../../src/search/ripgrep.ts";
import { textOf } from "../support/reading.ts";
import { onWindows, type Tree, workspace } from "../support/workspace.ts";

async function passedOver(root: string, more: object = {}, options: Partial<FilehandOptions> = {}) {
  const session = createFilehand({ roots: [root], ...options }).session({ dialect: "claude" });
  const reply = await session.call("Grep", { pattern: "x", ...more });
  const { filesHiddenByRules = 0, skippedLinks = 0 } = reply.structured as {
    readonly filesHiddenByRules?: number;
    readonly skippedLinks?: number;
  }; // what Grep of this dialect answers with
  return { filesHiddenByRules, skippedLinks, text: textOf(reply) };
}

describe("files that rules hide are counted", () => {
  const tree: Tree = {
    ws: {
      ".env": "x",
      ".env.example": "x",
      "a.ts": "x",
      deep: { er: { "SERVER.Pem": "x", "id_rsa.pub": "x", "b.json": "x", "secrets.json": "x" } },
      ".git": { ".env": "x", "server.key": "x" },
      ".hg": { "server.key": "x" },
      ignored: { ".env": "x", "server.pem": "x" },
      some: { ".gitignore": "*.key\n!kept.key\n", "lost.key": "x", "kept.key": "x", under: { "lost.key": "x" } },
      ".gitignore": "ignored/\n",
      own: { "c.ts": "x", sub: { "d.ts": "x" } },
    },
  };
  const deny = { permissions: { deny: ["Read(own/**)"] } };

  for (const [name, more, options, number] of [
    ["secrets, unless they are ignored or version control's", {}, {}, 4],
    ["those of a rule too", {}, deny, 6],
    ["those below the folder that is named", { path: "deep" }, {}, 2],
    ["those of an ignored folder that is named", { path: "ignored" }, {}, 2],
    ["those that ask and that a glob chooses", { glob: "*.json" }, {}, 1],
    ["those that ask and are of a type", { type: "json" }, {}, 1],
    ["those of a type that has none", { type: "py" }, {}, 0],
    ["denied ones whatever a glob chooses", { glob: "*.json" }, deny, 3],
    ["denied ones of any type", { type: "json" }, deny, 3],
    ["denied ones whatever both choose", { type: "py", glob: "own/**" }, deny, 2],
    ["those that still ask where a rule allows some", {}, { permissions: { allow: ["Read(/.env)"] } }, 3],
    ["none if nobody has to be asked", {}, { ask: "yes" }, 0],
  ] as const) {
    test(name, async () => {
      const { path: at } = workspace(tree);
      deepEqual([name, (await passedOver(at("ws"), more, options)).filesHiddenByRules], [name, number]);
    });
  }

  test("by a folder's other name as well", { skip: onWindows }, async () => {
    const { path: at } = workspace({ ws: { real: { "a.txt": "x", "b.txt": "x" }, other: { link: "real" } } });
    const named = { permissions: { deny: ["Read(other/a.txt)"] } };
    deepEqual((await passedOver(at("ws"), { path: "other" }, named)).filesHiddenByRules, 1);
  });

  test("without a rule of the user: our own, in the state folder or by their names", async () => {
    const { path: at } = workspace({
      ws: { "a.ts": "x", ".filehand-new-1": "x", sub: { ".Filehand-Undo-2": "x" }, state: { "b.txt": "x" } },
    });
    for (const [options, number] of [
      [{}, 2],
      [{ ask: "yes" }, 2],
      [{ stateDir: at("ws", "state") }, 3],
    ] as const) {
      deepEqual((await passedOver(at("ws"), {}, options)).filesHiddenByRules, number);
    }
  });

  test("what a denied name leads to, though nothing in its own name says so", { skip: onWindows }, async () => {
    const { path: at } = workspace({ ws: { "plain.txt": "x", "b.txt": "x", settings: { link: "plain.txt" } } });
    deepEqual((await passedOver(at("ws"), {}, { permissions: { deny: ["Read(/settings)"] } })).filesHiddenByRules, 1);
  });

  test("what lies outside the folders that a session is kept to", async () => {
    const { path: at } = workspace({ ws: { "a.ts": "x", in: { "b.ts": "x" }, out: { "c.ts": "x", ".env": "x" } } });
    const filehand = createFilehand({ roots: [at("ws")] });
    const session = filehand.session({ dialect: "claude", within: [at("ws", "in")] });
    const reply = await session.call("Grep", { pattern: "x" });
    ok(textOf(reply).includes("3 files were not searched because permission rules hide them"), textOf(reply));
  });

  test("where there are too many files to look at, the answer says that some may be hidden", async () => {
    const { path: at } = workspace({ ws: { "a.ts": "x", many: {} } });
    for (let file = 0; file < 4_100; file += 1) fs.writeFileSync(at("ws", "many", `${file}.ts`), "");
    const { text, filesHiddenByRules } = await passedOver(at("ws"));
    ok(text.includes("Files that permission rules hide were not searched, if there are any"), text);
    deepEqual(filesHiddenByRules, 0);
    fs.writeFileSync(at("ws", ".env"), "x");
    const found = (await passedOver(at("ws"))).text;
    ok(found.includes("at least 1 file was not searched because a permission rule hides it"), found);
    const free = (await passedOver(at("ws"), {}, { ask: "yes" })).text;
    ok(!free.includes("rules"), free);
  });
});

describe.skipIf(onWindows)("links that lead elsewhere are counted", () => {
  const tree: Tree = {
    ws: {
      "a.ts": "x",
      src: { "b.ts": "x", up: { link: "../lib" }, out: { link: "../../out" }, top: { link: "../a.ts" } },
      lib: {
        "c.ts": "x",
        gone: { link: "nowhere" },
        self: { link: "self" },
        ".gitignore": "left\n",
        left: { link: "/" },
      },
      "same.ts": { link: "a.ts" },
    },
    out: { "d.ts": "x" },
  };
  for (const [name, more, number] of [
    ["out of the workspace, but not to what is searched by its own name", {}, 1],
    ["out of the searched folder", { path: "src" }, 3],
    ["a glob chooses among files, what is in a folder may fit any", { path: "src", glob: "*.md" }, 2],
    ["none that leads nowhere or is ignored", { path: "lib" }, 0],
    ["none of a file", { path: "a.ts" }, 0],
  ] as const) {
    test(name, async () => {
      const { path: at } = workspace(tree);
      const { skippedLinks, text } = await passedOver(at("ws"), more);
      deepEqual([name, skippedLinks, /not followed/.test(text)], [name, number, number > 0]);
    });
  }
});

test("ripgrep opens the same files, whether lines are put together or not", async () => {
  const { lines } = hiddenPatterns([], "root", { asked: "ask" });
  const names = [
    ".env",
    ".ENV.local",
    ".env.example",
    ".env-x",
    "id_rsa",
    "id_a.ts",
    "id_rsa.pub",
    "a.PEM",
    "a.pem.ts",
  ];
  const nested = [...names, "hosts.yml", "config.json", "credentials", "my-service-account.json", "netrc", ".netrc"];
  const files = (list: readonly string[]): Tree => Object.fromEntries(list.map((name) => [name, "x"]));
  const { path: at } = workspace({
    ws: {
      ...files(nested),
      ".ssh": files(names),
      ".docker": files(nested),
      ".env-folder": files(names),
      "x.key": files(names),
    },
    plain: lines.map((line) => `${line}\n`).join(""),
    merged: leftOutText(lines),
  });
  const listed = async (ignoreFile: string): Promise<readonly string[]> => {
    let text = "";
    await runRipgrep(["--files", "--hidden", `--ignore-file=${at(ignoreFile)}`, "--", "./"], {
      cwd: at("ws"),
      signal: new AbortController().signal,
      onChunk: (chunk) => {
        text += chunk.toString();
        return "more";
      },
    });
    return text.split("\n").toSorted();
  };
  const merged = await listed("merged");
  deepEqual(merged, await listed("plain"));
  ok(merged.includes("./.env.example") && !merged.includes("./.env"), merged.join(" "));
});
