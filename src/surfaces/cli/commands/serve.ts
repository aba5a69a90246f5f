/** `filehand serve`: the same tools over HTTP, for several clients and several workspaces. */

import type { Command, Options } from "../command.ts";
import { answerBytes, historyTools, languageServers } from "../change-options.ts";
import { runServer } from "../run-server.ts";
import { structuredOption } from "./mcp.ts";

const defaultPort = 3323;
/** What `filehand inspect` takes as well: it is the same server. */
export const serverOptions = {
  port: {
    type: "integer",
    value: "N",
    words: `Port to listen on; 0 takes any that is free (default: ${defaultPort})`,
  },
  host: {
    type: "text",
    value: "ADDRESS",
    empty: "refused",
    words: "Address to listen on (default: 127.0.0.1)",
  },
  "allow-host": { type: "list", value: "NAME", words: "Another name by which clients may address this server" },
  workspace: {
    type: "list",
    value: "NAME=DIR",
    words: "A workspace of its own at /w/NAME/mcp; may be given several times",
  },
  "token-file": {
    type: "text",
    value: "FILE",
    empty: "refused",
    words: "File with the token; it is made if it does not exist",
  },
  "oauth-verifier": {
    type: "text",
    value: "FILE",
    empty: "refused",
    words: "Module that exports verifyAccessToken(token), instead of a token",
  },
  "oauth-issuer": {
    type: "text",
    value: "URL",
    words: "The authorisation server that clients get their tokens from",
  },
  "public-url": { type: "text", value: "URL", words: "The address by which clients know this server, for OAuth" },
  "insecure-no-token": { type: "flag", words: "Let every program on this machine in" },
  "answer-bytes": answerBytes,
  "history-tools": historyTools,
  "language-servers": languageServers,
} as const satisfies Options;

export const serve: Command = {
  name: "serve",
  summary: "Serve the tools to MCP clients over HTTP, on this machine",
  parameters: ["[folder...]"],
  options: {
    ...serverOptions,
    structured: structuredOption,
    "no-inspector": { type: "flag", words: "Without the page on which a person watches and answers" },
  },
  details: [
    "Clients need the token in the header Authorization: Bearer. Without --token-file a new one is shown at each start.",
    "The inspector's address is printed on stdout. Its key works once; a new address is printed after each use.",
    "GET /healthz and /readyz say how it is; /metrics has numbers for Prometheus, with the same token.",
    "It speaks plain HTTP: for other machines put something with TLS before it.",
  ].join("\n"),
  examples: [
    "filehand serve",
    "filehand serve ~/project --token-file ~/.config/filehand-token",
    "filehand serve --workspace web=../web --workspace api=../api --port 8080",
  ],
  run: (given, host) => runServer(given, host, { port: defaultPort, inspector: !given.flag("no-inspector") }),
};
