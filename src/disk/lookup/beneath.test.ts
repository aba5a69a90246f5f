import { deepEqual, equal, ok } from "node:assert/strict";
import * as fs from "node:fs";
import { describe, test } from "vitest";
import { systemError } from "../../../test/support/faulty-system.ts";
import { lookupSuite } from "../../../test/support/lookup-suite.ts";
import { onLinux, workspace } from "../../../test/support/workspace.ts";
import { createDisk } from "../disk.ts";
import { nodeSystem, type System } from "../system.ts";
import { isBeneath, lookupBeneath } from "./beneath.ts";
import { handlePathOf } from "./lookup.ts";

describe.skipIf(!onLinux)("the strong lookup", () => lookupSuite("strong", "linux"));

for (const [path, folder, beneath] of [
  ["/ws", "/ws", true],
  ["/ws/a", "/ws", true],
  ["/ws/a/b", "/ws", true],
  ["/ws-evil", "/ws", false],
  ["/ws.txt", "/ws", false],
  ["/w", "/ws", false],
  ["/", "/ws", false],
  ["/ws", "/", true],
  ["/", "/", true],
  ["/WS/a", "/ws", false],
  ["/ws/..x", "/ws", true],
] as const) {
  test(`${path} is ${beneath ? "" : "not "}beneath ${folder}`, () => equal(isBeneath(path, folder), beneath));
}

test("a handle's path is that of the process itself", () => equal(handlePathOf(7), "/proc/self/fd/7"));

describe.skipIf(!onLinux)("in the strong lookup", () => {
  const { path: at } = workspace({
    ws: { a: { b: { "c.txt": "inside c\n" }, up: { link: "../a" } }, "file.txt": "inside\n", link: { link: "a" } },
    out: { b: { "c.txt": "outside\n" }, "c.txt": "outside\n" },
  });
  const { roots } = createDisk([at("ws")]);

  /** `hook` runs before each system call that takes a path, with its name and path. */
  const hooked = (hook: (call: string, path: string) => void): System => ({
    ...nodeSystem,
    open: (path, flags) => {
      hook("open", path);
      return nodeSystem.open(path, flags);
    },
    readLink: (path) => {
      hook("readLink", path);
      return nodeSystem.readLink(path);
    },
    pathOfHandle: (path) => {
      hook("heldAt", path);
      return nodeSystem.pathOfHandle(path);
    },
    glance: (path) => {
      hook("glance", path);
      return nodeSystem.glance(path);
    },
  });

  test("nothing outside the roots is opened or looked at, wherever a path leads", () => {
    const asked: string[] = [];
    const system = hooked((_, path) => void asked.push(path));
    for (const also of [undefined, "its folder", "the folder of a new file"] as const) {
      for (const path of ["out/c.txt", "ws/../out/c.txt", "ws/a/../../out/b", "ws/link/../../out", "nowhere/x"]) {
        equal(lookupBeneath(at(path), roots, system, {}, also).seen, "outside");
      }
    }
    equal(lookupBeneath("/etc/passwd", roots, system).seen, "outside");
    for (const path of asked) ok(path === at("ws") || path.startsWith("/proc/self/fd/"), path);
  });

  test('".." is never asked of the system, since a folder may have been moved', () => {
    const asked: string[] = [];
    const system = hooked((_, path) => void asked.push(path));
    const lookup = lookupBeneath(at("ws/a/b/../../a/b/c.txt"), roots, system);
    ok(lookup.seen === "node");
    lookup.handle.close();
    ok(!asked.some((path) => path.includes("..")), asked.join("\n"));
  });

  test("a folder that is moved out while it is open is outside", () => {
    const { path: here } = workspace({ ws: { a: { "c.txt": "moved\n" } }, out: {} });
    const [root] = createDisk([here("ws")]).roots;
    ok(root !== undefined);
    let moved = false;
    const system = hooked((call, path) => {
      if (moved || call !== "open" || !path.endsWith("/c.txt")) return;
      moved = true;
      fs.renameSync(here("ws/a"), here("out/a"));
    });
    equal(lookupBeneath(here("ws/a/c.txt"), [root], system).seen, "outside");
    ok(moved);
  });

  test('".." out of a folder that was moved is not the new parent', () => {
    const { path: here } = workspace({
      ws: { a: { b: { x: "" } }, "c.txt": "inside\n" },
      out: { "c.txt": "outside\n" },
    });
    const [root] = createDisk([here("ws")]).roots;
    ok(root !== undefined);
    let opens = 0;
    const system = hooked((call, path) => {
      if (call !== "open" || !path.endsWith("/b")) return;
      opens += 1;
      if (opens === 1) return;
      fs.renameSync(here("ws/a/b"), here("out/b"));
    });
    const lookup = lookupBeneath(here("ws/a/b/../../c.txt"), [root], system);
    ok(lookup.seen === "node");
    equal(lookup.real, here("ws/c.txt"));
    lookup.handle.close();
  });

  for (const twin of [false, true]) {
    test(`a file that is replaced right before its name is asked for is looked up again${twin ? ", also if it has another name" : ""}`, () => {
      const { path: here } = workspace({ ws: { "a.txt": "old\n", "new.txt": "new\n" } });
      if (twin) fs.linkSync(here("ws/a.txt"), here("ws/twin.txt"));
      const { roots: own } = createDisk([here("ws")]);
      const { ino } = fs.statSync(here("ws/new.txt"), { bigint: true });
      let replaced = false;
      const system = hooked((call) => {
        if (replaced || call !== "heldAt") return;
        replaced = true;
        fs.renameSync(here("ws/new.txt"), here("ws/a.txt"));
      });
      const lookup = lookupBeneath(here("ws/a.txt"), own, system);
      ok(lookup.seen === "node" && replaced);
      lookup.handle.close();
      equal(lookup.real, here("ws/a.txt"));
      equal(lookup.handle.identity.inode, ino);
    });
  }

  test("a file that is called as the kernel marks names that are gone is a file", () => {
    const { path: here } = workspace({ ws: { "a.txt (deleted)": "there\n", "x (deleted)": { "a.txt": "there\n" } } });
    const { roots: own } = createDisk([here("ws")]);
    for (const name of ["a.txt (deleted)", "x (deleted)", "x (deleted)/a.txt"]) {
      const lookup = lookupBeneath(here("ws", name), own, nodeSystem);
      ok(lookup.seen === "node");
      lookup.handle.close();
      equal(lookup.real, here("ws", name));
    }
  });

  test("an existing file that the caller takes for new is found as usual", () => {
    const { path: here } = workspace({
      ws: {
        "a.txt": "there\n",
        folder: { "b.txt": "there\n" },
        toFile: { link: "a.txt" },
        toNothing: { link: "folder/none.txt" },
        outside: { link: "../out.txt" },
      },
      "out.txt": "outside\n",
    });
    const { roots: own } = createDisk([here("ws")]);
    const names = ["a.txt", "folder", "folder/", "toFile", "toNothing", "outside", "none.txt", "none/x.txt", "a.txt/x"];
    const told = (name: string, also: "its folder" | "the folder of a new file") => {
      const lookup = lookupBeneath(here("ws", name), own, nodeSystem, {}, also);
      if (lookup.seen === "node") lookup.handle.close();
      if (lookup.seen !== "missing")
        return { seen: lookup.seen, real: lookup.seen === "node" ? lookup.real : undefined };
      const { real, rest, handle } = lookup.nearest ?? {};
      handle?.close();
      return { seen: lookup.seen, reason: lookup.reason, real, rest, holds: handle !== undefined };
    };
    const asOther = names.map((name) => told(name, "its folder"));
    deepEqual(
      names.map((name) => told(name, "the folder of a new file")),
      asOther,
    );
    deepEqual(asOther[6], { seen: "missing", reason: "missing", real: here("ws"), rest: "none.txt", holds: true });
  });

  test("a new file is looked for without an error", () => {
    const failed: string[] = [];
    const open = (path: string, flags: number): number => {
      try {
        return nodeSystem.open(path, flags);
      } catch (error) {
        failed.push(path);
        throw error;
      }
    };
    const lookup = lookupBeneath(at("ws/none.txt"), roots, { ...nodeSystem, open }, {}, "the folder of a new file");
    ok(lookup.seen === "missing");
    lookup.nearest?.handle?.close();
    deepEqual(failed, []);
  });

  test("a link that became a folder in between is looked up again", () => {
    let times = 0;
    const system: System = {
      ...nodeSystem,
      readLink: (path) => {
        if (!path.endsWith("/link")) return nodeSystem.readLink(path);
        times += 1;
        if (times === 1) {
          fs.unlinkSync(at("ws/link"));
          fs.mkdirSync(at("ws/link"));
          fs.writeFileSync(at("ws/link/x.txt"), "inside\n");
        }
        return nodeSystem.readLink(path);
      },
    };
    const lookup = lookupBeneath(at("ws/link/x.txt"), roots, system);
    ok(lookup.seen === "node", lookup.seen);
    lookup.handle.close();
    fs.rmSync(at("ws/link"), { recursive: true });
    fs.symlinkSync("a", at("ws/link"));
  });

  test("a name that never holds still is changed, after a few tries", () => {
    let times = 0;
    const system: System = {
      ...nodeSystem,
      readLink: (path) => {
        if (!path.endsWith("/link")) return nodeSystem.readLink(path);
        times += 1;
        throw systemError("EINVAL", "readLink");
      },
    };
    equal(lookupBeneath(at("ws/link/b/c.txt"), roots, system).seen, "changed");
    equal(lookupBeneath(at("ws/link"), roots, system).seen, "changed");
    ok(times <= 6, `${times} tries`);
  });

  test("a file that was removed while it is open is looked up again", () => {
    const { path: here } = workspace({ ws: { "a.txt": "old\n" } });
    const [root] = createDisk([here("ws")]).roots;
    ok(root !== undefined);
    let removed = false;
    const system: System = {
      ...nodeSystem,
      open: (path, flags) => {
        const fd = nodeSystem.open(path, flags);
        if (path.endsWith("/a.txt") && !removed) {
          removed = true;
          fs.rmSync(here("ws/a.txt"));
        }
        return fd;
      },
    };
    equal(lookupBeneath(here("ws/a.txt"), [root], system).seen, "missing");
  });

  test("only a path with .. after a symlink is bent", () => {
    for (const [path, bent] of [
      ["ws/a/../a/b", false],
      ["ws/link/b", false],
      ["ws/link/../file.txt", true],
      ["ws/link/b/../b", true],
      ["ws/a/../link/b", false],
      ["ws/a/up/b", false],
      ["ws/a/up/../file.txt", true],
    ] as const) {
      const lookup = lookupBeneath(at(path), roots, nodeSystem);
      ok(lookup.seen === "node", path);
      equal(lookup.bent, bent, path);
      lookup.handle.close();
    }
  });
});
