/** Undo and redo through the library: steps back and forth over turns, whoever began them. */

import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import * as fs from "node:fs";
import { afterEach, describe, test, vi } from "vitest";
import { nodeSystem } from "../../src/disk/system.ts";
import { onLinux, onWindows, workspace } from "../support/workspace.ts";
import { type DeskOptions, openWorkspace } from "./desk.ts";

const { path: place } = workspace({});
let desks = 0;
const desk = (options: DeskOptions = {}) => openWorkspace(place(`desk-${(desks += 1)}`), options);

describe("undo and redo", () => {
  test("go back and forth over turns", async () => {
    const d = desk();
    d.stranger("a.txt", "0\n");
    for (const n of [1, 2, 3]) await d.edit("a.txt", String(n - 1), String(n));
    const seen: string[] = [];
    for (const way of ["undo", "undo", "redo", "redo", "undo", "undo", "undo"] as const) {
      await d.session[way]();
      seen.push(d.read("a.txt").trim());
    }
    deepEqual(seen, ["2", "1", "2", "3", "2", "1", "0"]);
    await rejects(d.session.undo(), { code: "NO_TURN", message: /there is nothing to undo/ });
  });

  test("a rewind is undone by redo, and by a rewind to its own turn", async () => {
    const d = desk();
    await d.session.checkpoint("m1");
    await d.write("a.txt", "one\n");
    const { turn } = await d.session.rewind("m1");
    deepEqual(d.tree(), {});
    await d.session.redo();
    equal(d.read("a.txt"), "one\n");
    ok(turn !== undefined);
    await d.session.rewind("m1");
    await d.session.rewind(turn);
    equal(d.read("a.txt"), "one\n");
  });

  test("going back before an undo restores what it undid, and can be undone, even after a later change", async () => {
    const d = desk();
    d.stranger("a.txt", "0\n");
    await d.edit("a.txt", "0", "1");
    await d.edit("a.txt", "1", "2");
    const { turn } = await d.session.undo();
    await d.edit("a.txt", "1", "3");
    ok(turn !== undefined);
    await d.session.rewind(turn);
    const seen = [d.read("a.txt").trim()];
    for (const way of ["undo", "redo", "redo", "undo", "undo"] as const) {
      await d.session[way]();
      seen.push(d.read("a.txt").trim());
    }
    deepEqual(seen, ["2", "1", "2", "3", "1", "0"]);
  });

  test("a new change ends redo", async () => {
    const d = desk();
    await d.write("a.txt", "one\n");
    await d.session.undo();
    await d.write("b.txt", "two\n");
    await rejects(d.session.redo(), { code: "NO_TURN", message: /there is nothing to redo/ });
  });

  test("a change after an undo, in the same message, can be undone", async () => {
    const d = desk();
    d.stranger("a.txt", "0\n");
    await d.session.checkpoint("m1");
    await d.edit("a.txt", "0", "1");
    await d.session.checkpoint("m2");
    await d.edit("a.txt", "1", "2");
    await d.session.rewind("m1");
    await d.edit("a.txt", "0", "3");
    await d.session.undo();
    equal(d.read("a.txt"), "0\n");
    await d.session.redo();
    equal(d.read("a.txt"), "3\n");
  });

  test("changes after a rewind in the same turn can be rewound as well", async () => {
    const d = desk();
    d.stranger("a.txt", "one\n");
    await d.session.checkpoint("m1");
    await d.edit("a.txt", "one", "two");
    await d.session.rewind("m1");
    await d.edit("a.txt", "one", "three");
    await d.session.rewind("m1");
    equal(d.read("a.txt"), "one\n");
  });
});

describe("the limit of turns", () => {
  test("is not used up by undo and redo", async () => {
    const d = desk({ history: { snapshotsMax: 5 } });
    for (let n = 0; n < 5; n += 1) await d.write("a.txt", `${n}\n`);
    for (let n = 0; n < 12; n += 1) {
      await d.session.undo();
      await d.session.redo();
    }
    for (let n = 0; n < 5; n += 1) await d.session.undo();
    deepEqual(d.tree(), {});
    for (let n = 0; n < 5; n += 1) await d.session.redo();
    equal(d.read("a.txt"), "4\n");
  });

  test("is named in the error if older turns were pruned", async () => {
    const d = desk({ history: { snapshotsMax: 2 } });
    for (let n = 0; n < 4; n += 1) await d.write("a.txt", `${n}\n`);
    for (let n = 0; n < 2; n += 1) await d.session.undo();
    equal(d.read("a.txt"), "1\n");
    await rejects(d.session.undo(), /older ones are forgotten one by one; rewind to "start" goes back/);
    await d.session.rewind("start");
    deepEqual(d.tree(), {});
    await rejects(d.session.undo(), /there is nothing to undo/);
    await d.session.redo();
    await rejects(d.session.undo(), /older ones are forgotten/);
  });
});

describe.skipIf(!onLinux)("an error of the disk while one file is read", () => {
  afterEach(() => vi.restoreAllMocks());

  /** From now on reading the file fails, but for the first times. A toolkit that is made before has its system calls by then. */
  function failingReads(name: string): (fromRead: number) => void {
    const read = nodeSystem.read.bind(nodeSystem);
    let n = Number.POSITIVE_INFINITY;
    let reads = 0;
    vi.spyOn(nodeSystem, "read").mockImplementation((fd, ...given) => {
      if (!fs.readlinkSync(`/proc/self/fd/${fd}`).endsWith(`/${name}`)) return read(fd, ...given);
      reads += 1;
      if (reads >= n) throw Object.assign(new Error("EIO: made up"), { code: "EIO", errno: -5 });
      return read(fd, ...given);
    });
    return (fromRead) => {
      [n, reads] = [fromRead, 0];
    };
  }

  const ways = {
    undo: { first: [], left: "0" },
    redo: { first: ["undo"], left: "1" },
    rewind: { first: [], left: "0" },
  } as const;
  for (const way of ["undo", "redo", "rewind"] as const) {
    for (const n of [1, 2, 3]) {
      test(`keeps ${way} from no other file, and that file is named (from read ${n} on)`, async () => {
        const { first, left } = ways[way];
        const failFrom = failingReads("b.txt");
        const d = desk();
        const names = ["a", "b", "c"];
        for (const name of names) d.stranger(`${name}.txt`, `${name}0\n`);
        await d.session.checkpoint("m1");
        await d.patch(...names.flatMap((name) => [`*** Update File: ${name}.txt`, "@@", `-${name}0`, `+${name}1`]));
        for (const step of first) await d.session[step]();
        failFrom(n);
        const { files } = way === "rewind" ? await d.session.rewind("m1") : await d.session[way]();
        vi.restoreAllMocks();
        const came = new Map(files.map((file) => [file.relative, file]));
        deepEqual([came.get("a.txt")?.came, came.get("c.txt")?.came], ["done", "done"]);
        deepEqual([d.read("a.txt"), d.read("c.txt")], [`a${left}\n`, `c${left}\n`]);
        const b = came.get("b.txt");
        match(JSON.stringify([b?.came, b?.step]), n === 1 ? /"left".*"unreadable"/ : /"problem".*EIO/);
        equal(d.read("b.txt"), left === "0" ? "b1\n" : "b0\n");
      });
    }
  }
});

describe.skipIf(onWindows)("the mode of a file that is brought back", () => {
  for (const mode of [0o664, 0o666, 0o600, 0o755, 0o775, 0o777, 0o2775, 0o4755, 0o6711]) {
    test(`${mode.toString(8)} is that which it had, whatever the umask, after a delete and after a move`, async () => {
      const before = process.umask(0o027);
      try {
        const d = desk();
        for (const name of ["a.txt", "b.txt"]) {
          d.stranger(name, "x\n");
          fs.chmodSync(d.at(name), mode);
        }
        await d.patch("*** Delete File: a.txt", "*** Update File: b.txt", "*** Move to: c.txt", "@@", "-x", "+y");
        await d.session.undo();
        const modes = ["a.txt", "b.txt"].map((name) => (fs.statSync(d.at(name)).mode & 0o7777).toString(8));
        deepEqual(modes, [mode.toString(8), mode.toString(8)]);
      } finally {
        process.umask(before);
      }
    });
  }
});

describe("a damaged record", () => {
  /** One byte of the line in which a change of the file is written is another one. */
  function damage(stateDir: string, file: string): void {
    const logs = fs
      .readdirSync(stateDir, { recursive: true, encoding: "utf8" })
      .filter((name) => /(^|[\\/])log$/.test(name));
    for (const log of logs.map((name) => `${stateDir}/${name}`)) {
      const bytes = fs.readFileSync(log);
      const at = bytes.indexOf(`/${file}"`);
      if (at < 0) continue;
      bytes[at + 1] = (bytes[at + 1] ?? 0) ^ 1;
      fs.writeFileSync(log, bytes);
      return;
    }
    throw new Error("there is no such record");
  }

  test("never says that a file is as it was: its first change may be the one that is lost", async () => {
    const d = desk();
    for (const name of ["a.txt", "b.txt"]) d.stranger(name, "0\n");
    await d.edit("a.txt", "0", "1");
    await d.edit("a.txt", "1", "2");
    await d.edit("b.txt", "0", "1");
    damage(d.stateDir, "a.txt");
    // By the records that are left it was "1" in the beginning.
    d.stranger("a.txt", "1\n");
    const { files, damaged } = await d.session.rewind("start");
    equal(damaged, 1);
    deepEqual(
      files.map(({ relative, came, step }) => [relative, came, step.does, "why" in step ? step.why : undefined]),
      [
        ["a.txt", "left", "unavailable", "damaged record"],
        ["b.txt", "done", "restore", undefined],
      ],
    );
    const { reply } = await d.session.run(() => ({
      verb: "rewind",
      to: "start",
      files: undefined,
      force: false,
      as: "rewind",
    }));
    const words = reply.content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
    match(words, /1 record of the history cannot be read/);
    ok(!/as it was:/.test(words), words);
  });
});
