/** How a client shall start the server: with npx, or this very program by its whole path. */

import * as nodePath from "node:path";
import { modes } from "../../contract/mode.ts";
import { dialectNames } from "../../dialects/index.ts";
import { nearest } from "../../dialects/nearest.ts";
import { escapeName } from "../../text/escape.ts";
import { createFilehand } from "../../toolkit.ts";
import type { Client, Scope } from "./clients.ts";
import { commonOptions } from "./common-options.ts";
import { type Given, type Host, UsageError } from "./command.ts";
import { rulesOf } from "./open-session.ts";

/** What is given to `init` and belongs to the server. `--yes` does not: it answers the question of this command. */
const passedOn = ["dialect", "mode", "model", "state-dir", "allow", "ask", "deny"] as const;

export function commandFor(client: Client, scope: Scope, given: Given, host: Host): readonly string[] {
  // A slip would be found only when the client starts the server, and few clients show why that failed.
  requireOneOf("dialect", given.text("dialect"), dialectNames);
  requireOneOf("mode", given.text("mode"), modes);
  requireRules(given, host);
  return [
    ...programOf(given, host),
    "mcp",
    ...rootsOf(client, scope, given, host),
    ...passedOn.flatMap(optionOf(given, host)),
  ];
}

function requireOneOf(what: string, given: string | undefined, known: readonly string[]): void {
  if (given === undefined || known.includes(given)) return;
  const near = nearest(given, known);
  const hint = near === undefined ? `use one of ${known.join(", ")}` : `did you mean ${near}`;
  throw new UsageError(`There is no ${what} "${given}", ${hint}`);
}

function requireRules(given: Given, host: Host): void {
  const rules = rulesOf(given);
  if (rules.length === 0) return;
  const { cwd, home } = host;
  const [fault] = createFilehand({
    roots: [cwd],
    rules,
    unclearRules: "report",
    ...(home === undefined ? {} : { home }),
  }).ruleFaults;
  if (fault === undefined) return;
  throw new UsageError(`Cannot use the rule ${escapeName(fault.text)}: ${fault.why}`);
}

function programOf(given: Given, host: Host): readonly string[] {
  if (!given.flag("installed")) return npx(host.platform);
  const { program } = host;
  if (program === undefined) throw new UsageError("--installed needs to know where this program is, leave it out");
  // npx keeps what it fetches in a cache that may be emptied at any time.
  if (program.some((part) => /[\\/]_npx[\\/]/.test(part))) {
    throw new UsageError(
      "--installed needs an installed filehand, this one is npx's own: npm install -g filehand first",
    );
  }
  // Node by its path too: programs with windows do not have the PATH of a shell, where version managers put it.
  return program;
}

/** On Windows npx is a script that only its shell can start. */
const npx = (platform: NodeJS.Platform): readonly string[] =>
  platform === "win32" ? ["cmd", "/c", "npx", "-y", "filehand"] : ["npx", "-y", "filehand"];

/** The folders that are named; else what the client puts in for the open one; else the server asks where it stands. */
function rootsOf(client: Client, scope: Scope, given: Given, host: Host): readonly string[] {
  const named = given.list("root").map((root) => nodePath.resolve(host.cwd, root));
  if (named.length > 0) return named.flatMap((root) => ["--root", root]);
  if (client.openFolder !== undefined) return ["--root", client.openFolder];
  return scope === "user" && client.files("project", host)?.length === 0 ? ["--root", host.cwd] : [];
}

const optionOf =
  (given: Given, host: Host) =>
  (name: (typeof passedOn)[number]): readonly string[] => {
    if (commonOptions[name].type === "list") return given.list(name).flatMap((value) => [`--${name}`, value]);
    const value = given.text(name);
    if (value === undefined) return [];
    return [`--${name}`, name === "state-dir" ? nodePath.resolve(host.cwd, value) : value];
  };
