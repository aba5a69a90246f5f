import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import * as fs from "node:fs";
import { describe, test } from "vitest";
import { litter, never } from "../../../test/faults/changes.ts";
import { type Errno, systemError } from "../../../test/support/faulty-system.ts";
import { onWindows, openDescriptors, workspace } from "../../../test/support/workspace.ts";
import { createDisk } from "../disk.ts";
import { nodeSystem, type System } from "../system.ts";
import type { Created } from "./create.ts";

const { path: at } = workspace({});
let folders = 0;
function emptyFolder(): string {
  folders += 1;
  fs.mkdirSync(at(`c${folders}`));
  return at(`c${folders}`);
}

const text = "a new file\n";
const create = (folder: string, name: string, system: System = nodeSystem): Promise<Created> =>
  createDisk([folder], system).create({ real: `${folder}/${name}`, pieces: [Buffer.from(text)], signal: never });

const failing =
  (errno: Errno, call: string): (() => never) =>
  () => {
    throw systemError(errno, call);
  };

describe.skipIf(onWindows)("a create", () => {
  for (const [title, system] of [
    ["by handles", nodeSystem],
    ["by names", { ...nodeSystem, platform: "darwin" }],
  ] as const) {
    test(`${title}: the file and the folders above it, as the umask has it`, async () => {
      const folder = emptyFolder();
      const before = openDescriptors();
      const outcome = await create(folder, "x/y/a.txt", system);
      const stat = fs.lstatSync(`${folder}/x/y/a.txt`, { bigint: true });
      deepEqual(outcome, {
        did: "created",
        identity: {
          device: stat.dev,
          inode: stat.ino,
          sizeBytes: text.length,
          mtimeNs: stat.mtimeNs,
          ctimeNs: stat.ctimeNs,
        },
        folders: [`${folder}/x`, `${folder}/x/y`],
        notes: [],
      });
      equal(fs.readFileSync(`${folder}/x/y/a.txt`, "utf8"), text);
      const mask = process.umask();
      equal(Number(stat.mode) & 0o7777, 0o666 & ~mask);
      equal(stat.nlink, 1n);
      equal(fs.statSync(`${folder}/x`).mode & 0o777, 0o777 & ~mask);
      deepEqual(fs.readdirSync(`${folder}/x/y`), ["a.txt"]);
      equal(openDescriptors(), before);
    });
  }

  for (const [title, plant] of Object.entries({
    "a file": (path: string) => fs.writeFileSync(path, "theirs"),
    "a folder": (path: string) => fs.mkdirSync(path),
    "a link that leads nowhere": (path: string) => fs.symlinkSync("nowhere", path),
  })) {
    test(`${title} of that name stays`, async () => {
      const folder = emptyFolder();
      plant(`${folder}/a.txt`);
      deepEqual(await create(folder, "a.txt"), { did: "nothing", why: "exists" });
      deepEqual(fs.readdirSync(folder), ["a.txt"]);
    });

    test(`${title} that comes at the last moment stays too`, async () => {
      const folder = emptyFolder();
      const outcome = await createDisk([folder]).create({
        real: `${folder}/x/a.txt`,
        pieces: [Buffer.from(text)],
        signal: never,
        beforeSwap: () => plant(`${folder}/x/a.txt`),
      });
      deepEqual(outcome, { did: "nothing", why: "exists" });
      deepEqual(fs.readdirSync(`${folder}/x`), ["a.txt"]);
    });
  }

  test("two at once: one creates, the other gets the error", async () => {
    const folder = emptyFolder();
    const outcomes = await Promise.all([create(folder, "x/a.txt"), create(folder, "x/a.txt")]);
    deepEqual(outcomes.map(({ did }) => did).toSorted(), ["created", "nothing"]);
    deepEqual(fs.readdirSync(`${folder}/x`), ["a.txt"]);
  });

  for (const errno of ["EPERM", "ENOTSUP"] as const) {
    test(`a file system without hard links (${errno}): created all the same, and nothing is clobbered`, async () => {
      const folder = emptyFolder();
      const system: System = { ...nodeSystem, link: failing(errno, "link") };
      equal((await create(folder, "a.txt", system)).did, "created");
      equal(fs.readFileSync(`${folder}/a.txt`, "utf8"), text);
      deepEqual(await create(folder, "a.txt", system), { did: "nothing", why: "exists" });
      deepEqual(fs.readdirSync(folder), ["a.txt"]);
    });
  }

  test("if the file cannot be created, neither are its folders; one that another program filled meanwhile stays", async () => {
    const folder = emptyFolder();
    const refusing: System = { ...nodeSystem, link: failing("ENOSPC", "link") };
    deepEqual(await create(folder, "x/y/a.txt", refusing), {
      did: "nothing",
      why: "refused",
      errno: "ENOSPC",
      during: "linking",
    });
    deepEqual(fs.readdirSync(folder), []);
    const busy: System = {
      ...nodeSystem,
      link: () => {
        fs.writeFileSync(`${folder}/x/theirs`, "");
        throw systemError("EIO", "link");
      },
    };
    equal((await create(folder, "x/y/a.txt", busy)).did, "nothing");
    deepEqual(fs.readdirSync(folder, { recursive: true }), ["x", "x/theirs"]);
  });

  test("a folder that is there although making it says EEXIST is used", async () => {
    const folder = emptyFolder();
    const system: System = {
      ...nodeSystem,
      makeFolder: (path, mode) => {
        nodeSystem.makeFolder(path, mode); // a sync client was quicker
        throw systemError("EEXIST", "mkdir");
      },
    };
    const outcome = await create(folder, "x/a.txt", system);
    ok(outcome.did === "created");
    deepEqual(outcome.folders, []);
  });

  test("a file on the way, a symlink on the way, a place outside: refused, nothing created", async () => {
    const folder = emptyFolder();
    fs.mkdirSync(`${folder}.out`);
    fs.writeFileSync(`${folder}/file`, "");
    fs.symlinkSync(`${folder}.out`, `${folder}/out`);
    fs.mkdirSync(`${folder}/in`);
    fs.symlinkSync("in", `${folder}/way`);
    for (const [name, why] of [
      ["file/a.txt", "refused"],
      ["out/a.txt", "changed"],
      ["way/a.txt", "changed"],
      ["way/x/a.txt", "changed"],
      ["../c/a.txt", "changed"],
      [`${"n".repeat(300)}/a.txt`, "refused"],
      ["n".repeat(300), "refused"],
    ] as const) {
      const outcome = await create(folder, name);
      ok(outcome.did === "nothing", name);
      equal(outcome.why, why, name);
    }
    deepEqual(fs.readdirSync(`${folder}.out`), []);
    deepEqual(fs.readdirSync(folder, { recursive: true }).length, 4);
  });

  test("stopped: nothing is left, not even a folder", async () => {
    const folder = emptyFolder();
    const stop = new AbortController();
    const input = {
      real: `${folder}/x/a.txt`,
      pieces: [Buffer.from(text)],
      signal: stop.signal,
      beforeSwap: () => stop.abort(new Error("stop")),
    };
    await rejects(createDisk([folder]).create(input), /^Error: stop$/u);
    deepEqual(fs.readdirSync(folder), []);
    deepEqual(litter(folder), []);
  });

  test("a kept version comes back with its mode, copied from where it was kept", async () => {
    const folder = emptyFolder();
    fs.writeFileSync(`${folder}/kept`, "0123456789");
    const disk = createDisk([folder]);
    const found = disk.lookup(`${folder}/kept`);
    ok(found.seen === "node");
    const source = disk.open(found);
    ok(!("errno" in source));
    const pieces = [{ from: 2, to: 8 }];
    equal((await disk.create({ real: `${folder}/a`, pieces, source, mode: 0o755, signal: never })).did, "created");
    source.close();
    found.handle.close();
    equal(fs.readFileSync(`${folder}/a`, "utf8"), "234567");
    equal(fs.statSync(`${folder}/a`).mode & 0o777, 0o755 & ~process.umask());
  });
});
