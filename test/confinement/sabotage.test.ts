/**
 * What the kernel holds when nothing of ours does: a Filehand without a border, a ripgrep that reads /etc/shadow. Each attempt is
 * also made unconfined, where it must succeed; otherwise its failure would prove nothing.
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import * as fs from "node:fs";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { beforeAll, describe, test } from "vitest";
import { canConfine } from "../../src/confinement/confinement.ts";
import { run } from "../ends/run.ts";
import { race } from "../attacks/racer.ts";
import { snapshot } from "../support/snapshot.ts";
import { inMemory, workspace } from "../support/workspace.ts";
import { bundled } from "./bundle.ts";
import type { Task } from "./sabotaged.ts";

const can = await canConfine();
const secret = "outside-content-71ce";
let program = "";
beforeAll(async () => {
  if (can.is === "possible") program = await bundled("sabotaged");
});

interface Result {
  readonly replies: readonly { readonly tool: string; readonly leaked: boolean; readonly isError: boolean }[];
  readonly raced: { readonly escapes: number; readonly shown: number; readonly refused: number };
  readonly searched: string;
  readonly connected: string;
}

async function sabotaged(task: Partial<Task> & Pick<Task, "root">): Promise<Result> {
  const all: Task = { confined: true, writable: true, secret, calls: [], state: `${task.root}/../state`, ...task };
  const { stdout, stderr } = await run(process.execPath, [program, JSON.stringify(all)], { cwd: task.root });
  ok(stdout.startsWith("{"), stderr);
  return JSON.parse(stdout) as Result; // what sabotaged.ts prints
}

const scene = () =>
  workspace(
    {
      ws: {
        "a.txt": "inside\n",
        dir: { "a.txt": "inside\n" },
        "dir-evil": { link: "../out" },
        leaf: { link: "../out/secret.txt" },
        way: { link: "../out" },
        chain: { link: "way" },
        up: { link: ".." },
        top: { link: "/" },
        proc: { link: "/proc/self/root" },
      },
      state: {},
      out: {
        "secret.txt": `${secret}\n`,
        "a.txt": `${secret}\n`,
        ".env": `KEY=${secret}\n`,
        deep: { "b.txt": secret },
      },
    },
    inMemory(),
  );

/** Every spelling of a file outside that was ever tried. */
const spellings = (top: string): readonly string[] => [
  `${top}/out/secret.txt`,
  "../out/secret.txt",
  "dir/../../out/secret.txt",
  "leaf",
  "way/secret.txt",
  "chain/secret.txt",
  "chain/deep/b.txt",
  "up/out/secret.txt",
  `top${top}/out/secret.txt`,
  `proc${top}/out/secret.txt`,
  `/proc/self/root${top}/out/secret.txt`,
  `/proc/self/cwd/../out/secret.txt`,
  `/proc/thread-self/root${top}/out/.env`,
  `${top}/ws/../out/.env`,
];

const callsOn = (path: string) => [
  { tool: "Read", input: { file_path: path } },
  { tool: "Grep", input: { pattern: "outside", path, output_mode: "content" } },
  { tool: "Outline", input: { file_path: path } },
  { tool: "Copy", input: { path, to: "copied.txt" } },
  { tool: "Edit", input: { file_path: path, old_string: "outside", new_string: "changed" } },
  { tool: "Write", input: { file_path: path, content: "changed" } },
  { tool: "Write", input: { file_path: `${path}.new`, content: "made" } },
  { tool: "Move", input: { path, to: "moved.txt" } },
  { tool: "Delete", input: { path } },
];

describe.skipIf(can.is === "off")(`sabotage (skipped where Landlock or koffi is missing: ${can.is})`, () => {
  test("no tool reads or changes a file outside by any spelling; unconfined they do", async () => {
    const [held, open] = [scene(), scene()];
    const before = snapshot(held.path("out"));
    const result = await sabotaged({
      root: held.path("ws"),
      calls: spellings(held.top).flatMap(callsOn),
    });
    deepEqual(
      result.replies.filter(({ leaked }) => leaked),
      [],
    );
    deepEqual(snapshot(held.path("out")), before);
    for (const name of ["copied.txt", "moved.txt"]) {
      const path = held.path("ws", name);
      // A copied symlink is a symlink: it holds no content, and this test, which is not confined, could follow it.
      const isFile = fs.lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;
      ok(!isFile || !fs.readFileSync(path, "utf8").includes(secret), name);
    }
    const control = await sabotaged({
      root: open.path("ws"),
      confined: false,
      calls: spellings(open.top).map((path) => ({ tool: "Read", input: { file_path: path } })),
    });
    const leaked = control.replies.filter((reply) => reply.leaked).length;
    process.stderr.write(
      `sabotage: ${result.replies.length} calls, ${result.replies.filter(({ isError }) => isError).length} refused, 0 leaked; ` +
        `unconfined ${leaked} of ${control.replies.length} reads leak\n`,
    );
    ok(leaked >= 8, `the control leaked only ${leaked} times`);
    const writes = [{ tool: "Write", input: { file_path: "../out/new.txt", content: "made" } }];
    await sabotaged({ root: open.path("ws"), confined: false, calls: writes });
    ok(fs.existsSync(open.path("out/new.txt")), "the control cannot write");
  });

  test("inside everything works, and in read-only mode nothing can be written there either", async () => {
    const { path } = scene();
    const calls = [
      { tool: "Read", input: { file_path: "a.txt" } },
      { tool: "Write", input: { file_path: "b/c/new.txt", content: "made\n" } },
      { tool: "Edit", input: { file_path: "a.txt", old_string: "inside", new_string: "changed" } },
      { tool: "Move", input: { path: "a.txt", to: "dir/moved.txt" } },
    ];
    const failed = (result: Result): readonly string[] =>
      result.replies.flatMap(({ tool, isError }) => (isError ? tool : []));
    const readOnly = await sabotaged({ root: path("ws"), writable: false, calls });
    deepEqual(failed(readOnly), ["Write", "Edit", "Move"]);
    deepEqual(failed(await sabotaged({ root: path("ws"), calls })), []);
    equal(fs.readFileSync(path("ws/dir/moved.txt"), "utf8"), "changed\n");
  });

  test("100,000 reads while a folder is swapped for a link to outside", { timeout: 600_000 }, async () => {
    const { path } = scene();
    const racer = await race(["folder"], path("ws"));
    try {
      const read = { path: "dir/a.txt" };
      const result = await sabotaged({ root: path("ws"), raced: { ...read, times: 100_000 } });
      const control = await sabotaged({ root: path("ws"), confined: false, raced: { ...read, times: 5_000 } });
      process.stderr.write(`raced: ${JSON.stringify(result.raced)}; unconfined ${JSON.stringify(control.raced)}\n`);
      ok(racer.runs(), "the racer died");
      equal(result.raced.escapes, 0);
      ok(result.raced.shown > 1_000 && result.raced.refused > 100, JSON.stringify(result.raced));
      ok(control.raced.escapes > 0, "the control was never caught");
    } finally {
      await racer.stop();
    }
  });

  test("a ripgrep that reads other files, and a connection, are refused", async () => {
    const { path, top } = scene();
    fs.mkdirSync(path("bin"));
    const script = `#!/bin/sh\nif [ "$1" = --version ]; then echo "ripgrep 14.1.0"; exit; fi\ncat /etc/shadow ${top}/out/secret.txt\necho x > ${top}/out/made-by-rg\necho done\n`;
    fs.writeFileSync(path("bin/rg"), script, { mode: 0o755 });
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo; // it listens on a port
    try {
      const common = { root: path("ws"), ripgrep: path("bin"), port };
      const held = await sabotaged(common);
      ok(held.searched.startsWith("done"), held.searched);
      ok(!held.searched.includes(secret));
      ok(held.searched.includes("/etc/shadow: Permission denied"), held.searched);
      ok(!fs.existsSync(path("out/made-by-rg")));
      equal(held.connected, can.is === "possible" && can.abi >= 4 ? "EACCES" : "connected");
      const open = await sabotaged({ ...common, confined: false });
      ok(open.searched.includes(secret));
      equal(open.connected, "connected");
    } finally {
      server.close();
    }
  });
});
