/**
 * The writer of the power-cut test (scripts/test-faults.js). Rewrites eight files in turn for ever, each version with
 * its own hash in it, and says on standard output which version of which file is safe.
 *
 *   node power-cut.mjs <way> <folder> <first version> [how many]
 */

import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { createDisk, type Disk } from "../../src/disk/disk.ts";
import { nodeSystem } from "../../src/disk/system.ts";
import { never, replaceAt } from "./changes.ts";

type Way = (path: string, bytes: Buffer, disk: Disk) => Promise<boolean>;

const byDisk =
  (hardLinks: "separate" | "keep"): Way =>
  async (path, bytes, disk) => {
    const outcome = await replaceAt(disk, path, { pieces: [bytes], hardLinks, signal: never });
    return outcome !== "not looked up" && outcome.did === "replaced";
  };

const ways: Readonly<Record<string, Way>> = {
  replace: byDisk("separate"),
  "in place": byDisk("keep"),
  /** Not a version of a file, but of one beside them: whoever changes a file sweeps its folder. */
  sweep: async (path, _bytes, disk) => {
    fs.writeFileSync(`${path}.other`, "x");
    await replaceAt(disk, `${path}.other`, { pieces: [] });
    return false;
  },
  // Controls: if these lose nothing, the cut was none.
  "plain write": async (path, bytes) => {
    fs.writeFileSync(path, bytes);
    return true;
  },
  "temp and rename": async (path, bytes) => {
    fs.writeFileSync(`${path}.tmp`, bytes);
    fs.renameSync(`${path}.tmp`, path);
    return true;
  },
};

const [, , way = "", folder = "", first = "1", count = "Infinity"] = process.argv;
const write = ways[way];
if (write === undefined) throw new Error(`There is no way "${way}"`);
const disk = createDisk([folder], nodeSystem);
for (let made = 0; made < Number(count); made += 1) {
  const version = Number(first) + made;
  const name = `f${version % 8}`;
  const body = Buffer.alloc(1 + ((version * 7_919) % 60_000), `${version} `);
  const head = Buffer.alloc(64);
  head.write(`${version} ${createHash("sha256").update(body).digest("base64")}`);
  try {
    if (!(await write(`${folder}/${name}`, Buffer.concat([head, body]), disk))) break;
  } catch {
    break; // the disk is gone
  }
  fs.writeSync(1, `${name} ${version}\n`);
}
