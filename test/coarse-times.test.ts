/**
 * File systems whose times are whole seconds: a change by another program within the second in which the session saw or wrote
 * the file, of the same size and in place, leaves the times as they were. The content decides. Once with a system that cuts
 * the times off, which runs everywhere; once on a real ext4 with 128-byte inodes, where this process may mount one.
 */

import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { startSession } from "../src/session.ts";
import { dialects } from "../src/dialects/index.ts";
import { createDisk } from "../src/disk/disk.ts";
import { createIndexStore } from "../src/disk/lines/index-store.ts";
import { createLocks } from "../src/disk/lock/lock.ts";
import { nodeSystem, type System } from "../src/disk/system.ts";
import { createGuard } from "../src/guard/guard.ts";
import { createSessionState } from "../src/guard/session-state.ts";
import { createFilehand, type Reply, type Session } from "../src/index.ts";
import { createPageCache } from "../src/kinds/page-cache.ts";
import { compileRestricted } from "../src/kinds/restricted.ts";
import { permissionsOf } from "../src/filehand.ts";
import { createPolicy } from "../src/guard/policy.ts";

const base = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "filehand-coarse-"));
afterAll(() => fs.rmSync(base, { recursive: true, force: true }));

/** Whole seconds, as such a file system keeps them. */
const cut = (stat: fs.BigIntStats): fs.BigIntStats =>
  Object.assign(Object.create(Object.getPrototypeOf(stat) as object) as fs.BigIntStats, stat, {
    mtimeNs: stat.mtimeNs - (stat.mtimeNs % 1_000_000_000n),
    ctimeNs: stat.ctimeNs - (stat.ctimeNs % 1_000_000_000n),
  });
const coarseSystem: System = {
  ...nodeSystem,
  stat: (fd) => cut(nodeSystem.stat(fd)),
  statPath: (name) => cut(nodeSystem.statPath(name)),
  statLink: (name) => cut(nodeSystem.statLink(name)),
};

/** A session on a disk with these times: what `toolkit.ts` does, with another system. */
function coarseSession(root: string, dedup: boolean): Session<"claude"> {
  const disk = createDisk([root], coarseSystem);
  const state = createSessionState("default", os.homedir());
  const policy = createPolicy({ rules: [], home: os.homedir(), secrets: "ask", locked: [] });
  const guard = createGuard({ disk, base: root, rules: [], secrets: "ask", home: os.homedir(), asker: "yes", state });
  return startSession(
    dialects.claude,
    { dialect: "claude" },
    {
      disk,
      guard,
      state,
      restricted: compileRestricted(),
      indexes: createIndexStore(undefined),
      pages: createPageCache(),
      locks: createLocks({ folder: undefined }),
      languages: undefined,
      formatter: undefined,
      openPast: undefined,
      permissions: (guardOf) =>
        permissionsOf({
          guard: guardOf,
          policy,
          rules: [],
          kept: () => [],
          roots: [root],
          home: os.homedir(),
          locked: [],
        }),
      options: { roots: [root], ask: "yes", reminder: false, dedup },
      watchers: { listeners: new Set(), calls: 0 },
      preparing: () => undefined,
      settling: () => undefined,
      readStates: undefined,
      cwd: ".",
    },
  );
}

/** A folder on an ext4 with 128-byte inodes, or why there is none. */
function mountExt4(): { readonly folder: string } | { readonly why: string } {
  const [image, folder] = [path.join(base, "image"), path.join(base, "mounted")];
  try {
    fs.mkdirSync(folder);
    fs.writeFileSync(image, "");
    fs.truncateSync(image, 64 * 1024 * 1024);
    execFileSync("mkfs.ext4", ["-q", "-F", "-I", "128", image], { stdio: "ignore" });
    execFileSync("mount", ["-o", "loop", image, folder], { stdio: "ignore" });
    afterAll(() => void execFileSync("umount", ["-l", folder], { stdio: "ignore" }));
    return { folder };
  } catch (error) {
    return { why: error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error) };
  }
}

const words = (reply: Reply): string => reply.content.map((part) => (part.type === "text" ? part.text : "")).join("");
/** Another program: the same size, in place. */
function changeInPlace(file: string, bytes: string, position = 0): void {
  const fd = fs.openSync(file, "r+");
  fs.writeSync(fd, bytes, position);
  fs.closeSync(fd);
}
/** The start of a second, so that what follows is within it. */
async function secondBegins(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 1_010 - (Date.now() % 1_000)));
}

const real = process.platform === "linux" ? mountExt4() : { why: "there is no ext4" };
const places: readonly (readonly [string, string, (root: string, dedup: boolean) => Session<"claude">])[] = [
  ["a system that cuts times off", path.join(base, "cut"), coarseSession],
  ...("folder" in real
    ? [
        [
          "ext4 with 128-byte inodes",
          path.join(real.folder, "w"),
          (root: string, dedup: boolean) =>
            createFilehand({ roots: [root], ask: "yes", reminder: false, dedup }).session({ dialect: "claude" }),
        ] as const,
      ]
    : []),
];

for (const [where, root, open] of places) {
  describe(`times of whole seconds: ${where}`, () => {
    let made = 0;
    let file = "";
    beforeEach(async () => {
      fs.mkdirSync(root, { recursive: true });
      made += 1;
      file = path.join(root, `f${made}.txt`);
      await secondBegins();
      fs.writeFileSync(file, "total = 100\nname = x\n");
    });
    const read = (session: Session): Promise<Reply> => session.call("Read", { file_path: file });
    const write = (session: Session, content: string): Promise<Reply> =>
      session.call("Write", { file_path: file, content });

    test("the premise: the other program's change leaves the times as they were", () => {
      const stat = (): readonly bigint[] => {
        const { mtimeNs, ctimeNs } = (where.startsWith("ext4") ? nodeSystem : coarseSystem).statPath(file);
        return [mtimeNs, ctimeNs];
      };
      const before = stat();
      changeInPlace(file, "total = 999");
      expect(stat()).toEqual(before);
    });

    test("a Write after a Read does not go over another program's change", async () => {
      const session = open(root, false);
      await read(session);
      changeInPlace(file, "total = 999");
      expect((await write(session, "total = 100\nname = y\n")).error?.code).toBe("STALE");
      expect(fs.readFileSync(file, "utf8")).toBe("total = 999\nname = x\n");
    });

    for (const dedup of [false, true]) {
      test(`a second Read shows another program's change (dedup ${dedup})`, async () => {
        const session = open(root, dedup);
        await read(session);
        changeInPlace(file, "total = 999");
        expect(words(await read(session))).toContain("total = 999");
      });
    }

    test("an Edit after the session's own Write, much later, still sees a change right after that Write", async () => {
      const session = open(root, false);
      await read(session);
      expect((await write(session, "total = 100\nname = y\n")).error).toBeUndefined();
      changeInPlace(file, "total = 999");
      await new Promise((resolve) => setTimeout(resolve, 2_200));
      const edit = (old_string: string) => session.call("Edit", { file_path: file, old_string, new_string: "x" });
      expect((await edit("total = 999")).error?.code).toBe("STALE");
      expect(words(await edit("name = y"))).toContain("Somebody else changed line 1");
    });

    test("the session's own changes, one after the other, are not taken for somebody else's", async () => {
      const session = open(root, false);
      await read(session);
      for (const [from, to] of ["xy", "yz", "zx"]) {
        const edit = { file_path: file, old_string: `name = ${from}`, new_string: `name = ${to}` };
        expect((await session.call("Edit", edit)).error).toBeUndefined();
      }
      expect((await write(session, "all new\n")).error).toBeUndefined();
    });

    test("a file of 3 MB: another program's change is seen, and the session's own are not taken for one", async () => {
      const line = "a line of some text that fills the file\n";
      fs.writeFileSync(file, `total = 100\n${line.repeat(75_000)}`);
      const session = open(root, false);
      const edit = (old_string: string, new_string: string): Promise<Reply> =>
        session.call("Edit", { file_path: file, old_string, new_string });
      await session.call("Read", { file_path: file, limit: 5 });
      changeInPlace(file, "total = 999");
      expect((await edit("total = 999", "total = 1")).error?.code).toBe("STALE");
      await session.call("Read", { file_path: file, limit: 5 });
      expect((await edit("total = 999", "total = 500")).error).toBeUndefined();
      expect((await edit("total = 500", "total = 600")).error).toBeUndefined();
      changeInPlace(file, "total = 777");
      expect((await edit("total = 777", "total = 1")).error?.code).toBe("STALE");
    });
  });
}
