/** What undo must not stick at, and what a rewind must not say: through the library, on real files. */

import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { describe, test } from "vitest";
import { rewindAnswer } from "../../src/dialects/rewind-text.ts";
import { plainNames } from "../../src/dialects/words.ts";
import { deadMark } from "../support/dead-mark.ts";
import { onWindows, workspace } from "../support/workspace.ts";
import { type Desk, type DeskOptions, openWorkspace, rewindTwice, told } from "./desk.ts";

const { path: place } = workspace({});
let desks = 0;
const desk = (options: DeskOptions = {}): Desk => openWorkspace(place(`desk-${(desks += 1)}`), options);

type Rewound = Awaited<ReturnType<Desk["session"]["rewind"]>>;
/** In the words of the dialects. */
const said = (outcome: Rewound): string => rewindAnswer(outcome, ({ code }) => code, plainNames).text;

describe("undo skips a turn", () => {
  test("whose files were put back by hand, and says so", async () => {
    const d = desk();
    d.stranger("a.txt", "a0\n");
    d.stranger("b.txt", "b0\n");
    await d.session.checkpoint("m1");
    await d.edit("a.txt", "a0", "a1");
    await d.session.checkpoint("m2");
    await d.edit("b.txt", "b0", "b1");
    d.stranger("b.txt", "b0\n");
    const dry = await d.session.undo({ dryRun: true });
    const outcome = await d.session.undo();
    deepEqual([outcome.to, outcome.passed, dry.passed], ["m1", ["m2"], ["m2"]]);
    deepEqual([d.read("a.txt"), d.read("b.txt")], ["a0\n", "b0\n"]);
    match(said(outcome), /^Passed over "m2": its changes are undone already, or cannot be restored\.$/m);
    await d.session.redo();
    deepEqual([d.read("a.txt"), d.read("b.txt")], ["a1\n", "b0\n"]);
  });

  test("that touched nothing but secrets", async () => {
    const d = desk();
    d.stranger("a.txt", "a0\n");
    d.stranger(".env", "KEY=1\n");
    await d.edit("a.txt", "a0", "a1");
    await d.edit(".env", "KEY=1", "KEY=2");
    const outcome = await d.session.undo();
    deepEqual(told(outcome), { "a.txt": "restore: done", ".env": "unavailable (secret): left" });
    equal(outcome.passed.length, 1);
    equal(d.read("a.txt"), "a0\n");
    equal(d.read(".env"), "KEY=2\n");
  });

  test("but not one that can still be restored", async () => {
    const d = desk();
    d.stranger("a.txt", "a0\n");
    await d.edit("a.txt", "a0", "a1");
    await d.session.checkpoint("m2");
    await d.edit("a.txt", "a1", "a2");
    d.stranger("a.txt", "theirs\n");
    const outcome = await d.session.undo();
    deepEqual([outcome.to, outcome.passed, told(outcome)], ["m2", [], { "a.txt": "conflict (changed since): left" }]);
  });

  test("and if every turn is skipped, there is nothing to undo", async () => {
    const d = desk();
    for (const n of [1, 2]) {
      await d.session.checkpoint(`m${n}`);
      await d.write(`${n}.txt`, "new\n");
      fs.unlinkSync(d.at(`${n}.txt`));
    }
    await rejects(d.session.undo(), /nothing to undo/);
  });

  test("redo skips an undo whose files were restored by hand", async () => {
    const d = desk();
    d.stranger("a.txt", "a0\n");
    d.stranger("b.txt", "b0\n");
    await d.edit("a.txt", "a0", "a1");
    await d.edit("b.txt", "b0", "b1");
    await d.session.undo();
    await d.session.undo();
    d.stranger("a.txt", "a1\n");
    const outcome = await d.session.redo();
    deepEqual([outcome.passed.length, d.read("a.txt"), d.read("b.txt")], [1, "a1\n", "b1\n"]);
  });
});

describe("a message", () => {
  test("that continues after it was undone can be undone again", async () => {
    const d = desk();
    await d.session.checkpoint("m1");
    await d.write("a.txt", "one\n");
    await d.session.undo();
    await d.session.checkpoint("m1");
    await d.write("b.txt", "two\n");
    await d.session.undo();
    deepEqual(d.tree(), {});
    await d.session.redo();
    deepEqual(Object.keys(d.tree()), ["b.txt"]);
  });

  test("that continues after it was pruned is listed and can be undone", async () => {
    const d = desk({ history: { snapshotsMax: 3 } });
    d.stranger("a.txt", "0\n");
    for (let n = 1; n <= 5; n += 1) {
      await d.session.checkpoint(`m${n}`);
      await d.edit("a.txt", String(n - 1), String(n));
    }
    await (await d.session.history())?.tidy();
    await d.session.checkpoint("m1");
    await d.edit("a.txt", "5", "6");
    deepEqual(
      (await d.session.history())?.snapshots().map(({ messageId }) => messageId),
      ["m4", "m5", "m1"],
    );
    await d.session.undo();
    equal(d.read("a.txt"), "5\n");
  });
});

describe("secrets", () => {
  test("an edit of the same size counts as a change, and is reported as never stored", async () => {
    const d = desk();
    d.stranger(".env", "KEY=1\n");
    await d.session.checkpoint("m1");
    await d.edit(".env", "KEY=1", "KEY=2");
    const { dry, real } = await rewindTwice(d, "m1");
    deepEqual(dry, real);
    deepEqual(real, { ".env": "unavailable (secret): left" });
    const outcome = await d.session.rewind("m1");
    match(
      said(outcome),
      /left as it is: "\.env" \(it could not be brought back: it holds secrets and is never stored\)/,
    );
    equal(outcome.turn, undefined);
    const stats = await (await d.session.history())?.diffStats("m1");
    deepEqual(stats, { insertions: 0, deletions: 0, filesChanged: 1, uncounted: 1 });
  });

  test("a created secret is not deleted for good, unless forced", async () => {
    const d = desk();
    await d.session.checkpoint("m1");
    await d.write(".env", "KEY=1\n");
    const { dry, real } = await rewindTwice(d, "m1");
    deepEqual([dry, real], [real, { ".env": "conflict (never stored): left" }]);
    await d.session.rewind("m1", { force: true });
    deepEqual(d.tree(), {});
  });

  test("a later change by another program is noticed, even if the size is the same", async () => {
    const d = desk();
    await d.session.checkpoint("m1");
    await d.write(".env", "KEY=1\n");
    fs.unlinkSync(d.at(".env"));
    d.stranger(".env", "KEY=9\n");
    deepEqual(told(await d.session.rewind("m1")), { ".env": "conflict (changed since): left" });
  });
});

describe("a conflict", () => {
  test("between two changes of the session is reported as such", async () => {
    const d = desk();
    d.stranger("a.txt", "0\n");
    await d.session.checkpoint("m1");
    await d.edit("a.txt", "0", "1");
    d.stranger("a.txt", "1\ntheirs\n");
    await d.edit("a.txt", "1", "2");
    const outcome = await d.session.rewind("m1");
    deepEqual(told(outcome), { "a.txt": "conflict (changed in between): left" });
    match(said(outcome), /somebody else changed it between two changes of this session/);
    ok(!said(outcome).includes("since"));
  });

  test("that appears while a question about another file is open is not overwritten", async () => {
    const d = desk({
      ask: async () => {
        d.stranger("b.txt", "theirs\n");
        return { reply: "once" };
      },
    });
    const other = openWorkspace(d.top);
    await other.session.checkpoint("m1");
    await other.write("a.txt", "a1\n");
    await other.write("b.txt", "b1\n");
    deepEqual(told(await d.session.rewind("m1")), { "a.txt": "delete: done", "b.txt": "delete: STALE" });
    equal(d.read("b.txt"), "theirs\n");
  });
});

describe("a rewind of which every file was refused", () => {
  test("is no turn, and the next undo is the same as without it", async () => {
    const d = desk();
    await d.session.checkpoint("m1");
    await d.write("a.txt", "one\n");
    const denied = openWorkspace(d.top, { permissions: { deny: ["Edit(a.txt)"] } });
    const outcome = await denied.session.rewind("m1");
    deepEqual([outcome.turn, told(outcome)], [undefined, { "a.txt": "delete: ACCESS_DENIED" }]);
    const turns = (await d.session.history())?.snapshots().map(({ messageId }) => messageId);
    deepEqual(turns, ["m1"]);
    await d.session.undo();
    deepEqual(d.tree(), {});
  });
});

describe.skipIf(onWindows)("a hard link that was made since", () => {
  const linked = async (options: DeskOptions = {}) => {
    const d = desk(options);
    d.stranger("a.txt", "a0\n");
    d.stranger("b.txt", "b0\n");
    await d.session.checkpoint("m1");
    await d.edit("a.txt", "a0", "a1");
    await d.edit("b.txt", "b0", "b1");
    fs.linkSync(d.at("a.txt"), `${d.top}/other name`);
    return d;
  };

  for (const hardLinks of ["separate", "keep"] as const) {
    test(`is refused, the other file is restored (hardLinks: ${hardLinks})`, async () => {
      const d = await linked({ hardLinks });
      const { dry, real } = await rewindTwice(d, "m1");
      deepEqual(dry, real);
      deepEqual(real, { "a.txt": "conflict (linked since): left", "b.txt": "restore: done" });
      deepEqual([d.read("a.txt"), fs.readFileSync(`${d.top}/other name`, "utf8")], ["a1\n", "a1\n"]);
      equal(fs.statSync(d.at("a.txt")).nlink, 2);
    });
  }

  test("a hard link that a killed writer of Filehand left does not count", async () => {
    const first = desk();
    await first.session.checkpoint("m1");
    await first.write("a.txt", "one\n");
    fs.linkSync(first.at("a.txt"), first.at(`.filehand-new-${deadMark()}-db549342ac39`));
    const second = openWorkspace(first.top);
    const { dry, real } = await rewindTwice(second, "m1");
    deepEqual([dry, real], [real, { "a.txt": "delete: done" }]);
    deepEqual(fs.readdirSync(first.at(".")), []);
  });

  test("force restores the file anyway", async () => {
    const d = await linked();
    await d.session.rewind("m1", { force: true });
    deepEqual([d.read("a.txt"), fs.readFileSync(`${d.top}/other name`, "utf8")], ["a0\n", "a1\n"]);
  });

  test("a hard link that existed when the file was changed in place is no obstacle", async () => {
    const d = desk({ hardLinks: "keep" });
    d.stranger("a.txt", "a0\n");
    fs.linkSync(d.at("a.txt"), d.at("twin.txt"));
    await d.edit("a.txt", "a0", "a1");
    equal(d.read("twin.txt"), "a1\n");
    deepEqual(told(await d.session.undo()), { "a.txt": "restore: done" });
    deepEqual([d.read("a.txt"), d.read("twin.txt")], ["a0\n", "a0\n"]);
  });

  test("the hard link of the store itself does not count", async () => {
    const d = desk();
    const large = (letter: string): string => `${letter.repeat(1_500_000)}\n`;
    d.stranger("big.txt", large("a"));
    await d.session.checkpoint("m1");
    await d.write("big.txt", large("b"));
    // As a change leaves it that was announced and then did not happen.
    const content = createHash("sha256").update(large("b")).digest("hex");
    const folder = `${d.stateDir}/history/blobs/${content.slice(0, 2)}`;
    fs.mkdirSync(folder, { recursive: true });
    fs.linkSync(d.at("big.txt"), `${folder}/${content}`);
    equal(fs.statSync(d.at("big.txt")).nlink, 2);
    deepEqual(told(await d.session.rewind("m1")), { "big.txt": "restore: done" });
    ok(d.read("big.txt").startsWith("aaa"));
  });
});

describe("what is recorded", () => {
  test("of a rename by patch, both halves and the mode", async () => {
    const d = desk();
    d.stranger("old.sh", "one\n");
    if (!onWindows) fs.chmodSync(d.at("old.sh"), 0o755);
    await d.session.checkpoint("m1");
    await d.patch("*** Update File: old.sh", "*** Move to: bin/new.sh", "@@", "-one", "+two");
    const changes = (await d.session.history())?.changes("m1") ?? [];
    const [from, to] = ["old.sh", "bin/new.sh"].map((name) => changes.find(({ relative }) => relative === name));
    deepEqual([from?.movedTo, to?.movedFrom], [to?.path, from?.path]);
    deepEqual([from?.after.kind, to?.before.kind], ["absent", "absent"]);
    if (!onWindows) equal(from?.before.kind === "file" && from.before.mode, 0o755);
  });

  test("of several turns, each file from before the first change to after the last", async () => {
    const d = desk();
    for (const [turn, text] of [
      ["m1", "1"],
      ["m2", "22"],
      ["m3", "333"],
    ] as const) {
      await d.session.checkpoint(turn);
      await d.write("a.txt", text);
    }
    const history = await d.session.history();
    const sizes = (from: string, to?: string) =>
      history
        ?.changes(from, to)
        .map(({ before, after }) => [before, after].map((one) => (one.kind === "file" ? one.sizeBytes : "-")));
    deepEqual(sizes("m2"), [[1, 2]]);
    deepEqual(sizes("m1", "m3"), [["-", 3]]);
    deepEqual([sizes("m3", "m1"), sizes("what")], [[], []]);
  });

  test.skipIf(onWindows)("of an edit through a link, the file that it leads to; the link stays", async () => {
    const d = desk();
    d.stranger("real.txt", "one\n");
    fs.symlinkSync("real.txt", d.at("link.txt"));
    await d.edit("link.txt", "one", "two");
    deepEqual(told(await d.session.undo()), { "real.txt": "restore: done" });
    deepEqual([d.read("real.txt"), fs.readlinkSync(d.at("link.txt"))], ["one\n", "real.txt"]);
  });
});

describe("a store that cannot be read", () => {
  /** A folder where the journal should be: reading it fails, whoever runs the test. */
  const broken = async (): Promise<Desk> => {
    const d = desk();
    d.stranger("a.txt", "a0\n");
    await d.session.checkpoint("m1");
    await d.edit("a.txt", "a0", "a1");
    const sessions = `${d.stateDir}/history/sessions`;
    fs.rmSync(sessions, { recursive: true });
    fs.writeFileSync(sessions, "in the way");
    return openWorkspace(d.top);
  };

  test("is an expected failure of undo, redo, rewind and observe that says what to do", async () => {
    const d = await broken();
    const expected = { name: "FilehandError", code: "NO_TURN", message: /cannot be read.*filehand history verify/ };
    await rejects(d.session.undo(), expected);
    await rejects(d.session.redo(), expected);
    await rejects(d.session.rewind("m1"), expected);
    await d.session.observe();
    d.stranger("observed.txt", "new\n");
    await rejects(d.session.observe(), expected);
  });

  test("is reported by verify and by lists", async () => {
    const d = await broken();
    const history = await d.filehand.history();
    const faults = (await history?.verify())?.faults ?? [];
    ok(faults.some((fault) => fault.fault === "unreadable" && fault.file.endsWith("sessions")));
    await rejects(async () => history?.sessions(), { code: "IO_ERROR", message: /filehand history verify/ });
  });

  test.skipIf(onWindows)("one content that cannot be read fails by name, the other file is restored", async () => {
    const d = desk();
    for (const name of ["a", "b"]) d.stranger(`${name}.txt`, `${name}0\n`);
    await d.session.checkpoint("m1");
    for (const name of ["a", "b"]) await d.edit(`${name}.txt`, `${name}0`, `${name}1`);
    await (await d.filehand.history())?.gc({ graceMs: 0 });
    const [version] = Object.values((await d.session.history())?.snapshots()[0]?.trackedFileBackups ?? {});
    ok(version?.kind === "file" && version.content !== undefined);
    const folder = `${d.stateDir}/history/blobs/${version.content.slice(0, 2)}`;
    fs.rmSync(folder, { recursive: true });
    fs.writeFileSync(folder, "in the way");
    const again = openWorkspace(d.top);
    const { dry, real } = await rewindTwice(again, "m1");
    deepEqual(dry, real);
    deepEqual(real, { "a.txt": "unavailable (damaged): left", "b.txt": "restore: done" });
  });
});
