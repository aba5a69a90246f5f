/**
 * Agent frameworks that are too large for everybody's install. `npm test` installs them into `examples/hosts`, and the tests load them
 * from there and name what they use of them. The compiler compares the examples in that folder with the frameworks' own types.
 */

import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { onTestFinished } from "vitest";
import { project } from "../ends/run.ts";

export const hosts = join(project, "examples/hosts");

/** `path` is below node_modules, where the lock file of the folder puts it. */
export const loadHost = async <Module>(path: string): Promise<Module> =>
  (await import(pathToFileURL(join(hosts, "node_modules", path)).href)) as Module; // described where it is loaded

/** Plays the API of a model until the test is over: `answer` gets the body of each request. Returns the address. */
export async function startApi(answer: (body: string, res: ServerResponse, url: string) => void): Promise<string> {
  const take = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    let body = "";
    for await (const chunk of req.setEncoding("utf8")) body += String(chunk);
    answer(body, res, req.url ?? "");
  };
  const server = createServer((req, res) => {
    take(req, res).catch((error: unknown) => res.writeHead(500).end(String(error)));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo; // it listens on a port
  return `http://127.0.0.1:${port}`;
}
