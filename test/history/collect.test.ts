/** Limits of size and age, and contents that go only when nobody can need them. */

import { deepEqual, equal, ok } from "node:assert/strict";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { describe, test } from "vitest";
import { processIdentity } from "../../src/disk/lock/process-identity.ts";
import { workspace } from "../support/workspace.ts";
import { type BedOptions, blobFiles, makeBed } from "./bed.ts";

const { path: place } = workspace({});
let tops = 0;
const top = (): string => place(`top-${(tops += 1)}`);
/** Bytes that do not compress, the same for the same seed. */
const noise = (seed: number, bytes: number): Buffer =>
  Buffer.concat(
    Array.from({ length: Math.ceil(bytes / 32) }, (_, at) => createHash("sha256").update(`${seed} ${at}`).digest()),
  ).subarray(0, bytes);

/** A session with some turns on a file of its own. */
async function sessionIn(folder: string, sessionId: string, turns: number, options: BedOptions = {}) {
  const bed = makeBed(folder, { ...options, sessionId });
  for (let n = 0; n < turns; n += 1) {
    await bed.turn(`${sessionId}-${n}`);
    await bed.write(`${sessionId}.bin`, noise(n + sessionId.length * 1_000, 20_000));
  }
  return bed;
}

const hourMs = 3_600_000;

describe("collecting", () => {
  test("a session unused for long is removed with its contents, except contents that another session needs", async () => {
    const folder = top();
    const old = await sessionIn(folder, "old", 3);
    await old.write("shared", "shared");
    await old.history.gc({ graceMs: 0 });
    const young = makeBed(folder, { sessionId: "young" });
    await young.turn("y");
    await young.write("shared", "shared, changed");
    const long = (Date.now() - 40 * 24 * hourMs) / 1_000;
    fs.utimesSync(`${old.store}/sessions/s-old/log`, long, long);
    const collected = await young.history.gc({ graceMs: 0 });
    ok(collected !== "not due");
    deepEqual([collected.sessionsRemoved, collected.contentsRemoved, collected.over], [1, 3, false]);
    deepEqual(
      young.history.sessions().map(({ id }) => id),
      ["young"],
    );
    deepEqual((await young.history.verify()).faults, []);
    await young.rewind("y", { id: "r" });
    equal(young.tree()["shared"], "644 shared");
  });

  test("above the size limit the oldest sessions go, then turns of those in use, never first versions", async () => {
    const folder = top();
    const first = await sessionIn(folder, "first", 3);
    await first.history.gc({ graceMs: 0 });
    const past = (Date.now() - 5 * hourMs) / 1_000;
    fs.utimesSync(`${first.store}/sessions/s-first/log`, past, past);
    const bed = await sessionIn(folder, "second", 10, { bytesMax: 90_000 });
    const collected = await bed.history.gc({ graceMs: 0 });
    ok(collected !== "not due");
    deepEqual([collected.sessionsRemoved, collected.over], [1, false]);
    ok((await bed.history.usage()).bytes <= 90_000);
    equal((await bed.plan("second-0")).found, "pruned");
    deepEqual((await bed.history.verify()).faults, []);
    await bed.rewind("start", { id: "r" });
    ok(!("second.bin" in bed.tree()));
  });

  test("a collection that is not due does nothing", async () => {
    const bed = await sessionIn(top(), "s", 1);
    ok((await bed.history.gc()) !== "not due");
    equal(await bed.history.gc({ unlessWithinMs: hourMs }), "not due");
  });

  test("a young content stays, and one moved to the trash is restored when a record needs it", async () => {
    const bed = await sessionIn(top(), "s", 1);
    await bed.history.gc({ graceMs: 0 });
    const [file = ""] = blobFiles(bed.store);
    fs.rmSync(`${bed.store}/sessions`, { recursive: true });
    await bed.history.gc();
    deepEqual(blobFiles(bed.store), [file]);
    // As a collection in another process leaves it that looked before the record was written.
    const [part = "", name = ""] = file.split("/").slice(-2);
    fs.mkdirSync(`${bed.store}/trash`);
    fs.renameSync(file, `${bed.store}/trash/${Date.now()}_${part}_${name}`);
    const read = await bed.session.open(name.replace(".br", ""));
    ok(typeof read !== "string");
    read.close();
    deepEqual(blobFiles(bed.store), [file]);
  });

  test("contents are stored and swept concurrently, and none that a record needs is lost", async () => {
    const folder = top();
    const bed = await sessionIn(folder, "s", 2);
    const busy = new AbortController();
    const collecting = (async () => {
      const { history } = makeBed(folder);
      while (!busy.signal.aborted) await history.gc({ graceMs: 1 });
    })();
    for (let n = 0; n < 150; n += 1) {
      await bed.turn(`m${n}`);
      await bed.write("f", noise(n % 4, 6_000));
      if (n % 10 === 9) await bed.session.tidy();
    }
    busy.abort();
    await collecting;
    deepEqual((await bed.history.verify()).faults, []);
  });

  test("drafts of a dead process are swept, those of a living one and of another machine stay", async () => {
    const bed = await sessionIn(top(), "s", 1);
    await bed.history.gc({ graceMs: 0 });
    const [, , realm = ""] = processIdentity().split("-");
    const names = [
      `4194304-1-${realm}-000000000000`,
      `${processIdentity()}-000000000000`,
      "1-1-000000000000-000000000000",
    ];
    for (const name of names) fs.writeFileSync(`${bed.store}/drafts/${name}`, "");
    await bed.history.gc();
    deepEqual(fs.readdirSync(`${bed.store}/drafts`).toSorted(), names.slice(1).toSorted());
  });

  test("packs of other processes are read, and taken apart when their makers have ended", async () => {
    const folder = top();
    const bed = await sessionIn(folder, "s", 2);
    deepEqual(blobFiles(bed.store), []);
    const [pack = ""] = fs.readdirSync(`${bed.store}/packs`);
    const [, , realm = ""] = processIdentity().split("-");
    const later = makeBed(folder, { sessionId: "s" });
    deepEqual((await later.history.verify()).faults, []);
    const dead = `4194304-1-${realm}-000000000000`;
    fs.renameSync(`${bed.store}/packs/${pack}`, `${bed.store}/packs/${dead}`);
    fs.appendFileSync(`${bed.store}/packs/${dead}`, "\n half an entry");
    await later.history.gc();
    deepEqual([fs.readdirSync(`${bed.store}/packs`), blobFiles(bed.store)], [[dead], []], "it is young");
    await later.history.gc({ graceMs: 0 });
    deepEqual([fs.readdirSync(`${bed.store}/packs`), blobFiles(bed.store).length], [[], 2]);
    deepEqual((await later.history.verify()).faults, []);
  });

  test("a damaged pack costs the contents in it that are damaged, by name", async () => {
    const bed = await sessionIn(top(), "s", 3);
    const [pack = ""] = fs.readdirSync(`${bed.store}/packs`);
    const bytes = fs.readFileSync(`${bed.store}/packs/${pack}`);
    bytes[200] = (bytes[200] ?? 0) ^ 255;
    fs.writeFileSync(`${bed.store}/packs/${pack}`, bytes);
    const { faults } = await makeBed(bed.store.replace(/\/state\/history$/u, "")).history.verify();
    deepEqual(
      faults.map(({ fault }) => fault),
      ["damaged content"],
    );
  });
});
