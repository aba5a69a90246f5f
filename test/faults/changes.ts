/** The changes that the fault tests make, each from the same file to the same file, and how they are judged. */

import { ok } from "node:assert/strict";
import * as fs from "node:fs";
import { createDisk, type Disk, type DiskOptions, type Tree } from "../../src/disk/disk.ts";
import type { ReplaceInput } from "../../src/disk/write/replace.ts";
import type { System } from "../../src/disk/system.ts";

export const oldText = "first line\nsecond line\nthird line\n";
export const newText = "first line\nsecond line, now longer than before\nthird line\n";

/** The pieces that make the new text of the old one. */
export const pieces: ReplaceInput["pieces"] = [
  { from: 0, to: 22 },
  Buffer.from(", now longer than before"),
  { from: 22, to: 34 },
];

export const never: AbortSignal = new AbortController().signal;

type Doing = "replace" | "create" | "remove" | "removeTree" | "moveTree" | "copyTree" | "makeEntry" | "removeEntry";
export type Outcome = Awaited<ReturnType<Disk[Doing]>> | "not looked up";

/** Looks, opens, replaces and closes, all with the same system calls. */
export async function replaceAt(
  disk: Disk,
  path: string,
  changes: Partial<Omit<ReplaceInput, "found" | "file">> = {},
  also?: "its folder",
): Promise<Awaited<ReturnType<Disk["replace"]>> | "not looked up"> {
  const found = disk.lookup(path, also);
  if (found.seen !== "node") return "not looked up";
  const file = disk.open(found);
  let gone: Promise<void> | undefined;
  try {
    if ("errno" in file) return "not looked up";
    const letGo = (): Promise<void> | undefined => {
      file.close();
      return (gone = found.letGo?.());
    };
    return await disk.replace({ node: found, file, pieces, hardLinks: "separate", signal: never, letGo, ...changes });
  } finally {
    await gone; // whoever counts what is open must not meet it on its way
    if (!("errno" in file)) file.close();
    found.handle.close();
  }
}

export async function removeAt(
  disk: Disk,
  path: string,
): Promise<Awaited<ReturnType<Disk["remove"]>> | "not looked up"> {
  const found = disk.lookup(path);
  if (found.seen !== "node") return "not looked up";
  try {
    return await disk.remove({ node: found, identity: found.handle.identity, signal: never });
  } finally {
    found.handle.close();
  }
}

/**
 * Four changes as one: a file is replaced, one is written in place because it has a second name, one is made in folders that are
 * missing, one is taken away.
 */
export async function changeTogether(disk: Disk, folder: string): Promise<Outcome> {
  const looks = ["a.txt", "linked.txt", "gone.txt"].map((name) => disk.lookup(`${folder}/${name}`));
  const opened = looks.map((lookup) => (lookup.seen === "node" ? disk.open(lookup) : undefined));
  const close = (): void => {
    for (const file of opened) if (file !== undefined && !("errno" in file)) file.close();
    for (const lookup of looks) if (lookup.seen === "node") lookup.handle.close();
  };
  const replacing = (index: number, hardLinks: ReplaceInput["hardLinks"]): ReplaceInput | undefined => {
    const [found, file] = [looks[index], opened[index]];
    if (found?.seen !== "node" || file === undefined || "errno" in file) return undefined;
    return { node: found, file, pieces, hardLinks, signal: never };
  };
  const [first, second, last] = [replacing(0, "separate"), replacing(1, "keep"), replacing(2, "separate")];
  if (first === undefined || second === undefined || last === undefined) {
    close();
    return "not looked up";
  }
  const names = ["a.txt", "linked.txt", "deep/deeper/new.txt", "gone.txt"];
  const set = disk.together(
    names.map((name) => `${folder}/${name}`),
    { byKernel: false },
  );
  const works: readonly (() => Promise<Exclude<Outcome, string>>)[] = [
    () => set.replace(first),
    () => set.replace(second),
    () => set.create({ real: `${folder}/deep/deeper/new.txt`, pieces: [Buffer.from(newText)], signal: never }),
    () => set.remove({ node: last.node, identity: last.file.identity, signal: never }),
  ];
  const stop = (outcome: Exclude<Outcome, string>): void => {
    if (outcome.did === "nothing" || outcome.did === "damaged") throw new Stopped(outcome);
  };
  try {
    const staged = [];
    for (const work of works) {
      const one = await set.stage(work);
      staged.push(one);
      if (one.go === undefined) stop(await one.over);
    }
    const stopped = await set.begin();
    if (stopped !== undefined) stop(stopped);
    for (const { go, over } of staged) {
      go?.();
      stop(await over);
    }
    await set.finish();
    return { did: "removed", notes: [] };
  } catch (error) {
    const came = [...(await set.takeBack(error)).values()];
    if (came.includes("failed")) return { did: "damaged", errno: "EIO", during: "taking it back", journal: "" };
    if (error instanceof Stopped) return { did: "nothing", why: "changed" };
    if (error instanceof Error && error.name === "WriteFailed") return { did: "nothing", why: "changed" };
    throw error;
  } finally {
    close();
  }
}

class Stopped extends Error {
  readonly outcome: Exclude<Outcome, string>;
  constructor(outcome: Exclude<Outcome, string>) {
    super("one of several was refused");
    this.outcome = outcome;
  }
}

export interface Change {
  readonly title: string;
  /** Makes the tree as it is before; a folder of its own, and the place of its state. */
  prepare(folder: string): void;
  run(folder: string, system: System): Promise<Outcome>;
  /** The state of the tree: "old", "new", or words for what should not be. */
  judge(folder: string): string;
}

const stateOf = (folder: string): DiskOptions => ({ stateDir: `${folder}.state` });

const judgeFile = (folder: string): string => {
  const text = fs.readFileSync(`${folder}/a.txt`, "utf8");
  if (text === oldText) return "old";
  return text === newText ? "new" : `neither: ${JSON.stringify(text)}`;
};

export const everyChange: readonly Change[] = [
  {
    title: "a replace",
    prepare: (folder) => fs.writeFileSync(`${folder}/a.txt`, oldText, { mode: 0o640 }),
    run: (folder, system) => replaceAt(createDisk([folder], system, stateOf(folder)), `${folder}/a.txt`),
    judge: judgeFile,
  },
  {
    title: "a replace with its folder held and other work to do",
    prepare: (folder) => fs.writeFileSync(`${folder}/a.txt`, oldText, { mode: 0o640 }),
    run: async (folder, system) => {
      const disk = createDisk([folder], system, stateOf(folder));
      const readBytes = Buffer.from(oldText);
      return replaceAt(disk, `${folder}/a.txt`, { readBytes, meanwhile: () => undefined }, "its folder");
    },
    judge: judgeFile,
  },
  {
    // Each is synced by a thread of its own.
    title: "a replace while another file is replaced",
    prepare: (folder) => {
      for (const name of ["a.txt", "b.txt"]) fs.writeFileSync(`${folder}/${name}`, oldText, { mode: 0o640 });
    },
    run: async (folder, system) => {
      const disk = createDisk([folder], system, stateOf(folder));
      const options = { readBytes: Buffer.from(oldText), meanwhile: () => undefined };
      const [outcome] = await Promise.all(
        ["a.txt", "b.txt"].map((name) => replaceAt(disk, `${folder}/${name}`, options, "its folder")),
      );
      if (outcome === undefined) throw new Error("there are two");
      return outcome;
    },
    judge: judgeFile,
  },
  {
    title: "a write in place",
    prepare: (folder) => {
      fs.writeFileSync(`${folder}/a.txt`, oldText);
      fs.linkSync(`${folder}/a.txt`, `${folder}/twin.txt`);
    },
    run: (folder, system) =>
      replaceAt(createDisk([folder], system, stateOf(folder)), `${folder}/a.txt`, { hardLinks: "keep" }),
    judge: judgeFile,
  },
  {
    title: "a write in place that makes the file shorter",
    prepare: (folder) => {
      fs.writeFileSync(`${folder}/a.txt`, newText);
      fs.linkSync(`${folder}/a.txt`, `${folder}/twin.txt`);
    },
    run: (folder, system) =>
      replaceAt(createDisk([folder], system, stateOf(folder)), `${folder}/a.txt`, {
        hardLinks: "keep",
        pieces: [{ from: 0, to: 22 }, Buffer.from("\nthird line\n")],
      }),
    judge: (folder) => {
      const state = judgeFile(folder);
      return state === "old" ? "new" : state === "new" ? "old" : state;
    },
  },
  {
    title: "a create in folders that are missing",
    prepare: () => {},
    run: async (folder, system) =>
      createDisk([folder], system, stateOf(folder)).create({
        real: `${folder}/deep/deeper/a.txt`,
        pieces: [Buffer.from(newText)],
        signal: never,
      }),
    judge: (folder) => {
      if (!fs.existsSync(`${folder}/deep`)) return "old";
      if (!fs.existsSync(`${folder}/deep/deeper/a.txt`)) return "half-made folders";
      return judgeFile(`${folder}/deep/deeper`);
    },
  },
  {
    title: "a remove",
    prepare: (folder) => fs.writeFileSync(`${folder}/a.txt`, oldText),
    run: (folder, system) => removeAt(createDisk([folder], system, stateOf(folder)), `${folder}/a.txt`),
    judge: (folder) => (fs.existsSync(`${folder}/a.txt`) ? judgeFile(folder) : "new"),
  },
  {
    title: "a remove of an empty folder",
    prepare: (folder) => fs.mkdirSync(`${folder}/empty`),
    run: async (folder, system) => {
      const disk = createDisk([folder], system, stateOf(folder));
      const entry = disk.entryAt(`${folder}/empty`);
      if (entry?.is !== "folder") return "not looked up";
      return disk.removeEntry({ real: `${folder}/empty`, entry, beforeSwap });
    },
    judge: (folder) => (fs.existsSync(`${folder}/empty`) ? "old" : "new"),
  },
  {
    title: "a folder that is made",
    prepare: () => {},
    run: (folder, system) =>
      createDisk([folder], system, stateOf(folder)).makeEntry({ real: `${folder}/deep/new`, mode: 0o750, beforeSwap }),
    judge: (folder) => {
      if (!fs.existsSync(`${folder}/deep`)) return "old";
      return fs.existsSync(`${folder}/deep/new`) ? "new" : "half-made folders";
    },
  },
  {
    title: "a remove of a folder with files, a link and a folder in it",
    prepare: (folder) => makeTree(`${folder}/from`),
    run: async (folder, system) => {
      const disk = createDisk([folder], system, stateOf(folder));
      const entries = await treeOf(disk, `${folder}/from`);
      if (entries === undefined) return "not looked up";
      return disk.removeTree({ real: `${folder}/from`, entries, signal: never, beforeSwap }, { byKernel: false });
    },
    judge: (folder) => (fs.existsSync(`${folder}/from`) ? judgeTree(`${folder}/from`, "old") : "new"),
  },
  {
    title: "a copy of a folder with files, a link and a folder in it",
    prepare: (folder) => makeTree(`${folder}/from`),
    run: async (folder, system) => {
      const disk = createDisk([folder], system, stateOf(folder));
      const entries = await treeOf(disk, `${folder}/from`);
      if (entries === undefined) return "not looked up";
      return disk.copyTree({ real: `${folder}/from`, entries, to: `${folder}/deep/to`, signal: never, beforeSwap });
    },
    judge: (folder) => {
      if (judgeTree(`${folder}/from`, "old") !== "old") return "neither: the source changed";
      if (fs.existsSync(`${folder}/deep/to`)) return judgeTree(`${folder}/deep/to`, "new");
      return fs.existsSync(`${folder}/deep`) ? "half-made folders" : "old";
    },
  },
  {
    title: "a move of a folder",
    prepare: (folder) => {
      fs.mkdirSync(`${folder}/from`);
      fs.writeFileSync(`${folder}/from/a.txt`, newText);
    },
    run: async (folder, system) => {
      const disk = createDisk([folder], system, stateOf(folder));
      const top = disk.entryAt(`${folder}/from`);
      if (top?.is !== "folder") return "not looked up";
      return disk.moveTree({ real: `${folder}/from`, top, to: `${folder}/deep/to`, signal: never, beforeSwap });
    },
    judge: (folder) => {
      const [isOld, isNew] = ["from", "deep/to"].map((name) => fs.existsSync(`${folder}/${name}/a.txt`));
      if (isOld === isNew) return "both or none";
      if (isNew === true) return judgeFile(`${folder}/deep/to`);
      return fs.existsSync(`${folder}/deep`) ? "half-made folders" : "old";
    },
  },
  {
    title: "several files as one, one of them in place",
    prepare: (folder) => {
      for (const name of ["a.txt", "linked.txt", "gone.txt"]) fs.writeFileSync(`${folder}/${name}`, oldText);
      fs.linkSync(`${folder}/linked.txt`, `${folder}/twin.txt`);
    },
    run: (folder, system) => changeTogether(createDisk([folder], system, stateOf(folder)), folder),
    judge: judgeTogether,
  },
];

const beforeSwap = async (): Promise<void> => {};

/** Undefined if there is no folder: the disk would change a symlink as such. */
async function treeOf(disk: Disk, real: string): Promise<Tree | undefined> {
  const tree = await disk.listTree({ real, entriesMax: 100, signal: never });
  return "fault" in tree || tree[0].is !== "folder" ? undefined : tree;
}

/** Files of several modes, a link that leads nowhere, and an empty folder. */
function makeTree(path: string): void {
  fs.mkdirSync(`${path}/sub/empty`, { recursive: true });
  fs.writeFileSync(`${path}/a.txt`, oldText);
  fs.writeFileSync(`${path}/sub/run.sh`, newText, { mode: 0o750 });
  fs.symlinkSync("nowhere", `${path}/sub/link`);
}

function judgeTree(path: string, whole: "old" | "new"): string {
  const names = fs.readdirSync(path, { recursive: true, encoding: "utf8" }).sort().join(" ");
  const isWhole =
    names === "a.txt sub sub/empty sub/link sub/run.sh" &&
    fs.readFileSync(`${path}/a.txt`, "utf8") === oldText &&
    fs.readFileSync(`${path}/sub/run.sh`, "utf8") === newText &&
    (fs.statSync(`${path}/sub/run.sh`).mode & 0o777) === 0o750 &&
    fs.readlinkSync(`${path}/sub/link`) === "nowhere";
  return isWhole ? whole : `neither: ${names}`;
}

/** Old or new as a whole; which files are which if it is a mix. */
function judgeTogether(folder: string): string {
  const has = (name: string, text: string): boolean =>
    fs.existsSync(`${folder}/${name}`) && fs.readFileSync(`${folder}/${name}`, "utf8") === text;
  const states = [
    ...["a.txt", "linked.txt", "twin.txt"].map((name) =>
      has(name, oldText) ? "old" : has(name, newText) ? "new" : "neither",
    ),
    has("deep/deeper/new.txt", newText) ? "new" : fs.existsSync(`${folder}/deep`) ? "half-made folders" : "old",
    has("gone.txt", oldText) ? "old" : fs.existsSync(`${folder}/gone.txt`) ? "neither" : "new",
  ];
  const [state = ""] = states;
  if (states.every((one) => one === state)) return state;
  const isOld = states.every((one) => one === "old" || one === "half-made folders");
  return isOld ? "half-made folders" : `neither: ${states.join(", ")}`;
}

/** Those that write bytes. */
export const everyWrite = everyChange.filter(({ title }) => !/^(a (remove|move|copy|folder)|several)/.test(title));

/** What an outcome promises of the tree. */
export function promised(outcome: Outcome): "old" | "new" {
  if (outcome === "not looked up") return "old";
  switch (outcome.did) {
    case "nothing":
      return "old";
    case "replaced":
    case "created":
    case "removed":
    case "moved":
    case "copied":
    case "made":
    case "unconfirmed":
      return "new";
    case "damaged":
      ok(false, `one fault must not damage a file: ${JSON.stringify(outcome)}`);
  }
}

/** Names of ours below a folder and its state folder. */
export function litter(folder: string): readonly string[] {
  return [folder, `${folder}.state`].flatMap((top) =>
    fs.existsSync(top)
      ? fs.readdirSync(top, { recursive: true, encoding: "utf8" }).filter((name) => /(^|\/)\.filehand-/u.test(name))
      : [],
  );
}
