/**
 * All that the command line needs for its servers. It is bundled by itself, with the SDK and what that needs, so that no
 * other command pays for it; so nothing here may rely on sharing a class with the rest of the program.
 */

export { oauthAccess, openAccess, tokenAccess } from "../http/access.ts";
export { createEndpoint } from "../http/endpoint.ts";
export { createFront } from "../http/front.ts";
export { localNames } from "../http/gate.ts";
export { createMetrics } from "../http/metrics.ts";
export { watchCallWith } from "../http/watch-call.ts";
export { createApprovals } from "./approvals.ts";
export { createCursors } from "./cursor.ts";
export { principalOf } from "./desk.ts";
export { logTo } from "./log.ts";
export { createFactory } from "./server.ts";
export { createSessions } from "./sessions.ts";
export { serveOverStdio } from "./stdio.ts";
export { tracing } from "./tracing.ts";
