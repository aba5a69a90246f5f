/**
 * All that the command line needs of the SDK for its servers. It is bundled by itself, with the SDK and what that needs, so that
 * no other command pays for it, and `filehand mcp` not before it is needed; so nothing here may rely on sharing a class with
 * the rest of the program.
 */

export { oauthAccess, openAccess, tokenAccess } from "../http/access.ts";
export { createEndpoint } from "../http/endpoint.ts";
export { createFront } from "../http/front.ts";
export { localNames } from "../http/front.ts";
export { createMetrics } from "../http/metrics.ts";
export { watchCallWith } from "../http/metrics.ts";
export { createFactory } from "./server.ts";
export { connectSdk } from "./stdio-sdk.ts";
