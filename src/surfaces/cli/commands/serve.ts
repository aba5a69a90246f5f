/** `filehand serve` and `inspect`: the same tools over HTTP, and the page on which a person watches them. */

import { spawn } from "node:child_process";
import * as nodePath from "node:path";
import { programOnPath } from "../../../settings/settings.ts";
import { type Command, type Host, notEmpty, option } from "../command.ts";
import { offeredTools, shared } from "../parse.ts";
import { runServer } from "../run-server.ts";

const defaultPort = 3323;
/** Shared with `filehand inspect`, which is the same server. */
const serverOptions = {
  port: option.integer(`Port to listen on; 0 takes any that is free (default: ${defaultPort})`),
  host: option.text("ADDRESS", "Address to listen on (default: 127.0.0.1)", notEmpty),
  "allow-host": option.list("NAME", "Another name by which clients may address this server"),
  workspace: option.list("NAME=DIR", "A workspace of its own at /w/NAME/mcp; may be given several times"),
  "token-file": option.text("FILE", "File with the token; it is made if it does not exist", notEmpty),
  "stored-tokens": option.flag("Admit the tokens that filehand token create made, instead of one token"),
  "oauth-verifier": option.text("FILE", "Module that exports verifyAccessToken(token), instead of a token", notEmpty),
  "oauth-issuer": option.text("URL", "The authorisation server that clients get their tokens from"),
  "public-url": option.text("URL", "The address by which clients know this server, for OAuth"),
  "insecure-no-token": option.flag("Let every program on this machine in"),
  ...shared(
    "line-numbers",
    "answer-bytes",
    "no-change-notices",
    ...offeredTools,
    "tool-prefix",
    "language-servers",
    "observe",
    "state",
    "tenant",
    "audit",
    "audit-key",
  ),
};

export const serve: Command = {
  name: "serve",
  summary: "Serve the tools to MCP clients over HTTP, on this machine",
  parameters: ["[folder...]"],
  options: {
    ...serverOptions,
    ...shared("structured", "no-confine"),
    "no-inspector": option.flag("Without the page on which a person watches and answers"),
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
  run: (given, host) =>
    runServer(given, host, { port: defaultPort, inspector: !given.flag("no-inspector"), confined: true }),
};

export const inspect: Command = {
  name: "inspect",
  summary: "Watch, approve and undo what agents do, on a page in the browser",
  parameters: ["[folder...]"],
  options: {
    ...serverOptions,
    port: option.integer("Port to listen on (default: any that is free)"),
    ...shared("structured"),
    replay: option.text("FILE", "Also show what filehand replay --json wrote into this file", notEmpty),
    "no-open": option.flag("Only print the address; on a terminal the browser is opened otherwise"),
  },
  details: [
    "Agents that run filehand mcp in this folder or below are seen from now on, and so are commands: they find the page by",
    "themselves, if they use the same state folder. It is also a server like filehand serve: clients connect to /mcp, with the",
    "token that is shown. What was changed before is under History. Ctrl-C ends it.",
    "The key in the address works once; a new address is printed after each use.",
  ].join("\n"),
  examples: [
    "filehand inspect",
    "filehand inspect ~/project --port 3323 --no-open",
    "filehand inspect --replay result.json",
  ],
  run: (given, host) =>
    runServer(given, host, {
      port: 0,
      inspector: true,
      confined: false,
      onAddress: (url, roots) => {
        if (host.stdout.isTTY === true && !given.flag("no-open")) openInBrowser(url, host, roots);
      },
    }),
};

// Opens an address in the person's browser, if there is one, without waiting for it.

/** Never runs a program inside one of the roots. No shell reads the address. */
export function openInBrowser(url: string, { platform, env }: Host, roots: readonly string[]): void {
  // Without a screen the program would only print an error.
  const hasScreen = platform === "darwin" || platform === "win32" || Boolean(env["DISPLAY"] ?? env["WAYLAND_DISPLAY"]);
  const [program, ...args] = openerFor(platform, env, roots);
  if (!hasScreen || program === undefined) return; // the address is on the terminal
  const child = spawn(program, [...args, url], { detached: true, stdio: "ignore", windowsHide: true });
  child.on("error", () => undefined);
  child.unref();
}

function openerFor(platform: NodeJS.Platform, env: Host["env"], roots: readonly string[]): readonly string[] {
  if (platform === "darwin") return ["/usr/bin/open"];
  if (platform === "win32") {
    const windows = env["SystemRoot"] ?? "C:\\Windows";
    return [nodePath.win32.join(windows, "System32", "rundll32.exe"), "url.dll,FileProtocolHandler"];
  }
  const program = programOnPath("xdg-open", { path: env["PATH"], platform, notBeneath: roots });
  return program === undefined ? [] : [program];
}
