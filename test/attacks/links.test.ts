/** Links and roots: what they lead to decides, and nothing outside is shown or told. Ids: notes/attacks.md. */

import { equal, ok } from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import * as fc from "fast-check";
import { describe, test } from "vitest";
import { lineNumber } from "../../src/contract/target.ts";
import type { DialectName } from "../../src/dialects/index.ts";
import { createFilehand, type FilehandOptions } from "../../src/index.ts";
import { everyDialect, readerIn, readInEvery, refused, shows, textOf, wholeOf, replyTo } from "../support/reading.ts";
import { noSys, onLinux, onWindows, openDescriptors, plant, type Tree, workspace } from "../support/workspace.ts";

const secret = "outside-content-91bc";

/** A row of links: `<prefix>1` leads to `<prefix>2`, and so on; the last one leads to `end`. */
const chain = (prefix: string, length: number, end: string): Tree =>
  Object.fromEntries(
    Array.from({ length }, (_, index) => [
      `${prefix}${index + 1}`,
      { link: index + 1 === length ? end : `${prefix}${index + 2}` },
    ]),
  );

const tree = {
  ws: {
    "a.txt": "inside a\n",
    "not a link": "inside spaces\n",
    "gone (deleted)": "inside deleted\n",
    sub: { "b.txt": "inside b\n", deeper: { "c.txt": "inside c\n", up: { link: "../../a.txt" } } },
    secrets: { "key.txt": "denied-content\n", sub: { "deep.txt": "denied-content\n" } },
    "to-file": { link: "a.txt" },
    "to-folder": { link: "sub" },
    "to-deeper": { link: "sub/deeper" },
    "to-self": { link: "." },
    "to-top": { link: "../ws" },
    "to-spaces": { link: "not a link" },
    "to-nothing": { link: "no such file" },
    "to-bytes": { link: Buffer.from([0x61, 0xff, 0xfe]) },
    "to-key": { link: "secrets/key.txt" },
    "to-secrets": { link: "secrets" },
    "to-secrets-sub": { link: "secrets/sub" },
    twisted: { link: "to-deeper/../to-b" },
    "out-file": { link: "../out/secret.txt" },
    "out-folder": { link: "../out" },
    "out-missing": { link: "../out/nothing" },
    "out-parent": { link: ".." },
    "out-root": { link: "/" },
    "out-passwd": { link: "/etc/passwd" },
    "out-back": { link: "../out/back/a.txt" },
    "out-evil": { link: "../ws-evil" },
    chain1: { link: "chain2" },
    chain2: { link: "sub/../chain3" },
    chain3: { link: "../out/secret.txt" },
    loop: { link: "loop" },
    ping: { link: "pong" },
    pong: { link: "./sub/../ping" },
    ...chain("forty-", 40, "a.txt"),
    ...chain("forty-one-", 41, "a.txt"),
  },
  out: { "secret.txt": secret, back: { link: "../ws" }, "dir-secret": { "name-of-outside-file": secret } },
  "ws-evil": { x: secret },
  second: { "d.txt": "inside d\n", "to-first": { link: "../ws/a.txt" }, "to-out": { link: "../out/secret.txt" } },
} as const satisfies Tree;

const { path: at, top } = workspace(tree);
fs.symlinkSync(at("ws/sub/b.txt"), at("ws/absolute"));
fs.symlinkSync("deeper/../b.txt", at("ws/sub/to-b"));
fs.symlinkSync(at("second/d.txt"), at("ws/to-second"));
const root = at("ws");
const options = { roots: [root] };
const hidden = [secret, at("out/"), "../out/", "name-of-outside-file", "root:"];

for (const dialect of everyDialect) {
  describe.skipIf(onWindows)(`in ${dialect}`, () => {
    const read = readerIn(dialect, options);

    test("A16 a link to an outside file is refused", async () => {
      refused(await read("out-file"), "ACCESS_DENIED", hidden);
      refused(await read("out-passwd"), "ACCESS_DENIED", [...hidden, "/etc"]);
      refused(await read("sub/../out-file"), "ACCESS_DENIED", hidden);
    });

    test("A16 a link to an outside file that does not exist is refused alike", async () => {
      const missing = await read("out-missing");
      refused(missing, "ACCESS_DENIED", hidden);
      const strip = (text: string): string => text.replaceAll("out-missing", "X").replaceAll("out-file", "X");
      const words = (text: string): string => strip(text).replace(/Did you mean[^]*|, did you mean[^]*/, "");
      equal(words(textOf(missing)), words(textOf(await read("out-file"))));
    });

    test("A17 a path below a link to an outside folder is refused", async () => {
      for (const asked of [
        "out-folder/secret.txt",
        "out-folder",
        "out-folder/",
        "out-folder/dir-secret",
        "out-folder/nothing/at/all",
        "out-evil/x",
        "out-root/etc/passwd",
        "out-parent/out/secret.txt",
        "out-parent",
      ]) {
        refused(await read(asked), "ACCESS_DENIED", [secret, "name-of-outside-file", "root:"]);
      }
    });

    test("A17 an outside folder is no bridge back into the root", async () => {
      refused(await read("out-back"), "ACCESS_DENIED", hidden);
      refused(await read("out-folder/back/a.txt"), "ACCESS_DENIED", hidden);
    });

    test("A17 the folders above the root are a way back", async () => {
      shows(await read("out-parent/ws/a.txt"), "inside a");
      shows(await read(`out-root${root}/a.txt`), "inside a");
    });

    test("A20 a chain whose last link leads out is refused", async () =>
      refused(await read("chain1"), "ACCESS_DENIED", hidden));

    test("A21 links that lead in a circle are reported at once", async () => {
      for (const asked of ["loop", "loop/x", "ping", "pong", "ping/../a.txt"]) {
        refused(await read(asked), "LINK_LOOP", hidden);
      }
    });

    test("A21 forty links are followed, forty-one are not, as in the kernel", async () => {
      shows(await read("forty-1"), "inside a");
      shows(await read("forty-one-2"), "inside a");
      refused(await read("forty-one-1"), "LINK_LOOP", ["inside a"]);
      if (onLinux) {
        equal(fs.readFileSync(at("ws/forty-1"), "utf8"), "inside a\n");
        let code: unknown;
        try {
          fs.readFileSync(at("ws/forty-one-1"));
        } catch (error) {
          code = error instanceof Error && "code" in error ? error.code : error;
        }
        equal(code, "ELOOP");
      }
    });

    for (const [asked, content] of [
      ["to-file", "inside a"],
      ["to-folder/b.txt", "inside b"],
      ["to-deeper/c.txt", "inside c"],
      ["to-self/to-self/to-self/a.txt", "inside a"],
      ["to-top/a.txt", "inside a"],
      ["absolute", "inside b"],
      ["to-spaces", "inside spaces"],
      ["not a link", "inside spaces"],
      ["gone (deleted)", "inside deleted"],
      ["sub/deeper/up", "inside a"],
      ["to-deeper/up", "inside a"],
      ["twisted", "inside b"],
      ["to-deeper/../b.txt", "inside b"],
      ["to-deeper/../deeper/../../to-file", "inside a"],
    ] as const) {
      test(`A22 F4 "${asked}" leads where the kernel says`, async () => {
        equal(fs.readFileSync(at("ws", asked), "utf8"), `${content}\n`);
        shows(await read(asked), content);
      });
    }

    test("A22 F4 a path that is bent by a link is not what its letters say", async () => {
      refused(await read("to-deeper/../a.txt"), "NOT_FOUND", ["inside a\\n"]);
      refused(await read("a.txt/../a.txt"), "NOT_FOUND", ["inside a\\n"]);
      refused(await read("nothing/../a.txt"), "NOT_FOUND", ["inside a\\n"]);
    });

    test("A22 a slash after a file is accepted, a name is not", async () => {
      for (const asked of ["to-file/", "a.txt/", "a.txt//"]) shows(await read(asked), "inside a");
      for (const asked of ["a.txt/.", "to-file/.", "a.txt/x", "a.txt/.."]) {
        refused(await read(asked), "NOT_FOUND", ["inside a\\n"]);
      }
      refused(await read("out-file/"), "ACCESS_DENIED", hidden);
    });

    test("A22 a link to nothing, or with a text that is no UTF-8, finds nothing", async () => {
      refused(await read("to-nothing"), "NOT_FOUND");
      refused(await read("to-bytes"), "NOT_FOUND");
      refused(await read("to-bytes/x"), "NOT_FOUND");
    });

    test("A23 a deny rule on the target holds for every link to it", async () => {
      const denying = readerIn(dialect, { ...options, permissions: { deny: ["Read(/secrets/**)"] } });
      for (const asked of [
        "secrets/key.txt",
        "to-key",
        "to-secrets/key.txt",
        "to-secrets-sub/deep.txt",
        "to-secrets-sub/../key.txt",
        "sub/../to-key",
      ]) {
        refused(await denying(asked), "ACCESS_DENIED", ["denied-content"]);
      }
      shows(await denying("to-file"), "inside a");
    });

    test("A23 a link does not reveal whether a denied file exists either", async () => {
      const denying = readerIn(dialect, { ...options, permissions: { deny: ["Read(/secrets/**)"] } });
      for (const asked of [
        "secrets/no.txt",
        "to-secrets/no.txt",
        "to-secrets-sub/../no.txt",
        "to-secrets/key.txt/no",
      ]) {
        refused(await denying(asked), "ACCESS_DENIED");
      }
    });

    test("A24 a deny rule on a link's name holds for the link", async () => {
      const denying = readerIn(dialect, { ...options, permissions: { deny: ["Read(to-file)", "Read(to-folder)"] } });
      refused(await denying("to-file"), "ACCESS_DENIED", ["inside a"]);
      refused(await denying("to-folder/b.txt"), "ACCESS_DENIED", ["inside b"]);
    });

    test("A24 also if the link's text leads up", async () => {
      for (const deny of [["Read(sub/deeper/**)"], ["Read(up)"], ["Read(**/u*)"]]) {
        const denying = readerIn(dialect, { ...options, permissions: { deny } });
        refused(await denying("sub/deeper/up"), "ACCESS_DENIED", ["inside a", "a.txt"]);
        shows(await denying("a.txt"), "inside a");
      }
    });

    test("A23 a refusal names the path as it was asked, never what it leads to", async () => {
      const denying = readerIn(dialect, { ...options, permissions: { deny: ["Read(/a.txt)", "Read(key.*)"] } });
      refused(await denying("sub/deeper/up"), "ACCESS_DENIED", ["inside a", `${root}/a.txt`]);
      refused(await denying("to-secrets-sub/../key.txt"), "ACCESS_DENIED", ["denied-content", "/secrets/"]);
    });

    // Rules are compared with names, and nobody asks the disk where a rule's own name leads.
    test("A24 a deny rule on a link's name holds for the target by its own name", async () => {
      const denying = readerIn(dialect, { ...options, permissions: { deny: ["Read(/to-file)"] } });
      refused(await denying("a.txt"), "ACCESS_DENIED", ["inside a"]);
    });

    test("A23 an allow rule frees a file only if both names match", async () => {
      const asking = (allow: readonly string[]) =>
        readerIn(dialect, { ...options, permissions: { ask: ["Read(a.txt)"], allow } });
      refused(await asking(["Read(to-file)"])("to-file"), "ACCESS_DENIED", ["inside a"]);
      refused(await asking([])("to-file"), "ACCESS_DENIED", ["inside a"]);
    });

    test("A26 below a link to outside a missing deep path is refused and nothing is made", async () => {
      refused(await read("out-folder/new/deep/file.txt"), "ACCESS_DENIED", hidden);
      equal(fs.existsSync(at("out/new")), false);
    });

    test("A27 a folder's links are listed as links, and outside targets are not revealed", async () => {
      const reply = await list(dialect, options, ".");
      equal(reply.isError, false);
      const whole = wholeOf(reply);
      for (const name of ["out-file", "out-folder", "out-passwd", "to-file", "loop"]) ok(whole.includes(name), name);
      for (const text of [secret, "secret.txt", "../out", "name-of-outside", at("out"), "/etc"]) {
        ok(!whole.includes(text), `${text} is in ${whole}`);
      }
      ok(!textOf(reply).includes("out-folder/"), "an outside folder must not be told from an outside file");
      refused(await list(dialect, options, "out-folder"), "ACCESS_DENIED", ["secret.txt", "name-of-outside-file"]);
    });

    test("A27 a denied entry is not listed", async () => {
      const reply = await list(dialect, { ...options, permissions: { deny: ["Read(not*)", "Read(/secrets)"] } }, ".");
      ok(!/^\W*(not a link|secrets\/)/m.test(textOf(reply)), textOf(reply));
    });

    // kinds/directory.ts looks up where a link leads without asking the guard. `opencode` and its legacy show no texts.
    test("A27 the target of a link is not shown if a rule denies it", async () => {
      const whole = wholeOf(await list(dialect, { ...options, permissions: { deny: ["Read(/secrets/**)"] } }, "."));
      ok(!whole.includes("key.txt"), whole);
    });

    test("A28 what cannot be resolved is refused, not read by its raw name", async () => {
      for (const asked of ["loop/../a.txt", "ping/x", "forty-one-1"]) {
        refused(await read(asked), "LINK_LOOP", ["inside a\\n"]);
      }
    });
  });
}

async function list(dialect: DialectName, given: FilehandOptions, asked: string) {
  const session = createFilehand({ dedup: false, ...given }).session({ dialect });
  return replyTo(session, () => ({ verb: "ls", path: asked, from: lineNumber(1), entriesMax: 1_000 }));
}

describe.skipIf(onWindows)("any path of links, names and dots leads where the kernel says", () => {
  const names = Object.keys(tree.ws).filter((name) => !name.startsWith("forty") && name !== "to-bytes");
  const segment = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...names) },
    { weight: 4, arbitrary: fc.constantFrom("..", ".", "", "ws", "sub", "deeper", "b.txt", "a.txt", "c.txt", "up") },
    { weight: 1, arbitrary: fc.constantFrom("out", "secret.txt", "second", path.basename(top)) },
  );

  test("A22 F4 in random walks", async () => {
    const read = readerIn("claude", options);
    await fc.assert(
      fc.asyncProperty(fc.array(segment, { minLength: 1, maxLength: 9 }), async (segments) => {
        const asked = segments.join("/").replace(/^\/+/, "./");
        if (asked === "") return;
        const reply = await read(asked);
        const plain = `${root}/${asked}`.replace(/\/+$/, ""); // a slash at the end is forgiven
        const seen = follow(plain, root);
        if (seen.seen !== "inside") {
          refused(reply, seen.seen === "outside" ? "ACCESS_DENIED" : seen.seen, [secret]);
          return;
        }
        equal(seen.real, fs.realpathSync.native(plain), "the test's own walk is wrong");
        if (fs.statSync(seen.real).isDirectory()) refused(reply, "IS_DIRECTORY", [secret]);
        else shows(reply, fs.readFileSync(seen.real, "utf8").trim());
      }),
      { numRuns: 3_000 },
    );
  });
});

type Followed =
  | { readonly seen: "inside"; readonly real: string }
  | { readonly seen: "outside" | "NOT_FOUND" | "LINK_LOOP" };

/** A plain walk by names, for a tree that nobody changes. Outside are all but the root, what is in it and above it. */
function follow(asked: string, rootPath: string): Followed {
  const todo = asked.split("/");
  let at = "/";
  let hops = 0;
  const isInside = (place: string): boolean => place === rootPath || place.startsWith(`${rootPath}/`);
  while (todo.length > 0) {
    const name = todo.shift() ?? "";
    const stat = fs.lstatSync(at);
    if (!stat.isDirectory()) return { seen: "NOT_FOUND" };
    if (name === "" || name === ".") continue;
    const next = name === ".." ? path.dirname(at) : path.join(at, name);
    if (!isInside(next) && !`${rootPath}/`.startsWith(next === "/" ? next : `${next}/`)) return { seen: "outside" };
    const found = fs.lstatSync(next, { throwIfNoEntry: false });
    if (found === undefined) return { seen: "NOT_FOUND" };
    if (!found.isSymbolicLink()) {
      at = next;
      continue;
    }
    hops += 1;
    if (hops > 40) return { seen: "LINK_LOOP" };
    const text = fs.readlinkSync(next);
    todo.unshift(...text.split("/"));
    if (text.startsWith("/")) at = "/";
  }
  return isInside(at) ? { seen: "inside", real: at } : { seen: "outside" };
}

describe.skipIf(onWindows)("roots", () => {
  for (const [spelled, given] of [
    ["a trailing slash", `${root}/`],
    ["doubled slashes", root.replaceAll("/", "//")],
    ["dots", `${root}/sub/.././.`],
    ["a relative path", path.relative(process.cwd(), root)],
  ] as const) {
    test(`A4 a root given with ${spelled} decides as the clean form`, async () => {
      for (const [asked, code] of [
        ["a.txt", undefined],
        [`${root}/a.txt`, undefined],
        [`${root}//./sub/../a.txt`, undefined],
        [at("ws-evil/x"), "ACCESS_DENIED"],
        ["../out/secret.txt", "ACCESS_DENIED"],
        ["out-file", "ACCESS_DENIED"],
        ["nothing", "NOT_FOUND"],
      ] as const) {
        await readInEvery({ roots: [given] }, asked, (reply) =>
          code === undefined ? shows(reply, "inside a") : refused(reply, code, [secret]),
        );
      }
    });
  }

  test("A25 a root that is a link is made canonical once", async () => {
    const moving = workspace({ real: { "a.txt": "inside a\n", "up.txt": { link: "../real/a.txt" } }, out: tree.out });
    fs.symlinkSync("real", moving.path("link"));
    const filehand = createFilehand({ roots: [moving.path("link")] });
    equal(filehand.roots[0], moving.path("real"));
    const readAll = async (): Promise<void> => {
      for (const asked of [moving.path("link/a.txt"), moving.path("real/a.txt"), "a.txt", "up.txt", "../real/a.txt"]) {
        shows(await filehand.session({ dialect: "claude" }).call("Read", { file_path: asked }), "inside a");
      }
    };
    await readAll();
    fs.unlinkSync(moving.path("link"));
    fs.symlinkSync("out", moving.path("link"));
    await readAll();
    for (const asked of [moving.path("link/secret.txt"), "secret.txt"]) {
      refused(await filehand.session({ dialect: "claude" }).call("Read", { file_path: asked }), "NOT_FOUND", [secret]);
    }
  });

  test("A25 the folder above a root that is a link is the one above the real root", async () => {
    const two = workspace({ x: { real: { "a.txt": "inside a\n" }, "b.txt": secret }, link: { link: "x/real" } });
    const read = readerIn("claude", { roots: [two.path("link")] });
    refused(await read("../b.txt"), "ACCESS_DENIED", [secret]);
    shows(await read("../real/a.txt"), "inside a");
  });

  test("A22 a link into a second root is allowed, a link out of both is not", async () => {
    const both = { roots: [root, at("second")] };
    await readInEvery(both, "to-second", (reply) => shows(reply, "inside d"));
    await readInEvery(both, at("second/to-first"), (reply) => shows(reply, "inside a"));
    await readInEvery(both, "../second/d.txt", (reply) => shows(reply, "inside d"));
    await readInEvery(both, at("second/to-out"), (reply) => refused(reply, "ACCESS_DENIED", hidden));
    await readInEvery(options, "to-second", (reply) => refused(reply, "ACCESS_DENIED", ["inside d", at("second")]));
  });

  test("A4 nested roots in either order decide alike", async () => {
    for (const roots of [
      [root, at("ws/sub")],
      [at("ws/sub"), root],
    ]) {
      await readInEvery({ roots }, at("ws/sub/b.txt"), (reply) => shows(reply, "inside b"));
      await readInEvery({ roots }, at("ws/sub/../a.txt"), (reply) => shows(reply, "inside a"));
      await readInEvery({ roots }, at("ws/sub/deeper/up"), (reply) => shows(reply, "inside a"));
      await readInEvery({ roots }, at("ws/sub/../../out/secret.txt"), (reply) =>
        refused(reply, "ACCESS_DENIED", [secret]),
      );
    }
  });

  for (const [how, change] of [
    ["removed", (folder: string) => fs.rmSync(folder, { recursive: true })],
    [
      "replaced by another folder",
      (folder: string) => {
        fs.renameSync(folder, `${folder}-old`);
        plant(path.dirname(folder), { ws: { "a.txt": secret } });
      },
    ],
    [
      "replaced by a link to outside",
      (folder: string) => {
        fs.renameSync(folder, `${folder}-old`);
        fs.symlinkSync("out", folder);
      },
    ],
    [
      "replaced by a link to itself",
      (folder: string) => {
        fs.renameSync(folder, `${folder}-old`);
        fs.symlinkSync("ws-old", folder);
      },
    ],
    [
      "replaced by a file",
      (folder: string) => {
        fs.renameSync(folder, `${folder}-old`);
        fs.writeFileSync(folder, secret);
      },
    ],
  ] as const) {
    test(`A39 when the root is ${how}, everything is refused`, async () => {
      for (const dialect of everyDialect) {
        const { path: here } = workspace({ ws: { "a.txt": "inside a\n" }, out: { "a.txt": secret } });
        const read = readerIn(dialect, { roots: [here("ws")] });
        shows(await read("a.txt"), "inside a");
        change(here("ws"));
        for (const asked of ["a.txt", here("ws/a.txt"), "nothing", ".", here("out/a.txt")]) {
          refused(await read(asked), "ACCESS_DENIED", [secret, "inside a"]);
        }
      }
    });
  }

  test("A39 a root that comes back is the root again", async () => {
    const { path: here } = workspace({ ws: { "a.txt": "inside a\n" } });
    const read = readerIn("claude", { roots: [here("ws")] });
    fs.renameSync(here("ws"), here("away"));
    refused(await read("a.txt"), "ACCESS_DENIED", ["inside a"]);
    fs.renameSync(here("away"), here("ws"));
    shows(await read("a.txt"), "inside a");
  });

  test("A39 one replaced root does not close the other", async () => {
    const { path: here } = workspace({ one: { "a.txt": "inside a\n" }, two: { "b.txt": "inside b\n" } });
    const read = readerIn("claude", { roots: [here("one"), here("two")] });
    fs.rmSync(here("one"), { recursive: true });
    refused(await read(here("one/a.txt")), "ACCESS_DENIED");
    shows(await read(here("two/b.txt")), "inside b");
  });
});

describe.skipIf(!onLinux)("the file system's own root as root", () => {
  const whole = { roots: ["/"] };

  test("A4 ordinary files are read by any spelling", async () => {
    for (const asked of [at("ws/a.txt"), `/${at("ws/a.txt")}`, `/..${at("ws/../ws/a.txt")}`, at("ws/a.txt").slice(1)]) {
      await readInEvery(whole, asked, (reply) => shows(reply, "inside a"));
    }
    await readInEvery(whole, at("ws/out-file"), (reply) => shows(reply, secret));
    const name = ["/etc/hostname", "/etc/passwd"].find((file) => fs.existsSync(file));
    if (name !== undefined) {
      const first = fs.readFileSync(name, "utf8").split("\n")[0] ?? "";
      await readInEvery(whole, name, (reply) => shows(reply, first));
    }
  });

  const { pid } = process;
  for (const [id, asked] of [
    ["A45", "/proc/self/environ"],
    ["A45", `/proc/${pid}/environ`],
    ["A45", `/proc/${pid}/mem`],
    ["A45", `/proc/${pid}/cmdline`],
    ["A45", "/proc/self/root/etc/passwd"],
    ["A45", `/proc/${pid}/root/etc/passwd`],
    ["A45", `/proc/${pid}/task/${pid}/root/etc/passwd`],
    ["A45", "/proc/thread-self/root/etc/passwd"],
    ["A45", "/proc/self/cwd/package.json"],
    ["A45", `/proc/${pid}/cwd/package.json`],
    ["A45", `/proc/${pid}/exe`],
    ["A45", "/proc/kmsg"],
    ["A45", "/proc/mounts"],
    ["A43", "/proc/self/fd/0"],
    ["A43", `/proc/${pid}/fd/0`],
    ["A43", `/proc/${pid}/fd/1`],
    ["A43", "/dev/stdin"],
    ["A43", "/dev/fd/0"],
    ["A43", "/dev/stdout"],
    ["A46", "/sys/kernel/uevent_seqnum"],
    ["A46", "/sys/kernel/mm/transparent_hugepage/enabled"],
    ["A46", "/sys/class/net/lo/address"],
    ["A46", "/proc/sys/kernel/hostname"],
  ] as const) {
    test.skipIf(!isThere(asked))(`${id} ${asked.replaceAll(String(pid), "<pid>")} is refused`, async () => {
      await readInEvery(whole, asked, (reply) => refused(reply, "SPECIAL_FILE", ["PATH=", "root:x"]));
    });
  }

  test("A45 a link to a kernel file is refused as the file", async () => {
    const { path: here } = workspace({
      environ: { link: "/proc/self/environ" },
      cwd: { link: "/proc/self/cwd" },
      stdin: { link: "/dev/stdin" },
    });
    for (const asked of [here("environ"), here("cwd/package.json"), here("stdin")]) {
      await readInEvery(whole, asked, (reply) => refused(reply, "SPECIAL_FILE", ["PATH="]));
      await readInEvery({ roots: [here()] }, asked, (reply) => refused(reply, "ACCESS_DENIED", ["PATH=", "/proc"]));
    }
  });

  test("A45 the same paths are outside any ordinary root", async () => {
    for (const asked of [
      "/proc/self/environ",
      `/proc/self/root${root}/a.txt`,
      "/proc/self/cwd/x",
      "/dev/stdin",
      "/sys",
    ]) {
      await readInEvery(options, asked, (reply) => refused(reply, "ACCESS_DENIED", ["PATH=", "inside a"]));
    }
  });

  for (const folder of ["/proc", "/proc/self", "/proc/self/fd", "/sys"]) {
    const why = folder === "/sys" ? noSys : undefined;
    const title = `A45 a folder of the kernel cannot be a root: ${folder}`;
    test.skipIf(why !== undefined)(why === undefined ? title : `${title} (${why})`, () => {
      let message = "";
      try {
        createFilehand({ roots: [folder] });
      } catch (error) {
        message = error instanceof Error ? error.message : "";
      }
      ok(message.startsWith(`Cannot use "${folder}" as a root`), message);
    });
  }
});

function isThere(asked: string): boolean {
  try {
    fs.lstatSync(asked);
    return true;
  } catch {
    return false;
  }
}

test.skipIf(!onLinux)("no call leaves a descriptor open, whatever its end", async () => {
  const asked = [
    ...Object.keys(tree.ws),
    ".",
    "sub",
    "sub/../a.txt",
    "to-deeper/../b.txt",
    "out-folder/secret.txt",
    "a.txt/x",
    "missing/deep/path",
    "secrets/key.txt",
    "../out",
    "",
    "\0",
    "x".repeat(300),
    "/proc/self/environ",
  ];
  const sessions = everyDialect.flatMap((dialect) =>
    [
      { roots: [root] },
      { roots: ["/"], cwd: root },
      { roots: [root], permissions: { deny: ["Read(/secrets/**)"] } },
    ].map((given) => readerIn(dialect, given)),
  );
  const once = async (): Promise<number> => {
    let calls = 0;
    for (const read of sessions) {
      for (const path of asked) {
        await read(path);
        calls += 1;
      }
    }
    return calls;
  };
  await once(); // what is opened once and kept is no leak
  const before = openDescriptors();
  ok((await once()) > 600);
  equal(openDescriptors(), before);
});
