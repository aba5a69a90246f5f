/** Searches for names against links, swapped folders, bombs, and names that try to be something else. */

import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { lineNumber } from "../../src/contract/target.ts";
import { createDisk } from "../../src/disk/disk.ts";
import { nodeSystem, type System } from "../../src/disk/system.ts";
import { createFilehand, type FilehandOptions, type Reply } from "../../src/index.ts";
import { walkFiles } from "../../src/search/files.ts";
import { nothingIgnored } from "../../src/search/ignored.ts";
import { parseGlob } from "../../src/text/glob/glob.ts";
import { startGlobState } from "../../src/text/glob/glob-state.ts";
import { faultySystem } from "../support/faulty-system.ts";
import { inNamespace, missing, reason } from "../faults/program.ts";
import { noFifo, onLinux, onWindows, openDescriptors, workspace } from "../support/workspace.ts";

const program = fileURLToPath(new URL("../../dist/filehand.cjs", import.meta.url));

const sessionAt = (top: string, options: Partial<FilehandOptions> = {}) =>
  createFilehand({ roots: [top], ...options }).session({ dialect: "claude" });

const glob = (top: string, pattern: string, options?: Partial<FilehandOptions>): Promise<Reply> =>
  sessionAt(top, options).call("Glob", { pattern });

const namesIn = (reply: Reply): readonly string[] =>
  (reply.structured as { readonly filenames: readonly string[] }).filenames;

const textOf = (reply: Reply): string => reply.content.map((part) => (part.type === "text" ? part.text : "")).join("");

const stateFor = (pattern: string) => {
  const parsed = parseGlob(pattern);
  if ("fault" in parsed) throw new Error(parsed.fault);
  return startGlobState(parsed);
};

/** All that a walk beneath `top` finds, by a system of calls that is handed in. */
async function walked(top: string, system: System) {
  const disk = createDisk([top], system);
  const lookup = disk.lookup(top);
  if (lookup.seen !== "node") throw new Error(lookup.seen);
  const found: string[] = [];
  const tally = await walkFiles(disk.walk(lookup), {
    above: [],
    ignored: nothingIgnored,
    state: stateFor("**"),
    hides: () => false,
    shows: () => true,
    hidesEnd: () => false,
    take: (path) => found.push(path) > 0,
    onTurn: () => "more",
  });
  lookup.handle.close();
  return { found: found.toSorted(), tally };
}

describe.skipIf(onWindows)("A27 links", () => {
  const made = workspace({
    outside: { "secret.txt": "x", deep: { "more.txt": "x" } },
    inside: {
      "a.txt": "x",
      out: { link: "../outside" },
      "out.txt": { link: "../outside/secret.txt" },
      "gone.txt": { link: "../outside/nothing-here.txt" },
      loop: { link: "." },
      sub: { up: { link: ".." }, "b.txt": "x", round: { link: "../sub" } },
    },
  });
  const top = made.path("inside");

  test("none is followed out of the workspace, and none in a circle", async () => {
    const reply = await glob(top, "**/*.txt");
    expect(
      namesIn(reply)
        .map((path) => path.slice(top.length + 1))
        .toSorted(),
    ).toEqual(["a.txt", "gone.txt", "out.txt", "sub/b.txt"]);
    expect(textOf(reply)).not.toMatch(/secret|more/);
  });

  test("a link that leads out and a dangling link get the same reply", async () => {
    const [out, gone] = [await glob(top, "out.t*"), await glob(top, "gone.t*")];
    expect(textOf(out).replaceAll("out.txt", "X")).toBe(textOf(gone).replaceAll("gone.txt", "X"));
    const listed = textOf(await sessionAt(top).call("LS", { path: "." }));
    expect(listed).toContain("- out.txt (link)\n");
    expect(listed).toContain("- gone.txt (link)\n");
    expect(listed).not.toMatch(/secret|nothing-here|outside/);
  });

  for (const pattern of ["out/*", "out/**", "out/deep/more.txt", "sub/up/../../*"]) {
    test(`${pattern} is refused`, async () => {
      const reply = await glob(top, pattern);
      expect(reply.error?.code).toMatch(/^(ACCESS_DENIED|INVALID_PARAM)$/);
      expect(textOf(reply)).not.toMatch(/secret/);
    });
  }

  test("an ignore file that is a link is not read", async () => {
    const { top: two } = workspace({ rules: "*.txt\n", w: { "a.txt": "x", ".gitignore": { link: "../rules" } } });
    expect(namesIn(await glob(`${two}/w`, "*.txt"))).toHaveLength(1);
  });
});

describe.skipIf(!onLinux)("folders that are swapped while a walk goes on", () => {
  const trap = () => {
    const { top } = workspace({ outside: { "secret.txt": "x" }, inside: { sub: { "a.txt": "x" } } });
    return { inside: `${top}/inside`, outside: `${top}/outside` };
  };

  test("a folder that became a link out is not entered", async () => {
    const { inside, outside } = trap();
    let listed = 0;
    const { found, tally } = await walked(inside, {
      ...nodeSystem,
      folderWhole: (path) => {
        const entries = nodeSystem.folderWhole(path);
        listed += 1;
        if (listed === 1) {
          fs.renameSync(`${inside}/sub`, `${inside}/../moved`);
          fs.symlinkSync(outside, `${inside}/sub`);
        }
        return entries;
      },
    });
    expect({ found, unreadable: tally.unreadable }).toEqual({ found: [], unreadable: 1 });
  });

  test("a root that was swapped for a link out is still the folder that was meant", async () => {
    const { inside, outside } = trap();
    let listed = 0;
    const { found } = await walked(inside, {
      ...nodeSystem,
      folderWhole: (path) => {
        listed += 1;
        if (listed === 1) {
          fs.renameSync(inside, `${inside}-moved`);
          fs.symlinkSync(outside, inside);
        }
        return nodeSystem.folderWhole(path);
      },
    });
    expect(found).toEqual(["sub/a.txt"]);
  });

  test("whichever call fails, no descriptor is left open and the rest is found", async () => {
    const { top } = workspace({ a: { b: { "1.txt": "x" }, ".gitignore": "x\n" }, c: { "2.txt": "x" }, "3.txt": "x" });
    const dry = faultySystem();
    await walked(top, dry);
    const { length: calls } = dry.calls;
    const settled: number[] = [];
    for (let n = 1; n <= calls; n += 1) {
      const system = faultySystem();
      system.failAt(n, "EIO");
      const outcome = await walked(top, system).catch(() => undefined);
      expect({ n, open: [...system.stillOpen], twice: system.closedTwice }).toEqual({ n, open: [], twice: [] });
      if (outcome !== undefined) settled.push(outcome.found.length);
    }
    expect(settled.length).toBeGreaterThan(calls / 2);
    expect(settled.filter((count) => count === 0)).toHaveLength(1);
  });
});

describe("A79 A80 bombs", () => {
  const { top } = workspace({ a: { a: { a: { b: "x" } } } });

  for (const [what, pattern] of [
    ["braces in braces", "{a,{b,{c,{d,{e,f}}}}}".repeat(12)],
    ["a range without end", "{1..999999999}"],
    ["ranges one after the other", "{1..99}{1..99}{1..99}"],
    ["a thousand names", "a/".repeat(999)],
    ["many groups", "+(+(+(a)))".repeat(9)],
    ["a very long text", "a".repeat(100_000)],
    ["open brackets without end", "[".repeat(1_500)],
    ["open braces without end", "{".repeat(1_500)],
    ["open groups without end", "@(".repeat(15)],
  ] as const) {
    test(`${what} are refused with a reason`, async () => {
      const reply = await glob(top, pattern);
      expect(reply.error?.code).toBe("INVALID_PARAM");
    });
  }

  for (const pattern of [`${"**/".repeat(150)}b`, `${"**/*/".repeat(60)}b`, `${"*a".repeat(200)}b`, "!(!(!(!(a))))"]) {
    test(`${pattern.slice(0, 20)}… is answered`, async () => {
      expect((await glob(top, pattern)).isError).toBe(false);
    });
  }

  test("a tree deeper than the number of folders that can be open at once", async () => {
    const { top: deep } = workspace({});
    let folder = deep;
    for (let depth = 0; depth < 300; depth += 1) fs.mkdirSync((folder = `${folder}/d`));
    fs.writeFileSync(`${folder}/end.txt`, "x");
    const before = openDescriptors();
    expect(namesIn(await glob(deep, "**/end.txt"))).toEqual([`${folder}/end.txt`]);
    expect(openDescriptors()).toBe(before);

    const system = faultySystem();
    let most = 0;
    system.onCall = () => (most = Math.max(most, system.stillOpen.size));
    const { found } = await walked(deep, system);
    expect(found).toHaveLength(1);
    if (onLinux) expect(most).toBeLessThan(120);
  });

  test("a search that is cancelled ends, with nothing left open", async () => {
    const { top: many } = workspace({});
    for (let folder = 0; folder < 60; folder += 1) {
      fs.mkdirSync(`${many}/${folder}`);
      for (let file = 0; file < 200; file += 1) fs.writeFileSync(`${many}/${folder}/${file}`, "");
    }
    const before = openDescriptors();
    const cancel = new AbortController();
    const seen: number[] = [];
    const reply = await sessionAt(many).call(
      "Glob",
      { pattern: "**" },
      {
        signal: cancel.signal,
        onProgress: (entries) => {
          seen.push(entries);
          cancel.abort();
        },
      },
    );
    expect(reply.error?.code).toBe("CANCELLED");
    expect(seen).toHaveLength(1);
    expect(seen[0]).toBeLessThan(12_000);
    expect(openDescriptors()).toBe(before);
  });
});

describe("A62 A68 A69 what rules hide", () => {
  const { top } = workspace({
    ".env": "x",
    "a.txt": "x",
    "server.key": "x",
    private: { "plan.txt": "x", deep: { "more.txt": "x" } },
    sub: { ".env.local": "x", id_rsa: "x", "b.txt": "x" },
    ...(onWindows ? {} : { alias: { link: "private" }, "alias.txt": { link: "private/plan.txt" } }),
  });
  const deny = { permissions: { deny: ["Read(private/**)", "Read(/private/)", "Read(**/.env*)"] } };

  for (const pattern of ["**", "**/*", "**/.*", "{**/*,**/.*}", "p*/**", "**/*.txt", "**/plan*", "*", "al*"]) {
    test(`${pattern} names nothing that is denied or a secret`, async () => {
      const reply = await glob(top, pattern, deny);
      expect(JSON.stringify(reply)).not.toMatch(/plan\.txt|more\.txt|\.env|server\.key|id_rsa|alias/);
    });
  }

  test("the number of hidden files is reported, and denied folders are not opened", async () => {
    const reply = await glob(top, "**/{*,.*}", deny);
    expect(reply.structured).toMatchObject({ totalMatches: 2, foldersHiddenByRules: 1 });
    expect(reply.structured).toHaveProperty("matchesHiddenByRules", 4);
  });

  test("files of our own are hidden without any rule of the user, in any letter case, and so is the state folder", async () => {
    const { top: mine } = workspace({
      sub: { "a.txt": "x", ".filehand-new-1.txt": "x", ".FileHand-undo-1.txt": "x" },
      "Filehand-locks-1": { "b.txt": "x" },
      state: { "c.txt": "x" },
    });
    const reply = await glob(mine, "**/{*,.*}.txt", { stateDir: `${mine}/state` });
    expect(namesIn(reply)).toEqual([`${mine}/sub/a.txt`]);
    expect((await glob(`${mine}/state`, "**", { stateDir: mine })).error?.code).toBe("ACCESS_DENIED");
    expect(JSON.stringify(await glob(mine, "**/.*"))).not.toMatch(/new-1|undo-1/i);
  });

  test("a denied file and a missing one get the same reply", async () => {
    const [there, missing] = [await glob(top, "private/plan.txt", deny), await glob(top, "private/nope.txt", deny)];
    expect(there.error?.code).toBe("ACCESS_DENIED");
    expect(textOf(missing)).toBe(textOf(there).replace("plan", "nope"));
  });

  test("a secret is listed if the pattern names it", async () => {
    expect(namesIn(await glob(top, "server.key"))).toEqual([`${top}/server.key`]);
    expect(namesIn(await glob(top, "*.key"))).toEqual([]);
  });

  test("a secret is listed if it may be read: Glob, Grep and Read agree", async () => {
    const { top: here } = workspace({ ".env": "KEY=1", id_rsa: "KEY=2", "x.txt": "KEY=3" });
    for (const [ask, number] of [
      ["yes", 3],
      [undefined, 1],
    ] as const) {
      const session = sessionAt(here, ask === undefined ? {} : { ask });
      const found = await session.call("Glob", { pattern: "{.*,*}" });
      const lines = await session.call("Grep", { pattern: "KEY" });
      expect([ask, namesIn(found).length, namesIn(lines).length]).toEqual([ask, number, number]);
      expect((await session.call("Read", { file_path: ".env" })).isError).toBe(ask === undefined);
    }
    const asked = sessionAt(here, { ask: async () => ({ reply: "always" }) });
    await asked.call("Read", { file_path: ".env" });
    expect(namesIn(await asked.call("Glob", { pattern: "{.*,*}" }))).toHaveLength(2);
    expect(namesIn(await asked.call("Grep", { pattern: "KEY" }))).toHaveLength(2);
  });

  test("LS lists nothing that is denied", async () => {
    const reply = await sessionAt(top, deny).call("LS", { path: "." });
    expect(JSON.stringify(reply)).not.toMatch(/private|plan|\.env|alias/);
    expect(reply.structured).toHaveProperty("hiddenByRules", onWindows ? 3 : 5);
  });
});

const noMount = missing("unshare", "mount");

describe.skipIf(noMount !== undefined)(`A45 A50 mounts${reason(noMount)}`, () => {
  const script = `set -e; mount -t proc none "$1/ws/m"; mount --bind "$1/out" "$1/ws/b"
cd "$1/ws"; HOME="$1" "$2" "$3" glob '**' --json; HOME="$1" "$2" "$3" ls --depth 3`;

  test("the kernel's own file systems are not searched, a folder that was mounted is", () => {
    const { top } = workspace({ out: { "b.txt": "x" }, ws: { "a.txt": "x", m: {}, b: {} } });
    const [found = "", ...listed] = inNamespace(script, top, process.execPath, program).split("\n");
    const { structured } = JSON.parse(found) as { readonly structured: object };
    expect(structured).toMatchObject({ totalMatches: 2, unreadableFolders: 1 });
    expect(found).not.toMatch(/cmdline|environ/);
    expect(listed.join("\n")).toContain("- m/ (cannot be read)");
  });
});

describe.skipIf(onWindows)("odd names", () => {
  test("they stand on one line and cannot act on a terminal", async () => {
    const { top } = workspace({ "two\nlines": "x", "red\u001b[31m": "x", "[No files found]": "x", "\u202etxt.a": "x" });
    const text = textOf(await glob(top, "**"));
    expect(text.split("\n")).toHaveLength(4);
    // oxlint-disable-next-line no-control-regex
    expect(text).not.toMatch(/[\u001b\u202e]/);
    const listed = textOf(await sessionAt(top).call("LS", { path: "." }));
    expect(listed.split("\n")).toHaveLength(5);
  });

  test.skipIf(!onLinux)("names that are not UTF-8 are listed and end nothing", async () => {
    const { top } = workspace({ "a.txt": "x" });
    fs.writeFileSync(Buffer.concat([Buffer.from(`${top}/b`), Buffer.from([0xff]), Buffer.from(".txt")]), "x");
    fs.mkdirSync(Buffer.concat([Buffer.from(`${top}/c`), Buffer.from([0xff])]));
    const reply = await glob(top, "**/*.txt");
    expect(namesIn(reply)).toEqual([`${top}/a.txt`, `${top}/b\ufffd.txt`]);
    const { reply: listed } = await sessionAt(top).run(() => ({
      verb: "ls",
      path: ".",
      from: lineNumber(1),
      entriesMax: 9,
      depth: 2,
    }));
    expect(textOf(listed)).toContain("c\ufffd/ (cannot be read)");
  });

  test.skipIf(noFifo !== undefined)("pipes are not opened and not found, but listed", async () => {
    const { top } = workspace({ "a.txt": "x" });
    execFileSync("mkfifo", [`${top}/b.txt`, `${top}/.gitignore`]);
    expect(namesIn(await glob(top, "*.txt"))).toEqual([`${top}/a.txt`]);
    expect(textOf(await sessionAt(top).call("LS", { path: "." }))).toContain("b.txt (pipe, socket or device)");
  });
});
