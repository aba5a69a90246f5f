/**
 * A denied file is denied at every door and by every name: links, dots, letter case, Unicode forms, a patch that moves it,
 * a rewind that would bring it back. And a rewind never goes through a link that took a file's place (A30).
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import * as fs from "node:fs";
import { describe, test } from "vitest";
import { createFilehand, type FilehandOptions } from "../../src/index.ts";
import { everyAttempt } from "../support/changing.ts";
import { refused, wholeOf } from "../support/reading.ts";
import { snapshot } from "../support/snapshot.ts";
import { onWindows, workspace } from "../support/workspace.ts";

const words = "denied-5b0e";
const { path: at, top } = workspace({
  ws: {
    "spare.txt": "content\n",
    ".env": `content ${words}\n`,
    secrets: { "key.txt": `content ${words}\n`, folder: {} },
    "to-key": { link: "secrets/key.txt" },
    "to-secrets": { link: "secrets" },
    chain: { link: "to-key" },
    src: { ".env.local": `content ${words}\n` },
    "caf\u00e9": `content ${words}\n`,
    "by-link": { link: "plain.txt" },
    "plain.txt": `content ${words}\n`,
  },
});
const options: FilehandOptions = { roots: [at("ws")], ask: "yes", readFirst: false, dedup: false };
const deny = ["Read(/secrets/**)", "Read(**/.env*)", "Read(caf\u00e9)", "Read(/by-link)"];
const attempts = everyAttempt(
  createFilehand({ ...options, permissions: { deny } }).session({ dialect: "claude" }),
  "spare.txt",
);

describe.skipIf(onWindows)("no verb reads, changes, creates or reveals a file that a Read rule denies", () => {
  for (const [id, asked] of [
    ["A69", "secrets/key.txt"],
    ["A69", "secrets/no-such.txt"],
    ["A69", "secrets/folder"],
    ["A69", "secrets/new/deep.txt"],
    ["A23", "to-key"],
    ["A23", "chain"],
    ["A23", "to-secrets/key.txt"],
    ["A23", "to-secrets/no-such.txt"],
    ["A24", "by-link"],
    ["A24", "plain.txt"],
    ["A51", "SECRETS/KEY.TXT"],
    ["A51", ".ENV"],
    ["A52", "caf\u00e9"],
    ["A52", "cafe\u0301"],
    ["A62", "src/.env.local"],
    ["A62", "src/deep/er/.env"],
    ["A70", "src/../.env"],
    ["A70", "./src/.././.env"],
  ] as const) {
    test(`${id} ${JSON.stringify(asked)}`, async () => {
      const before = snapshot(top);
      for (const attempt of Object.values(attempts)) {
        const reply = await attempt(asked);
        refused(reply, "ACCESS_DENIED", [words]);
        ok(wholeOf(reply).includes("rule"), wholeOf(reply));
      }
      deepEqual(snapshot(top), before);
    });
  }

  test("A53 look-alikes are other names: neither denied by the rule nor allowed to reach the file", async () => {
    for (const asked of ["\uff0eenv", "secrets\u200b/key.txt", "\u2024env", "\u202esecrets/key.txt"]) {
      const reply = await attempts["read"]?.(asked);
      ok(reply !== undefined);
      refused(reply, "NOT_FOUND", [words]);
      // Shown escaped, so that nobody takes them for what they look like.
      ok(!/[\u200b\u202e]/u.test(reply.content.map((part) => (part.type === "text" ? part.text : "")).join("")));
    }
  });
});

describe.skipIf(onWindows)("rewind", () => {
  const edited = async (given: Partial<FilehandOptions> = {}) => {
    const { path: here } = workspace({
      ws: { dir: { "a.txt": "old text\n" } },
      out: { "a.txt": "outside\n", dir: { "a.txt": "outside\n" } },
      state: {},
    });
    const session = (more: Partial<FilehandOptions> = {}) =>
      createFilehand({ ...options, roots: [here("ws")], stateDir: here("state"), ...given, ...more }).session({
        dialect: "claude",
        id: "one",
      });
    const first = session();
    await first.checkpoint("turn");
    equal((await first.call("Write", { file_path: "dir/a.txt", content: "new text\n" })).isError, false);
    equal((await first.call("Write", { file_path: "made.txt", content: "made\n" })).isError, false);
    return { here, session };
  };

  for (const [what, swap] of [
    [
      "the file became a link to outside",
      (here: (name: string) => string) => {
        fs.rmSync(here("ws/dir/a.txt"));
        fs.symlinkSync("../../out/a.txt", here("ws/dir/a.txt"));
      },
    ],
    [
      "the file became a link that leads nowhere",
      (here: (name: string) => string) => {
        fs.rmSync(here("ws/dir/a.txt"));
        fs.symlinkSync("../../out/nothing", here("ws/dir/a.txt"));
      },
    ],
    [
      "its folder became a link to outside",
      (here: (name: string) => string) => {
        fs.rmSync(here("ws/dir"), { recursive: true });
        fs.symlinkSync("../out/dir", here("ws/dir"));
      },
    ],
    [
      "its folder is gone and a link leads out",
      (here: (name: string) => string) => {
        fs.rmSync(here("ws/dir"), { recursive: true });
        fs.symlinkSync("../out", here("ws/dir"));
        fs.rmSync(here("out/a.txt"));
      },
    ],
    [
      "the file became a folder",
      (here: (name: string) => string) => {
        fs.rmSync(here("ws/dir/a.txt"));
        fs.mkdirSync(here("ws/dir/a.txt"));
      },
    ],
  ] as const) {
    test(`A30 leaves a file alone if ${what}, and brings back the others`, async () => {
      const { here, session } = await edited();
      swap((name) => here(name));
      const outside = snapshot(here("out"));
      const inside = fs.lstatSync(here("ws/dir")).isDirectory() ? snapshot(here("ws/dir")) : undefined;
      for (const force of [false, true]) {
        const { files } = await session().rewind("turn", { force });
        const one = files.find(({ relative }) => relative === "dir/a.txt");
        ok(one !== undefined && one.came !== "done", JSON.stringify(one));
        deepEqual(snapshot(here("out")), outside);
      }
      equal(fs.existsSync(here("ws/made.txt")), false, "the other file was not brought back");
      if (inside !== undefined) deepEqual(snapshot(here("ws/dir")), inside);
    });
  }

  test("A71 brings back nothing that has been denied since", async () => {
    for (const rule of ["Read(/dir/**)", "Edit(/dir/**)"]) {
      const { here, session } = await edited();
      const { files } = await session({ permissions: { deny: [rule] } }).rewind("turn", { force: true });
      ok(
        files.every(({ relative, came }) => relative !== "dir/a.txt" || came !== "done"),
        JSON.stringify(files),
      );
      equal(fs.readFileSync(here("ws/dir/a.txt"), "utf8"), "new text\n");
    }
  });

  test("A39 everything is refused once the root is another folder", async () => {
    const { here, session } = await edited();
    const going = session();
    await going.call("Read", { file_path: "made.txt" });
    fs.renameSync(here("ws"), here("ws-old"));
    fs.symlinkSync("out", here("ws"));
    const outside = snapshot(here("out"));
    const rewound = await going.rewind("turn", { force: true });
    ok(
      rewound.files.every(({ came }) => came !== "done"),
      JSON.stringify(rewound.files),
    );
    deepEqual(snapshot(here("out")), outside);
  });
});
