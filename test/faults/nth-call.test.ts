/** Every system call of every change fails once, with every error a disk may give: old content or new, as reported. */

import { deepEqual, equal, match, ok } from "node:assert/strict";
import * as fs from "node:fs";
import { describe, test } from "vitest";
import { nodeSystem, type System } from "../../src/disk/system.ts";
import { type Errno, faultySystem, type FaultySystem, paced } from "../support/faulty-system.ts";
import { onWindows, openDescriptors, workspace } from "../support/workspace.ts";
import { type Change, everyChange, everyWrite, litter, promised } from "./changes.ts";

const errnos: readonly Errno[] = ["ENOSPC", "EIO", "EACCES", "EROFS", "EMFILE", "EDQUOT"];

const { path: at } = workspace({});
let folders = 0;

function prepared(change: Change): string {
  folders += 1;
  const folder = at(`f${folders}`);
  fs.mkdirSync(folder);
  change.prepare(folder);
  return folder;
}

/** Calls that change something or make it durable, in the order that a power cut demands. */
const orders: Readonly<Record<string, string>> = {
  "a replace": "make write changeMode sync rename sync",
  "a replace with its folder held and other work to do": "make write changeMode sync rename sync",
  // The journal and its name are safe before the file is touched, and the file before the journal goes.
  "a write in place": "make write write write write sync sync write write sync unlink sync",
  "a write in place that makes the file shorter":
    "make write write write write sync sync write truncate sync unlink sync",
  "a create in folders that are missing": "makeFolder sync makeFolder sync make write sync link unlink sync",
  "a remove": "unlink sync",
  "a remove of an empty folder": "removeFolder sync",
  "a folder that is made": "makeFolder sync makeFolder changeMode sync",
  // The journal is safe before the folder loses its name, and says that all is done before its content goes.
  "a remove of a folder with files, a link and a folder in it": [
    "make write make write sync sync unlink sync rename sync write sync",
    "unlink unlink unlink removeFolder unlink unlink removeFolder removeFolder unlink",
  ].join(" "),
  // Every file and folder of the copy is safe before it gets its name.
  "a copy of a folder with files, a link and a folder in it": [
    "makeFolder sync makeFolder make write changeMode sync makeFolder makeFolder changeMode sync",
    "make write changeMode sync changeMode sync changeMode sync rename sync",
  ].join(" "),
  "a move of a folder": "makeFolder sync rename sync sync",
  // The new content and the journal are safe before the first file is touched, and the second names of the old files too.
  "several files as one, one of them in place": [
    "make write make write changeMode sync makeFolder sync makeFolder sync make write sync",
    "make write sync sync unlink link sync sync",
    "rename make write write write write sync sync write write sync link unlink rename",
    // The old files lose their second names when the journal says that all is done.
    "sync sync write sync unlink unlink unlink unlink unlink unlink unlink unlink",
  ].join(" "),
};

describe.skipIf(onWindows)("the order of calls", () => {
  // Of two at once each has its own order, and threads decide who is first.
  for (const change of everyChange.filter(({ title }) => !title.includes("another file"))) {
    const changing = /^(make|makeFolder|removeFolder|write|changeMode|sync|syncLater|rename|link|unlink|truncate)$/u;
    const orderOn = async (system: FaultySystem): Promise<string> => {
      await change.run(prepared(change), system);
      return system.calls.filter((name) => changing.test(name)).join(" ");
    };
    test(change.title, async () => equal(await orderOn(faultySystem()), orders[change.title]));
    test(`${change.title}, on a slow disk, where no call waits for the sync of a file`, async () => {
      const order = await orderOn(faultySystem(paced(nodeSystem, 1_000)));
      equal(order.replaceAll("syncLater", "sync"), orders[change.title]);
      if (change.title.startsWith("a replace")) match(order, /^make write changeMode syncLater rename/);
      if (change.title.endsWith("other work to do")) match(order, /rename syncLater$/);
    });
  }
});

/** With handles, and with names and calls that do not hold the process, as on macOS and on network mounts. */
const bases = [
  { way: "at once", base: paced(nodeSystem, 0), errnos },
  { way: "at once, a slow disk", base: paced(nodeSystem, 1_000), errnos: ["EIO"] },
  { way: "later", base: { ...paced(nodeSystem, 0), platform: "darwin" }, errnos: ["ENOSPC", "EIO"] },
] as const;

describe.skipIf(onWindows)("the n-th system call fails", () => {
  for (const change of everyChange) {
    // A change of many steps takes long, and its steps are those of the others.
    const isEnough = ({ way, errno }: { readonly way: string; readonly errno: Errno }): boolean =>
      !change.title.startsWith("several") ||
      `${way}, ${errno}` === "at once, EIO" ||
      `${way}, ${errno}` === "later, ENOSPC";
    for (const { way, base, errno } of bases
      .flatMap(({ errnos: some, ...rest }) => some.map((errno) => ({ ...rest, errno })))
      .filter(isEnough)) {
      test(`${change.title}, ${way}, ${errno}: old or new as reported, nothing left, nothing open`, async () => {
        const clean = faultySystem(base);
        const first = prepared(change);
        equal(promised(await change.run(first, clean)), "new");
        equal(change.judge(first), "new");
        const total = clean.calls.length;
        ok(total > 10);
        const before = openDescriptors();
        for (let n = 1; n <= total; n += 1) {
          const folder = prepared(change);
          const system = faultySystem(base);
          system.failAt(n, errno);
          let outcome: Awaited<ReturnType<Change["run"]>>;
          try {
            outcome = await change.run(folder, system);
          } catch (error) {
            ok(error instanceof Error && error.name === "RootError", String(error));
            outcome = "not looked up";
          }
          const where = `call ${n} of ${total}, ${system.calls[n - 1]}: ${JSON.stringify(outcome, plain)}`;
          equal(change.judge(folder), promised(outcome), where);
          deepEqual(litter(folder), [], where);
          deepEqual([...system.stillOpen, ...system.closedTwice], [], where);
          fs.rmSync(folder, { recursive: true });
        }
        equal(openDescriptors(), before);
      });
    }

    test(`${change.title}: if everything fails from the n-th call on, the old content is there or the new`, async () => {
      const clean = faultySystem();
      await change.run(prepared(change), clean);
      for (let n = 1; n <= clean.calls.length; n += 1) {
        const folder = prepared(change);
        const system = faultySystem();
        // Again and again: nothing can be tidied up, and nothing may be said that is not so.
        system.failAt(n, "EIO");
        system.onCall = (count) => {
          if (count >= n) system.failAt(1, "EIO");
        };
        let outcome: Awaited<ReturnType<Change["run"]>> | undefined;
        try {
          outcome = await change.run(folder, system);
        } catch (error) {
          ok(error instanceof Error && error.name === "RootError", String(error));
        }
        const where = `from call ${n}, ${system.calls[n - 1]}: ${JSON.stringify(outcome, plain)}`;
        if (outcome === undefined || outcome === "not looked up" || outcome.did !== "damaged") {
          const state = change.judge(folder);
          equal(state === "half-made folders" ? "old" : state, promised(outcome ?? "not looked up"), where);
        } else ok(fs.existsSync(`${folder}/${litter(folder)[0]}`), where);
        deepEqual([...system.stillOpen, ...system.closedTwice], [], where);
      }
    });
  }
});

describe.skipIf(onWindows)("a file system that lies", () => {
  for (const change of everyWrite) {
    test(`${change.title}: short writes make the whole content`, async () => {
      const folder = prepared(change);
      const system = {
        ...nodeSystem,
        write: (fd: number, from: Uint8Array, offset: number, length: number, place: number) =>
          nodeSystem.write(fd, from, offset, Math.min(length, 7), place),
      };
      equal(promised(await change.run(folder, system)), "new");
      equal(change.judge(folder), "new");
    });

    test(`${change.title}: a write that stores nothing and reports success is detected`, async () => {
      const folder = prepared(change);
      const system = {
        ...nodeSystem,
        write: (_fd: number, _from: Uint8Array, _offset: number, length: number) => length,
      };
      deepEqual(await change.run(folder, system), {
        did: "nothing",
        why: "refused",
        errno: "EIO",
        during: change.title.includes("in place") ? "keeping the old content" : "checking the size of what was written",
      });
      equal(change.judge(folder), "old");
      deepEqual(litter(folder), []);
    });

    test(`${change.title}: other bytes than those written are detected when they are read back`, async () => {
      const folder = prepared(change);
      const system = {
        ...nodeSystem,
        write: (fd: number, from: Uint8Array, offset: number, length: number, place: number) =>
          nodeSystem.write(fd, new Uint8Array(from.length), offset, length, place),
      };
      const outcome = await change.run(folder, system);
      equal(promised(outcome), "old");
      equal(change.judge(folder), "old");
      deepEqual(litter(folder), []);
    });

    test(`${change.title}: the same where reading may hang`, async () => {
      const folder = prepared(change);
      const system: System = {
        ...nodeSystem,
        platform: "darwin",
        writeLater: (fd, from, offset, length, place) =>
          nodeSystem.writeLater(fd, new Uint8Array(from.length), offset, length, place),
      };
      const outcome = await change.run(folder, system);
      equal(promised(outcome), "old");
      equal(change.judge(folder), "old");
      deepEqual(litter(folder), []);
    });

    // What is written in place has no other name before.
    if (!change.title.includes("in place"))
      test(`${change.title}: a name that leads to other content than was written is detected where reading may hang`, async () => {
        const folder = prepared(change);
        const other = at("other");
        fs.writeFileSync(other, "something else\n");
        const system: System = {
          ...nodeSystem,
          platform: "darwin",
          open: (name, flags) => nodeSystem.open(name.includes(".filehand-new-") ? other : name, flags),
        };
        deepEqual(await change.run(folder, system), {
          did: "nothing",
          why: "refused",
          errno: "EIO",
          during: "reading back what was written",
        });
        equal(change.judge(folder), "old");
        deepEqual(litter(folder), []);
      });

    test(`${change.title}: a write that takes nothing is an error, not an endless loop`, async () => {
      const folder = prepared(change);
      const outcome = await change.run(folder, { ...nodeSystem, write: () => 0 });
      equal(promised(outcome), "old");
      equal(change.judge(folder), "old");
      deepEqual(litter(folder), []);
    });
  }
});

const plain = (_key: string, value: unknown): unknown => (typeof value === "bigint" ? String(value) : value);
