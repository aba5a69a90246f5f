/** Rights must be lost by every thread, also those that Node started before our first line: on each Node that is supported. */

import { deepEqual, equal, ok } from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, test } from "vitest";
import { canConfine } from "../../src/confinement/confinement.ts";
import { project, run } from "../ends/run.ts";
import { bundled } from "./bundle.ts";
import { workspace } from "../support/workspace.ts";

const can = await canConfine();
/** Installed by `npm run test:runtimes`. */
const others = ["20", "22", "24"].map((major) => ({
  name: `Node ${major}`,
  node: join(project, "test/runtimes/node_modules", `node${major}`, "bin/node"),
}));
const nodes = [{ name: "this Node", node: process.execPath }, ...others];

let program = "";
beforeAll(async () => {
  program = await bundled("threads");
});

interface Tried {
  readonly state: string;
  readonly threads: readonly number[];
  readonly beforehand: Readonly<Record<string, number>>;
  readonly outside: Readonly<Record<string, number>>;
  readonly inside: Readonly<Record<string, number>>;
  readonly privileges: readonly string[];
  readonly pool: readonly string[];
  readonly workers: readonly string[];
  readonly written: string;
}

const accessDenied = -13;

describe.skipIf(can.is === "off")(`confined (skipped where Landlock or koffi is missing: ${can.is})`, () => {
  for (const { name, node } of nodes) {
    test.skipIf(!fs.existsSync(node))(`${name}: no thread reaches a file outside (npm run test:runtimes)`, async () => {
      const { path } = workspace({ ws: { "a.txt": "a\n" }, "secret.txt": "secret\n" });
      const { stdout, stderr } = await run(node, [program, path("ws"), path("secret.txt")], {
        cwd: path("ws"),
      });
      ok(stdout.startsWith("{"), stderr);
      const tried = JSON.parse(stdout) as Tried; // what threads.ts prints
      equal(tried.state, "on");
      // Main, V8's workers, Node's signal thread, libuv's pool of four, two workers.
      ok(tried.threads.length >= 10, `there are ${tried.threads.length} threads`);
      deepEqual(new Set(Object.values(tried.beforehand)), new Set([0]));
      for (const thread of tried.threads) {
        equal(tried.outside[thread], accessDenied, `thread ${thread} outside`);
        equal(tried.inside[thread], 0, `thread ${thread} inside`);
      }
      deepEqual(new Set(tried.privileges), new Set(["1"]));
      deepEqual(new Set(tried.pool), new Set(["EACCES"]));
      deepEqual(tried.workers, ["EACCES", "EACCES"]);
      equal(tried.written, "EACCES");
    });
  }
});
