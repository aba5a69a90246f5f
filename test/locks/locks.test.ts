/**
 * Locks between processes, some of which are killed at any moment. Nothing may be lost, nobody may wait for ever, and
 * never may two be inside; a control without locks shows that the same work does lose without them.
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import { type ChildProcess, fork, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import * as fs from "node:fs";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, describe, test } from "vitest";
import { processIdentity } from "../../src/disk/lock/process-identity.ts";
import { workspace } from "../support/workspace.ts";

const { path: at } = workspace({});
const bundle = at("lock.mjs");
const children: ChildProcess[] = [];

beforeAll(async () => {
  const built = await rolldown({
    input: fileURLToPath(new URL("../../src/disk/lock/lock.ts", import.meta.url)),
    platform: "node",
    transform: { target: "node20" },
    external: ["koffi"],
  });
  await built.write({ file: bundle, format: "esm", codeSplitting: false });
  await built.close();
});

afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
});

interface Worker {
  readonly child: ChildProcess;
  readonly heard: string[];
  do(task: string, count?: number, atMs?: number): void;
  /** Resolves when the worker has said this, or has ended. */
  said(word: string): Promise<void>;
}

async function start(locks: string, file: string, id: string): Promise<Worker> {
  const program = fileURLToPath(new URL("worker.js", import.meta.url));
  const child = fork(program, [bundle, locks, file, id], { execArgv: [] });
  children.push(child);
  const heard: string[] = [];
  let onNews = (): void => undefined;
  child.on("message", ({ word }: { readonly word: string }) => {
    heard.push(word);
    onNews();
  });
  child.on("exit", () => onNews());
  const worker: Worker = {
    child,
    heard,
    do: (task, count = 0, atMs = 0) => void child.send({ task, count, atMs }),
    async said(word) {
      while (!heard.includes(word) && child.exitCode === null && child.signalCode === null) {
        await new Promise<void>((resolve) => {
          onNews = resolve;
        });
      }
    },
  };
  await worker.said("ready");
  return worker;
}

const startAll = (count: number, locks: string, file: string): Promise<readonly Worker[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => start(locks, file, `w${index}`)));

const filesIn = (folder: string): readonly string[] => fs.readdirSync(folder);

describe("processes that work on one file", () => {
  test("lose nothing: twelve with forty increments each", async () => {
    const [locks, file] = [at("locks-sum"), at("sum")];
    fs.writeFileSync(file, "0");
    const workers = await startAll(12, locks, file);
    const startMs = performance.now();
    for (const worker of workers) worker.do("count", 40);
    await Promise.all(workers.map((worker) => worker.said("done")));
    process.stderr.write(`480 increments by 12 processes: ${Math.round(performance.now() - startMs)} ms\n`);
    equal(fs.readFileSync(file, "utf8"), "480");
    deepEqual(filesIn(locks), []);

    // All read before any of them writes, which only a lock prevents.
    fs.writeFileSync(file, "0");
    for (const task of ["read without a lock", "write without a lock"]) {
      for (const worker of workers) {
        worker.heard.length = 0;
        worker.do(task);
      }
      await Promise.all(workers.map((worker) => worker.said("done")));
    }
    equal(fs.readFileSync(file, "utf8"), "1", "even without locks nothing was lost: this proves nothing");
    for (const { child } of workers) child.disconnect();
  });

  test("lose nothing that was acknowledged when some are killed at any moment", async () => {
    const [locks, file] = [at("locks-kill"), at("numbers")];
    fs.writeFileSync(file, "{}");
    const workers = [...(await startAll(4, locks, file))];
    for (const worker of workers) worker.do("count until killed");
    const kills = 14;
    for (let kill = 0; kill < kills; kill += 1) {
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 60));
      const victim = workers[workers.length - 1 - Math.floor(Math.random() * 4)];
      victim?.child.kill("SIGKILL");
      const next = await start(locks, file, `k${kill}`);
      next.do("count until killed");
      // Four are alive at each moment: the last four of the list, the victim's place being taken by the new one.
      if (victim !== undefined) workers.splice(workers.indexOf(victim), 1, next);
      if (victim !== undefined) workers.unshift(victim);
    }
    const alive = workers.slice(-4);
    const heardBefore = alive.map(({ heard }) => heard.length);
    await Promise.all(alive.map(({ child }) => once(child, "message")));
    alive.forEach(({ heard }, index) => ok(heard.length > (heardBefore[index] ?? 0), "somebody waits for ever"));
    await Promise.all(
      alive.map(async ({ child }) => {
        child.kill("SIGKILL");
        await once(child, "exit");
      }),
    );

    const numbers = JSON.parse(fs.readFileSync(file, "utf8")) as Record<string, number>; // written by worker.js
    let acknowledged = 0;
    for (const { child, heard } of workers) {
      const id = child.spawnargs.at(-1) ?? "";
      const count = heard.filter((word) => word === "counted").length;
      acknowledged += count;
      const written = numbers[id] ?? 0;
      // Those whose word was still under way when the process was killed.
      ok(written >= count, `${id}: ${count} acknowledged, ${written} written`);
    }
    process.stderr.write(`${kills + 4} processes killed: ${acknowledged} increments acknowledged, none lost\n`);
    // Whoever comes next finds all locks free, and leaves a clean folder.
    fs.writeFileSync(file, "0");
    const last = await start(locks, file, "last");
    last.do("count", 1);
    await last.said("done");
    equal(fs.readFileSync(file, "utf8"), "1");
    deepEqual(filesIn(locks), []);
    last.child.disconnect();
  });

  test("that wait for one dead holder, or its dead heir, never both get the lock", async () => {
    const [locks, file] = [at("locks-heirs"), at("heirs")];
    const [, , realm = ""] = processIdentity().split("-");
    // With a start at which nothing has started: its number may have been given out again.
    const deadMark = `${spawnSync(process.execPath, ["-e", ""]).pid}-1-${realm}`;
    const workers = await startAll(3, locks, file);
    fs.mkdirSync(locks, { recursive: true, mode: 0o700 });
    for (let round = 0; round < 200; round += 1) {
      const name = createHash("sha256").update(`1:1:round ${round}`).digest("hex").slice(0, 32);
      fs.writeFileSync(`${locks}/${name}`, `${deadMark} aa-${round}\n`);
      if (round % 2 === 1) fs.writeFileSync(`${locks}/${name}.aa-${round}`, `${deadMark} bb-${round}\n`);
      for (const { heard } of workers) heard.length = 0;
      const atMs = Date.now() + 3;
      for (const worker of workers) worker.do("inherit", round, atMs);
      await Promise.all(workers.map((worker) => worker.said("done")));
      deepEqual(
        workers.flatMap(({ heard }) => heard.filter((word) => word !== "done")),
        [],
      );
      deepEqual(filesIn(locks), []);
    }
    for (const { child } of workers) child.disconnect();
  });
});
