/** Every way out, tried through every verb: refused, told by the path as it was asked, and not a trace on the disk. */

import { deepEqual, equal, ok } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as net from "node:net";
import { afterAll, beforeAll, describe, test } from "vitest";
import type { Code } from "../../src/contract/problem.ts";
import { createFilehand, type FilehandOptions } from "../../src/index.ts";
import { everyAttempt, withoutPatch } from "../support/changing.ts";
import { refused, wholeOf } from "../support/reading.ts";
import { snapshot } from "../support/snapshot.ts";
import { noFifo, noSys, onLinux, onWindows, openDescriptors, workspace } from "../support/workspace.ts";

const secret = "content outside-7c1d";
const { path: at, top } = workspace({
  ws: {
    "a.txt": "content\n",
    "spare.txt": "content\n",
    sub: { "b.txt": "content\n" },
    "out-file": { link: "../out/secret.txt" },
    "out-folder": { link: "../out" },
    "out-missing": { link: "../out/nothing" },
    "out-deep-missing": { link: "../out/no/such/folder" },
    "out-root": { link: "/" },
    "out-parent": { link: ".." },
    chain1: { link: "chain2" },
    chain2: { link: "sub/../chain3" },
    chain3: { link: "../out/secret.txt" },
    loop: { link: "loop" },
    ping: { link: "pong" },
    pong: { link: "ping" },
    "to-proc": { link: "/proc/self/fd/1" },
    "to-stdout": { link: "/dev/stdout" },
    ...(noFifo === undefined ? { pipe: { fifo: true }, "to-pipe": { link: "pipe" } } : {}),
  },
  out: { "secret.txt": secret, "book.ipynb": secret, folder: { "name-of-outside-file": secret } },
  "ws-evil": { x: secret },
});
const root = at("ws");
const options: FilehandOptions = { roots: [root], ask: "yes", readFirst: false, dedup: false };
const attempts = everyAttempt(createFilehand(options).session({ dialect: "claude" }), "spare.txt");
const hidden = ["outside-7c1d", "name-of-outside-file", at("out/"), "../out/"];

/** Refused in each verb with one of these codes, and the whole tree is as it was, times and all. */
function refusesAll(
  name: string,
  asked: string,
  codes: Code | Readonly<Record<string, Code>>,
  tried: typeof attempts = attempts,
  hide: readonly string[] = hidden,
): void {
  test(name, async () => {
    const before = snapshot(top);
    const descriptors = openDescriptors();
    for (const [verb, attempt] of Object.entries(tried)) {
      const reply = await attempt(asked);
      const code = typeof codes === "string" ? codes : (codes[verb] ?? codes["*"]);
      ok(code !== undefined);
      refused(
        reply,
        code,
        hide.filter((text) => !asked.includes(text)),
      );
    }
    deepEqual(snapshot(top), before);
    equal(openDescriptors(), descriptors);
  });
}

describe.skipIf(onWindows)("out of the workspace, in every verb", () => {
  for (const [id, asked] of [
    ["A1", "../out/secret.txt"],
    ["A1", "../../../../../../../../etc/passwd"],
    ["A2", at("out/secret.txt")],
    ["A2", at("out/new.txt")],
    ["A2", "/etc/filehand-attack"],
    ["A3", at("ws-evil/x")],
    ["A3", at("ws-evil/new")],
    ["A6", `${root}/sub/../../out/secret.txt`],
    ["A6", "sub/../../out/new/deep/file"],
    ["A16 A18", "out-file"],
    ["A16 A18", "out-file/"],
    ["A17", "out-folder/secret.txt"],
    ["A17", "out-folder/book.ipynb"],
    ["A17", "out-folder/folder"],
    ["A17", "out-root/etc/filehand-attack"],
    ["A17", "out-parent/out/secret.txt"],
    ["A19", "out-missing"],
    ["A19 A26", "out-deep-missing/x/y"],
    ["A20", "chain1"],
    ["A26", "out-folder/new/deep/file.txt"],
    ["A43", "/dev/stdin"],
    ["A43", "/dev/fd/0"],
    ["A44", "/dev/stdout"],
    ["A44", "/proc/self/fd/1"],
    ["A44", "/proc/thread-self/fd/1"],
    ["A44", `/proc/${process.pid}/task/${process.pid}/fd/1`],
    ["A44", "to-proc"],
    ["A44", "to-stdout"],
    ["A45", "/proc/self/environ"],
    ["A45", `/proc/self/root${root}/a.txt`],
    ["A45", `/proc/self/cwd/../..${root}/a.txt`],
    ["A46", "/sys/kernel/mm/transparent_hugepage/enabled"],
  ] as const) {
    refusesAll(`${id} "${asked.replaceAll(top, "")}"`, asked, "ACCESS_DENIED");
  }

  for (const asked of ["loop", "loop/x", "ping", "ping/../a.txt"]) {
    refusesAll(`A21 A28 "${asked}"`, asked, "LINK_LOOP");
  }

  refusesAll("A10 a NUL", "a.txt\0.png", "INVALID_PARAM", withoutPatch(attempts));
  refusesAll("A11 an empty path", "", "INVALID_PARAM", withoutPatch(attempts));
  refusesAll("A13 a path of 5,000 bytes", "a/".repeat(2_500), "INVALID_PARAM");
  refusesAll("A13 a name of 256 bytes", "a".repeat(256), "INVALID_PARAM");
  refusesAll("A13 a name of 256 bytes in 128 letters", "é".repeat(128), "INVALID_PARAM");
  refusesAll("A57 a network share", "\\\\host\\share\\a.txt", "INVALID_PARAM");
  refusesAll("A57 a device namespace", "\\\\?\\C:\\a.txt", "INVALID_PARAM");
  refusesAll("A57 an NT path", "\\??\\C:\\a.txt", "INVALID_PARAM");
  refusesAll("half a character, which would become another name on the disk", "a\ud800.txt", "INVALID_PARAM");
  refusesAll("half a character in the middle of a path", "sub\udc00/new.txt", "INVALID_PARAM");

  for (const asked of ["a.txt/x", "a.txt/../b", "a.txt/.", "sub/b.txt/x/y/z"]) {
    refusesAll(`a file is no folder: "${asked}"`, asked, "NOT_FOUND");
  }

  for (const asked of [".", "sub", root, "sub/", "./sub/.", "sub/.."]) {
    const folder = { "*": "IS_DIRECTORY", "patch that moves to": "IS_DIRECTORY" } as const;
    const { ls: _, ...others } = attempts;
    refusesAll(`A11 the folder "${asked.replace(root, "/ws")}" is not changed as a file`, asked, folder, others);
  }
});

describe.skipIf(noFifo !== undefined)(`A40 a FIFO${noFifo === undefined ? "" : ` (skipped: ${noFifo})`}`, () => {
  for (const asked of ["pipe", "to-pipe"]) {
    refusesAll(`"${asked}" is refused in every verb`, asked, { "*": "SPECIAL_FILE", ls: "NOT_DIRECTORY" });
  }
});

describe.skipIf(onWindows)("A41 a socket and device nodes", () => {
  const server = net.createServer();
  beforeAll(() => new Promise<void>((resolve) => void server.listen(at("ws/socket"), resolve)));
  afterAll(() => new Promise<void>((resolve) => void server.close(() => resolve())));
  refusesAll("a socket is refused in every verb", "socket", { "*": "SPECIAL_FILE", ls: "NOT_DIRECTORY" });

  const noDevices = ((): string | undefined => {
    if (!onLinux || process.getuid?.() !== 0) return "only root on Linux can make device nodes";
    try {
      execFileSync("mknod", [at("ws/full"), "c", "1", "7"], { stdio: "ignore" });
      return undefined;
    } catch {
      return "mknod is not permitted here";
    }
  })();
  describe.skipIf(noDevices !== undefined)(
    `a device${noDevices === undefined ? "" : ` (skipped: ${noDevices})`}`,
    () => {
      refusesAll("is refused in every verb", "full", { "*": "SPECIAL_FILE", ls: "NOT_DIRECTORY" });
    },
  );
});

describe.skipIf(!onLinux)("A43 A44 A45 A46 with the whole system as root, in every verb", () => {
  const whole = everyAttempt(
    createFilehand({ ...options, roots: ["/"] }).session({ dialect: "claude" }),
    at("ws/spare.txt"),
  );
  const special = { "*": "SPECIAL_FILE", ls: "NOT_DIRECTORY" } as const;
  for (const asked of [
    "/proc/self/environ",
    "/proc/self/mem",
    "/proc/self/fd/0",
    "/proc/self/fd/1",
    `/proc/${process.pid}/environ`,
    `/proc/${process.pid}/task/${process.pid}/root/etc/passwd`,
    `/proc/self/root${root}/a.txt`,
    `/proc/self/cwd`,
    "/dev/fd/1",
    "/dev/stdout",
    "/proc/sys/kernel/core_pattern",
    "/sys/kernel/mm/transparent_hugepage/enabled",
    "/proc",
    "/sys",
    "/proc/sys/kernel",
  ].filter((path) => path.startsWith("/proc/self") || fs.existsSync(path))) {
    if (asked === "/sys" && noSys !== undefined) test.skip(`"/sys": ${noSys}`);
    else refusesAll(`"${asked.replaceAll(top, "")}"`, asked, special, whole);
  }

  const groups = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/memory"].filter(
    (folder) => fs.existsSync(folder) && [0x63677270, 0x27e0eb].includes(fs.statfsSync(folder).type),
  );
  for (const folder of ["/proc", "/sys", `/proc/${process.pid}`, ...groups]) {
    const why = folder === "/sys" ? noSys : undefined;
    // A folder in a control group would be a new control group.
    const title = `nothing is made in ${folder.replace(String(process.pid), "<pid>")}, nor a folder there`;
    test.skipIf(why !== undefined)(why === undefined ? title : `${title}: ${why}`, async () => {
      const asked = `${folder}/filehand-attack/x`;
      for (const [verb, attempt] of Object.entries(whole)) {
        const reply = await attempt(asked);
        equal(reply.isError, true, `${verb} ${asked}: ${wholeOf(reply)}`);
      }
      equal(fs.existsSync(`${folder}/filehand-attack`), false, asked);
    });
  }
});

describe.skipIf(onWindows)("A13 a name that is too long below a missing folder", () => {
  for (const [what, asked] of [
    ["of the file", `missing/${"a".repeat(256)}`],
    ["of the file, in 128 letters", `missing/${"é".repeat(128)}`],
    ["of a folder", `missing/${"a".repeat(256)}/new.txt`],
  ] as const) {
    test(`${what}: there is no question, and nothing is created`, async () => {
      let questions = 0;
      const ask = async () => {
        questions += 1;
        return { reply: "once" } as const;
      };
      const tried = everyAttempt(createFilehand({ ...options, ask }).session({ dialect: "claude" }), "spare.txt");
      const before = snapshot(top);
      for (const verb of ["write", "edit that makes a file", "patch that adds", "patch that moves to"]) {
        const reply = await tried[verb]?.(asked);
        ok(reply !== undefined);
        refused(reply, "INVALID_PARAM");
      }
      equal(questions, 0);
      deepEqual(snapshot(top), before);
    });
  }

  test("255 bytes are not too long", async () => {
    const { path: here } = workspace({ ws: {} });
    const tried = everyAttempt(createFilehand({ ...options, roots: [here("ws")] }).session({ dialect: "claude" }), "x");
    equal((await tried["write"]?.(`new/${"é".repeat(127)}a`))?.isError, false);
  });
});

test.skipIf(onWindows)("A15 spaces around a name are a part of it", async () => {
  const { path: here } = workspace({ ws: { "n.txt": "content\n" } });
  const tried = everyAttempt(
    createFilehand({ ...options, roots: [here("ws")] }).session({ dialect: "claude" }),
    "spare.txt",
  );
  equal((await tried["write"]?.(" n.txt "))?.isError, false);
  deepEqual(fs.readdirSync(here("ws")).toSorted(), [" n.txt ", "n.txt"]);
  equal(fs.readFileSync(here("ws/n.txt"), "utf8"), "content\n");
});

test.skipIf(onWindows)("A15 a patch for a name with spaces around it changes no other file, and says so", async () => {
  const { path: here } = workspace({ ws: { "n.txt": "content\n", " n.txt ": "content\n", "spare.txt": "content\n" } });
  const tried = everyAttempt(
    createFilehand({ ...options, roots: [here("ws")] }).session({ dialect: "claude" }),
    "spare.txt",
  );
  const before = snapshot(here("ws"));
  for (const [verb, attempt] of Object.entries(tried)) {
    if (!verb.startsWith("patch")) continue;
    for (const asked of [" n.txt ", "n.txt ", " n.txt", "\tn.txt"]) {
      const reply = await attempt(asked);
      refused(reply, "INVALID_PARAM");
      ok(JSON.stringify(reply).includes("one blank before the path and none behind it"), JSON.stringify(reply));
    }
  }
  deepEqual(snapshot(here("ws")), before);
});

describe.skipIf(onWindows)("still working: the same verbs on ordinary spellings", () => {
  for (const asked of [
    "n.txt",
    "./n.txt",
    "sub/../n.txt",
    "../ws/n.txt",
    `/${"/".repeat(50)}${root}//n.txt`,
    "new/deep/er/n.txt",
    "a%2e%2e%2fb",
    "a~",
    "a$HOME",
    "a%USERPROFILE%",
    "n.txt.",
    "CON",
    "n.txt::$DATA",
    "C:n.txt",
    "[a]*?{b,c}",
    "-rf",
    "--pre=sh",
  ]) {
    test(`A5 A8 A12 A15 A61 A85 "${asked.replaceAll(top, "")}" is a name like any other`, async () => {
      const { path: here } = workspace({ ws: { "spare.txt": "content\n", sub: {} } });
      const session = createFilehand({ ...options, roots: [here("ws")] }).session({ dialect: "claude" });
      const tried = everyAttempt(session, "spare.txt");
      const path = asked.replace(root, here("ws"));
      const real = path.startsWith("/") ? path.replace(/^\/+/u, "/") : `${here("ws")}/${path}`;
      for (const [verb, content] of [
        ["write", "written"],
        ["read", "written"],
        ["patch that deletes", undefined],
        ["patch that adds", "added\n"],
        ["patch that deletes", undefined],
        ["patch that moves to", "changed\n"],
      ] as const) {
        const reply = await tried[verb]?.(path);
        equal(reply?.isError, false, `${verb}: ${JSON.stringify(reply)}`);
        equal(fs.existsSync(real) ? fs.readFileSync(real, "utf8") : undefined, content, verb);
      }
      deepEqual(
        fs.readdirSync(here()).toSorted(),
        ["ws"],
        "nothing was made beside the workspace, nor by another reading of the name",
      );
    });
  }
});
