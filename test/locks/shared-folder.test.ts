/**
 * Real Edits of one file by processes that share its folder and nothing else: private `/dev/shm`, own process ids, and another device
 * number for the folder. No edit that was answered with success may be lost. `npm run test:locks` makes 100,000 of them.
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, test } from "vitest";
import { loadKernelLock } from "../../src/disk/lock/folder-lock.ts";
import { missing, reason } from "../faults/program.ts";
import { workspace } from "../support/workspace.ts";

const times = Number(process.env["FILEHAND_LOCK_TIMES"] ?? "1");
const processes = 4;

/** Counts in a line of its own with Edit, and reads again when the file has changed meanwhile. Prints what was answered with success. */
const program = `
  const [, library, root, line, edits] = process.argv;
  const { createFilehand } = await import(library);
  const session = createFilehand({ roots: [root], ask: "yes", readFirst: false }).session({ dialect: "claude" });
  let made = 0, stale = 0;
  while (made < Number(edits)) {
    const at = (count) => line + ": " + count + " ";
    const reply = await session.call("Edit", { file_path: "a.txt", old_string: at(made), new_string: at(made + 1) });
    if (reply.error === undefined) made += 1;
    else if (reply.error.code === "STALE") stale += 1;
    else throw new Error(line + " after " + made + " edits: " + reply.error.code + ": " + reply.error.message);
  }
  process.stdout.write(JSON.stringify({ made, stale }));
`;

/** Own `/dev/shm`, own process ids; with `bindfs` the folder is another file system with another device number as well. */
const container = `
  mount -t tmpfs none /dev/shm
  mount -t proc proc /proc
  if [ "$1" = bindfs ]; then
    bindfs -o attr_timeout=0,entry_timeout=0,negative_timeout=0 "$2" "$3"
  else
    mount --bind "$2" "$3"
  fi
  shift 3
  exec "$@"
`;

type Mount = "bind" | "bindfs";

const project = fileURLToPath(new URL("../..", import.meta.url));

/** The built library without the packages that are optional. */
function withoutKoffi(): string {
  const { path: at } = workspace({ "package.json": '{"type":"module"}' });
  fs.cpSync(`${project}dist`, at("dist"), { recursive: true });
  return at("dist/index.js");
}

async function countTogether(edits: number, mounts: readonly Mount[], library = `${project}dist/index.js`) {
  const lines = mounts.map((_, index) => `line ${index}`);
  const { path: at } = workspace({ shared: { "a.txt": lines.map((line) => `${line}: 0 \n`).join("") } });
  const startMs = performance.now();
  const ended = mounts.map(async (mount, index) => {
    const place = at(`place-${index}`);
    fs.mkdirSync(place);
    const own = [
      process.execPath,
      "--input-type=module",
      "-e",
      program,
      library,
      place,
      lines[index] ?? "",
      String(edits),
    ];
    const within = ["--mount", "--pid", "--fork", "sh", "-euc", container, "sh", mount, at("shared"), place];
    const child = spawn("unshare", [...within, ...own], { stdio: ["ignore", "pipe", "pipe"] });
    let [out, errors] = ["", ""];
    child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (errors += chunk.toString()));
    const code = await new Promise((resolve) => child.on("close", resolve));
    equal(code, 0, errors);
    return JSON.parse(out) as { readonly made: number; readonly stale: number }; // printed by the program above
  });
  const said = await Promise.all(ended);
  const stale = said.reduce((sum, one) => sum + one.stale, 0);
  const ms = Math.round(performance.now() - startMs);
  process.stderr.write(`${edits * mounts.length} edits through ${mounts.join(", ")}: ${ms} ms, ${stale} STALE\n`);
  const expected = lines.map((line, index) => `${line}: ${said[index]?.made} \n`).join("");
  equal(fs.readFileSync(at("shared", "a.txt"), "utf8"), expected);
  deepEqual(fs.readdirSync(at("shared")), ["a.txt"], "nothing is left in the folder");
}

const all = (mount: Mount): readonly Mount[] => Array.from({ length: processes }, () => mount);
const noSpaces = missing("unshare", "mount");
const noKernel = noSpaces ?? ((await loadKernelLock()) === undefined ? "it needs koffi" : undefined);
const noBindfs = noSpaces ?? missing("bindfs") ?? (fs.existsSync("/dev/fuse") ? undefined : "there is no /dev/fuse");
const minutes = 60_000 * 10 * times;

describe("containers that edit one file", () => {
  test.skipIf(noKernel !== undefined)(
    `lose nothing, by locks of the kernel${reason(noKernel)}`,
    { timeout: minutes },
    async () => {
      await countTogether(500 * times, all("bind"));
    },
  );

  test.skipIf(noSpaces !== undefined)(
    `lose nothing without koffi, by locks beside the file${reason(noSpaces)}`,
    { timeout: minutes },
    async () => {
      await countTogether(250 * times, all("bind"), withoutKoffi());
    },
  );

  test.skipIf(noBindfs !== undefined)(
    `lose nothing where each has another device number for the folder${reason(noBindfs)}`,
    { timeout: minutes },
    async () => {
      await countTogether(250 * times, all("bindfs"));
    },
  );

  test.skipIf(noBindfs !== undefined)(
    `need more than flock there: it is free through the other mount${reason(noBindfs)}`,
    () => {
      const { top } = workspace({ shared: {}, one: {}, other: {} });
      const script = `cd "$1"; bindfs shared one; bindfs shared other; stat -c %d one other; flock one flock -n other echo free`;
      const { stdout, stderr } = spawnSync("unshare", ["-m", "sh", "-euc", script, "sh", top], { encoding: "utf8" });
      const [one, other, free] = stdout.split("\n");
      ok(one !== other && free === "free", stdout + stderr);
    },
  );
});
