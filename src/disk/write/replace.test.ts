import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import * as fs from "node:fs";
import { describe, test } from "vitest";
import { litter, never, newText, oldText, pieces, removeAt, replaceAt } from "../../../test/faults/changes.ts";
import { paced, systemError } from "../../../test/support/faulty-system.ts";
import { onLinux, onWindows, openDescriptors, workspace } from "../../../test/support/workspace.ts";
import { createDisk } from "../disk.ts";
import { nodeSystem, type System } from "../system.ts";

const { path: at } = workspace({});
let folders = 0;

function folderWith(mode = 0o644, name = "a.txt"): string {
  folders += 1;
  const folder = at(`r${folders}`);
  fs.mkdirSync(folder);
  fs.writeFileSync(`${folder}/${name}`, oldText);
  fs.chmodSync(`${folder}/${name}`, mode);
  // Long ago, so that a change right after shows on every kernel, however coarse its clock.
  fs.utimesSync(`${folder}/${name}`, 1_000_000, 1_000_000);
  return folder;
}

const read = (path: string): string => fs.readFileSync(path, "utf8");
const modeOf = (path: string): number => fs.statSync(path).mode & 0o7777;
const didOf = (outcome: { readonly did: string } | "not looked up"): string =>
  outcome === "not looked up" ? outcome : outcome.did;

/** Open descriptors of files below the folder. */
const leftOpen = (folder: string): readonly number[] =>
  fs
    .readdirSync("/proc/self/fd")
    .map(Number)
    .filter((fd) => {
      try {
        return fs.readlinkSync(`/proc/self/fd/${fd}`).startsWith(`${folder}/`);
      } catch {
        return false; // that of the listing itself
      }
    });

/** Without `/proc`, as on macOS: names instead of handles. */
const weak: System = { ...nodeSystem, platform: "darwin" };

describe.skipIf(onWindows)("a replace", () => {
  for (const [title, system] of [
    ["by handles", nodeSystem],
    ["by names", weak],
  ] as const) {
    test(`${title}: new content, another inode, its identity returned, nothing left`, async () => {
      const folder = folderWith(0o640);
      const before = openDescriptors();
      const outcome = await replaceAt(createDisk([folder], system), `${folder}/a.txt`);
      ok(outcome !== "not looked up" && outcome.did === "replaced");
      const stat = fs.lstatSync(`${folder}/a.txt`, { bigint: true });
      deepEqual(outcome, {
        did: "replaced",
        how: "renamed",
        identity: {
          device: stat.dev,
          inode: stat.ino,
          sizeBytes: newText.length,
          mtimeNs: stat.mtimeNs,
          ctimeNs: stat.ctimeNs,
        },
        separated: false,
        notes: [],
      });
      equal(read(`${folder}/a.txt`), newText);
      equal(modeOf(`${folder}/a.txt`), 0o640);
      deepEqual(fs.readdirSync(folder), ["a.txt"]);
      equal(openDescriptors(), before);
    });
  }

  for (const mode of [0o755, 0o6755, 0o600, 0o664, 0o2644]) {
    test(`keeps mode ${mode.toString(8)}`, async () => {
      const folder = folderWith(mode);
      equal(didOf(await replaceAt(createDisk([folder]), `${folder}/a.txt`)), "replaced");
      equal(modeOf(`${folder}/a.txt`), mode);
    });
  }

  const notRoot = process.getuid?.() !== 0 ? "it needs root" : undefined;
  test.skipIf(notRoot)(
    `keeps owner and group, with set-user-id${notRoot ? ` (skipped: ${notRoot})` : ""}`,
    async () => {
      const folder = folderWith();
      fs.chownSync(`${folder}/a.txt`, 1_234, 2_345);
      fs.chmodSync(`${folder}/a.txt`, 0o6755);
      equal(didOf(await replaceAt(createDisk([folder]), `${folder}/a.txt`)), "replaced");
      const { uid, gid } = fs.statSync(`${folder}/a.txt`);
      deepEqual([uid, gid, modeOf(`${folder}/a.txt`)], [1_234, 2_345, 0o6755]);
    },
  );

  test("through a link, also over several: the target changes, the links stay", async () => {
    const folder = folderWith();
    fs.mkdirSync(`${folder}/way`);
    fs.symlinkSync("../a.txt", `${folder}/way/one`);
    fs.symlinkSync("way/one", `${folder}/two`);
    equal(didOf(await replaceAt(createDisk([folder]), `${folder}/two`)), "replaced");
    equal(read(`${folder}/a.txt`), newText);
    equal(fs.readlinkSync(`${folder}/two`), "way/one");
    equal(fs.readlinkSync(`${folder}/way/one`), "../a.txt");
  });

  test("a file with other hard links is separated from them, and the outcome says so", async () => {
    const folder = folderWith();
    fs.linkSync(`${folder}/a.txt`, `${folder}/twin`);
    const outcome = await replaceAt(createDisk([folder]), `${folder}/a.txt`);
    ok(outcome !== "not looked up" && outcome.did === "replaced" && outcome.separated);
    deepEqual([read(`${folder}/a.txt`), read(`${folder}/twin`)], [newText, oldText]);
  });

  test("or keeps them, if that is wanted: both names show the new content", async () => {
    const folder = folderWith(0o6755);
    fs.linkSync(`${folder}/a.txt`, `${folder}/twin`);
    const outcome = await replaceAt(createDisk([folder]), `${folder}/a.txt`, { hardLinks: "keep" });
    ok(outcome !== "not looked up" && outcome.did === "replaced" && outcome.how === "in place" && !outcome.separated);
    deepEqual([read(`${folder}/a.txt`), read(`${folder}/twin`)], [newText, newText]);
    equal(modeOf(`${folder}/a.txt`), 0o6755);
    deepEqual(litter(folder), []);
  });

  for (const mode of [0o444, 0o555, 0o400]) {
    test(`a read-only file (${mode.toString(8)}) is refused and stays as it is`, async () => {
      const folder = folderWith(mode);
      deepEqual(await replaceAt(createDisk([folder]), `${folder}/a.txt`), {
        did: "nothing",
        why: "refused",
        errno: "EACCES",
        during: "writing: it is read-only",
      });
      equal(read(`${folder}/a.txt`), oldText);
      equal(modeOf(`${folder}/a.txt`), mode);
    });
  }

  for (const hardLinks of ["separate", "keep"] as const) {
    for (const [title, change] of Object.entries({
      "written to": (file: string) => fs.appendFileSync(file, "more\n"),
      "written to, same size": (file: string) => fs.writeFileSync(file, oldText.toUpperCase()),
      replaced: (file: string) => {
        fs.writeFileSync(`${file}.x`, oldText);
        fs.renameSync(`${file}.x`, file);
      },
      "cut short": (file: string) => fs.truncateSync(file, 3),
      removed: (file: string) => fs.rmSync(file),
      "replaced by a link": (file: string) => {
        fs.renameSync(file, `${file}.moved`);
        fs.symlinkSync(`${file}.moved`, file);
      },
    })) {
      test(`a file that was ${title} since is left alone (${hardLinks})`, async () => {
        const folder = folderWith();
        fs.linkSync(`${folder}/a.txt`, `${folder}/twin`);
        const disk = createDisk([folder]);
        const found = disk.lookup(`${folder}/a.txt`);
        ok(found.seen === "node");
        const file = disk.open(found);
        ok(!("errno" in file));
        change(`${folder}/a.txt`);
        const after = fs.existsSync(`${folder}/a.txt`) ? read(`${folder}/a.txt`) : undefined;
        const input = { node: found, file, pieces, hardLinks, signal: never };
        deepEqual(await disk.replace(input), { did: "nothing", why: "changed" });
        file.close();
        found.handle.close();
        equal(fs.existsSync(`${folder}/a.txt`) ? read(`${folder}/a.txt`) : undefined, after);
        deepEqual(litter(folder), []);
      });
    }

    test(`a change at the last moment is seen too (${hardLinks})`, async () => {
      const folder = folderWith();
      fs.linkSync(`${folder}/a.txt`, `${folder}/twin`);
      const outcome = await replaceAt(createDisk([folder]), `${folder}/a.txt`, {
        hardLinks,
        beforeSwap: () => fs.appendFileSync(`${folder}/a.txt`, "more\n"),
      });
      deepEqual(outcome, { did: "nothing", why: "changed" });
      equal(read(`${folder}/a.txt`), `${oldText}more\n`);
      deepEqual(litter(folder), []);
    });

    test(`stopped before the swap: the file is as it was, and nothing is left (${hardLinks})`, async () => {
      const folder = folderWith();
      fs.linkSync(`${folder}/a.txt`, `${folder}/twin`);
      const stop = new AbortController();
      const changes = { hardLinks, signal: stop.signal, beforeSwap: () => stop.abort(new Error("stop")) };
      const before = openDescriptors();
      await rejects(replaceAt(createDisk([folder]), `${folder}/a.txt`, changes), /^Error: stop$/u);
      equal(read(`${folder}/a.txt`), oldText);
      deepEqual(litter(folder), []);
      equal(openDescriptors(), before);
    });
  }

  test("a change while the old bytes are copied is a change, not a fault of the disk", async () => {
    const folder = folderWith();
    const changed = oldText.toUpperCase();
    const meanwhile: System = {
      ...nodeSystem,
      syncPace: { lastMs: 0 }, // whatever this disk was like before, it is synced at once
      sync(fd) {
        fs.writeFileSync(`${folder}/a.txt`, changed, { flag: "r+" });
        nodeSystem.sync(fd);
      },
    };
    const outcome = await replaceAt(createDisk([folder], meanwhile), `${folder}/a.txt`);
    deepEqual(outcome, { did: "nothing", why: "changed" });
    equal(read(`${folder}/a.txt`), changed);
    deepEqual(litter(folder), []);
  });

  test("where times are too coarse, the content that was read decides", async () => {
    const folder = folderWith();
    const readBytes = Buffer.from(oldText).fill("~", 0, 1);
    const outcome = await replaceAt(createDisk([folder]), `${folder}/a.txt`, { readBytes });
    deepEqual(outcome, { did: "nothing", why: "changed" });
  });

  test("history may keep the old content by a link", async () => {
    const folder = folderWith();
    const how: string[] = [];
    const outcome = await replaceAt(createDisk([folder]), `${folder}/a.txt`, {
      beforeSwap: (way) => {
        how.push(way);
        fs.linkSync(`${folder}/a.txt`, `${folder}/kept`);
      },
    });
    ok(outcome !== "not looked up" && outcome.did === "replaced" && !outcome.separated);
    deepEqual([how, read(`${folder}/kept`), read(`${folder}/a.txt`)], [["renamed"], oldText, newText]);
  });

  for (const errno of ["EBUSY", "EXDEV"] as const) {
    test(`${errno} at the rename: in place, and history learns it and copies`, async () => {
      const folder = folderWith();
      const how: string[] = [];
      const rename = (): never => {
        throw systemError(errno, "rename");
      };
      const outcome = await replaceAt(createDisk([folder], { ...nodeSystem, rename }), `${folder}/a.txt`, {
        beforeSwap: (way) => void how.push(way),
      });
      ok(outcome !== "not looked up" && outcome.did === "replaced" && outcome.how === "in place");
      deepEqual([how, read(`${folder}/a.txt`)], [["renamed", "in place"], newText]);
      deepEqual(fs.readdirSync(folder), ["a.txt"]);
    });
  }

  describe("a rename that another program blocks, as on Windows", () => {
    /** The rename fails so many times; the test decides what happens while the change waits. */
    const blocked = (times: number, errno: "EPERM" | "EACCES" | "EBUSY", whileWaiting = () => {}) => {
      const pauses: number[] = [];
      let tries = 0;
      const system: System = {
        ...nodeSystem,
        platform: "win32",
        rename: (from, to) => {
          tries += 1;
          if (tries <= times) throw systemError(errno, "rename");
          nodeSystem.rename(from, to);
        },
        pause: async (ms) => {
          pauses.push(ms);
          whileWaiting();
        },
      };
      return { system, pauses };
    };

    for (const errno of ["EPERM", "EACCES", "EBUSY"] as const) {
      test(`is tried again after ${errno}, waiting longer each time`, async () => {
        const folder = folderWith();
        const { system, pauses } = blocked(3, errno);
        equal(didOf(await replaceAt(createDisk([folder], system), `${folder}/a.txt`)), "replaced");
        deepEqual([read(`${folder}/a.txt`), pauses], [newText, [20, 40, 80]]);
      });

      test(`is given up after a while of ${errno}: the old bytes, no litter, never in place`, async () => {
        const folder = folderWith();
        const { system, pauses } = blocked(1_000, errno);
        deepEqual(await replaceAt(createDisk([folder], system), `${folder}/a.txt`), {
          did: "nothing",
          why: "refused",
          errno,
          during: "waiting for another program to let go of it",
        });
        ok(pauses.length === 9 && pauses.reduce((sum, ms) => sum + ms) < 2_000);
        deepEqual([fs.readdirSync(folder), read(`${folder}/a.txt`)], [["a.txt"], oldText]);
      });
    }

    test("does not overwrite what that program wrote meanwhile", async () => {
      const folder = folderWith();
      const { system } = blocked(2, "EBUSY", () => fs.writeFileSync(`${folder}/a.txt`, "theirs"));
      deepEqual(await replaceAt(createDisk([folder], system), `${folder}/a.txt`), { did: "nothing", why: "changed" });
      deepEqual([fs.readdirSync(folder), read(`${folder}/a.txt`)], [["a.txt"], "theirs"]);
    });

    test("can be cancelled while it waits", async () => {
      const folder = folderWith();
      const stop = new AbortController();
      const { system } = blocked(1_000, "EPERM", () => stop.abort(new Error("enough")));
      await rejects(replaceAt(createDisk([folder], system), `${folder}/a.txt`, { signal: stop.signal }), /enough/);
      deepEqual([fs.readdirSync(folder), read(`${folder}/a.txt`)], [["a.txt"], oldText]);
    });

    test("is final at once elsewhere", async () => {
      const folder = folderWith();
      const { system, pauses } = blocked(1, "EBUSY");
      await replaceAt(createDisk([folder], { ...system, platform: process.platform }), `${folder}/a.txt`);
      deepEqual([pauses, read(`${folder}/a.txt`)], [[], newText]);
    });

    test("a removal waits in the same way", async () => {
      const folder = folderWith();
      let tries = 0;
      const unlink = (path: string): void => {
        tries += 1;
        if (tries < 4) throw systemError("EBUSY", "unlink");
        nodeSystem.unlink(path);
      };
      const system: System = { ...nodeSystem, platform: "win32", unlink, pause: async () => undefined };
      equal(didOf(await removeAt(createDisk([folder], system), `${folder}/a.txt`)), "removed");
      deepEqual([tries, fs.readdirSync(folder)], [4, []]);
    });
  });

  test("a folder that was moved away and replaced by a link to outside is not followed", async () => {
    const folder = folderWith();
    fs.mkdirSync(`${folder}/in`);
    fs.writeFileSync(`${folder}/in/a.txt`, oldText);
    fs.mkdirSync(`${folder}.out`);
    fs.writeFileSync(`${folder}.out/a.txt`, oldText);
    const disk = createDisk([folder]);
    const found = disk.lookup(`${folder}/in/a.txt`);
    ok(found.seen === "node");
    const file = disk.open(found);
    ok(!("errno" in file));
    fs.renameSync(`${folder}/in`, `${folder}/moved`);
    fs.symlinkSync(`${folder}.out`, `${folder}/in`);
    deepEqual(await disk.replace({ node: found, file, pieces, hardLinks: "separate", signal: never }), {
      did: "nothing",
      why: "changed",
    });
    file.close();
    found.handle.close();
    equal(read(`${folder}.out/a.txt`), oldText);
    deepEqual(fs.readdirSync(`${folder}.out`), ["a.txt"]);
  });

  test("many pieces of many sizes make the bytes they say, across the buffer's border", async () => {
    const folder = folderWith();
    const big = Buffer.alloc(3_500_000);
    for (let index = 0; index < big.length; index += 1) big[index] = (index * 31 + (index >> 8)) & 0xff;
    fs.writeFileSync(`${folder}/big`, big);
    const parts = [
      { from: 0, to: 1_048_575 },
      Buffer.from("x"),
      { from: 10, to: 10 },
      new Uint8Array(0),
      big.subarray(5, 1_500_000),
      { from: 3_000_000, to: 3_500_000 },
      { from: 0, to: 7 },
    ];
    const expected = Buffer.concat(parts.map((part) => ("length" in part ? part : big.subarray(part.from, part.to))));
    for (const hardLinks of ["separate", "keep"] as const) {
      fs.writeFileSync(`${folder}/big`, big);
      fs.rmSync(`${folder}/twin`, { force: true });
      fs.linkSync(`${folder}/big`, `${folder}/twin`);
      equal(didOf(await replaceAt(createDisk([folder]), `${folder}/big`, { pieces: parts, hardLinks })), "replaced");
      ok(fs.readFileSync(`${folder}/big`).equals(expected), hardLinks);
    }
  });

  for (const failing of [0, 1, 2]) {
    test(`a large file is copied by the kernel${failing === 0 ? "" : `, and we copy the rest from step ${failing} on`}`, async () => {
      const folder = folderWith();
      const size = 40_000_000;
      const big = Buffer.alloc(size, "some bytes that tell their place \n");
      for (let at = 0; at < size; at += 4_096) big.writeUInt32LE(at, at);
      fs.writeFileSync(`${folder}/a.txt`, big);
      let copies = 0;
      const calls = await nodeSystem.copyCalls();
      const system: System = {
        ...nodeSystem,
        copyCalls: async () =>
          calls && {
            ...calls,
            copy: async (...given) => {
              copies += 1;
              return copies === failing ? undefined : calls.copy(...given);
            },
          },
      };
      const added = Buffer.from("added");
      const outcome = await replaceAt(createDisk([folder], system), `${folder}/a.txt`, {
        pieces: [{ from: 0, to: 30_000_001 }, added, { from: 30_000_001, to: size }],
      });
      equal(didOf(outcome), "replaced");
      ok(
        fs
          .readFileSync(`${folder}/a.txt`)
          .equals(Buffer.concat([big.subarray(0, 30_000_001), added, big.subarray(30_000_001)])),
      );
      if (calls !== undefined && process.platform === "linux") ok(copies > 1, String(copies));
    });
  }

  test("a copy by the kernel that ends early, as of a file that became shorter, changes nothing", async () => {
    const folder = folderWith();
    fs.truncateSync(`${folder}/a.txt`, 20_000_000);
    const copyCalls: System["copyCalls"] = async () => ({
      copy: async () => {
        fs.truncateSync(`${folder}/a.txt`, 10);
        return 0;
      },
      startWriting: async () => undefined,
    });
    const outcome = await replaceAt(createDisk([folder], { ...nodeSystem, copyCalls }), `${folder}/a.txt`, {
      pieces: [Buffer.from("x"), { from: 0, to: 20_000_000 }],
    });
    deepEqual(outcome, { did: "nothing", why: "changed" });
    deepEqual(fs.readdirSync(folder), ["a.txt"]);
  });

  for (const failing of [1, 2, 3]) {
    test(`a large file is synced in passing, and the failure of sync ${failing} is final`, async () => {
      const folder = folderWith();
      fs.truncateSync(`${folder}/a.txt`, 150_000_000); // a hole: it takes no space, its copy does
      let syncs = 0;
      const system: System = {
        ...nodeSystem,
        copyCalls: async () => undefined,
        syncLater: async (fd) => {
          syncs += 1;
          if (syncs === failing) throw systemError("EIO", "fsync");
          return nodeSystem.syncLater(fd);
        },
      };
      const outcome = await replaceAt(createDisk([folder], system), `${folder}/a.txt`, {
        pieces: [Buffer.from("x"), { from: 0, to: 150_000_000 }],
      });
      deepEqual(outcome, { did: "nothing", why: "refused", errno: "EIO", during: "syncing the file" });
      equal(fs.statSync(`${folder}/a.txt`).size, 150_000_000);
      deepEqual(fs.readdirSync(folder), ["a.txt"]);
      fs.rmSync(`${folder}/a.txt`);
    });
  }

  test.skipIf(!onLinux)("old files that no thread comes to close do not pile up", async () => {
    const folder = folderWith();
    let waiting = 0;
    const closeLater = (): Promise<void> => {
      waiting += 1;
      return new Promise(() => undefined);
    };
    const disk = createDisk([folder], paced({ ...nodeSystem, closeLater }, 0));
    const before = openDescriptors() ?? 0;
    for (let round = 0; round < 40; round += 1) {
      const found = disk.lookup(`${folder}/a.txt`, "its folder");
      ok(found.seen === "node");
      const file = disk.open(found);
      ok(!("errno" in file));
      const letGo = (): Promise<void> | undefined => {
        file.close();
        return found.letGo?.();
      };
      const put = [Buffer.from(`round ${round}`)];
      const { did } = await disk.replace({
        node: found,
        file,
        pieces: put,
        hardLinks: "separate",
        signal: never,
        letGo,
      });
      equal(did, "replaced");
      found.handle.close();
    }
    equal(waiting, 16);
    equal(openDescriptors(), before + waiting);
    for (const fd of leftOpen(folder)) fs.closeSync(fd);
  });

  for (const errno of ["ENOSPC", "EDQUOT"] as const) {
    test.skipIf(!onLinux)(`a disk that is full until an old file is freed is not full (${errno})`, async () => {
      const folder = folderWith();
      let freed = false;
      let free: (() => void) | undefined;
      const system: System = {
        ...nodeSystem,
        closeLater: async (fd) => {
          await new Promise<void>((resolve) => (free = resolve));
          await nodeSystem.closeLater(fd);
          freed = true;
        },
        make: (path, flags, mode) => {
          if (free === undefined || freed) return nodeSystem.make(path, flags, mode);
          setImmediate(free);
          throw systemError(errno, "make");
        },
      };
      const disk = createDisk([folder], paced(system, 0));
      const before = openDescriptors();
      const first = disk.lookup(`${folder}/a.txt`, "its folder");
      ok(first.seen === "node");
      const file = disk.open(first);
      ok(!("errno" in file));
      const letGo = (): Promise<void> | undefined => {
        file.close();
        return first.letGo?.();
      };
      const { did } = await disk.replace({ node: first, file, pieces, hardLinks: "separate", signal: never, letGo });
      first.handle.close();
      equal(did, "replaced");
      equal(freed, false);
      const real = `${folder}/new/b.txt`;
      equal((await disk.create({ real, pieces: [Buffer.from("new")], signal: never })).did, "created");
      equal(freed, true);
      equal(openDescriptors(), before);
    });
  }

  test.skipIf(!onLinux)("a thread that hangs is not waited for on a full disk without end", async () => {
    const folder = folderWith();
    let isFull = false;
    const system: System = {
      ...nodeSystem,
      closeLater: () => {
        isFull = true;
        return new Promise(() => undefined);
      },
      make: (path, flags, mode) => {
        if (isFull) throw systemError("ENOSPC", "make");
        return nodeSystem.make(path, flags, mode);
      },
    };
    const disk = createDisk([folder], paced(system, 0));
    const found = disk.lookup(`${folder}/a.txt`, "its folder");
    ok(found.seen === "node");
    const file = disk.open(found);
    ok(!("errno" in file));
    const letGo = found.letGo;
    equal(
      (await disk.replace({ node: found, file, pieces, hardLinks: "separate", signal: never, letGo })).did,
      "replaced",
    );
    file.close();
    found.handle.close();
    const create = disk.create({ real: `${folder}/b.txt`, pieces: [], signal: never });
    deepEqual(await create, { did: "nothing", why: "refused", errno: "ENOSPC", during: "making the temporary file" });
    for (const fd of leftOpen(folder)) fs.closeSync(fd);
  });

  test("a disk that is full is full at once where nothing is being freed", async () => {
    const folder = folderWith();
    let tries = 0;
    const make = (): number => {
      tries += 1;
      throw systemError("ENOSPC", "make");
    };
    const outcome = await replaceAt(createDisk([folder], { ...nodeSystem, make }), `${folder}/a.txt`);
    deepEqual(outcome, { did: "nothing", why: "refused", errno: "ENOSPC", during: "making the temporary file" });
    equal(tries, 1);
  });

  test("a file may become empty, and an empty one may be filled", async () => {
    const folder = folderWith();
    equal(didOf(await replaceAt(createDisk([folder]), `${folder}/a.txt`, { pieces: [] })), "replaced");
    equal(read(`${folder}/a.txt`), "");
    equal(didOf(await replaceAt(createDisk([folder]), `${folder}/a.txt`, { pieces: [Buffer.from("x")] })), "replaced");
    equal(read(`${folder}/a.txt`), "x");
  });
});

describe.skipIf(onWindows)("a remove", () => {
  for (const [title, system] of [
    ["by handles", nodeSystem],
    ["by names", weak],
  ] as const) {
    test(`${title}: the file is gone, its other names are not`, async () => {
      const folder = folderWith();
      fs.linkSync(`${folder}/a.txt`, `${folder}/twin`);
      deepEqual(await removeAt(createDisk([folder], system), `${folder}/a.txt`), { did: "removed", notes: [] });
      deepEqual(fs.readdirSync(folder), ["twin"]);
    });
  }

  test("a symlink that took the file's place stays, and so does its target", async () => {
    const folder = folderWith();
    const disk = createDisk([folder]);
    const found = disk.lookup(`${folder}/a.txt`);
    ok(found.seen === "node");
    fs.renameSync(`${folder}/a.txt`, `${folder}/b.txt`);
    fs.symlinkSync("b.txt", `${folder}/a.txt`);
    const outcome = await disk.remove({ node: found, identity: found.handle.identity, signal: never });
    found.handle.close();
    deepEqual(outcome, { did: "nothing", why: "changed" });
    deepEqual(fs.readdirSync(folder), ["a.txt", "b.txt"]);
  });

  test("a read-only file is refused", async () => {
    const folder = folderWith(0o444);
    const outcome = await removeAt(createDisk([folder]), `${folder}/a.txt`);
    ok(outcome !== "not looked up" && outcome.did === "nothing" && outcome.why === "refused");
    equal(read(`${folder}/a.txt`), oldText);
  });
});

const attributes = onLinux ? await nodeSystem.attributes() : undefined;
const noAttributes = (() => {
  if (!onLinux) return "extended attributes are carried over on Linux only";
  if (attributes === undefined) return "koffi is not installed";
  const folder = folderWith();
  const fd = fs.openSync(`${folder}/a.txt`, "r+");
  try {
    attributes.set(fd, "user.probe", Buffer.from("x"));
    return undefined;
  } catch {
    return "the file system has no extended attributes";
  } finally {
    fs.closeSync(fd);
  }
})();

/** An ACL as the kernel stores it: version 2, then tag, rights and id of each entry. 1,234 may read and write. */
const acl = Buffer.from(
  [
    [1, 6, -1],
    [2, 6, 1_234],
    [4, 4, -1],
    [16, 6, -1],
    [32, 4, -1],
  ].reduce(
    (bytes, [tag = 0, rights = 0, id = 0]) => {
      const entry = Buffer.alloc(8);
      entry.writeUInt16LE(tag, 0);
      entry.writeUInt16LE(rights, 2);
      entry.writeInt32LE(id, 4);
      return Buffer.concat([bytes, entry]);
    },
    Buffer.from([2, 0, 0, 0]),
  ),
);

describe.skipIf(noAttributes !== undefined)(
  `extended attributes${noAttributes === undefined ? "" : ` (skipped: ${noAttributes})`}`,
  () => {
    ok(attributes !== undefined || noAttributes !== undefined);
    const withoutKoffi: System = { ...nodeSystem, attributes: async () => undefined };
    for (const [title, system] of [
      ["koffi", nodeSystem],
      ["cp", withoutKoffi],
    ] as const) {
      test(`and an ACL are kept, by way of ${title}; the time is that of the change`, async () => {
        const folder = folderWith(0o755);
        const fd = fs.openSync(`${folder}/a.txt`, "r+");
        attributes?.set(fd, "user.origin", Buffer.from("somewhere"));
        attributes?.set(fd, "user.empty", new Uint8Array(0));
        attributes?.set(fd, "system.posix_acl_access", acl);
        fs.closeSync(fd);
        fs.utimesSync(`${folder}/a.txt`, 1_000_000, 1_000_000);
        const mode = modeOf(`${folder}/a.txt`);
        const outcome = await replaceAt(createDisk([folder], system), `${folder}/a.txt`);
        ok(outcome !== "not looked up" && outcome.did === "replaced" && outcome.how === "renamed");
        deepEqual(outcome.notes, []);
        equal(read(`${folder}/a.txt`), newText);
        deepEqual([...(attributes?.list(`${folder}/a.txt`) ?? [])].toSorted(), [
          "system.posix_acl_access",
          "user.empty",
          "user.origin",
        ]);
        equal(Buffer.from(attributes?.get(`${folder}/a.txt`, "user.origin") ?? []).toString(), "somewhere");
        ok(acl.equals(attributes?.get(`${folder}/a.txt`, "system.posix_acl_access") ?? new Uint8Array(0)));
        equal(modeOf(`${folder}/a.txt`), mode);
        ok(fs.statSync(`${folder}/a.txt`).mtimeMs > Date.now() - 60_000);
      });
    }

    test("an ACL that the folder gives to new files is not gained", async () => {
      const folder = folderWith(0o640);
      const fd = fs.openSync(folder, "r");
      attributes?.set(fd, "system.posix_acl_default", acl);
      fs.closeSync(fd);
      equal(didOf(await replaceAt(createDisk([folder]), `${folder}/a.txt`)), "replaced");
      deepEqual(attributes?.list(`${folder}/a.txt`), []);
      equal(modeOf(`${folder}/a.txt`), 0o640);
    });

    test("one that cannot be set is a reason to write in place, which keeps it", async () => {
      const folder = folderWith();
      const fd = fs.openSync(`${folder}/a.txt`, "r+");
      attributes?.set(fd, "user.origin", Buffer.from("somewhere"));
      fs.closeSync(fd);
      const refusing: System = {
        ...nodeSystem,
        attributes: async () =>
          attributes && {
            ...attributes,
            set: () => {
              throw systemError("EPERM", "fsetxattr");
            },
          },
      };
      const outcome = await replaceAt(createDisk([folder], refusing), `${folder}/a.txt`);
      ok(outcome !== "not looked up" && outcome.did === "replaced" && outcome.how === "in place");
      deepEqual(attributes?.list(`${folder}/a.txt`), ["user.origin"]);
      deepEqual(fs.readdirSync(folder), ["a.txt"]);
    });

    /** Version 2, one that is in effect: a process may take ports below 1,024. */
    const capability = Buffer.from("0100000200040000000000000000000000000000", "hex");
    const capable = (folder: string): void => {
      const fd = fs.openSync(`${folder}/a.txt`, "r+");
      attributes?.set(fd, "security.capability", capability);
      fs.closeSync(fd);
      fs.linkSync(`${folder}/a.txt`, `${folder}/twin.txt`);
    };
    const notRoot = process.geteuid?.() !== 0;

    for (const fails of [false, true]) {
      const title = fails ? "that fails half way" : "of a file";
      test.skipIf(notRoot)(`a write in place ${title} keeps what the file may do`, async () => {
        const folder = folderWith();
        capable(folder);
        const sync = (fd: number): void => {
          const isFile = fs.readlinkSync(`/proc/self/fd/${fd}`) === `${folder}/a.txt`;
          if (fails && isFile && read(`${folder}/a.txt`) === newText) throw systemError("EIO", "fsync");
          nodeSystem.sync(fd);
        };
        const disk = createDisk([folder], paced({ ...nodeSystem, sync }, 0));
        const outcome = await replaceAt(disk, `${folder}/a.txt`, { hardLinks: "keep" });
        equal(didOf(outcome), fails ? "nothing" : "replaced");
        equal(read(`${folder}/a.txt`), fails ? oldText : newText);
        ok(capability.equals(attributes?.get(`${folder}/a.txt`, "security.capability") ?? Buffer.alloc(0)));
      });
    }

    test.skipIf(notRoot)("what a file may do and cannot be given back is told", async () => {
      const folder = folderWith();
      capable(folder);
      const set = (): void => {
        throw systemError("EPERM", "fsetxattr");
      };
      const system: System = { ...nodeSystem, attributes: async () => attributes && { ...attributes, set } };
      const outcome = await replaceAt(createDisk([folder], system), `${folder}/a.txt`, { hardLinks: "keep" });
      ok(outcome !== "not looked up" && outcome.did === "replaced");
      deepEqual(outcome.notes, ["attributes not kept"]);
    });
  },
);
