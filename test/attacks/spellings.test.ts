/**
 * A22 to A25: a rule holds for the file, however the rule, the root or the call spells its path: through a link or without
 * one, in a root that lies in another root. Every rule is tried behind every tool, and behind the library's own functions, which
 * MCP's resources, completions and subscriptions are made of.
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, test } from "vitest";
import { createFilehand, type FilehandOptions, type Session } from "../../src/index.ts";
import { enter, everyDoor } from "../support/doors.ts";
import { wholeOf } from "../support/reading.ts";
import { onWindows, workspace } from "../support/workspace.ts";

const words = "hidden-content-71ad";

/** What some call shows or changes of the file that `path` names; empty if the rule holds behind every door. */
async function openDoors(session: Session, path: string, verdict: "deny" | "ask"): Promise<readonly string[]> {
  const found: string[] = [];
  const doors = everyDoor(session.definitions(), { path, content: words, spare: "spare.txt", turn: "turn" });
  ok(doors.length > 30, String(doors.length));
  for (const door of doors) {
    const reply = await enter(session, door);
    const whole = wholeOf(reply);
    const told = JSON.stringify(door.input).includes(words) ? whole.replaceAll(words, "") : whole;
    const isPast = /^(?:history|rewind)$/iu.test(door.tool);
    if (told.includes(words)) found.push(`${door.name} shows it: ${whole.slice(0, 200)}`);
    else if (door.how === "named" && !isPast && !/ACCESS_DENIED|EXISTS/u.test(reply.error?.code ?? ""))
      found.push(`${door.name} is open: ${whole.slice(0, 200)}`);
    else if (verdict === "deny" && !JSON.stringify(door.input).includes("zq-file") && whole.includes("zq-file"))
      found.push(`${door.name} names it: ${whole.slice(0, 200)}`);
  }
  const content = await session.workspace.content(path, 1_000).catch(() => undefined);
  if (content !== undefined) found.push("its resource can be read");
  if (verdict === "deny") {
    const names = await session.workspace.paths(path.slice(0, -2), 10).catch(() => ({ paths: [] }));
    if (JSON.stringify(names).includes("zq-file")) found.push("it is completed");
    const watched = await session.workspace.watch(path, () => {}).catch(() => undefined);
    if (watched !== undefined) found.push("it can be watched");
    watched?.stop();
  }
  return found;
}

describe.skipIf(onWindows)("a rule that is written through a link", () => {
  const tree = {
    real: { u: { "spare.txt": "content\n", notes: { "zq-file.txt": `content ${words}\n` } } },
    link: { link: "real" },
    other: { link: "link" },
  };
  for (const verdict of ["deny", "ask"] as const) {
    for (const [name, ruleOf] of [
      ["absolute, a folder", (top: string) => ({ rule: `Read(/${top}/link/u/notes/**)` })],
      ["absolute, the file", (top: string) => ({ rule: `Read(/${top}/link/u/notes/zq-file.txt)` })],
      ["absolute, with a wildcard", (top: string) => ({ rule: `Read(/${top}/link/u/**/zq-*)` })],
      ["absolute, through two links", (top: string) => ({ rule: `Read(/${top}/other/u/notes)` })],
      ["at home", (top: string) => ({ rule: "Read(~/notes/**)", home: `${top}/link/u` })],
      ["at home, the file", (top: string) => ({ rule: "Read(~/notes/zq-file.txt)", home: `${top}/other/u` })],
      ["without a link", (top: string) => ({ rule: `Read(/${top}/real/u/notes/**)` })],
    ] as const) {
      for (const root of ["real/u", "link/u"]) {
        test(`${verdict} ${name}: holds for every spelling below the root ${root}`, async () => {
          const { top, path: at } = workspace({ ...tree, state: {} });
          const { rule, home = at("home") } = { home: undefined, ...ruleOf(top) };
          const options: FilehandOptions = {
            roots: [at(root)],
            home,
            stateDir: at("state"),
            readFirst: false,
            historyTools: true,
            permissions: { [verdict]: [rule], allow: ["Edit"] },
          };
          const session = (): Session => createFilehand(options).session({ dialect: "claude" });
          for (const path of ["notes/zq-file.txt", at("real/u/notes/zq-file.txt"), at(root, "notes/zq-file.txt")])
            deepEqual(await openDoors(session(), path, verdict), [], path);
        });
      }
    }
  }

  test("an exception of a rule holds for every spelling", async () => {
    const { top, path: at } = workspace({ ...tree });
    const deny = [`Read(/${top}/link/u/notes/**)`, `Read(!/${top}/link/u/notes/zq-file.txt)`];
    for (const root of ["real/u", "link/u"]) {
      const session = createFilehand({ roots: [at(root)], permissions: { deny } }).session({ dialect: "claude" });
      for (const path of [at("real/u/notes/zq-file.txt"), at(root, "notes/zq-file.txt")]) {
        equal((await session.call("Read", { file_path: path })).isError, false, path);
      }
    }
  });

  test("a folder that does not exist yet is resolved as far as it does", async () => {
    const { top, path: at } = workspace({ real: { u: {} }, link: { link: "real" }, gone: { link: "real/later" } });
    for (const rule of [`Read(/${top}/link/u/new/**)`, `Edit(/${top}/gone/**)`]) {
      const session = createFilehand({ roots: [at("real")], ask: "yes", permissions: { deny: [rule] } }).session({
        dialect: "claude",
      });
      const file_path = rule.includes("gone") ? "later/a.txt" : "u/new/a.txt";
      const reply = await session.call("Write", { file_path, content: "x" });
      equal(reply.error?.code, "ACCESS_DENIED", wholeOf(reply));
    }
  });

  test("a deny rule for files in a linked folder holds for the link's target folder", async () => {
    const { path: at } = workspace({
      ws: { data: { "zq-file.txt": `content ${words}\n` }, private: { link: "data" }, "spare.txt": "content\n" },
    });
    for (const rule of ["Read(/private/**)", "Read(private/**)", `Read(/${at("ws/private")}/**)`]) {
      const options = { roots: [at("ws")], ask: "yes", readFirst: false, permissions: { deny: [rule] } } as const;
      const session = createFilehand(options).session({ dialect: "claude" });
      for (const path of ["data/zq-file.txt", "private/zq-file.txt"])
        deepEqual(await openDoors(session, path, "deny"), [], `${rule} ${path}`);
    }
  });

  test("the list of permissions does not call such a rule one about the outside", () => {
    const { top, path: at } = workspace({ ...tree });
    const filehand = createFilehand({
      roots: [at("real/u")],
      permissions: { deny: [`Read(/${top}/link/u/notes/**)`] },
    });
    deepEqual(
      filehand.permissions.list().rules.map(({ fault }) => fault),
      [undefined],
    );
  });
});

describe.skipIf(onWindows)("the state folder, reached through a link", () => {
  for (const [name, stateDir, root] of [
    ["given through a link", "link/u/st", "real/u"],
    ["given without one, below a linked root", "real/u/st", "link/u"],
    ["both through links", "link/u/st", "link/u"],
    ["itself a link", "state-link", "real/u"],
    ["with characters that patterns know", "real/u/s[t]*", "real/u"],
  ] as const) {
    test(`${name}: no tool reads or writes in it`, async () => {
      const folder = stateDir.endsWith("*") ? "s[t]*" : "st";
      const { path: at } = workspace({
        real: { u: { "spare.txt": "content\n", [folder]: { "zq-file.txt": words } } },
        link: { link: "real" },
        "state-link": { link: "real/u/st" },
      });
      const options = { roots: [at(root)], ask: "yes", readFirst: false, stateDir: at(stateDir) } as const;
      const session = createFilehand(options).session({ dialect: "claude" });
      for (const path of [`${folder}/zq-file.txt`, at("real/u", folder, "zq-file.txt")])
        deepEqual(await openDoors(session, path, "deny"), [], path);
    });
  }
});

describe.skipIf(onWindows)("roots that lie in each other", () => {
  for (const order of [
    ["a", "a/b"],
    ["a/b", "a"],
    ["a/b", "a", "a/b/c"],
  ]) {
    for (const [verdict, rule] of [
      ["deny", "Read(/secret/**)"],
      ["deny", "Read(/secret)"],
      ["deny", "Read(/secret/zq-file.txt)"],
      ["ask", "Read(/secret/**)"],
    ] as const) {
      test(`${order.join(", ")}: ${verdict} ${rule} holds in each root, behind every door`, async () => {
        const secret = { secret: { "zq-file.txt": `content ${words}\n` } };
        const { path: at } = workspace({
          a: {
            "spare.txt": "content\n",
            ...secret,
            b: { "spare.txt": "content\n", ...secret, ...(order.length === 3 ? { c: secret } : {}) },
          },
        });
        const options = { roots: order.map((root) => at(root)), readFirst: false } as const;
        const session = createFilehand({ ...options, permissions: { [verdict]: [rule], allow: ["Edit"] } }).session({
          dialect: "claude",
        });
        const hidden = order.map((root) => at(root, "secret/zq-file.txt"));
        for (const path of hidden) {
          deepEqual(await openDoors(session, path, verdict), [], path);
        }
      });
    }
  }

  test("an allow rule holds in each root as well", async () => {
    const { path: at } = workspace({ a: { src: { "x.txt": "x\n" }, b: { src: { "x.txt": "x\n" } } } });
    for (const roots of [
      ["a", "a/b"],
      ["a/b", "a"],
    ]) {
      const filehand = createFilehand({
        roots: roots.map((root) => at(root)),
        permissions: { allow: ["Edit(/src/**)"] },
      });
      for (const root of roots) equal(filehand.permissions.explain("Edit", at(root, "src/x.txt")).verdict, "allow");
    }
  });
});
