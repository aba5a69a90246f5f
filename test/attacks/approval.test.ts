/**
 * A34 A75: what a person said yes to is what is done. The asker itself changes the tree before it answers; then it is
 * asked again, or the call is refused, and nothing else is read or written.
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import * as fs from "node:fs";
import { describe, test } from "vitest";
import type { Asker, Question } from "../../src/contract/ask.ts";
import { createFilehand } from "../../src/index.ts";
import { everyAttempt } from "../support/changing.ts";
import { wholeOf } from "../support/reading.ts";
import { snapshot } from "../support/snapshot.ts";
import { onLinux, onWindows, workspace } from "../support/workspace.ts";

const secret = "outside-3e77";
const denied = "denied-41aa";

interface Scene {
  readonly at: (...names: readonly string[]) => string;
  readonly questions: Question[];
  readonly attempts: ReturnType<typeof everyAttempt>;
}

/** `swap` runs while a question is open: the first one, the first one about a change, or each. */
function scene(swap: (at: Scene["at"]) => void, when: "first" | "first edit" | "each" = "first"): Scene {
  const { path: at } = workspace({
    ws: {
      dir: { "a.txt": "content\na\n" },
      other: { "a.txt": "content\nother\n" },
      denied: { "a.txt": `contents\n${denied}\n` },
      "to-dir": { link: "dir" },
      "spare.txt": "content\n",
    },
    out: { "a.txt": `content\n${secret}\n`, new: {} },
  });
  const questions: Question[] = [];
  const ask: Asker = async (question) => {
    questions.push(question);
    const same = questions.filter(({ permission }) => permission === question.permission).length;
    const isFirst = when === "first" ? questions.length === 1 : same === 1 && question.permission === "edit";
    if (isFirst || when === "each") swap(at);
    return { reply: "once" };
  };
  const filehand = createFilehand({
    roots: [at("ws")],
    ask,
    readFirst: false,
    dedup: false,
    permissions: { ask: ["Read(a.txt)", "Edit", "Read(dir)", "Read(to-dir)"], deny: ["Read(/denied/**)"] },
  });
  return { at, questions, attempts: everyAttempt(filehand.session({ dialect: "claude" }), "spare.txt") };
}

const replaceBy = (at: Scene["at"], name: string, text: string): void => {
  fs.rmSync(at(name), { recursive: true });
  fs.symlinkSync(text, at(name));
};

/** Path, what is done meanwhile. What lies outside and what is denied is never shown and never changed. */
const swaps: readonly (readonly [string, string, (at: Scene["at"]) => void])[] = [
  ["the folder becomes a link to outside", "dir/a.txt", (at) => replaceBy(at, "ws/dir", "../out")],
  ["the folder becomes a link to a denied one", "dir/a.txt", (at) => replaceBy(at, "ws/dir", "denied")],
  ["the folder becomes a link to another one", "dir/a.txt", (at) => replaceBy(at, "ws/dir", "other")],
  ["the file becomes a link to outside", "dir/a.txt", (at) => replaceBy(at, "ws/dir/a.txt", "../../out/a.txt")],
  ["the file becomes a link to a denied one", "dir/a.txt", (at) => replaceBy(at, "ws/dir/a.txt", "../denied/a.txt")],
  ["the link leads out from then on", "to-dir/a.txt", (at) => replaceBy(at, "ws/to-dir", "../out")],
  ["the link leads to a denied folder", "to-dir/a.txt", (at) => replaceBy(at, "ws/to-dir", "denied")],
  ["a new file's folder becomes a link to outside", "dir/new.txt", (at) => replaceBy(at, "ws/dir", "../out")],
  ["a new file's name is taken by a link", "dir/new.txt", (at) => fs.symlinkSync("../../out/x", at("ws/dir/new.txt"))],
  ["a folder that shall be made is there as a link", "made/new.txt", (at) => fs.symlinkSync("../out", at("ws/made"))],
  [
    "the root becomes a link to outside",
    "dir/a.txt",
    (at) => {
      fs.renameSync(at("ws"), at("ws-old"));
      fs.symlinkSync("out", at("ws"));
    },
  ],
];

describe.skipIf(onWindows)("A34 while a person is asked", () => {
  for (const [what, asked, swap] of swaps) {
    for (const verb of Object.keys(scene(() => undefined).attempts)) {
      test(`${what}: ${verb}`, async () => {
        for (const when of ["first", "first edit"] as const) {
          const { at, attempts } = scene(swap, when);
          const outside = snapshot(at("out"));
          const deniedFile = fs.readFileSync(at("ws/denied/a.txt"), "utf8");
          const reply = await attempts[verb]?.(asked);
          ok(reply !== undefined);
          const whole = wholeOf(reply);
          ok(!whole.includes(secret) && !whole.includes(denied), whole);
          deepEqual(snapshot(at("out")), outside);
          const top = fs.lstatSync(at("ws")).isSymbolicLink() ? "ws-old" : "ws";
          equal(fs.readFileSync(at(top, "denied/a.txt"), "utf8"), deniedFile);
        }
      });
    }
  }

  test("another file in the same place is asked about again before it is read", async () => {
    const { questions, attempts } = scene((at) => {
      fs.renameSync(at("ws/other/a.txt"), at("ws/dir/a.txt"));
    });
    const reply = await attempts["read"]?.("dir/a.txt");
    equal(reply?.isError, false);
    equal(questions.length, 2);
    ok(JSON.stringify(reply).includes("other"));
  });

  test("a link that leads elsewhere is asked about by its new place", async () => {
    const { at, questions, attempts } = scene((here) => replaceBy(here, "ws/to-dir", "other"));
    equal((await attempts["read"]?.("to-dir/a.txt"))?.isError, false);
    deepEqual(
      questions.map(({ patterns }) => patterns),
      [[at("ws/dir/a.txt")], [at("ws/other/a.txt")]],
    );
  });

  test("a file swapped at every question is refused in the end", async () => {
    let turn = 0;
    const { questions, attempts } = scene((at) => {
      turn += 1;
      fs.writeFileSync(at(`ws/next-${turn}`), `content\n${turn}\n`);
      fs.renameSync(at(`ws/next-${turn}`), at("ws/dir/a.txt"));
    }, "each");
    for (const verb of ["read", "edit", "patch that updates"]) {
      questions.length = 0;
      const reply = await attempts[verb]?.("dir/a.txt");
      equal(reply?.isError, true, `${verb}: ${JSON.stringify(reply)}`);
      ok(questions.length <= 6, String(questions.length));
    }
  });

  for (const verb of ["edit", "patch that updates", "patch that deletes", "patch that moves from"]) {
    test(`${verb}: a file with another text is not changed without another look`, async () => {
      const { at, questions, attempts } = scene(
        (here) => fs.writeFileSync(here("ws/dir/a.txt"), "content\nsomething else\n"),
        "first edit",
      );
      const reply = await attempts[verb]?.("dir/a.txt");
      const again = questions.filter(({ permission }) => permission === "edit").length > 1;
      ok(again || reply?.isError === true, JSON.stringify(reply));
      if (!again) equal(fs.readFileSync(at("ws/dir/a.txt"), "utf8"), "content\nsomething else\n");
    });
  }
});

test.skipIf(onWindows)("A34 a link that is turned while a call waits for its turn leads to no other file", async () => {
  const { path: here } = workspace({
    ws: { "a.txt": "one\n", "fixed.txt": "one\n", link: { link: "a.txt" } },
  });
  let formats = 0;
  const formatter = async (): Promise<void> => {
    formats += 1;
    if (formats > 1) return;
    fs.unlinkSync(here("ws/link"));
    fs.symlinkSync("fixed.txt", here("ws/link"));
  };
  const permissions = { allow: ["Edit"], deny: ["Edit(/fixed.txt)"] };
  const session = createFilehand({ roots: [here("ws")], readFirst: false, permissions, formatter }).session({
    dialect: "claude",
  });
  const [first, second] = await Promise.all([
    session.call("Edit", { file_path: "a.txt", old_string: "one", new_string: "two" }),
    session.call("Write", { file_path: "link", content: "three\n" }),
  ]);
  equal(first.error, undefined);
  // The path is looked up when its turn has come, so it is the link's new target that is judged.
  equal(second.error?.code, "ACCESS_DENIED");
  equal(fs.readFileSync(here("ws/a.txt"), "utf8"), "two\n");
  equal(fs.readFileSync(here("ws/fixed.txt"), "utf8"), "one\n");
});

test.skipIf(!onLinux)("A75 the question names the real path and contains no raw line ending of it", async () => {
  const { path: at } = workspace({
    ws: { dir: { "a.txt": "content\n" }, "a.txt\nallowed? yes": { link: "dir/a.txt" } },
  });
  const questions: Question[] = [];
  const ask: Asker = async (question) => {
    questions.push(question);
    return { reply: "reject" };
  };
  const session = createFilehand({ roots: [at("ws")], ask, permissions: { ask: ["Read(a.txt*)"] } }).session();
  equal((await session.call("Read", { file_path: "a.txt\nallowed? yes" })).isError, true);
  deepEqual(questions[0]?.patterns, [at("ws/dir/a.txt")]);
  // The host is given the path as it is, beside the real one; who shows it escapes it, as the terminal's test has it.
  equal(questions[0]?.metadata["path"], at("ws", "a.txt\nallowed? yes"));
});
