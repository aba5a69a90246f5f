/**
 * A69: whether a denied path exists, and what is there, is told by no answer: not by completions, subscriptions or marks, not by a path that
 * turns back there with `..`, and not by a link that leads to another link.
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import * as fs from "node:fs";
import { describe, test } from "vitest";
import { memoryTool } from "../../src/surfaces/adapters/anthropic.ts";
import { type Answer, createFilehand, type Question, type Session } from "../../src/index.ts";
import { onWindows, workspace } from "../support/workspace.ts";

const kinds = ["file", "folder", "full", "missing", "link", "out", "gone"] as const;

/** In `priv` there is one of each kind, under names of one length; `to` leads to the folder, `k1` and so on to each of them. */
function bed(): { readonly at: (...names: readonly string[]) => string; readonly session: () => Session } {
  const { path: at } = workspace({
    ws: {
      "pub.txt": "public\n",
      sub: { "in.txt": "in\n" },
      priv: {
        k0: "hidden words\n",
        k1: {},
        k2: { "x.txt": "hidden words\n" },
        k4: { link: "../pub.txt" },
        k5: { link: "/etc/hostname" },
        k6: { link: "nowhere" },
      },
      to: { link: "priv" },
      ...Object.fromEntries(kinds.map((_, at) => [`l${at}`, { link: `priv/k${at}` }])),
    },
  });
  const options = { roots: [at("ws")], readFirst: false, permissions: { deny: ["Read(/priv/**)"], allow: ["Edit"] } };
  return { at, session: () => createFilehand(options).session({ dialect: "claude" }) };
}

const doors: Readonly<Record<string, (session: Session, path: string) => Promise<unknown>>> = {
  Read: (session, path) => session.call("Read", { file_path: path }),
  Edit: (session, path) => session.call("Edit", { file_path: path, old_string: "a", new_string: "b" }),
  Write: (session, path) => session.call("Write", { file_path: path, content: "x" }),
  Grep: (session, path) => session.call("Grep", { pattern: ".", path, output_mode: "content" }),
  Glob: (session, path) => session.call("Glob", { pattern: "*", path }),
  LS: (session, path) => session.call("LS", { path }),
  cost: (session, path) => session.cost(path),
  "resources/read": (session, path) => session.workspace.content(path, 1_000),
  "completion/complete": (session, path) => session.workspace.paths(`${path}/`, 10),
  "resources/subscribe": async (session, path) => (await session.workspace.watch(path, () => {})).stop(),
  markRead: (session, path) => session.markRead(path, { sha256: "0".repeat(64) }),
};

describe.skipIf(onWindows)("a denied path is answered alike, whatever is there", () => {
  for (const [what, pathOf] of [
    ["by its own name", (at: number) => `priv/k${at}`],
    ["through a linked folder", (at: number) => `to/k${at}`],
    ["through a link to it", (at: number) => `l${at}`],
    ["below it", (at: number) => `priv/k${at}/x.txt`],
    ["turning back in it", (at: number) => `priv/k${at}/../../pub.txt`],
    ["turning back twice", (at: number) => `sub/../priv/k${at}/../../sub/in.txt`],
    ["turning back in a link to it", (at: number) => `l${at}/../../pub.txt`],
    ["turning back to the link itself", (at: number) => `l${at}/../l${at}`],
    ["turning back through a linked folder", (at: number) => `to/k${at}/../../pub.txt`],
  ] as const) {
    for (const [door, enter] of Object.entries(doors)) {
      test(`${door}: ${what}`, async () => {
        const { at, session } = bed();
        const answers = new Map<string, string[]>();
        for (const [number, kind] of kinds.entries()) {
          const path = `${at("ws")}/${pathOf(number)}`;
          const reply = await enter(session(), path).catch((error: unknown) => String(error));
          const plain = JSON.stringify(reply ?? "done")
            .replaceAll(at("ws"), "")
            .replaceAll(pathOf(number), "PATH");
          answers.set(plain, [...(answers.get(plain) ?? []), kind]);
        }
        deepEqual([...answers.values()], [kinds], JSON.stringify([...answers], undefined, 1).slice(0, 2_000));
        ok([...answers.keys()].every((answer) => answer.includes("denies it")));
      });
    }
  }

  test("a path that turns back where nothing is denied means what it meant", async () => {
    const { at, session } = bed();
    for (const path of [
      "sub/../pub.txt",
      "priv/../pub.txt",
      "./sub/./../sub/../pub.txt",
      `${at("ws")}/../ws/pub.txt`,
    ]) {
      const reply = await session().call("Read", { file_path: path });
      equal(reply.isError, false, `${path}: ${JSON.stringify(reply.content)}`);
    }
    const often = await session().call("Read", { file_path: `${"sub/../".repeat(400)}pub.txt` });
    equal(often.error?.code, "INVALID_PARAM");
  });
});

describe.skipIf(onWindows)("a folder of links", () => {
  for (const [to, asks] of [
    [".husky", true],
    ["hooks", false],
  ] as const) {
    test(`is moved to ${to} ${asks ? "after one question that counts every link" : "without one"}`, async () => {
      const { path: at } = workspace({
        ws: {
          "run.sh": "id\n",
          fixtures: { h: { "pre-commit": { link: "../../run.sh" }, deep: { hook: { link: "x" } } } },
        },
      });
      const asked: Question[] = [];
      const ask = async (question: Question): Promise<Answer> => {
        asked.push(question);
        return { reply: "reject" };
      };
      const session = createFilehand({ roots: [at("ws")], mode: "accept-edits", ask }).session({ dialect: "claude" });
      const moving = memoryTool(session).run({
        command: "rename",
        old_path: "/memories/fixtures/h",
        new_path: `/memories/${to}`,
      });
      await Promise.resolve(moving).catch(() => undefined);
      equal(fs.existsSync(at("ws", to)), !asks);
      equal(fs.existsSync(at("ws/fixtures/h")), asks);
      const tree = { does: "moves", is: "folder", files: 0, links: 2, folders: 1, bytes: 0, protected: 3, lost: 0 };
      deepEqual(
        asked.map(({ patterns, metadata }) => [patterns, metadata["movedTo"], metadata["rule"], metadata["tree"]]),
        asks ? [[[at("ws/fixtures/h")], at("ws", to), "Edit(.husky/**)", tree]] : [],
      );
    });
  }
});
