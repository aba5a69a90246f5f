/** `filehand serve`: the same tools over HTTP, for several clients and several workspaces. */

import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import * as nodePath from "node:path";
import { pathToFileURL } from "node:url";
import { tokenFrom } from "../../../settings/token-file.ts";
import type { Access, TokenVerifier } from "../../http/access.ts";
import { type Command, type Given, type Host, UsageError } from "../command.ts";
import { languageServers } from "../change-options.ts";
import { openDesk } from "../open-desk.ts";
import { version } from "../version.ts";
import { stopOf, structuredOption } from "./mcp.ts";

const defaultPort = 3323;
/** No pipe ends at it here; but a client holds the whole of it in memory. */
const resultBytesMax = 33_554_432;

export const serve: Command = {
  name: "serve",
  summary: "Serve the tools to MCP clients over HTTP, on this machine",
  parameters: ["[folder...]"],
  options: {
    port: {
      type: "integer",
      value: "N",
      words: `Port to listen on; 0 takes any that is free (default: ${defaultPort})`,
    },
    host: { type: "text", value: "ADDRESS", words: "Address to listen on (default: 127.0.0.1)" },
    "language-servers": languageServers,
    "allow-host": { type: "list", value: "NAME", words: "Another name by which clients may address this server" },
    workspace: {
      type: "list",
      value: "NAME=DIR",
      words: "A workspace of its own at /w/NAME/mcp; may be given several times",
    },
    "token-file": { type: "text", value: "FILE", words: "File with the token; it is made if it does not exist" },
    "oauth-verifier": {
      type: "text",
      value: "FILE",
      words: "Module that exports verifyAccessToken(token), instead of a token",
    },
    "oauth-issuer": {
      type: "text",
      value: "URL",
      words: "The authorisation server that clients get their tokens from",
    },
    "public-url": { type: "text", value: "URL", words: "The address by which clients know this server, for OAuth" },
    "insecure-no-token": { type: "flag", words: "Let every program on this machine in" },
    structured: structuredOption,
  },
  details: [
    "Clients need the token in the header Authorization: Bearer. Without --token-file a new one is shown at each start.",
    "GET /healthz and /readyz say how it is; /metrics has numbers for Prometheus, with the same token.",
    "It speaks plain HTTP: for other machines put something with TLS before it.",
  ].join("\n"),
  examples: [
    "filehand serve",
    "filehand serve ~/project --token-file ~/.config/filehand-token",
    "filehand serve --workspace web=~/web --workspace api=~/api --port 8080",
  ],
  async run(given, host) {
    const address = given.text("host") ?? "127.0.0.1";
    const { createEndpoint, createFactory, createFront, createMetrics, localNames, tracing, watchCallWith } =
      await import("../../mcp/index.ts");
    const access = await accessOf(given, host, address);
    const metrics = createMetrics();
    const watchCall = watchCallWith(metrics, await tracing(version));
    const places = placesOf(given, host);
    const desks = new Map<string, Awaited<ReturnType<typeof openDesk>>>();
    for (const { path, name, roots } of places) {
      desks.set(path, await openDesk(given, host, { name, roots, resultBytesMax, watchCall }));
    }
    const [log] = [...desks.values()].map((desk) => desk.log);
    if (log === undefined) throw new Error("there is at least one workspace");
    const front = createFront({
      endpoints: new Map([...desks].map(([path, desk]) => [path, createEndpoint(desk, createFactory(desk))])),
      access,
      hostNames: [...localNames, ...given.list("allow-host").map((name) => name.toLowerCase())],
      metrics,
      log,
    });
    front.server.listen(portOf(given), address);
    await once(front.server, "listening").catch((error: unknown) => {
      const code = (error as NodeJS.ErrnoException).code; // Node's own errors have one
      throw new UsageError(`Cannot listen on ${address}:${portOf(given)}: ${code}, choose another --port or --host`);
    });
    const { port } = front.server.address() as AddressInfo; // it listens on a port, not on a pipe
    for (const [path, { filehand }] of desks) {
      log("info", "listening", {
        url: `http://${address.includes(":") ? `[${address}]` : address}:${port}${path}`,
        roots: filehand.roots,
      });
    }
    const stop = stopOf(host);
    if (!stop.aborted) await once(stop, "abort");
    log("info", "ending");
    await front.close();
    await Promise.all([...desks.values()].map(({ filehand }) => filehand.close()));
    return 0;
  },
};

interface PlaceOf {
  readonly path: string;
  readonly name: string;
  readonly roots: readonly string[];
}

/** The folders are at `/mcp`; if there are only named workspaces, nothing is. */
function placesOf(given: Given, host: Host): readonly PlaceOf[] {
  const named = given.list("workspace").map((text) => {
    const [, name, folder] = /^([A-Za-z0-9][A-Za-z0-9._-]{0,63})=(.+)$/s.exec(text) ?? [];
    if (name === undefined || folder === undefined) {
      throw new UsageError(
        `--workspace must be NAME=DIR with a name of letters, digits, dots and dashes, not "${text}"`,
      );
    }
    return { path: `/w/${name}/mcp`, name, roots: [nodePath.resolve(host.cwd, folder)] };
  });
  if (new Set(named.map(({ name }) => name)).size < named.length)
    throw new UsageError("Two workspaces have the same name");
  const plain = given.parameters.length > 0 || given.list("root").length > 0 || named.length === 0;
  return [...(plain ? [{ path: "/mcp", name: "filehand", roots: given.parameters }] : []), ...named];
}

function portOf(given: Given): number {
  const port = given.integer("port") ?? defaultPort;
  if (port < 0 || port > 65_535) throw new UsageError("--port must be between 0 and 65535");
  return port;
}

async function accessOf(given: Given, host: Host, address: string): Promise<Access> {
  const { oauthAccess, openAccess, tokenAccess } = await import("../../mcp/index.ts");
  const verifier = given.text("oauth-verifier");
  const file = given.text("token-file");
  if (verifier !== undefined) {
    const [issuer, resource] = [given.text("oauth-issuer"), given.text("public-url")];
    if (issuer === undefined || resource === undefined || !URL.canParse(resource) || !URL.canParse(issuer)) {
      throw new UsageError("--oauth-verifier needs --oauth-issuer and --public-url, both URLs");
    }
    return oauthAccess({ verifier: await loadVerifier(nodePath.resolve(host.cwd, verifier)), issuer, resource });
  }
  if (given.flag("insecure-no-token")) {
    if (!["127.0.0.1", "::1", "localhost"].includes(address)) {
      throw new UsageError("--insecure-no-token is for this machine only, leave --host away or use a token");
    }
    return openAccess;
  }
  const make = (): string => randomBytes(32).toString("base64url");
  if (file !== undefined) return tokenAccess(orUsage(() => tokenFrom(nodePath.resolve(host.cwd, file), make)));
  const token = make();
  host.stderr.write(`filehand: the token of this run is ${token}\n`);
  return tokenAccess(token);
}

function orUsage<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

async function loadVerifier(path: string): Promise<TokenVerifier> {
  const module: unknown = await import(pathToFileURL(path).href).catch((error: unknown) => {
    throw new UsageError(`Cannot load "${path}": ${error instanceof Error ? error.message : String(error)}`);
  });
  const { verifyAccessToken } = module as Partial<TokenVerifier>; // looked at in the next line
  if (typeof verifyAccessToken !== "function") throw new UsageError(`"${path}" exports no function verifyAccessToken`);
  return { verifyAccessToken: (token) => verifyAccessToken(token) };
}
