/** Paths that try to name something outside the roots, or something denied by another spelling. Ids: notes/attacks.md. */

import { deepEqual, equal, ok } from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, test } from "vitest";
import { lookupByRealpath } from "../../src/disk/lookup/by-realpath.ts";
import type { Root } from "../../src/disk/lookup/lookup.ts";
import { nodeSystem, type System } from "../../src/disk/system.ts";
import { createGuard } from "../../src/guard/guard.ts";
import { pathFault } from "../../src/guard/paths.ts";
import { everyDialect, readerIn, refused, shows, textOf } from "../support/reading.ts";
import { onWindows, workspace } from "../support/workspace.ts";

const secret = "outside-content-7f3a";
const nfc = "caf\u00e9";
const nfd = "cafe\u0301";

const { path: at } = workspace({
  ws: {
    "a.txt": "inside a\n",
    "a b.txt": "inside space\n",
    "a%20b.txt": "inside percent\n",
    "%2e%2e": "inside encoded dots\n",
    "~": { "x.txt": "inside tilde\n" },
    "[a].txt": "inside brackets\n",
    "*": "inside star\n",
    "{b,c}": "inside braces\n",
    "-rf": "inside dash\n",
    " lead.txt": "inside leading space\n",
    "trail.txt ": "inside trailing space\n",
    "dot.txt.": "inside trailing dot\n",
    "...": "inside three dots\n",
    "..two": "inside two dots\n",
    sub: { "b.txt": "inside b\n", deeper: { "c.txt": "inside c\n" } },
  },
  "ws-evil": { x: secret },
  "ws.txt": secret,
  out: { "secret.txt": secret },
});
const root = at("ws");
const options = { roots: [root] };

for (const dialect of everyDialect) {
  describe.skipIf(onWindows)(`in ${dialect}`, () => {
    const read = readerIn(dialect, options);

    for (const asked of [
      "../out/secret.txt",
      "../../../../../../../../../../etc/passwd",
      "../ws-evil/x",
      "..",
      "../",
      "sub/../../out",
    ]) {
      test(`A1 relative "${asked}" is refused`, async () => refused(await read(asked), "ACCESS_DENIED", [secret]));
    }

    for (const asked of [
      "/etc/passwd",
      "/etc",
      "/",
      "//",
      "/nowhere/at/all",
      at("out/secret.txt"),
      at("out/nothing"),
    ]) {
      test(`A2 absolute "${asked}" is refused, whether it exists or not`, async () =>
        refused(await read(asked), "ACCESS_DENIED", [secret, "root:"]));
    }

    test("A3 a root's name as prefix of another folder opens nothing", async () => {
      refused(await read(at("ws-evil/x")), "ACCESS_DENIED", [secret]);
      refused(await read(at("ws.txt")), "ACCESS_DENIED", [secret]);
      refused(await read(at("w")), "ACCESS_DENIED", [secret]);
    });

    for (const [asked, content] of [
      [`${root}/./sub/../a.txt`, "inside a"],
      [`${root}//sub///b.txt`, "inside b"],
      [`${root}/../ws/a.txt`, "inside a"],
      [`/..${root}/a.txt`, "inside a"],
      ["sub/../a.txt", "inside a"],
      ["./sub/./deeper/.././b.txt", "inside b"],
      ["sub/deeper/../../sub/deeper/c.txt", "inside c"],
      ["../ws/a.txt", "inside a"],
    ] as const) {
      test(`A5 the ordinary spelling "${asked.replace(root, "/ws")}" works`, async () =>
        shows(await read(asked), content));
    }

    for (const asked of [
      `${root}/sub/../../out/secret.txt`,
      `${root}/sub/../../ws-evil/x`,
      `${root}/../out/../ws-evil/x`,
      `${root}/sub/deeper/../../../out/secret.txt`,
    ]) {
      test(`A6 "${asked.replace(root, "/ws")}" is refused`, async () =>
        refused(await read(asked), "ACCESS_DENIED", [secret]));
    }

    test("A8 nothing in an argument is decoded", async () => {
      shows(await read("a%20b.txt"), "inside percent");
      shows(await read("a b.txt"), "inside space");
      shows(await read("%2e%2e"), "inside encoded dots");
      refused(await read("%252e%252e/out/secret.txt"), "NOT_FOUND", [secret]);
      refused(await read("..%2fout%2fsecret.txt"), "NOT_FOUND", [secret]);
      refused(await read(`file://${root}/a.txt`), "NOT_FOUND", ["inside a"]);
    });

    test("A10 NUL is refused and opens nothing", async () => {
      for (const asked of ["a.txt\0", "\0", "a.txt\0/../../out/secret.txt", `${at("out/secret.txt")}\0.txt`]) {
        refused(await read(asked), "INVALID_PARAM", [secret, "inside"]);
      }
    });

    test("A11 an empty path is refused", async () => refused(await read(""), "INVALID_PARAM"));

    for (const asked of [".", "./", "sub/..", "sub/deeper/../../.", root, `${root}/`]) {
      test(`A11 the root as "${asked.replace(root, "/ws")}" is a folder, not a crash`, async () => {
        const reply = await read(asked);
        if (dialect === "opencode") shows(reply, "a.txt");
        else refused(reply, "IS_DIRECTORY");
      });
    }

    test("A12 ~/ is the home folder and outside; nothing else is expanded", async () => {
      shows(await read("./~/x.txt"), "inside tilde");
      for (const asked of ["~", "~/", "~/x.txt"]) equal((await read(asked)).error?.code, "ACCESS_DENIED", asked);
      const { HOME } = process.env;
      const leaks = HOME === undefined || HOME === "/" ? [] : [`${HOME}/x.txt`];
      for (const asked of ["~root/.profile", "$HOME/x.txt", `\${HOME}/x.txt`, "%USERPROFILE%/x.txt"]) {
        refused(await read(asked), "INVALID_PARAM", leaks);
      }
      for (const asked of ["`id`", "$(id)"]) refused(await read(asked), "NOT_FOUND", leaks);
    });

    test("A13 a path over 4,096 bytes or a name over 255 is a clear error", async () => {
      for (const asked of ["a/".repeat(2_500), "x".repeat(256), `sub/${"é".repeat(128)}`, "x".repeat(5_000)]) {
        refused(await read(asked), "INVALID_PARAM");
      }
      refused(await read("x".repeat(255)), "NOT_FOUND");
      refused(await read("a/".repeat(2_000)), "NOT_FOUND");
    });

    test("A14 control characters in a requested name are escaped in the reply", async () => {
      const asked = "no\r\nCannot\u001b[2Jsuch\u202efile\u200b.txt";
      const said = textOf(await read(asked));
      ok(!/[\r\u001b\u202e\u200b]/.test(said), JSON.stringify(said));
      ok(!said.includes("\nCannot"), JSON.stringify(said));
    });

    // opencode-words.ts quotes a faulty path with JSON.stringify, which leaves U+202E and U+200B as they are.
    test("A14 controls in a path that is refused for its letters stand escaped", async () => {
      const said = textOf(await read("\0\r\n\u001b[2J\u202efile\u200b.txt"));
      ok(!/[\0\r\u001b\u202e\u200b]/.test(said), JSON.stringify(said));
    });

    // The claude and envelope dialects repeat the whole path.
    test("A13 a path of a megabyte is not sent back whole", async () => {
      const said = textOf(await read("x".repeat(1_000_000)));
      ok(said.length < 10_000, `${said.length} characters`);
    });

    test("A15 spaces and dots at the ends of a name are literal", async () => {
      shows(await read(" lead.txt"), "inside leading space");
      shows(await read("trail.txt "), "inside trailing space");
      shows(await read("dot.txt."), "inside trailing dot");
      shows(await read("..."), "inside three dots");
      shows(await read("..two"), "inside two dots");
      refused(await read("lead.txt"), "NOT_FOUND", ["inside leading"]);
      refused(await read("a.txt "), "NOT_FOUND", ["inside a"]);
      refused(await read("a.txt."), "NOT_FOUND", ["inside a"]);
      refused(await read(".. /out/secret.txt"), "NOT_FOUND", [secret]);
    });

    test("A61 pattern characters are literal", async () => {
      shows(await read("[a].txt"), "inside brackets");
      shows(await read("*"), "inside star");
      shows(await read("{b,c}"), "inside braces");
      shows(await read("-rf"), "inside dash");
      refused(await read("?.txt"), "NOT_FOUND", ["inside a\\n"]);
      refused(await read("sub/*"), "NOT_FOUND", ["inside b"]);
    });
  });

  describe.skipIf(onWindows)(`by another name in ${dialect}`, () => {
    const { path: named } = workspace({
      ws: {
        ".GIT": { hooks: { x: "denied-content" } },
        ".git": { config: "denied-content" },
        ".ENV": "TOKEN=denied-content",
        ".Mcp.Json": "denied-content",
        [nfc]: "denied-content",
        [nfd]: "denied-content",
        "．env": "inside full width",
        "．．": { "x.txt": "inside full-width dots" },
        "a\u2024txt": "inside one dot leader",
        "\u202etxt.exe.md": "inside right to left",
        "a\u200b.txt": "inside zero width",
        "line\nbreak\u001b[1m": { "y\rz": "inside controls" },
        env: { ".env": "denied-content", ".env.local": "denied-content", sub: { ".env": "denied-content" } },
        module: { ".git": "gitdir: ../.git/modules/module", ".env": "denied-content" },
      },
    });
    const roots = [named("ws")];

    test("A51 deny rules match in any letter case", async () => {
      const read = readerIn(dialect, {
        roots,
        permissions: { deny: ["Read(.git/**)", "Read(.mcp.json)", "Read(.env)"] },
      });
      for (const asked of [
        ".GIT/hooks/x",
        ".git/config",
        ".GIT/hooks/missing",
        ".Git/x",
        ".Mcp.Json",
        ".mcp.json",
        ".ENV",
      ]) {
        refused(await read(asked), "ACCESS_DENIED", ["denied-content"]);
      }
    });

    test("A51 secrets ask in any letter case", async () => {
      refused(await readerIn(dialect, { roots })(".ENV"), "ACCESS_DENIED", ["denied-content"]);
    });

    test("A52 the composed and the decomposed form of a denied name are both denied", async () => {
      for (const form of [nfc, nfd]) {
        const read = readerIn(dialect, { roots, permissions: { deny: [`Read(${form})`] } });
        refused(await read(nfc), "ACCESS_DENIED", ["denied-content"]);
        refused(await read(nfd), "ACCESS_DENIED", ["denied-content"]);
      }
    });

    test("A53 look-alikes are compared raw: no name and no rule is widened", async () => {
      const read = readerIn(dialect, { roots, permissions: { deny: ["Read(a.txt)", "Read(x.md)"] } });
      shows(await read("．env"), "inside full width");
      shows(await read("．．/x.txt"), "inside full-width dots");
      shows(await read("a\u2024txt"), "inside one dot leader");
      shows(await read("a\u200b.txt"), "inside zero width");
      refused(await read("．．/．．/etc/passwd"), "NOT_FOUND", ["root:"]);
      const asking = readerIn(dialect, { roots, permissions: { allow: ["Read(.env)"], ask: ["Read(/*)"] } });
      refused(await asking("．env"), "ACCESS_DENIED", ["inside full width"]);
    });

    test("A53 A14 hostile names stand escaped where they are listed or headed", async () => {
      for (const asked of [".", "line\nbreak\u001b[1m", "\u202etxt.exe.md", "line\nbreak\u001b[1m/y\rz"]) {
        const said = textOf(await readerIn(dialect, { roots })(asked));
        ok(!/[\r\u001b\u202e\u200b]/.test(said), JSON.stringify(said));
        ok(!said.includes("line\nbreak"), JSON.stringify(said));
      }
    });

    test("A62 a denied pattern reaches dotfiles, nested folders and a submodule", async () => {
      const read = readerIn(dialect, { roots, permissions: { deny: ["Read(**/.env*)"] } });
      for (const asked of [".ENV", "env/.env", "env/.env.local", "env/sub/.env", "module/.env", "env/../module/.env"]) {
        refused(await read(asked), "ACCESS_DENIED", ["denied-content"]);
      }
    });

    test("A70 a rule is about the path after its dots are gone", async () => {
      const read = readerIn(dialect, { roots, permissions: { allow: ["Read(env/sub/**)"], ask: ["Read(module/**)"] } });
      refused(await read("env/sub/../../module/.env"), "ACCESS_DENIED", ["denied-content"]);
    });
  });
}

const wsRoot: Root = {
  given: "C:\\ws",
  real: "C:\\ws" as Root["real"],
  device: 1n,
  inode: 1n,
  reads: "later",
};

describe("on Windows", () => {
  for (const [id, asked, fault] of [
    ["A15", "C:\\ws\\a.txt ", "reserved"],
    ["A15", "C:\\ws\\a.txt.", "reserved"],
    ["A15", "C:\\ws\\sub.\\a.txt", "reserved"],
    ["A15", "C:\\ws\\...\\a.txt", "reserved"],
    ["A15", "C:\\ws\\ a.txt", undefined],
    ["A54", "C:\\ws\\file.txt::$DATA", "stream"],
    ["A54", "C:\\ws\\file.txt:hidden", "stream"],
    ["A54", "file.txt:hidden:$DATA", "stream"],
    ["A54", "C:\\ws\\dir:$I30:$INDEX_ALLOCATION", "stream"],
    ["A54", "C:\\ws\\dir::$INDEX_ALLOCATION\\a.txt", "stream"],
    ["A56", "CON", "reserved"],
    ["A56", "C:\\ws\\nul", "reserved"],
    ["A56", "C:\\ws\\COM1.txt", "reserved"],
    ["A56", "sub/lpt9.tar.gz", "reserved"],
    ["A56", "COM¹", "reserved"],
    ["A56", "aux.c", "reserved"],
    ["A56", "CONIN$", "reserved"],
    ["A56", "con\\a.txt", "reserved"],
    ["A56", "console.ts", undefined],
    ["A56", "COM10", undefined],
    ["A56", "auxiliary", undefined],
    ["A57", "\\\\?\\C:\\ws\\a.txt", "device namespace"],
    ["A57", "\\\\.\\PhysicalDrive0", "device namespace"],
    ["A57", "//?/C:/ws/a.txt", "device namespace"],
    ["A57", "//./pipe/x", "device namespace"],
    ["A57", "\\/?\\C:\\ws", "device namespace"],
    ["A57", "\\??\\C:\\ws\\a.txt", "device namespace"],
    ["A57", "\\\\?\\UNC\\host\\share\\x", "device namespace"],
    ["A57", "\\\\host\\share\\x", "network"],
    ["A57", "//host/share/x", "network"],
    ["A57", "/\\host/share/x", "network"],
    ["A57", "\\/host\\share\\x", "network"],
    ["A58", "C:foo", "drive relative"],
    ["A58", "C:", "drive relative"],
    ["A58", "c:..\\out", "drive relative"],
    ["A58", "C:/ws\\sub/a.txt", undefined],
    ["A58", "sub\\..\\a.txt", undefined],
    ["A59", "settings.json.", "reserved"],
    ["A59", "settings.json ", "reserved"],
    ["A59", "settings.json. . .", "reserved"],
    ["A59", ".", undefined],
    ["A59", "..\\a.txt", undefined],
  ] as const) {
    test(`${id} ${JSON.stringify(asked)} is ${fault === undefined ? "a plain path" : `refused: ${fault}`}`, () => {
      equal(pathFault(asked, path.win32), fault);
    });
  }

  /** A disk on which every path exists and the native realpath answers as the table says. */
  const windows = (reals: Readonly<Record<string, string>>): System => ({
    ...nodeSystem,
    platform: "win32",
    realPath: (asked) => reals[asked] ?? asked,
    statPath: (asked) => fakeStat(asked === "C:\\ws" ? 1n : 2n),
    stat: () => fakeStat(2n),
    open: () => 99,
    close: () => undefined,
  });
  const fakeStat = (ino: bigint): fs.BigIntStats => {
    const stat = fs.statSync(".", { bigint: true });
    return Object.assign(stat, { dev: 1n, ino, mode: ino === 1n ? 0o040755n : 0o100644n });
  };

  test("A55 a short name is judged by its long one", () => {
    const system = windows({ "C:\\ws\\GIT~1\\config": "C:\\ws\\.git\\config" });
    const lookup = lookupByRealpath("C:\\ws\\GIT~1\\config", [wsRoot], system, path.win32);
    ok(lookup.seen === "node");
    equal(lookup.real, "C:\\ws\\.git\\config");
  });

  test("A58 mixed slashes are judged by what they name", () => {
    const system = windows({ "C:/ws\\..\\out/x": "C:\\out\\x", "C:/ws\\sub/x": "C:\\ws\\sub\\x" });
    equal(lookupByRealpath("C:/ws\\..\\out/x", [wsRoot], system, path.win32).seen, "outside");
    equal(lookupByRealpath("C:/ws\\sub/x", [wsRoot], system, path.win32).seen, "node");
  });

  test("A60 a junction that leads out is outside", () => {
    const system = windows({ "C:\\ws\\junction\\x": "D:\\x", "C:\\ws\\prefix\\x": "C:\\ws-evil\\x" });
    equal(lookupByRealpath("C:\\ws\\junction\\x", [wsRoot], system, path.win32).seen, "outside");
    equal(lookupByRealpath("C:\\ws\\prefix\\x", [wsRoot], system, path.win32).seen, "outside");
  });
});

describe("A57 A60 a link to a network share, on Windows", () => {
  const folder = 0o040755n;
  const link = 0o120777n;
  const file = 0o100644n;
  /** Files by path: a mode, or the text of a link. Whatever else is asked for is written down. */
  const disk = (entries: Readonly<Record<string, bigint | string>>) => {
    const asked: string[] = [];
    const statOf = (name: string): fs.BigIntStats => {
      asked.push(name);
      const entry = entries[name];
      if (entry === undefined) throw Object.assign(new Error("ENOENT"), { errno: -2, code: "ENOENT" });
      const stat = fs.statSync(".", { bigint: true });
      return Object.assign(stat, { dev: 1n, ino: 1n, mode: typeof entry === "string" ? link : entry });
    };
    const system: System = {
      ...nodeSystem,
      platform: "win32",
      statLink: statOf,
      statPath: statOf,
      readLink: (name) => Buffer.from(String(entries[name])),
      realPath: (name) => {
        asked.push(name);
        return name;
      },
    };
    return { system, asked };
  };
  const share = {
    "C:\\ws": folder,
    "C:\\ws\\evil": "\\\\host\\share",
    "C:\\ws\\to-evil": ".\\evil",
    "C:\\ws\\a.txt": file,
  };

  for (const name of [
    "C:\\ws\\evil",
    "C:\\ws\\evil\\a.txt",
    "C:\\ws\\to-evil\\x",
    "C:/ws/evil/x",
    "C:\\ws\\.\\to-evil\\..\\x",
  ]) {
    test(`${name} is outside, and the share is never asked`, () => {
      for (const text of ["\\\\host\\share", "//host/share", "\\\\?\\UNC\\host\\share", "\\\\.\\pipe\\x"]) {
        const { system, asked } = disk({ ...share, "C:\\ws\\evil": text });
        equal(lookupByRealpath(name, [wsRoot], system, path.win32).seen, "outside");
        deepEqual(
          asked.filter((one) => !/^C:[\\/]ws/u.test(one) || one.includes("evil\\")),
          [],
        );
      }
    });
  }

  test("a link that leads to a disk, or to a share that is a root, is followed", () => {
    const { system, asked } = disk({ ...share, "C:\\ws\\evil": "\\\\?\\C:\\out" });
    lookupByRealpath("C:\\ws\\evil\\x", [wsRoot], system, path.win32);
    ok(asked.includes("C:\\ws\\evil\\x"), "the system was not asked to resolve it");
    const own = disk(share);
    const shareRoot = { ...wsRoot, given: "\\\\host\\share", real: "\\\\host\\share" as typeof wsRoot.real };
    lookupByRealpath("C:\\ws\\evil\\x", [wsRoot, shareRoot], own.system, path.win32);
    ok(own.asked.includes("C:\\ws\\evil\\x"));
  });
});

test("A57 A10 network paths, device paths and NUL are refused before any disk call", () => {
  const touched: string[] = [];
  const fail = (): never => {
    throw new Error("the disk was asked");
  };
  const guard = createGuard({
    disk: {
      roots: [],
      lookup: (asked) => {
        touched.push(asked);
        return { seen: "outside" };
      },
      isStill: fail,
      isStillMissing: fail,
      open: fail,
      list: fail,
      walk: fail,
      changeFolderMode: fail,
      refusesWriting: fail,
      hasName: fail,
      replace: fail,
      create: fail,
      remove: fail,
      entryAt: fail,
      listTree: fail,
      removeTree: fail,
      moveTree: fail,
      copyTree: fail,
      makeEntry: fail,
      removeEntry: fail,
      together: fail,
      settled: fail,
      including: fail,
    },
    base: root,
    rules: [],
    secrets: "ask",
    home: undefined,
    asker: undefined,
  });
  for (const asked of [
    "\\\\host\\share\\x",
    "\\\\?\\C:\\x",
    "\\\\.\\pipe\\x",
    "\\??\\C:\\x",
    "\\\\?\\UNC\\host\\x",
    "a\0b",
    "",
    "x".repeat(4_097),
  ]) {
    let code = "nothing";
    try {
      guard.resolve(asked);
    } catch (error) {
      code = error instanceof Error ? error.message : "?";
    }
    equal(code, "INVALID_PARAM", JSON.stringify(asked));
  }
  deepEqual(touched, []);
});

test.skipIf(onWindows)("A57 a network path is refused in every dialect, and its host is not looked up", async () => {
  for (const dialect of everyDialect) {
    const read = readerIn(dialect, options);
    for (const asked of ["\\\\attacker.example\\share\\x", "\\\\?\\C:\\x", "\\\\.\\pipe\\x", "\\??\\C:\\x"]) {
      refused(await read(asked), "INVALID_PARAM", [secret]);
    }
  }
});

test("A11 a path that is no string is refused", async () => {
  for (const dialect of everyDialect) {
    const read = readerIn(dialect, options);
    for (const value of [null, 1, ["a.txt"], { toString: () => "a.txt" }, undefined]) {
      refused(await read(value as unknown as string), "INVALID_PARAM", ["inside a"]);
    }
  }
});
