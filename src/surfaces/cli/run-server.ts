/** The HTTP server of `filehand serve` and `filehand inspect`: MCP for clients, the inspector for people. */

import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, isIPv6 } from "node:net";
import * as nodePath from "node:path";
import { pathToFileURL } from "node:url";
import type { ReplayResult } from "../../contract/replay.ts";
import { tokenFrom } from "../../settings/settings.ts";
import type { Authentication, TokenVerifier } from "../http/authentication.ts";
import type { Inspector } from "../inspector/index.ts";
import { type ExitCode, type Given, type Host, UsageError } from "./command.ts";
import { confineServer } from "./confine.ts";
import { jsonValue, textFrom } from "./input.ts";
import { serverParts } from "./commands/mcp.ts";
import { logTo, tracing } from "../mcp/log.ts";
import { openWorkspace } from "./open-workspace.ts";
import { keepError, version } from "./print.ts";
import { createSharedStates, tokensOf } from "./shared-state.ts";

/** There is no pipe with a limit here, but a client keeps the whole message in memory. */
const resultBytesMax = 33_554_432;

export interface ServerNeeds {
  readonly port: number;
  readonly inspector: boolean;
  /** By default; the settings and an option can turn it off. */
  readonly confined: boolean;
  /** Gets the inspector's first address, and the roots of all workspaces. */
  readonly onAddress?: (url: string, roots: readonly string[]) => void;
}

export async function runServer(given: Given, host: Host, needs: ServerNeeds): Promise<ExitCode> {
  // Before the server is announced, so that stopping it then leaves no files behind.
  const parts = serverParts(host);
  host.outliveReaders?.();
  const address = given.text("host") ?? "127.0.0.1";
  const { createEndpoint, createFactory, createHttpServer, createMetrics, localNames, watchCallWith } = await import(
    "../mcp/index.ts"
  );
  const allowed = given.list("allow-host").map(hostName);
  const { access, token } = await accessOf(given, host, address);
  const metrics = createMetrics();
  const tracer = await tracing(version);
  const watchCall = watchCallWith(metrics, tracer);
  const log = logTo(host.stderr, (stack) => keepError(stack, host));
  const port = portOf(given, needs.port);
  let origin = "";
  const tell = (key: string): string => {
    const url = `${origin}/#key=${key}`;
    host.stdout.write(`The inspector: ${url}\n`);
    return url;
  };
  const inspecting = needs.inspector ? await import("../inspector/index.ts") : undefined;
  const inspector: Inspector | undefined = inspecting?.createInspector({
    version,
    folder: inspecting.builtPage(),
    log,
    replay: inspecting === undefined ? undefined : await replayGiven(given, host, inspecting.isReplayResult),
    onEntered: () => tell(inspector?.newKey() ?? ""),
  });
  const states = createSharedStates(given, host);
  const workspaces = new Map<string, Awaited<ReturnType<typeof openWorkspace>>>();
  for (const { path, name, roots } of placesOf(given, host)) {
    const workspace = await openWorkspace(given, host, {
      name,
      program: "serve",
      states,
      stateName: path === "/mcp" ? undefined : name,
      roots,
      resultBytesMax,
      watchCall,
      board: inspector?.board,
      onPartGone: parts.onPartGone,
    });
    workspaces.set(path, workspace);
    await inspector?.add(workspace);
  }
  const hostNames = [...localNames, ...allowed, bracketed(address).toLowerCase()];
  const front = createHttpServer({
    endpoints: new Map(
      [...workspaces].map(([path, workspace]) => [path, createEndpoint(workspace, createFactory(workspace))]),
    ),
    access,
    hostNames,
    metrics,
    log,
    fault: () => states.fault(),
    inspector,
  });
  front.server.listen(port, address);
  await once(front.server, "listening").catch((error: unknown) => {
    const code = (error as NodeJS.ErrnoException).code; // Node's own errors have one
    const why = listenFaults[code ?? ""] ?? `the system says ${code}, choose another --port or --host`;
    throw new UsageError(`Cannot listen on ${address}:${port}: ${why}`);
  });
  // Only now: a token of a server that does not run is useless.
  if (token !== undefined) host.stderr.write(`filehand: the token of this run is ${token}\n`);
  const { port: actual, address: found } = front.server.address() as AddressInfo; // it listens on a port, not on a pipe
  hostNames.push(bracketed(found)); // an address can be written in several ways: 0 is 0.0.0.0
  for (const [path, { filehand }] of workspaces) {
    log("info", "listening", { url: `http://${bracketed(address)}:${actual}${path}`, roots: filehand.roots });
  }
  if (inspector !== undefined) {
    const [stateDir] = [...workspaces.values()].flatMap((workspace) => workspace.stateDir ?? []);
    if (stateDir !== undefined) await inspector.listenToOthers(stateDir);
    origin = `http://${bracketed(isEverywhere(found) ? "127.0.0.1" : address)}:${actual}`;
    const url = tell(inspector.newKey());
    const roots = [...workspaces.values()].flatMap(({ filehand }) => filehand.roots);
    needs.onAddress?.(url, roots);
  }
  if (needs.confined || given.flag("confine")) {
    // A tracer and a verifier of tokens connect to other machines.
    const network = tracer === undefined && given.text("oauth-verifier") === undefined ? "closed" : "open";
    const all = [...workspaces.values()].map(({ confinable }) => confinable);
    await confineServer(given, host, all, network, log);
  }
  parts.load(log);
  if (!parts.stop.aborted) await once(parts.stop, "abort");
  log("info", "ending");
  await front.close();
  await Promise.all([...workspaces.values()].map((workspace) => workspace.close()));
  await states.close();
  return parts.exitCode();
}

async function replayGiven(
  given: Given,
  host: Host,
  isResult: (value: unknown) => value is ReplayResult,
): Promise<ReplayResult | undefined> {
  const file = given.text("replay");
  if (file === undefined) return undefined;
  const parsed = jsonValue(await textFrom(file, host));
  if ("value" in parsed && isResult(parsed.value)) return parsed.value;
  throw new UsageError(`Cannot show "${file}": it is not what filehand replay --json prints, make it again`);
}

const listenFaults: Readonly<Record<string, string>> = {
  EADDRINUSE: "another program listens there, end it or choose another --port",
  EACCES: "the system does not let you, choose a --port from 1024 on",
  EADDRNOTAVAIL: "this machine has no such address, choose another --host",
  ENOTFOUND: "there is no address of that name, choose another --host",
};

const bracketed = (address: string): string => (address.includes(":") ? `[${address}]` : address);

/** A name as in the header Host; a value that cannot occur there is refused. */
function hostName(text: string): string {
  const name = isIPv6(text) ? `[${text}]` : text;
  if (/^(?:\[[0-9a-f:.]+\]|[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_.])?)$/i.test(name)) return name.toLowerCase();
  throw new UsageError(
    `--allow-host must be a name alone, such as example.com, without http:// and without a port, not "${text}"`,
  );
}

const isEverywhere = (address: string): boolean => address === "0.0.0.0" || address === "::";

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
  const plain = given.parameters.length > 0 || given.list("root").length > 0 || named.length === 0;
  const places = [...(plain ? [{ path: "/mcp", name: "filehand", roots: given.parameters }] : []), ...named];
  if (new Set(places.map(({ name }) => name)).size < places.length) {
    throw new UsageError("Two workspaces have the same name, give each its own (the one at /mcp is called filehand)");
  }
  return places;
}

function portOf(given: Given, usual: number): number {
  const port = given.integer("port") ?? usual;
  if (port < 0 || port > 65_535) throw new UsageError("--port must be between 0 and 65535");
  return port;
}

/** The access check, and the token to print if one was made for this run. */
async function accessOf(
  given: Given,
  host: Host,
  address: string,
): Promise<{ readonly access: Authentication; readonly token?: string }> {
  refuseTwoWays(given);
  const { oauthAuthentication, openAuthentication, storedAuthentication, tokenAuthentication } = await import(
    "../mcp/index.ts"
  );
  const verifier = given.text("oauth-verifier");
  const file = given.text("token-file");
  if (verifier !== undefined) {
    const [issuer, resource] = [given.text("oauth-issuer"), given.text("public-url")];
    if (issuer === undefined || resource === undefined || !URL.canParse(resource) || !URL.canParse(issuer)) {
      throw new UsageError("--oauth-verifier needs --oauth-issuer and --public-url, both URLs");
    }
    const loaded = await loadVerifier(nodePath.resolve(host.cwd, verifier));
    return { access: oauthAuthentication({ verifier: loaded, issuer, resource }) };
  }
  if (given.flag("stored-tokens")) {
    const { tokens } = await tokensOf(given, host);
    return { access: storedAuthentication(tokens) };
  }
  if (given.flag("insecure-no-token")) {
    if (!["127.0.0.1", "::1", "localhost"].includes(address)) {
      throw new UsageError("--insecure-no-token is for this machine only, leave --host away or use a token");
    }
    return { access: openAuthentication };
  }
  const make = (): string => randomBytes(32).toString("base64url");
  if (file !== undefined) {
    try {
      return { access: tokenAuthentication(tokenFrom(nodePath.resolve(host.cwd, file), make)) };
    } catch (error) {
      throw new UsageError(error instanceof Error ? error.message : String(error));
    }
  }
  const token = make();
  return { access: tokenAuthentication(token), token };
}

/** Refuses two options for access, since only one of them could apply. */
function refuseTwoWays(given: Given): void {
  const isGiven = {
    "--insecure-no-token": given.flag("insecure-no-token"),
    "--stored-tokens": given.flag("stored-tokens"),
    "--token-file": given.text("token-file") !== undefined,
    "--oauth-verifier": given.text("oauth-verifier") !== undefined,
  };
  const ways = Object.entries(isGiven).flatMap(([name, is]) => (is ? [name] : []));
  if (ways.length > 1) throw new UsageError(`${ways.join(" and ")} cannot both be meant, leave one of them out`);
  if (isGiven["--oauth-verifier"]) return;
  for (const name of ["oauth-issuer", "public-url"]) {
    if (given.text(name) !== undefined) throw new UsageError(`--${name} is of use only with --oauth-verifier`);
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
