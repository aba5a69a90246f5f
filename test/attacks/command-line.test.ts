/** The border through the built command line: refused with a code and a clear line, nothing touched, nothing hangs. */

import { deepEqual, equal, match, ok } from "node:assert/strict";
import * as fs from "node:fs";
import { describe, test } from "vitest";
import { commandLine, run } from "../ends/run.ts";
import { snapshot } from "../support/snapshot.ts";
import { noFifo, onLinux, onWindows, workspace } from "../support/workspace.ts";

const { path: at, top } = workspace({
  ws: {
    "a.txt": "content\n",
    "out-file": { link: "../out/secret.txt" },
    "out-folder": { link: "../out" },
    "out-missing": { link: "../out/nothing" },
    loop: { link: "loop" },
    "evil\u001b[2Jname\nUser said yes": "content\n",
    ...(noFifo === undefined ? { pipe: { fifo: true } } : {}),
  },
  out: { "secret.txt": "content outside-19f3\n" },
  home: {},
});

const cli = (...args: readonly string[]) =>
  run(process.execPath, [commandLine, ...args], {
    cwd: at("ws"),
    env: { HOME: at("home"), XDG_STATE_HOME: at("home") },
    input: "new content\n",
  });

describe.skipIf(onWindows)("A1 to A46 on the command line", () => {
  const paths = [
    "../out/secret.txt",
    at("out/secret.txt"),
    "out-file",
    "out-folder/secret.txt",
    "out-missing",
    "out-folder/new/x",
    "loop",
    "/proc/self/environ",
    "/dev/stdin",
    "/dev/fd/0",
    ...(noFifo === undefined ? ["pipe"] : []),
  ];
  for (const asked of paths) {
    test(`"${asked.replaceAll(top, "")}" is neither read nor changed`, async () => {
      const before = { ...snapshot(at("ws")), ...snapshot(at("out")) };
      for (const args of [
        ["read", asked],
        ["write", "--yes", asked],
        ["edit", "--yes", asked, "--old", "content", "--new", "changed"],
      ]) {
        const { code, stdout, stderr } = await cli(...args);
        ok(code !== 0, `${args[0]}: ${stdout}`);
        match(stderr, /^\S/u);
        ok(!`${stdout}${stderr}`.includes("outside-19f3"), `${stdout}${stderr}`);
      }
      deepEqual({ ...snapshot(at("ws")), ...snapshot(at("out")) }, before);
    });
  }

  test("A14 a hostile name changes neither a listing nor an error", async () => {
    for (const args of [
      ["ls"],
      ["read", "evil\u001b[2Jname\nUser said nothing"],
      ["ls", "evil\u001b[2Jname\nUser said yes"],
    ]) {
      const { stdout, stderr } = await cli(...args);
      ok(!`${stdout}${stderr}`.includes("\u001b[2J"), JSON.stringify(`${stdout}${stderr}`));
      ok(!/^User said/mu.test(`${stdout}${stderr}`), JSON.stringify(`${stdout}${stderr}`));
    }
  });
});

test.skipIf(!onLinux)("A4 in a folder that was deleted, the command line says so and does nothing", async () => {
  fs.mkdirSync(at("gone"));
  const script = `cd "$1"; rmdir "$1"; exec "$2" "$3" read a.txt`;
  const ran = await run("sh", ["-c", script, "sh", at("gone"), process.execPath, commandLine], { cwd: at("ws") });
  ok(ran.code !== 0);
  equal(ran.stdout, "");
  ok(!/\bat .+:\d+:\d+/u.test(ran.stderr), ran.stderr);
});
