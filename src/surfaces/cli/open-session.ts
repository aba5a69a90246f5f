/** Settings, environment and options in, a session out: what every command begins with. */

import * as nodePath from "node:path";
import type { RuleText } from "../../contract/rule.ts";
import { type DialectName, dialectNames } from "../../dialects/index.ts";
import { nearest } from "../../dialects/nearest.ts";
import { loadSettings } from "../../settings/settings.ts";
import { createFilehand, type Session } from "../../toolkit.ts";
import { type Given, type Host, UsageError } from "./command.ts";

/** `people`: relative paths start where the person stands, and no reminder is appended. */
export async function openSession(given: Given, host: Host, forWhom: "people" | "models"): Promise<Session> {
  const rootsGiven = given.list("root").map((root) => nodePath.resolve(host.cwd, root));
  const { env, platform, home } = host;
  const { settings, faults } = await loadSettings({
    roots: rootsGiven.length > 0 ? rootsGiven : [host.cwd],
    env,
    platform,
    home,
  });
  for (const fault of faults) host.stderr.write(`filehand: ${fault.file}:${fault.line}: ${fault.message}\n`);

  const fromSettings = settings.roots ?? [];
  const roots = rootsGiven.length > 0 ? rootsGiven : fromSettings.length > 0 ? fromSettings : [host.cwd];
  const model = given.text("model") ?? settings.model;
  const filehand = createFilehand({
    roots,
    dialect: dialectOf(given.text("dialect") ?? settings.dialect),
    rules: [...settings.rules, ...rulesOf(given)],
    reminder: forWhom === "models" && (settings.reminder ?? true),
    ...(forWhom === "people" && holdsFolder(roots, host.cwd) ? { cwd: host.cwd } : {}),
    ...(given.flag("yes") ? { ask: "yes" as const } : {}),
    ...(model === undefined ? {} : { model }),
    ...(settings.restricted === undefined ? {} : { restricted: settings.restricted }),
    ...(settings.secrets === undefined ? {} : { secrets: settings.secrets }),
    ...(settings.pageTokensMax === undefined ? {} : { pageTokensMax: settings.pageTokensMax }),
    ...(home === undefined ? {} : { home }),
    ...lineChars(given),
  });
  for (const fault of filehand.ruleFaults) {
    host.stderr.write(`filehand: the rule ${fault.text} (${fault.source}) is not in force: ${fault.why}\n`);
  }
  return filehand.session();
}

function dialectOf(name: string | undefined): DialectName {
  const known = dialectNames.find((dialect) => dialect === (name ?? "claude"));
  if (known !== undefined) return known;
  const near = nearest(name ?? "", dialectNames);
  const hint = near === undefined ? `use one of ${dialectNames.join(", ")}` : `did you mean ${near}`;
  throw new UsageError(`There is no dialect "${name}", ${hint}`);
}

const rulesOf = (given: Given): readonly RuleText[] =>
  (["allow", "ask", "deny"] as const).flatMap((verdict) =>
    given.list(verdict).map((text) => ({ verdict, text, source: "command line" })),
  );

const holdsFolder = (roots: readonly string[], folder: string): boolean =>
  roots.some((root) => {
    const rest = nodePath.relative(root, folder);
    return rest !== ".." && !rest.startsWith(`..${nodePath.sep}`) && !nodePath.isAbsolute(rest);
  });

function lineChars(given: Given): { readonly lineCharsMax?: number } {
  const chars = given.integer("line-chars");
  if (chars === undefined) return {};
  if (chars < 1) throw new UsageError("--line-chars must be at least 1");
  return { lineCharsMax: chars };
}
