/**
 * A32 A33: the same racer while files are made, edited, replaced, written in place, moved, removed and brought back.
 * 10,000 changes; ten times as many in `npm run test:races`. Outside nothing is made, changed or removed, not even for
 * a moment, and inside the work goes on. A control that checks the folder first and writes then must be caught.
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import * as fs from "node:fs";
import { describe, test } from "vitest";
import type { Reply } from "../../src/contract/call.ts";
import { createFilehand, type FilehandOptions, type Session } from "../../src/index.ts";
import { everyAttempt } from "../support/changing.ts";
import { wholeOf, replyTo } from "../support/reading.ts";
import { snapshot } from "../support/snapshot.ts";
import { inMemory, onLinux, openAtLast, openDescriptors, type Tree, workspace } from "../support/workspace.ts";
import { type Racer, race, timesMore, untilCaught } from "./racer.ts";

const outside = "outside-content-88d2";
const changes = 10_000 * timesMore;
/** How many changes apart everything is held for a moment. */
const restEvery = 500;
const swappedFile = "edit of a swapped file";
const cell = { cell_type: "code", execution_count: null, id: "c1", metadata: {}, outputs: [], source: ["x"] };
const book = JSON.stringify({ cells: [cell], metadata: {}, nbformat: 4, nbformat_minor: 5 });

/** The same names inside and outside, so that an escape has something to hit. */
const folder = (content: string): Tree => ({
  "a.txt": `content ${content}\n`,
  "w.txt": `content ${content}\n`,
  "e.txt": `content ${content}\n`,
  "gone.txt": `content ${content}\n`,
  "hard.txt": `content ${content}\n`,
  "book.ipynb": book,
});

/** All that a name which is never at rest may be answered with. */
const allowedCodes = ["ACCESS_DENIED", "NOT_FOUND", "CHANGED", "STALE", "EXISTS", "NO_MATCH", "ROLLED_BACK", "NO_TURN"];

describe.skipIf(!onLinux)("A32 A33 (Linux only: elsewhere the window is narrowed, not closed)", () => {
  test("changes below names that are swapped for links to outside never reach what is outside", {
    timeout: 600_000 * timesMore,
  }, async () => {
    const { path: at } = workspace(
      {
        ws: {
          "still.txt": "at rest\n",
          dir: folder("inside"),
          inside: folder("inside"),
          "dir-evil": { link: "../out" },
          way: { link: "inside" },
          leaf: "content inside\n",
          "leaf-real": "content inside\n",
        },
        out: { ...folder(outside), leaf: `content ${outside}\n` },
        state: {},
      },
      inMemory(),
    );
    for (const name of ["dir", "inside"]) fs.linkSync(at("ws", name, "hard.txt"), at("ws", name, "hard-twin.txt"));
    const sentinels = snapshot(at("out"));
    const options: FilehandOptions = { roots: [at("ws")], ask: "yes", readFirst: false, dedup: false };
    const kept = createFilehand({ ...options, stateDir: at("state") }).session({ dialect: "claude", id: "race" });
    const racer = await race(["folder", "link", "leaf"], at("ws"));
    const codes: Record<string, number> = {};
    const done: Record<string, number> = {};
    try {
      const works = everyWork(
        createFilehand(options).session({ dialect: "claude" }),
        createFilehand({ ...options, hardLinks: "keep" }).session({ dialect: "claude" }),
      );
      const before = openDescriptors();
      for (let count = 0; count < changes; count += 1) {
        const place = ["dir", "way"][count % 2] ?? "dir";
        const [name, work] = works[Math.floor(count / 2) % works.length] ?? works[0];
        const reply = await work(place, count);
        tell(name, reply, codes, done);
        if (count % 10 === 0) await goBack(kept, place, count, codes, done);
        if (count % restEvery === 0) await atRest(racer, works, count);
        if (count % 50 === 0) {
          const reading = await kept.call("Read", { file_path: "still.txt" });
          equal(reading.isError, false, wholeOf(reading));
        }
      }
      equal(await openAtLast(before), before);
      ok(racer.runs(), "the racer died");
      deepEqual(snapshot(at("out")), sentinels);
      process.stderr.write(`race of ${changes} changes: ${JSON.stringify(done)}, ${JSON.stringify(codes)}\n`);
      deepEqual(
        Object.keys(codes).filter((code) => !allowedCodes.includes(code)),
        [],
      );
      // Some of them undo each other, so that a part must fail; on a machine under load three of five succeed.
      const each = changes / works.length;
      // Whether the one file is left alone for long enough is up to the racer, so that one is held to what it did at rest.
      for (const [name] of works)
        ok(
          name === swappedFile || (done[name] ?? 0) >= each / 100,
          `${name} succeeded too seldom: ${JSON.stringify(done)}`,
        );
      const succeeded = Object.values(done).reduce((sum, count) => sum + count, 0);
      ok(succeeded >= changes / 6, `only ${succeeded} of ${changes} changes succeeded`);
      const control = untilCaught(() => writesNaively(at("ws"), at("out")));
      ok(control.caught, `the racer is too slow: the naive control was not caught in ${control.tries} writes`);
    } finally {
      await racer.stop();
    }
    // Everything is in its place again, whole, and nothing of ours lies about.
    for (const name of ["dir", "inside"]) {
      ok(fs.readFileSync(at("ws", name, "e.txt"), "utf8").startsWith("content"));
      equal(
        fs.readFileSync(at("ws", name, "hard.txt"), "utf8"),
        fs.readFileSync(at("ws", name, "hard-twin.txt"), "utf8"),
      );
      deepEqual(
        fs.readdirSync(at("ws", name)).filter((entry) => entry.startsWith(".filehand-")),
        [],
      );
    }
  });
});

/**
 * While the racer rests, nothing is up to chance: the file that is swapped is edited if it is a file and refused if it is a
 * link to outside, and so are changes in the folder and by the way that leads outside.
 */
async function atRest(racer: Racer, works: readonly (readonly [string, Work])[], count: number): Promise<void> {
  const work = new Map(works);
  // No change is the same as one before, for that would be none.
  let next = changes + 100 * count;
  const codeOf = async (name: string, place: string): Promise<string> => {
    next += 1;
    const reply = await work.get(name)?.(place, next);
    return reply?.error?.code ?? (reply === undefined ? "no such work" : "done");
  };
  const inFolder = ["write", "create", "edit", "notebook-edit", "in place"];
  const replies = async (): Promise<Readonly<Record<string, string>>> => {
    const all: Record<string, string> = { [swappedFile]: await codeOf(swappedFile, "dir") };
    for (const name of inFolder)
      for (const place of ["dir", "way"]) all[`${name} in ${place}`] = await codeOf(name, place);
    return all;
  };
  const expected = (leaf: string): Readonly<Record<string, string>> => ({
    [swappedFile]: leaf,
    ...Object.fromEntries(
      inFolder.flatMap((name) => [
        [`${name} in dir`, "done"],
        [`${name} in way`, "ACCESS_DENIED"],
      ]),
    ),
  });
  deepEqual(await racer.atRest("file", replies), expected("done"));
  deepEqual(await racer.atRest("link", replies), expected("ACCESS_DENIED"));
}

type Work = (place: string, count: number) => Promise<Reply | undefined>;
/** Each change in both directions, so that there is always something to do. */
function everyWork(
  session: Session<"claude">,
  inPlace: Session<"claude">,
): readonly [readonly [string, Work], ...(readonly [string, Work])[]] {
  const attempts = everyAttempt(session, "spare.txt");
  const onPath =
    (verb: string, path: string): Work =>
    (place) =>
      Promise.resolve(attempts[verb]?.(`${place}/${path}`));
  const moved = (place: string, from: string, to: string): Promise<Reply> =>
    replyTo(session, (profile) => ({
      verb: "patch",
      patchText: `*** Begin Patch\n*** Update File: ${place}/${from}\n*** Move to: ${place}/${to}\n*** End Patch\n`,
      profile,
    }));
  /** Whichever of the two words stands there is replaced by the other. */
  const flip = async (path: string): Promise<Reply> => {
    const [one, other] = ["content", "contents!"];
    const reply = await session.call("Edit", { file_path: path, old_string: other, new_string: one });
    return reply.error?.code === "NO_MATCH"
      ? session.call("Edit", { file_path: path, old_string: one, new_string: other })
      : reply;
  };
  return [
    ["write", onPath("write", "w.txt")],
    ["create", (place, count) => Promise.resolve(attempts["write"]?.(`${place}/new-${count % 40}.txt`))],
    ["create in new folders", onPath("patch that adds", "made/deep/e.txt")],
    ["edit", (place) => flip(`${place}/e.txt`)],
    [swappedFile, () => flip("leaf")],
    [
      "notebook-edit",
      (place, count) =>
        session.call("NotebookEdit", {
          notebook_path: `${place}/book.ipynb`,
          cell_id: "c1",
          new_source: `x = ${count}`,
          edit_mode: "replace",
        }),
    ],
    ["add", onPath("patch that adds", "gone.txt")],
    ["move", (place) => moved(place, "gone.txt", "moved.txt")],
    ["move back", (place) => moved(place, "moved.txt", "gone.txt")],
    ["delete", onPath("patch that deletes", "gone.txt")],
    [
      "in place",
      (place, count) => inPlace.call("Write", { file_path: `${place}/hard.txt`, content: `content ${count}` }),
    ],
    ["delete what was made", onPath("patch that deletes", "made/deep/e.txt")],
  ];
}

function tell(
  name: string,
  reply: Reply | undefined,
  codes: Record<string, number>,
  done: Record<string, number>,
): void {
  ok(reply !== undefined);
  const whole = wholeOf(reply);
  ok(!whole.includes(outside), `an outside byte: ${whole}`);
  if (reply.error === undefined) done[name] = (done[name] ?? 0) + 1;
  else codes[reply.error.code] = (codes[reply.error.code] ?? 0) + 1;
}

type Kept = ReturnType<ReturnType<typeof createFilehand>["session"]>;

/** A change that is kept, and back again. */
async function goBack(
  session: Kept,
  place: string,
  count: number,
  codes: Record<string, number>,
  done: Record<string, number>,
): Promise<void> {
  await session.checkpoint(`turn-${count}`);
  tell(
    "kept write",
    await session.call("Write", { file_path: `${place}/a.txt`, content: `content ${count}\n` }),
    codes,
    done,
  );
  const outcome = await session.rewind(`turn-${count}`, { force: true }).catch((error: unknown) => {
    ok(error instanceof Error && "code" in error && error.code === "NO_TURN", String(error));
    return undefined;
  });
  ok(!JSON.stringify(outcome ?? {}).includes(outside));
  for (const { came } of outcome?.files ?? []) {
    if (came === "done") done["rewind"] = (done["rewind"] ?? 0) + 1;
    else if (typeof came === "object") codes[came.problem.code] = (codes[came.problem.code] ?? 0) + 1;
  }
}

/** Check, then use: into a name that only the control uses. */
function writesNaively(root: string, out: string): boolean {
  const real = fs.realpathSync.native(`${root}/dir`);
  if (real.startsWith(`${root}/`)) fs.writeFileSync(`${root}/dir/naive.txt`, "naive");
  return fs.existsSync(`${out}/naive.txt`);
}
