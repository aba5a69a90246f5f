/** Permissions in words for people, or as JSON for programs. */

import type { Explanation, ListedRule, Permissions, Verdict } from "../../contract/permission.ts";
import { meanings, reasonText, remedyText, ruleText } from "../../dialects/dialects.ts";
import { escapeName } from "../../text/text.ts";
import type { ExitCode, Given, Host } from "./command.ts";
import { coloured, print, printJson, styled } from "./print.ts";

type Work = (permissions: Permissions, tool: string, paths: readonly string[], given: Given, host: Host) => ExitCode;

const colours = { allow: "green", ask: "yellow", deny: "red" } as const satisfies Record<Verdict, string>;

export const explainPath: Work = (permissions, tool, [path = ""], given, host) => {
  const explanation = permissions.explain(tool, path);
  return given.flag("json") ? printJson(explanation, host) : print(explanationText(explanation, paintFor(host)), host);
};

export const checkPaths: Work = (permissions, tool, paths, given, host) => {
  const explanations = paths.map((path) => permissions.explain(tool, path));
  const allowed = explanations.every(({ verdict }) => verdict === "allow");
  const paint = paintFor(host);
  if (given.flag("quiet")) return allowed ? 0 : 1;
  if (given.flag("json")) {
    const checked = explanations.map(({ path, verdict, by, rule }) => ({ path, verdict, by, rule }));
    printJson({ allowed, paths: checked }, host);
  } else {
    for (const { path, verdict, rule } of explanations) {
      const by = rule === undefined ? "" : `  ${ruleText(rule)}`;
      host.stdout.write(`${paint(verdict, verdict.padEnd(5))}  ${escapeName(path)}${by}\n`);
    }
  }
  return allowed ? 0 : 1;
};

export const listRules: Work = (permissions, _tool, _paths, given, host) => {
  const list = permissions.list();
  const { builtIn, ...written } = list;
  const wantsAll = given.flag("all");
  if (given.flag("json")) return printJson(wantsAll ? list : written, host);
  const paint = paintFor(host);
  const locked = list.locked.length === 0 ? "" : ` (locked: ${list.locked.join(", ")})`;
  const lines = [`Mode: ${list.mode}${locked}`, ...list.roots.map((root) => `Root: ${escapeName(root)}`)];
  const rules: readonly ListedRule[] = wantsAll ? [...list.rules, ...builtIn] : list.rules;
  for (const source of new Set(rules.map((rule) => rule.source))) {
    lines.push("", paint("bold", source));
    for (const rule of rules.filter((one) => one.source === source)) {
      lines.push(`  ${paint(rule.verdict, rule.verdict.padEnd(5))}  ${escapeName(rule.text)}`);
      if (rule.fault !== undefined) lines.push(paint("dim", `         never decides: ${rule.fault}`));
    }
  }
  if (rules.length === 0) lines.push("", "No rules: reading is free, changes are asked about");
  if (!wantsAll) lines.push("", `${builtIn.length} rules are built in, --all shows them`);
  return print(lines.join("\n"), host);
};

type Paint = (as: Verdict | "bold" | "dim", text: string) => string;

function paintFor(host: Host): Paint {
  if (!coloured(host, "stdout")) return (_, text) => text;
  return (as, text) => styled(as === "bold" || as === "dim" ? as : colours[as], text);
}

function explanationText(explanation: Explanation, paint: Paint): string {
  const { tool, path, verdict, names, rule, matched, exists, mode, by, remedy } = explanation;
  const [first = "", real] = names;
  const named = (name: string): string =>
    `${escapeName(name)}${matched === name ? "  (the rule matches this name)" : ""}`;
  const isNew = !exists && by !== "outside" && by !== "path";
  const all: readonly (readonly [string, string | undefined])[] = [
    ["because", reasonText(explanation)],
    ["rule", rule && ruleText(rule)],
    ["path", real === undefined && first !== "" ? escapeName(first) : undefined],
    ["asked", real === undefined ? undefined : named(first)],
    ["really", real === undefined ? undefined : named(real)],
    ["note", isNew ? "there is no such file yet" : undefined],
    ["mode", mode],
    ["to allow", remedy && remedyText(remedy, by)],
  ];
  const rows = all.flatMap(([name, words]) => (words === undefined ? [] : [[name, words] as const]));
  const head = `${escapeName(tool)} "${escapeName(path)}": ${paint(verdict, meanings[verdict])}`;
  const width = Math.max(...rows.map(([name]) => name.length));
  return [head, ...rows.map(([name, words]) => `  ${paint("dim", name.padEnd(width))}  ${words}`)].join("\n");
}
