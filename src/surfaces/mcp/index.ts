/**
 * Everything of the servers that needs the SDK. It is a bundle of its own, which only `filehand mcp` and `filehand serve` load,
 * and only when they need it. So nothing here may rely on sharing a class with the rest of the program.
 */

export {
  oauthAuthentication,
  openAuthentication,
  storedAuthentication,
  tokenAuthentication,
} from "../http/authentication.ts";
export { createEndpoint } from "../http/endpoint.ts";
export { createHttpServer, localNames } from "../http/http-server.ts";
export { createMetrics, watchCallWith } from "../http/metrics.ts";
export { createFactory } from "./server.ts";
export { connectSdk } from "./stdio-sdk.ts";
