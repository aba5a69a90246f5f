/** `filehand init` without a client: which there are, and which of them seem to be installed. */

import { type Client, clients, scopes } from "./clients.ts";
import type { ExitCode, Given, Host } from "./command.ts";
import { printJson } from "./print.ts";

export async function listClients(given: Given, host: Host): Promise<ExitCode> {
  const { isThere, programOnPath } = await import("../../settings/client-file.ts");
  const where = { path: host.env["PATH"] ?? host.env["Path"], platform: host.platform, notBeneath: [] }; // named, not run
  const signOf = ({ program, folders }: Client): string | undefined =>
    (program === undefined ? undefined : programOnPath(program, where)) ?? folders(host).find(isThere);
  const rows = clients.map((client) => ({ client, sign: signOf(client) }));
  if (given.flag("json")) {
    const told = rows.map(({ client, sign }) => ({
      client: client.id,
      title: client.title,
      installed: sign !== undefined,
      ...(sign === undefined ? {} : { sign }),
      files: Object.fromEntries(scopes.map((scope) => [scope, client.files(scope, host) ?? []])),
    }));
    printJson(told, host);
    return 0;
  }
  const width = Math.max(...clients.map(({ id }) => id.length));
  const titleWidth = Math.max(...clients.map(({ title }) => title.length));
  for (const { client, sign } of rows) {
    const found = sign === undefined ? "not found" : `found: ${sign}`;
    host.stdout.write(`${client.id.padEnd(width)}  ${client.title.padEnd(titleWidth)}  ${found}\n`);
  }
  host.stderr.write("\nfilehand init <client> shows its configuration, with --write it is written\n");
  return 0;
}
