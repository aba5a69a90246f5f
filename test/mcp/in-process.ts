/** The real factory and the real front door in the test's own process, where a test can hand in what no command line has. */

import { once } from "node:events";
import { writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type Authentication, openAuthentication } from "../../src/surfaces/http/authentication.ts";
import { createEndpoint, type Endpoint, endpointLimits } from "../../src/surfaces/http/endpoint.ts";
import { createHttpServer, type HttpServerOptions, localNames } from "../../src/surfaces/http/http-server.ts";
import { createMetrics } from "../../src/surfaces/http/metrics.ts";
import type { Inspector } from "../../src/surfaces/inspector/index.ts";
import { type Approvals, createApprovals } from "../../src/surfaces/mcp/approvals.ts";
import { createSeals, createSessions, type McpWorkspace } from "../../src/surfaces/mcp/mcp-workspace.ts";
import { createFactory, type Extend } from "../../src/surfaces/mcp/server.ts";
import { createFilehand } from "../../src/filehand.ts";
import { temporaryFolder } from "../ends/run.ts";

export interface InProcess {
  readonly front: ReturnType<typeof createHttpServer>;
  readonly endpoint: Endpoint;
  readonly port: number;
  readonly url: string;
  /** Where `a.txt` is, with one line. */
  readonly folder: string;
}

export async function startInProcess(
  given: {
    readonly extend?: (approvals: Approvals) => Extend;
    readonly watchCall?: McpWorkspace["watchCall"];
    readonly access?: Authentication;
    readonly limits?: HttpServerOptions["limits"] & Partial<typeof endpointLimits>;
    readonly inspector?: Inspector;
  } = {},
): Promise<InProcess> {
  const workspace = temporaryFolder();
  writeFileSync(join(workspace.path, "a.txt"), "one\n");
  const { inspector } = given;
  const beside = inspector === undefined ? undefined : { board: inspector.board, workspace: "filehand" };
  const approvals = createApprovals(beside);
  const filehand = createFilehand({ roots: [workspace.path], ask: approvals.asker });
  const desk: McpWorkspace = {
    name: "filehand",
    version: "0",
    filehand,
    dialect: "claude",
    definitions: filehand.session({ dialect: "claude" }).definitions(),
    toolPrefix: "",
    sessions: createSessions(filehand, "claude"),
    approvals,
    cursors: createSeals(),
    structured: false,
    resultBytesMax: 10_000_000,
    answerBytesMax: undefined,
    startedFor: undefined,
    otherwise: () => "filehand",
    log: () => undefined,
    watchCall: given.watchCall,
    onPartGone: () => undefined,
  };
  const endpoint = createEndpoint(desk, createFactory(desk, given.extend?.(approvals)), {
    ...endpointLimits,
    ...given.limits,
  });
  await inspector?.add(desk);
  const front = createHttpServer({
    endpoints: new Map([["/mcp", endpoint]]),
    access: given.access ?? openAuthentication,
    limits: given.limits ?? {},
    hostNames: localNames,
    metrics: createMetrics(),
    log: () => undefined,
    inspector,
  });
  front.server.listen(0, "127.0.0.1");
  await once(front.server, "listening");
  onTestFinished(async () => {
    await front.close();
    workspace.remove();
  });
  const { port } = front.server.address() as AddressInfo; // it listens on a port
  return { front, endpoint, port, url: `http://127.0.0.1:${port}/mcp`, folder: workspace.path };
}
