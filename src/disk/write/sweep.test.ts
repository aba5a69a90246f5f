import { deepEqual, equal, ok } from "node:assert/strict";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { setTimeout } from "node:timers/promises";
import { describe, test } from "vitest";
import { newText, oldText, replaceAt } from "../../../test/faults/changes.ts";
import { deadMark } from "../../../test/support/dead-mark.ts";
import { faultySystem } from "../../../test/support/faulty-system.ts";
import { onWindows, workspace } from "../../../test/support/workspace.ts";
import { createDisk } from "../disk.ts";
import { processIdentity } from "../lock/process-identity.ts";
import { nodeSystem } from "../system.ts";
import { parseTempName, tempName } from "./temp-file.ts";

const { path: at } = workspace({});
let folders = 0;
function folderWithFile(text = oldText): string {
  folders += 1;
  const folder = at(`s${folders}`);
  fs.mkdirSync(folder);
  fs.writeFileSync(`${folder}/a.txt`, text);
  fs.writeFileSync(`${folder}/other.txt`, oldText);
  return folder;
}

const dead = deadMark();
const elsewhere = processIdentity().replace(/[0-9a-f]{12}$/u, "0123456789ab");
const name = (kind: string, owner: string): string => `.filehand-${kind}-${owner}-0123456789ab`;
const daysAgo = (path: string, days: number): void => {
  const seconds = Date.now() / 1_000 - days * 86_400;
  fs.lutimesSync(path, seconds, seconds);
};

/** Changes another file of the folder, which sweeps it. */
async function sweep(folder: string, stateDir?: string): Promise<void> {
  const outcome = await replaceAt(createDisk([folder], nodeSystem, { stateDir }), `${folder}/other.txt`);
  ok(outcome !== "not looked up" && outcome.did === "replaced");
}

/** A journal as left by a killed process. */
function journal(path: string, file: string, old: string, next: string, changes: Record<string, unknown> = {}): void {
  const { dev, ino } = fs.statSync(file, { bigint: true });
  const head = {
    version: 1,
    name: file.slice(file.lastIndexOf("/") + 1),
    path: file,
    device: String(dev),
    inode: String(ino),
    from: 22,
    oldBytes: old.length,
    newBytes: next.length,
    ...changes,
  };
  const block = Buffer.alloc(8_192);
  block.write(JSON.stringify(head));
  const body = Buffer.concat([block, Buffer.from(old).subarray(22), Buffer.from(next).subarray(22)]);
  fs.writeFileSync(path, Buffer.concat([body, createHash("sha256").update(body).digest()]), { mode: 0o600 });
}

/** Half written by a killed process: the new end is written, the old middle remains. */
const torn = `${oldText}${newText.slice(oldText.length)}`;

describe.skipIf(onWindows)("a file that another process left half written since the sweep", () => {
  for (const where of ["beside it", "in the state folder"]) {
    test(`is put back before it is written in place (the journal is ${where})`, async () => {
      const folder = folderWithFile();
      const stateDir = `${folder}.state`;
      fs.mkdirSync(`${stateDir}/undo`, { recursive: true, mode: 0o700 });
      fs.linkSync(`${folder}/a.txt`, `${folder}/twin.txt`);
      const disk = createDisk([folder], nodeSystem, { stateDir });
      equal(((await replaceAt(disk, `${folder}/other.txt`)) as { did: string }).did, "replaced");
      fs.writeFileSync(`${folder}/a.txt`, torn);
      const place = where === "beside it" ? folder : `${stateDir}/undo`;
      journal(`${place}/${name("undo", dead)}`, `${folder}/a.txt`, oldText, newText);
      const hardLinks = "keep";
      deepEqual(await replaceAt(disk, `${folder}/a.txt`, { hardLinks }), { did: "nothing", why: "changed" });
      equal(fs.readFileSync(`${folder}/a.txt`, "utf8"), oldText);
      deepEqual(fs.readdirSync(place).filter(parseTempName), []);
      equal(((await replaceAt(disk, `${folder}/a.txt`, { hardLinks })) as { did: string }).did, "replaced");
      equal(fs.readFileSync(`${folder}/twin.txt`, "utf8"), newText);
    });
  }

  test("does not get an edit back that was taken back by hand", async () => {
    const folder = folderWithFile(newText);
    fs.linkSync(`${folder}/a.txt`, `${folder}/twin.txt`);
    const disk = createDisk([folder]);
    await replaceAt(disk, `${folder}/other.txt`);
    // The process was killed when all was written, right before removing its journal.
    const [old, next] = ["first line\nsecond line\nONE, TWO\n", "first line\nsecond line\none, two\n"];
    fs.writeFileSync(`${folder}/a.txt`, next);
    journal(`${folder}/${name("undo", dead)}`, `${folder}/a.txt`, old, next);
    const half = Buffer.from("first line\nsecond line\none, TWO\n");
    equal(
      ((await replaceAt(disk, `${folder}/a.txt`, { hardLinks: "keep", pieces: [half] })) as { did: string }).did,
      "replaced",
    );
    await sweep(folder);
    equal(fs.readFileSync(`${folder}/a.txt`, "utf8"), half.toString());
  });
});

test.skipIf(onWindows)("a change waits for a sweep that another one began, which may put its file back", async () => {
  const folder = folderWithFile();
  const stateDir = `${folder}.state`;
  fs.mkdirSync(`${stateDir}/undo`, { recursive: true, mode: 0o700 });
  fs.writeFileSync(`${folder}/a.txt`, torn);
  journal(`${stateDir}/undo/${name("undo", dead)}`, `${folder}/a.txt`, oldText, newText);
  const folderLate = async (path: string): Promise<fs.Dirent[]> => {
    await setTimeout(100);
    return nodeSystem.folder(path);
  };
  const disk = createDisk([folder], { ...nodeSystem, folder: folderLate }, { stateDir });
  const outcomes = await Promise.all([
    replaceAt(disk, `${folder}/a.txt`, { pieces: [{ from: 0, to: 30 }] }),
    replaceAt(disk, `${folder}/other.txt`),
    replaceAt(disk, `${folder}/a.txt`, { pieces: [{ from: 0, to: 20 }] }),
  ]);
  deepEqual(
    outcomes.map((outcome) => outcome !== "not looked up" && outcome.did),
    ["nothing", "replaced", "nothing"],
  );
  equal(fs.readFileSync(`${folder}/a.txt`, "utf8"), oldText);
});

describe.skipIf(onWindows)("the sweep", () => {
  test("a name says its kind and its process", () => {
    deepEqual(parseTempName(tempName("new")), { kind: "new", owner: processIdentity() });
    for (const other of [".filehand-new", `${tempName("new")}x`, `x${tempName("new")}`, ".filehand-old-1-1-x", "a"]) {
      equal(parseTempName(other), undefined);
    }
  });

  test("removes the leftovers of dead processes, and those a day old; nothing else", async () => {
    const folder = folderWithFile();
    const stays = [
      name("new", processIdentity()),
      name("new", elsewhere),
      name("undo", processIdentity()),
      `.filehand-new-${dead}`,
      `${name("new", dead)}.txt`,
      ".filehand-notes",
      ".filehand",
    ];
    const goes = [name("new", dead), name("undo", dead), name("new", elsewhere).replace(/b$/u, "c")];
    for (const one of [...stays, ...goes]) fs.writeFileSync(`${folder}/${one}`, "x");
    daysAgo(`${folder}/${goes[2]}`, 2);
    fs.mkdirSync(`${folder}/${name("new", dead).replace(/b$/u, "d")}`);
    fs.symlinkSync("a.txt", `${folder}/${name("new", dead).replace(/b$/u, "e")}`);
    await sweep(folder);
    const left = fs.readdirSync(folder);
    deepEqual(
      goes.filter((one) => left.includes(one)),
      [],
    );
    deepEqual(
      stays.filter((one) => !left.includes(one)),
      [],
    );
    // The folder is a copy that never got its name; a symlink is none of ours.
    equal(left.filter((one) => one.startsWith(`.filehand-new-${dead}-`) && !one.endsWith(".txt")).length, 1);
    equal(fs.readFileSync(`${folder}/a.txt`, "utf8"), oldText);
  });

  const half = newText.slice(0, 30) + oldText.slice(30);
  for (const [title, text, after] of [
    ["half written gets its old bytes back", half, oldText],
    ["half written and longer gets its old bytes back", half + newText.slice(half.length), oldText],
    ["completely written keeps the new ones", newText, newText],
    ["not begun keeps the old ones", oldText, oldText],
  ] as const) {
    test(`a file that was ${title}`, async () => {
      const folder = folderWithFile(text);
      journal(`${folder}/${name("undo", dead)}`, `${folder}/a.txt`, oldText, newText);
      await sweep(folder);
      equal(fs.readFileSync(`${folder}/a.txt`, "utf8"), after);
      deepEqual(fs.readdirSync(folder).toSorted(), ["a.txt", "other.txt"]);
    });
  }

  test("a file that was cut off, but for its size, gets its old bytes back", async () => {
    const [long, short] = [newText, oldText];
    // The last block is on the disk with zeros after the end; the new size is not.
    const folder = folderWithFile(short + "\0".repeat(8) + long.slice(short.length + 8));
    journal(`${folder}/${name("undo", dead)}`, `${folder}/a.txt`, long, short);
    await sweep(folder);
    equal(fs.readFileSync(`${folder}/a.txt`, "utf8"), long);
    deepEqual(fs.readdirSync(folder).toSorted(), ["a.txt", "other.txt"]);
  });

  test("a disk that has another number since the last start is the same disk", async () => {
    const folder = folderWithFile(half);
    journal(`${folder}/${name("undo", dead)}`, `${folder}/a.txt`, oldText, newText, { device: "1" });
    await sweep(folder);
    equal(fs.readFileSync(`${folder}/a.txt`, "utf8"), oldText);
    deepEqual(fs.readdirSync(folder).toSorted(), ["a.txt", "other.txt"]);
  });

  test("the same with a journal in the state folder", async () => {
    const folder = folderWithFile(half);
    fs.mkdirSync(`${folder}.state/undo`, { recursive: true });
    journal(`${folder}.state/undo/${name("undo", dead)}`, `${folder}/a.txt`, oldText, newText);
    await sweep(folder, `${folder}.state`);
    equal(fs.readFileSync(`${folder}/a.txt`, "utf8"), oldText);
    deepEqual(fs.readdirSync(`${folder}.state/undo`), []);
  });

  test("a journal of another workspace in the same state folder is left to that one", async () => {
    const [folder, other] = [folderWithFile(), folderWithFile(half)];
    fs.mkdirSync(`${folder}.state/undo`, { recursive: true });
    const path = `${folder}.state/undo/${name("undo", dead)}`;
    journal(path, `${other}/a.txt`, oldText, newText);
    daysAgo(path, 2);
    await sweep(folder, `${folder}.state`);
    ok(fs.existsSync(path));
    equal(fs.readFileSync(`${other}/a.txt`, "utf8"), half);
    await sweep(other, `${folder}.state`);
    ok(!fs.existsSync(path));
    equal(fs.readFileSync(`${other}/a.txt`, "utf8"), oldText);
  });

  for (const [title, text, changes] of [
    ["somebody has changed since", "first line\nsecond line; edited by hand\n", {}],
    ["has zeros where both had letters", half.slice(0, 24) + "\0".repeat(4) + half.slice(28), {}],
    ["is another one now", half, { inode: "1" }],
    ["is not the one of that name", half, { name: "../../etc/passwd", path: "/etc/passwd" }],
  ] as const) {
    test(`a file that ${title} is left alone, its journal stays for a day`, async () => {
      const folder = folderWithFile(text);
      journal(`${folder}/${name("undo", dead)}`, `${folder}/a.txt`, oldText, newText, changes);
      await sweep(folder);
      equal(fs.readFileSync(`${folder}/a.txt`, "utf8"), text);
      const left = fs.readdirSync(folder).filter((one) => one.startsWith(".filehand-undo-"));
      equal(left.length, 1);
      fs.renameSync(`${folder}/${left[0]}`, `${folder}/${name("undo", dead)}`);
      daysAgo(`${folder}/${name("undo", dead)}`, 2);
      await sweep(folder);
      equal(fs.readFileSync(`${folder}/a.txt`, "utf8"), text);
      deepEqual(fs.readdirSync(folder).toSorted(), ["a.txt", "other.txt"]);
    });
  }

  for (const [title, spoil] of [
    ["is cut short", (path: string) => fs.truncateSync(path, fs.statSync(path).size - 1)],
    ["has another byte", (path: string) => fs.writeFileSync(path, fs.readFileSync(path).fill(1, 8_192, 8_193))],
    ["is empty", (path: string) => fs.writeFileSync(path, "")],
    ["is no journal", (path: string) => fs.writeFileSync(path, '{"version":1}'.padEnd(9_000, " "))],
  ] as const) {
    test(`a journal that ${title} belongs to a file that was not touched, and goes`, async () => {
      const folder = folderWithFile();
      const path = `${folder}/${name("undo", dead)}`;
      journal(path, `${folder}/a.txt`, "x".repeat(40), newText);
      spoil(path);
      await sweep(folder);
      equal(fs.readFileSync(`${folder}/a.txt`, "utf8"), oldText);
      deepEqual(fs.readdirSync(folder).toSorted(), ["a.txt", "other.txt"]);
    });
  }

  test("sweeps a folder once, not at every change", async () => {
    const folder = folderWithFile();
    const system = faultySystem();
    const disk = createDisk([folder], system);
    await replaceAt(disk, `${folder}/a.txt`);
    await replaceAt(disk, `${folder}/other.txt`);
    equal(system.calls.filter((call) => call === "folderNow").length, 1);
  });
});
