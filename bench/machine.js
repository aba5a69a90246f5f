/** What every number needs beside it: the command, versions, cores, file system, load. */

import { execFileSync } from "node:child_process";
import { readFileSync, statfsSync } from "node:fs";
import { cpus, loadavg, platform, release, totalmem } from "node:os";
import { folder } from "./corpus.js";
import { buildHash } from "./filehand.js";
import { peerVersions } from "./peers/index.js";

/** The numbers that Linux gives file systems. */
const fileSystems = new Map([
  [0xef53, "ext4"],
  [0x58465342, "xfs"],
  [0x9123683e, "btrfs"],
  [0x01021994, "tmpfs"],
  [0x794c7630, "overlay"],
  [0x2fc12fc1, "zfs"],
  [0x6969, "nfs"],
  [0x01021997, "9p"],
]);

/** @param {{ readonly peers: boolean }} options */
export function describeMachine({ peers }) {
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  const { type } = statfsSync(folder);
  return {
    date: new Date().toISOString(),
    command: ["node", "bench/run.js", ...process.argv.slice(2)].join(" "),
    filehand: `${version} (${commit()})`,
    build: buildHash(),
    node: process.versions.node,
    system: `${platform()} ${release()}`,
    cores: cpus().length,
    processor: cpus()[0]?.model ?? "unknown",
    memoryGb: Math.round(totalmem() / 1e9),
    fileSystem: fileSystems.get(type) ?? `type ${type}`,
    cache: "hot: every file is read once before it is measured",
    loadAtStart: loadavg().map((load) => Number(load.toFixed(2))),
    peers: peers ? peerVersions() : {},
  };
}

function commit() {
  try {
    const git = (/** @type {string[]} */ ...args) =>
      execFileSync("git", args, { cwd: import.meta.dirname, encoding: "utf8", stdio: "pipe" }).trim();
    return `${git("rev-parse", "--short", "HEAD")}${git("status", "--porcelain", "../src") === "" ? "" : ", changed"}`;
  } catch {
    return "no commit known";
  }
}
