/**
 * Processes that share a folder and nothing else: other users, or containers with their own `/dev/shm` and their own numbers of
 * processes. No increment may be lost; a control without locks of the kernel shows that some are without them.
 */

import { equal, ok } from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import * as fs from "node:fs";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, describe, onTestFinished, test } from "vitest";
import { loadKernelLock } from "../../src/disk/lock/folder-lock.ts";
import { missing, reason } from "../faults/program.ts";
import { onWindows, workspace } from "../support/workspace.ts";

const { top, path: at } = workspace({});
const project = fileURLToPath(new URL("../..", import.meta.url));
const children: ChildProcess[] = [];
let program = "";

// Among the packages, so that it finds the optional ones.
beforeAll(async () => {
  const folder = fs.mkdtempSync(`${project}node_modules/.filehand-locks-`);
  program = `${folder}/worker.mjs`;
  const built = await rolldown({
    input: `${project}src/disk/lock/lock.ts`,
    platform: "node",
    transform: { target: "node20" },
    external: ["koffi"],
  });
  await built.write({ file: `${folder}/lock.mjs`, format: "esm", codeSplitting: false });
  await built.close();
  fs.writeFileSync(program, worker);
});
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
  fs.rmSync(program.replace(/worker\.mjs$/, ""), { recursive: true, force: true });
});

/** Counts in a file, as often as it is told: reads, lets others have a turn, writes. Everything is loaded before it changes its user. */
const worker = `
  import * as fs from "node:fs";
  import { createLocks } from "./lock.mjs";
  const [, , folder, lockFolder, times, user, kernel] = process.argv;
  const without = kernel === "" ? {} : { kernel: async () => undefined };
  const locks = createLocks({ folder: lockFolder === "" ? undefined : lockFolder, ...without });
  const { dev: device, ino: inode } = fs.statSync(folder, { bigint: true });
  const path = kernel === "no path" ? undefined : folder;
  const keys = [{ folder: { device, inode, path }, name: "count" }];
  const never = new AbortController().signal;
  if (kernel === "") await import("koffi");
  if (user !== "") {
    process.setgid(Number(user));
    process.setuid(Number(user));
  }
  const file = folder + "/count";
  for (let time = 0; time < Number(times); time += 1) {
    await locks.exclusively(keys, never, async () => {
      const before = Number(fs.readFileSync(file, "utf8"));
      await new Promise((resolve) => setTimeout(resolve, 1));
      fs.writeFileSync(file, String(before + 1));
    });
  }
`;

interface Start {
  readonly lockFolder?: string;
  readonly user?: number;
  /** `without`: locks beside the file are left. `no path`: not even those. */
  readonly kernel?: "without" | "no path";
  /** What comes before the program's own command. */
  readonly within?: readonly string[];
}

async function count(folder: string, times: number, starts: readonly Start[]): Promise<number> {
  fs.mkdirSync(folder);
  fs.writeFileSync(`${folder}/count`, "0");
  fs.chmodSync(folder, 0o777);
  fs.chmodSync(`${folder}/count`, 0o666);
  const ended = starts.map(({ lockFolder = "", user = "", kernel = "", within = [] }) => {
    const own = [process.execPath, program, folder, lockFolder, String(times), String(user), kernel];
    const [command = "", ...args] = [...within, ...own];
    const child = spawn(command, args, { stdio: ["ignore", "inherit", "inherit"] });
    children.push(child);
    return new Promise<number | null>((resolve) => child.on("close", resolve));
  });
  for (const code of await Promise.all(ended)) equal(code, 0);
  equal(fs.readdirSync(folder).join(), "count", "nothing lies about in the folder");
  return Number(fs.readFileSync(`${folder}/count`, "utf8"));
}

const four = Array.from({ length: 4 }, (_, index) => index);
const noKernel = onWindows || (await loadKernelLock()) === undefined;

describe.skipIf(noKernel)("processes that share a folder and no place for lock files (skipped: it needs koffi)", () => {
  test("lose nothing", async () => {
    const starts = four.map((index) => ({ lockFolder: at(`locks-${index}`) }));
    equal(await count(at("shared"), 40, starts), 160);
  });

  test.skipIf(process.platform !== "linux")(
    "lose nothing without locks of the kernel (skipped: only on Linux)",
    async () => {
      const starts = four.map((index) => ({ lockFolder: at(`locks-${index}`), kernel: "without" }) as const);
      equal(await count(at("beside"), 40, starts), 160);
    },
  );

  test("would lose some without both", async () => {
    const starts = four.map((index) => ({ lockFolder: at(`locks-${index}`), kernel: "no path" }) as const);
    ok((await count(at("control"), 40, starts)) < 160);
  });

  test("the lock of a process that is killed is free at once", async () => {
    const folder = at("killed");
    const endless = { lockFolder: at("locks-0") };
    const counting = count(folder, 100_000, [endless]).catch(() => undefined);
    while (!fs.existsSync(`${folder}/count`) || fs.readFileSync(`${folder}/count`, "utf8") === "0") {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    children.at(-1)?.kill("SIGKILL");
    await counting;
    fs.rmSync(folder, { recursive: true });
    equal(await count(folder, 5, [{ lockFolder: at("locks-1") }]), 5);
  });
});

const noSpaces = noKernel ? "it needs koffi" : missing("unshare", "mount");

describe.skipIf(noSpaces !== undefined)(`other users and containers${reason(noSpaces)}`, () => {
  test("four users lose nothing", async () => {
    fs.chmodSync(top, 0o755);
    onTestFinished(() => {
      for (const index of four) {
        fs.rmSync(`/dev/shm/filehand-locks-${20_000 + index}`, { recursive: true, force: true });
      }
    });
    equal(
      await count(
        at("users"),
        40,
        four.map((index) => ({ user: 20_000 + index })),
      ),
      160,
    );
  });

  test("four containers with their own /dev/shm and their own process ids lose nothing", async () => {
    const script = 'mount -t tmpfs none /dev/shm && mount -t proc proc /proc && exec "$@"';
    const within = ["unshare", "--mount", "--pid", "--fork", "sh", "-euc", script, "sh"];
    equal(
      await count(
        at("containers"),
        40,
        four.map(() => ({ within })),
      ),
      160,
    );
  });
});
