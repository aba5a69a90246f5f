/**
 * `npm run test:faults`: power cuts. A file system in an image is written to without pause and stopped dead at random
 * moments: the kernel drops everything that was not on the disk. Then it is mounted anew, as after a reboot. No file may
 * be torn, and no version that was said to be safe may be missing. Two controls, which write without care, must fail.
 * Takes minutes; needs root. Arguments: rounds for each way (default 40).
 */

import { execFileSync, spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { build } from "rolldown";

const programs = ["mkfs.ext4", "mount", "umount", "unshare", "truncate"];
const files = ["f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7"];

const koffi = await import("koffi").catch(() => undefined);
const missing = [
  ...(process.platform === "linux" ? [] : ["Linux"]),
  ...(process.getuid?.() === 0 ? [] : ["root"]),
  ...programs.filter((program) => spawnSync("sh", ["-c", `command -v ${program}`]).status !== 0),
  ...(koffi === undefined ? ["the package koffi"] : []),
];
if (koffi === undefined || missing.length > 0) {
  process.stderr.write(`Cannot run the power-cut test: there is no ${missing.join(", no ")}\n`);
  process.exit(2);
}
// In a mount namespace of its own, so that no mount outlives the test.
if (process.env["FILEHAND_FAULTS"] !== "inside") {
  const env = { ...process.env, FILEHAND_FAULTS: "inside" };
  const args = ["-m", process.execPath, ...process.argv.slice(1)];
  process.exit(spawnSync("unshare", args, { stdio: "inherit", env }).status ?? 1);
}

const ioctl = koffi.load(null).func("int ioctl(int fd, unsigned long request, const uint32_t *flags)");
const rounds = Number(process.argv[2] ?? 40);
const place = fs.mkdtempSync(join(tmpdir(), "filehand-faults-"));
// Among the packages, so that the program finds the optional ones.
const program = fs.mkdtempSync("node_modules/.filehand-faults-");
let failed = false;
try {
  await build({
    input: "test/faults/power-cut.ts",
    platform: "node",
    transform: { target: "node20" },
    external: ["koffi"],
    output: { file: `${program}/writer.mjs`, format: "es", codeSplitting: false },
    logLevel: "warn",
  });
  for (const way of ["replace", "in place", "plain write", "temp and rename"]) {
    const { torn, lost, left, safe } = await tryWay(way);
    const isControl = way === "plain write" || way === "temp and rename";
    const right = isControl ? torn + lost > 0 : torn + lost + left === 0 && safe > rounds;
    failed ||= !right;
    process.stdout.write(
      `${right ? "ok  " : "FAIL"} ${way}${isControl ? " (control, must fail)" : ""}: ${rounds} cuts, ` +
        `${safe} versions said to be safe, ${torn} torn, ${lost} lost, ${left} left over\n`,
    );
  }
} finally {
  fs.rmSync(place, { recursive: true, force: true });
  fs.rmSync(program, { recursive: true, force: true });
}
process.exit(failed ? 1 : 0);

/** @param {string} way */
async function tryWay(way) {
  const [image, mounted] = [join(place, "image"), join(place, "mounted")];
  fs.rmSync(image, { force: true });
  fs.mkdirSync(mounted, { recursive: true });
  execFileSync("truncate", ["-s", "128M", image]);
  execFileSync("mkfs.ext4", ["-q", "-F", image]);
  mount(image, mounted);
  const folder = join(mounted, "files");
  fs.mkdirSync(folder);
  for (const name of files) {
    fs.writeFileSync(join(folder, name), contentOf(0));
    // A second name makes "in place" write in place.
    if (way === "in place") fs.linkSync(join(folder, name), join(folder, `${name}.twin`));
  }
  execFileSync("sync", ["-f", folder]);

  /** @type {Map<string, number>} the last version of each file that was said to be safe */
  const known = new Map();
  let [torn, lost, safe] = [0, 0, 0];
  for (let round = 1; round <= rounds; round += 1) {
    const told = await writeUntilCut(way, folder, round * 1_000_000, mounted);
    for (const line of told) {
      const [name = "", version] = line.split(" ");
      known.set(name, Number(version));
      safe += 1;
    }
    execFileSync("umount", [mounted]);
    mount(image, mounted);
    // Whoever comes next to the folder clears up.
    if (way === "replace" || way === "in place") sweep(folder);
    for (const name of files) {
      const version = versionOf(join(folder, name));
      if (version === undefined) torn += 1;
      else if (version < (known.get(name) ?? 0)) lost += 1;
      // A control goes on from what there is, else one loss would be counted again and again.
      known.set(name, version ?? 0);
    }
  }
  const left = fs.readdirSync(folder).filter((name) => name.startsWith(".filehand-")).length;
  execFileSync("umount", [mounted]);
  return { torn, lost, left, safe };
}

/** A mount of an image that was cut replays the journal, as after a reboot. */
function mount(/** @type {string} */ image, /** @type {string} */ mounted) {
  execFileSync("mount", ["-o", "loop", image, mounted]);
}

/**
 * @param {string} way @param {string} folder @param {number} first @param {string} mounted
 * @returns {Promise<readonly string[]>} what was said to be safe
 */
async function writeUntilCut(way, folder, first, mounted) {
  const writer = spawn(process.execPath, [`${program}/writer.mjs`, way, folder, String(first)]);
  let told = "";
  writer.stdout.setEncoding("utf8").on("data", (text) => {
    told += text;
  });
  const ended = new Promise((resolve) => void writer.once("close", resolve));
  await Promise.race([ended, new Promise((resolve) => void writer.stdout.once("data", resolve))]);
  await setTimeout(Math.random() * 300);
  cut(mounted);
  writer.kill("SIGKILL");
  await ended;
  return told.split("\n").slice(0, -1);
}

/** EXT4_IOC_SHUTDOWN without flushing the journal: nothing reaches the disk from here on. */
function cut(/** @type {string} */ mounted) {
  const fd = fs.openSync(mounted, "r");
  try {
    if (ioctl(fd, 0x80_04_58_7d, Uint32Array.of(2)) !== 0) throw new Error("The file system cannot be stopped");
  } finally {
    fs.closeSync(fd);
  }
}

/** Another process that changes another file of the folder. */
function sweep(/** @type {string} */ folder) {
  execFileSync(process.execPath, [`${program}/writer.mjs`, "sweep", folder]);
}

function contentOf(/** @type {number} */ version) {
  const body = Buffer.alloc(1 + ((version * 7_919) % 60_000), `${version} `);
  const head = Buffer.alloc(64);
  head.write(`${version} ${createHash("sha256").update(body).digest("base64")}`);
  return Buffer.concat([head, body]);
}

/** The version of a whole file; undefined if it is torn, empty or gone. */
function versionOf(/** @type {string} */ path) {
  const bytes = fs.existsSync(path) ? fs.readFileSync(path) : Buffer.alloc(0);
  const version = Number.parseInt(bytes.toString("latin1", 0, 16), 10);
  return Number.isNaN(version) || !bytes.equals(contentOf(version)) ? undefined : version;
}
