/** What is no regular file is refused without being opened; what is huge is paged. Ids: notes/attacks.md, edge-cases.md. */

import { equal, ok } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as net from "node:net";
import { afterAll, beforeAll, describe, test } from "vitest";
import type { Reply } from "../../src/contract/call.ts";
import { everyDialect, readerIn, refused, shows, textOf } from "../support/reading.ts";
import { noFifo, onLinux, onWindows, openDescriptors, workspace } from "../support/workspace.ts";

describe.skipIf(noFifo !== undefined)(`A40 F1 a FIFO${noFifo === undefined ? "" : ` (skipped: ${noFifo})`}`, () => {
  const { path: at } = workspace({
    ...(noFifo === undefined ? { pipe: { fifo: true }, real: { pipe: { fifo: true } } } : {}),
    "to-pipe": { link: "pipe" },
    "to-real": { link: "real" },
    chain: { link: "./to-real/../to-pipe" },
    "pipe.png": { link: "pipe" },
  });
  for (const dialect of everyDialect) {
    for (const asked of ["pipe", "to-pipe", "to-real/pipe", "chain", "pipe.png", "pipe/"]) {
      test(`"${asked}" is refused in ${dialect}`, async () => {
        const read = readerIn(dialect, { roots: [at()] });
        const reply = await read(asked);
        refused(reply, "SPECIAL_FILE");
        ok(textOf(reply).includes("named pipe"), textOf(reply));
      });
    }

    test(`below a FIFO there is nothing in ${dialect}`, async () => {
      const read = readerIn(dialect, { roots: [at()] });
      for (const asked of ["pipe/x", "to-pipe/."]) {
        refused(await read(asked), "NOT_FOUND");
      }
    });
  }

  test("a writer that waits is neither woken nor emptied", async () => {
    const fd = fs.openSync(at("pipe"), fs.constants.O_RDWR | fs.constants.O_NONBLOCK);
    try {
      fs.writeSync(fd, "in the pipe");
      refused(await readerIn("claude", { roots: [at()] })("pipe"), "SPECIAL_FILE", ["in the pipe"]);
      const buffer = Buffer.alloc(64);
      equal(buffer.toString("utf8", 0, fs.readSync(fd, buffer)), "in the pipe");
    } finally {
      fs.closeSync(fd);
    }
  });
});

describe.skipIf(onWindows)("A41 a socket", () => {
  const { path: at } = workspace({ "to-socket": { link: "s" } });
  const server = net.createServer();
  let connections = 0;
  server.on("connection", () => {
    connections += 1;
  });
  beforeAll(() => new Promise<void>((resolve) => void server.listen(at("s"), resolve)));
  afterAll(() => new Promise<void>((resolve) => void server.close(() => resolve())));

  for (const dialect of everyDialect) {
    test(`is refused in ${dialect}`, async () => {
      const read = readerIn(dialect, { roots: [at()] });
      for (const asked of ["s", "to-socket"]) {
        const reply = await read(asked);
        refused(reply, "SPECIAL_FILE");
        ok(textOf(reply).includes("socket"), textOf(reply));
      }
      equal(connections, 0);
    });
  }
});

describe.skipIf(!onLinux)("A41 A42 a device node", () => {
  const { path: at } = workspace({ "to-zero": { link: "zero" }, "to-dev": { link: "/dev/zero" } });
  const missing = makeDevices(at);

  for (const dialect of everyDialect) {
    test.skipIf(missing !== undefined)(
      `inside the root is refused in ${dialect}${missing === undefined ? "" : ` (skipped: ${missing})`}`,
      async () => {
        const read = readerIn(dialect, { roots: [at()] });
        for (const [asked, words] of [
          ["zero", "character device"],
          ["to-zero", "character device"],
          ["full", "character device"],
          ["disk", "block device"],
        ] as const) {
          const reply = await read(asked);
          refused(reply, "SPECIAL_FILE");
          ok(textOf(reply).includes(words), textOf(reply));
        }
      },
    );

    test(`A42 F2 a link to /dev/zero is outside in ${dialect}`, async () => {
      const read = readerIn(dialect, { roots: [at()] });
      refused(await read("to-dev"), "ACCESS_DENIED", ["/dev"]);
    });

    const devices = ["zero", "random", "urandom", "full", "null", "tty", "console", "kmsg"].map(
      (name) => `/dev/${name}`,
    );
    for (const device of devices.filter((name) => fs.existsSync(name))) {
      test(`A42 ${device} is refused in ${dialect}, outside a root and inside`, async () => {
        const outside = readerIn(dialect, { roots: [at()] });
        refused(await outside(device), "ACCESS_DENIED");
        const inside = readerIn(dialect, { roots: ["/"] });
        refused(await inside(device), "SPECIAL_FILE");
      });
    }
  }
});

/** Why there are no device nodes; undefined if they were made. */
function makeDevices(at: (name: string) => string): string | undefined {
  if (process.getuid?.() !== 0) return "only root can make device nodes";
  try {
    execFileSync("mknod", [at("zero"), "c", "1", "5"], { stdio: "ignore" });
    execFileSync("mknod", [at("full"), "c", "1", "7"], { stdio: "ignore" });
    execFileSync("mknod", [at("disk"), "b", "7", "200"], { stdio: "ignore" });
    return undefined;
  } catch {
    return "mknod is not permitted here";
  }
}

describe.skipIf(onWindows)("A42 A76 a huge sparse file", () => {
  const { path: at } = workspace({
    "nothing.log": "",
    "begins.log": Array.from({ length: 3_000 }, (_, line) => `line ${line + 1}\n`).join(""),
    "long.log": "x".repeat(100_000),
  });
  const noSparse = (() => {
    try {
      fs.truncateSync(at("nothing.log"), 5 * 1024 ** 3);
      // These are counted to their end in some dialects, and holes fill the page cache: 5 GiB take ten seconds.
      fs.truncateSync(at("begins.log"), 1024 ** 3);
      fs.truncateSync(at("long.log"), 1024 ** 3);
      const used = fs.statSync(at("begins.log")).blocks * 512;
      return used < 1024 ** 2 ? undefined : "the file system has no holes";
    } catch {
      return "the file system takes no files of 5 GiB";
    }
  })();
  const why = noSparse === undefined ? "" : ` (skipped: ${noSparse})`;

  /** The most memory that was in use meanwhile, above what was before. */
  async function grown(call: () => Promise<unknown>): Promise<number> {
    const before = process.memoryUsage().rss;
    let most = before;
    const timer = setInterval(() => {
      most = Math.max(most, process.memoryUsage().rss);
    }, 20);
    await call();
    clearInterval(timer);
    return Math.max(most, process.memoryUsage().rss) - before;
  }

  for (const dialect of everyDialect) {
    test.skipIf(noSparse !== undefined)(`of nothing is binary at once in ${dialect}${why}`, async () => {
      const read = readerIn(dialect, { roots: [at()] });
      refused(await read("nothing.log"), "BINARY_FILE");
    });

    test.skipIf(noSparse !== undefined)(
      `that begins with text is paged in bounded memory in ${dialect}${why}`,
      async () => {
        const session = readerIn(dialect, { roots: [at()] });
        let reply: Reply | undefined;
        const memory = await grown(async () => {
          reply = await session("begins.log");
        });
        ok(reply !== undefined);
        shows(reply, "line 1\n");
        ok(textOf(reply).length < 2_000_000);
        ok(memory < 256 * 1024 ** 2, `it took ${memory} bytes`);
      },
    );

    test.skipIf(noSparse !== undefined)(`of one line is cut in bounded memory in ${dialect}${why}`, async () => {
      const session = readerIn(dialect, { roots: [at()] });
      let reply: Reply | undefined;
      const memory = await grown(async () => {
        reply = await session("long.log");
      });
      ok(reply !== undefined && !reply.isError);
      ok(textOf(reply).length < 300_000);
      ok(memory < 256 * 1024 ** 2, `it took ${memory} bytes`);
    });
  }
});

/** Runs as someone who may not read everything, which root may. Restores what it changes, also in a failure. */
async function asSomeoneElse<Result>(run: () => Promise<Result>): Promise<Result> {
  if (process.getuid?.() !== 0) return run();
  process.setegid?.(65_534);
  process.seteuid?.(65_534);
  try {
    return await run();
  } finally {
    process.seteuid?.(0);
    process.setegid?.(0);
  }
}

const cannotDrop = ((): string | undefined => {
  if (onWindows) return "modes mean nothing on Windows";
  if (process.getuid?.() !== 0) return undefined;
  const { top } = workspace({});
  fs.chmodSync(top, 0o755);
  try {
    process.seteuid?.(65_534);
    try {
      fs.readdirSync(top);
      return undefined;
    } finally {
      process.seteuid?.(0);
    }
  } catch {
    return "this process cannot become another user, or not get to temporary files then";
  }
})();

describe.skipIf(cannotDrop !== undefined)(
  `A49 what the system forbids${cannotDrop ? ` (skipped: ${cannotDrop})` : ""}`,
  () => {
    const { path: at, top } = workspace({
      "a.txt": "inside a\n",
      "locked.txt": "locked-content\n",
      "to-locked": { link: "locked.txt" },
      shut: { "x.txt": "locked-content\n", sub: { "y.txt": "locked-content\n" } },
      "to-shut": { link: "shut/x.txt" },
      blind: { "x.txt": "inside blind\n" },
    });
    beforeAll(() => {
      fs.chmodSync(top, 0o755);
      fs.chmodSync(at("locked.txt"), 0);
      fs.chmodSync(at("blind"), 0o311);
      fs.chmodSync(at("shut"), 0);
    });
    afterAll(() => {
      fs.chmodSync(at("shut"), 0o755);
      fs.chmodSync(at("blind"), 0o755);
    });

    for (const dialect of everyDialect) {
      test(`is refused in words in ${dialect}, and nothing is changed`, async () => {
        const before = openDescriptors();
        await asSomeoneElse(async () => {
          const read = readerIn(dialect, { roots: [top] });
          shows(await read("a.txt"), "inside a");
          for (const asked of ["locked.txt", "to-locked", "shut/x.txt", "shut/nothing", "shut/sub/y.txt", "to-shut"]) {
            const reply = await read(asked);
            refused(reply, "ACCESS_DENIED", ["locked-content", "EACCES"]);
            ok(textOf(reply).includes("the system does not permit it"), textOf(reply));
          }
          // A folder that may be entered and not listed.
          shows(await read("blind/x.txt"), "inside blind");
          refused(await read("blind/y.txt"), "NOT_FOUND", ["x.txt"]);
          const listed = await read("blind");
          if (dialect === "opencode") refused(listed, "ACCESS_DENIED", ["x.txt"]);
          else refused(listed, "IS_DIRECTORY");
        });
        equal(fs.statSync(at("locked.txt")).mode & 0o777, 0);
        equal(fs.statSync(at("shut")).mode & 0o777, 0);
        equal(openDescriptors(), before);
      });
    }
  },
);

describe.skipIf(noFifo !== undefined)(`P15 the thread pool is blocked${noFifo ? ` (skipped: ${noFifo})` : ""}`, () => {
  const { path: at } = workspace({ "a.txt": "inside a\n", ...(noFifo === undefined ? { pipe: { fifo: true } } : {}) });

  /** Sixteen threads wait in `open` for a writer that comes at the end. */
  async function starved<Result>(run: () => Promise<Result>): Promise<Result> {
    const waiting = Array.from(
      { length: 16 },
      () =>
        new Promise<void>((resolve, reject) => {
          fs.open(at("pipe"), fs.constants.O_RDONLY, (error, fd) => {
            if (error) return reject(error);
            fs.close(fd, () => resolve());
          });
        }),
    );
    const outcome = await run();
    const writer = fs.openSync(at("pipe"), fs.constants.O_RDWR);
    await Promise.all(waiting);
    fs.closeSync(writer);
    return outcome;
  }

  for (const dialect of everyDialect) {
    test(`a local text is read all the same in ${dialect}`, async () => {
      const read = readerIn(dialect, { roots: [at()] });
      shows(await starved(() => read("a.txt")), "inside a");
    });

    // Folders are listed by the pool, also where the file system is local; so is what stands near a missing file.
    test(`a missing file is still reported as missing in ${dialect}`, async () => {
      const read = readerIn(dialect, { roots: [at()] });
      const late = new Promise<"late">((resolve) => void setTimeout(() => resolve("late"), 60_000).unref());
      const reply = await starved(() => Promise.race([read("b.txt"), late]));
      ok(reply !== "late", "no answer within a minute");
    });
  }
});
