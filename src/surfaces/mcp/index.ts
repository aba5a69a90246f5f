/**
 * All that the command line needs of the SDK for its servers. It is bundled by itself, with the SDK and what that needs, so that
 * no other command pays for it, and `filehand mcp` not before it is needed; so nothing here may rely on sharing a class with
 * the rest of the program.
 */

export { oauthAuthentication, openAuthentication, tokenAuthentication } from "../http/authentication.ts";
export { createEndpoint } from "../http/endpoint.ts";
export { createHttpServer } from "../http/http-server.ts";
export { localNames } from "../http/http-server.ts";
export { createMetrics } from "../http/metrics.ts";
export { watchCallWith } from "../http/metrics.ts";
export { createFactory } from "./server.ts";
export { connectSdk } from "./stdio-sdk.ts";
