import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import * as nodePath from "node:path";
import * as fc from "fast-check";
import { afterAll, describe, test, vi } from "vitest";
import { createLocks, type LockKey, type Locks, LockTimeout } from "./lock.ts";

const top = fs.mkdtempSync(nodePath.join(tmpdir(), "filehand-lock-"));
afterAll(() => fs.rmSync(top, { recursive: true, force: true }));

let made = 0;
const newFolder = (): string => {
  made += 1;
  return nodePath.join(top, String(made));
};

const key = (name: string): LockKey => ({ folder: { device: 1n, inode: 2n }, name });
const never = new AbortController().signal;
const ms = (count: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, count));

describe("exclusive work", () => {
  test("leaves its lock file only while it runs, and hands its answer on", async () => {
    const folder = newFolder();
    const locks = createLocks({ folder });
    const answer = await locks.exclusively([key("a"), key("b"), key("a")], never, async () => {
      const names = fs.readdirSync(folder);
      equal(names.length, 2);
      // The mode of the folder decides who may read them.
      if (process.platform !== "win32")
        for (const name of names) ok(fs.lstatSync(nodePath.join(folder, name)).isSymbolicLink());
      return 42;
    });
    equal(answer, 42);
    deepEqual(fs.readdirSync(folder), []);
  });

  test("on one file comes in the order of the calls, on two files at the same time", async () => {
    const locks = createLocks({ folder: newFolder() });
    const log: string[] = [];
    let otherIsIn = (): void => undefined;
    const other = new Promise<void>((resolve) => void (otherIsIn = resolve));
    const run = (name: string, id: string): Promise<void> =>
      locks.exclusively([key(name)], never, async () => {
        log.push(`${id} in`);
        // Waits for ever if the other file has to wait for this one.
        if (id === "a1") await other;
        else await ms(1);
        if (id === "b1") otherIsIn();
        log.push(`${id} out`);
      });
    await Promise.all([run("a", "a1"), run("a", "a2"), run("b", "b1"), run("a", "a3")]);
    deepEqual(
      log.filter((line) => line.startsWith("a")),
      ["a1", "a2", "a3"].flatMap((id) => [`${id} in`, `${id} out`]),
    );
  });

  test("that fails leaves nothing and does not affect the calls after it", async () => {
    const folder = newFolder();
    const locks = createLocks({ folder });
    const failing = locks.exclusively([key("a")], never, () => Promise.reject(new Error("failed work")));
    const throwing = locks.exclusively([key("a")], never, () => {
      throw new Error("thrown at once");
    });
    const next = locks.exclusively([key("a")], never, () => Promise.resolve("done"));
    await rejects(failing, /failed work/u);
    await rejects(throwing, /thrown at once/u);
    equal(await next, "done");
    deepEqual(fs.readdirSync(folder), []);
  });

  test("of two owners of locks in one process excludes each other too", async () => {
    const folder = newFolder();
    let inside = 0;
    const run = (locks: Locks): Promise<void> =>
      locks.exclusively([key("a")], never, async () => {
        inside += 1;
        equal(inside, 1);
        await ms(2);
        inside -= 1;
      });
    const [one, other] = [createLocks({ folder }), createLocks({ folder })];
    await Promise.all(Array.from({ length: 20 }, (_, index) => run(index % 2 === 0 ? one : other)));
    deepEqual(fs.readdirSync(folder), []);
  });

  test("on any mix of files ends, never two at a file (random)", async () => {
    const names = ["a", "b", "c", "d"];
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            wants: fc.uniqueArray(fc.constantFrom(...names), { minLength: 1 }),
            owner: fc.constantFrom(0, 1),
            fails: fc.boolean(),
            cancelAfterMs: fc.option(fc.integer({ min: 0, max: 4 }), { freq: 4 }),
          }),
          { maxLength: 12 },
        ),
        async (calls) => {
          const folder = newFolder();
          const owners = [createLocks({ folder }), createLocks({ folder })];
          const inside = new Set<string>();
          const outcomes = calls.map(async ({ wants, owner, fails, cancelAfterMs }) => {
            const stop = new AbortController();
            if (cancelAfterMs !== null) setTimeout(() => stop.abort(new Error("cancelled")), cancelAfterMs);
            await owners[owner]?.exclusively(wants.map(key), stop.signal, async () => {
              for (const want of wants) {
                ok(!inside.has(want), `two at ${want}`);
                inside.add(want);
              }
              await ms(0);
              for (const want of wants) inside.delete(want);
              if (fails) throw new Error("failed");
            });
          });
          for (const outcome of await Promise.allSettled(outcomes)) {
            if (outcome.status === "rejected") ok(/failed|cancelled/u.test(String(outcome.reason)), outcome.reason);
          }
          deepEqual(fs.existsSync(folder) ? fs.readdirSync(folder) : [], []);
        },
      ),
      { numRuns: 40 },
    );
  });
});

describe("a call that waits", () => {
  test("for its turn gives up its place when it is cancelled", async () => {
    const locks = createLocks({ folder: newFolder() });
    const stop = new AbortController();
    const first = locks.exclusively([key("a")], never, () => ms(20));
    const second = locks.exclusively([key("a")], stop.signal, () => Promise.reject(new Error("must not run")));
    const third = locks.exclusively([key("a")], never, () => Promise.resolve("third"));
    stop.abort(new Error("cancelled"));
    await rejects(second, /cancelled/u);
    await first;
    equal(await third, "third");
  });

  test("for another owner gives up at once when it is cancelled, and leaves nothing", async () => {
    const folder = newFolder();
    const [one, other] = [createLocks({ folder }), createLocks({ folder })];
    const stop = new AbortController();
    await one.exclusively([key("b")], never, async () => {
      const waiting = other.exclusively([key("a"), key("b")], stop.signal, () => Promise.reject(new Error("no")));
      await ms(10);
      stop.abort("a reason that is no error");
      await waiting.then(
        () => ok(false),
        (reason: unknown) => equal(reason, "a reason that is no error"),
      );
      equal(fs.readdirSync(folder).length, 1);
    });
    equal(await other.exclusively([key("b")], never, () => Promise.resolve("free")), "free");
  });

  test("learns after the longest wait which process has the file", async () => {
    const folder = newFolder();
    const one = createLocks({ folder });
    const other = createLocks({ folder, waitMsMax: 60 });
    await one.exclusively([key("a")], never, async () => {
      const error: unknown = await other
        .exclusively([key("a")], never, () => Promise.resolve())
        .catch((caught: unknown) => caught);
      ok(error instanceof LockTimeout);
      equal(error.pid, process.pid);
      ok(error.message.includes(`process ${process.pid}`));
    });
    deepEqual(fs.readdirSync(folder), []);
  });

  test("does not keep many listeners on one signal", async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error): number => warnings.push(warning);
    process.on("warning", onWarning);
    const locks = createLocks({ folder: newFolder() });
    const { signal } = new AbortController();
    await Promise.all(Array.from({ length: 50 }, () => locks.exclusively([key("a")], signal, () => ms(0))));
    await ms(5);
    process.off("warning", onWarning);
    deepEqual(warnings, []);
  });
});

test("without contention there is no wait", async () => {
  const locks = createLocks({ folder: newFolder() });
  const timers = vi.spyOn(globalThis, "setTimeout");
  try {
    for (let round = 0; round < 500; round += 1) {
      await locks.exclusively([key("some/where/file.ts")], never, () => Promise.resolve());
    }
    equal(timers.mock.calls.length, 0);
  } finally {
    timers.mockRestore();
  }
});
