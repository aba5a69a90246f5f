/** A file that is to be made: its folder is held from the first look on, whatever becomes of the call. */

import * as fs from "node:fs";
import { setTimeout } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { createFilehand, type FilehandOptions, type SessionOptions } from "../src/index.ts";
import { createDisk } from "../src/disk/disk.ts";
import { createLocks } from "../src/disk/lock/lock.ts";
import { onLinux, openDescriptors, workspace } from "./support/workspace.ts";

interface Refused {
  readonly options?: Partial<FilehandOptions>;
  readonly session?: Partial<SessionOptions<"claude">>;
  readonly tool?: string;
  readonly input?: object;
  readonly dryRun?: boolean;
  readonly says: RegExp;
}

const calls: Record<string, Refused> = {
  "a rule denies it": { options: { permissions: { deny: ["Edit(/new.txt)"] } }, says: /the rule .* denies it/ },
  "nobody may see it": { options: { permissions: { deny: ["Read(/new.txt)"] } }, says: /the rule .* denies it/ },
  "a person says no": {
    options: { ask: async () => ({ reply: "reject" }) },
    says: /new\.txt/,
  },
  "the session is kept to another folder": { session: { within: ["sub"] }, says: /outside/ },
  "its content is no text": { input: { content: "half \ud800 a pair" }, says: /surrogate/ },
  "there is nothing to edit": { tool: "Edit", input: { old_string: "a", new_string: "b" }, says: /does not exist/ },
  "its name is that of a folder": { input: { file_path: "new.txt/" }, says: /"new\.txt\/": .* names a folder/ },
  "it is a dry run": { dryRun: true, says: /^Dry run/ },
};

describe.skipIf(!onLinux)("nothing stays open when", () => {
  for (const [name, { options, session, tool = "Write", input, dryRun = false, says }] of Object.entries(calls)) {
    test(name, async () => {
      const { top, path } = workspace({ sub: {} });
      const within = session?.within?.map((folder) => path(folder));
      const filehand = createFilehand({ roots: [top], ask: "yes", ...options });
      const own = filehand.session({ dialect: "claude", ...session, ...(within && { within }) });
      const file_path = path("new.txt");
      const call = () =>
        own.call(tool, { file_path, ...(tool === "Write" && { content: "new\n" }), ...input }, { dryRun });
      const told = async () => (await call()).content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
      expect(await told()).toMatch(says);
      const before = openDescriptors();
      for (let times = 1; times <= 5; times += 1) expect(await told()).toMatch(says);
      expect(openDescriptors()).toBe(before);
      expect(fs.existsSync(file_path)).toBe(false);
    });
  }

  test("twenty are made at once, and one of them twice", async () => {
    const { top, path } = workspace({ sub: {} });
    const session = createFilehand({ roots: [top], ask: "yes" }).session({ dialect: "claude" });
    const make = (name: string) => session.call("Write", { file_path: path("sub", name), content: `${name}\n` });
    await make("first.txt");
    const before = openDescriptors();
    const names = Array.from({ length: 20 }, (_, index) => `${index}.txt`);
    const replies = await Promise.all([...names, "0.txt"].map(make));
    expect(replies.filter(({ isError }) => isError)).toEqual([]);
    expect(openDescriptors()).toBe(before);
    expect(names.map((name) => fs.readFileSync(path("sub", name), "utf8"))).toEqual(names.map((name) => `${name}\n`));
  });
});

test.skipIf(!onLinux)("who was slower than somebody else overwrites nothing, and holds nothing open", async () => {
  const { top, path } = workspace({});
  const session = createFilehand({ roots: [top], ask: "yes" }).session({ dialect: "claude" });
  const write = (name: string) => session.call("Write", { file_path: path(name), content: "mine\n" });
  await write("first.txt");
  const before = openDescriptors();
  const { dev: device, ino: inode } = fs.statSync(top, { bigint: true });
  const key = { folder: { device, inode }, name: "new.txt" };
  const never = new AbortController().signal;
  // As another process would: it has the lock, and makes the file while our call waits for it.
  const reply = await createLocks({ folder: undefined }).exclusively([key], never, async () => {
    const waiting = write("new.txt");
    await setTimeout(30);
    fs.writeFileSync(path("new.txt"), "theirs\n");
    return { waiting };
  });
  expect((await reply.waiting).error?.code).toBe("NOT_READ");
  expect(fs.readFileSync(path("new.txt"), "utf8")).toBe("theirs\n");
  expect(openDescriptors()).toBe(before);
});

describe.skipIf(!onLinux)("still missing", () => {
  const looked = () => {
    const place = workspace({ sub: {} });
    const disk = createDisk([place.top]);
    const lookup = disk.lookup(place.path("sub", "new.txt"), "its folder");
    if (lookup.seen !== "missing" || lookup.nearest?.handle === undefined) throw new Error("its folder is not held");
    const { handle } = lookup.nearest;
    const isStillMissing = () => disk.isStillMissing(handle, place.path("sub", "new.txt"));
    return { ...place, held: handle, isStillMissing };
  };

  test("until somebody makes it, as a file or as a link that leads nowhere", () => {
    for (const make of [(name: string) => fs.writeFileSync(name, ""), (name: string) => fs.symlinkSync("gone", name)]) {
      const { path, held: handle, isStillMissing } = looked();
      expect(isStillMissing()).toBe(true);
      make(path("sub", "new.txt"));
      expect(isStillMissing()).toBe(false);
      handle.close();
    }
  });

  test("not once its folder has been moved or removed", () => {
    for (const change of [
      (name: string) => fs.renameSync(name, `${name}-moved`),
      (name: string) => fs.rmdirSync(name),
    ]) {
      const { path, held: handle, isStillMissing } = looked();
      change(path("sub"));
      expect(isStillMissing()).toBe(false);
      handle.close();
    }
  });

  test("the folder is held only where one name is missing", () => {
    const { top, path } = workspace({ sub: {}, file: "text\n" });
    const disk = createDisk([top]);
    for (const names of [
      ["no", "new.txt"],
      ["file", "new.txt"],
    ]) {
      const before = openDescriptors();
      const lookup = disk.lookup(path(...names), "its folder");
      expect(lookup).toMatchObject({ seen: "missing" });
      expect(lookup.seen === "missing" ? lookup.nearest?.handle : undefined).toBe(undefined);
      expect(openDescriptors()).toBe(before);
    }
  });
});
