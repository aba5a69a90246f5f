/** `filehand call`, `tools`, `stats` and `permissions`. */

import { FilehandError } from "../../../contract/problem.ts";
import type { Filehand } from "../../../options.ts";
import { escapeName } from "../../../text/text.ts";
import { type Command, type ExitCode, type Given, type Host, notEmpty, option, UsageError } from "../command.ts";
import { type Confinable, confinedCommand, masksOf, rightsOfCommand, shellQuoted } from "../confine.ts";
import { jsonValue } from "../input.ts";
import { openSession, startUpkeep } from "../open-session.ts";
import { offeredTools, oneOf, shared } from "../parse.ts";
import { type Exported, exportRules, type ExportTarget, exportTargets, narrowing } from "../permission-export.ts";
import { checkPaths, explainPath, listRules } from "../permission-view.ts";
import { orJsonFailure, print, printJson, printReply } from "../print.ts";

export const call: Command = {
  name: "call",
  summary: "Make one tool call as a model writes it",
  parameters: ["<tool>", "<json>"],
  options: shared(
    "dry-run",
    "no-read-first",
    "line-numbers",
    "answer-bytes",
    "session",
    ...offeredTools,
    "language-servers",
  ),
  details: [
    "The tool's name and parameters are those of the dialect; `filehand tools` lists them.",
    "A call is a session of its own that has read nothing: a change of a file that is there needs --no-read-first.",
  ].join("\n"),
  examples: [
    `filehand call Read '{"file_path": "src/index.ts", "limit": 20}'`,
    `filehand call read '{"filePath": "src"}' --dialect opencode --json`,
    `filehand call Edit '{"file_path": "a.txt", "old_string": "one", "new_string": "two"}' --no-read-first --dry-run`,
  ],
  async run(given, host) {
    const [tool = "", json = ""] = given.parameters;
    const input = jsonValue(json);
    if ("why" in input) throw new UsageError(`Cannot use the input: ${input.why}`);
    const opened = await openSession(given, host, "models", { client: "filehand call" });
    const { session, record } = opened;
    const reply = await session.call(tool, input.value, { signal: host.signal, dryRun: given.flag("dry-run") });
    record();
    await opened.filehand.close();
    const isRead = session.definitions().some(({ name, readOnly }) => name === tool && readOnly);
    if (!reply.isError && !isRead) await startUpkeep(opened, host);
    return printReply(reply, given, host);
  },
};

export const tools: Command = {
  name: "tools",
  summary: "Show the tools of a dialect as a model sees them",
  parameters: [],
  options: shared("line-numbers", ...offeredTools),
  examples: ["filehand tools", "filehand tools --dialect envelope --json"],
  async run(given, host) {
    const { session } = await openSession(given, host, "models");
    const definitions = session.definitions().map(({ name, description, inputSchema, readOnly }) => ({
      name,
      description,
      inputSchema,
      readOnly,
    }));
    if (given.flag("json")) return printJson(definitions, host);
    for (const { name, description, inputSchema } of definitions) {
      const parameters = Object.entries(inputSchema.properties ?? {}).map(([parameter, schema]) => {
        const needed = inputSchema.required?.includes(parameter) ? "" : ", may be left out";
        return `  ${parameter} (${schema.type}${needed}): ${schema.description ?? ""}`;
      });
      print([name, "", ...description.split("\n").map((line) => `  ${line}`), "", ...parameters].join("\n"), host);
    }
    return 0;
  },
};

export const stats: Command = {
  name: "stats",
  summary: "Show how many calls were made and how many tokens they gave and saved",
  parameters: [],
  options: {},
  details: "Tokens are estimates. Saved are those of repeated reads that were answered with a stub.",
  examples: ["filehand stats", "filehand stats --json"],
  async run(given, host) {
    const { usage } = await openSession(given, host, "people");
    const days = new Map<string, { calls: number; failures: number; tokensGiven: number; tokensSaved: number }>();
    for (const one of usage()) {
      const day = String(one.time).slice(0, 10);
      const sum = days.get(day) ?? { calls: 0, failures: 0, tokensGiven: 0, tokensSaved: 0 };
      for (const key of ["calls", "failures", "tokensGiven", "tokensSaved"] as const) sum[key] += one[key];
      days.set(day, sum);
    }
    const rows = [...days].map(([day, sum]) => ({ day, ...sum }));
    if (given.flag("json")) return printJson(rows, host);
    if (rows.length === 0) return print("No calls were made yet", host);
    const cells = [
      ["day", "calls", "failed", "tokens given", "tokens saved"],
      ...rows.map((row) => [row.day, row.calls, row.failures, row.tokensGiven, row.tokensSaved].map(shown)),
    ];
    const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...cells.map((row) => (row[column] ?? "").length)));
    const padded = (cell: string, column: number): string =>
      cell[column === 0 ? "padEnd" : "padStart"](widths[column] ?? 0);
    return print(cells.map((row) => row.map(padded).join("  ")).join("\n"), host);
  },
};

const shown = (value: string | number): string =>
  typeof value === "string" ? value : Math.round(value).toLocaleString("en-US");

const words = { list: listRules, explain: explainPath, check: checkPaths } as const;
const isWord = (text: string | undefined): text is keyof typeof words => Object.hasOwn(words, text ?? "");

export const permissions: Command = {
  name: "permissions",
  summary: "Show the permission rules, which of them decides about a path, and why",
  parameters: ["<list|explain|check|export>", "[tool]", "[path...]"],
  options: {
    all: option.flag("With list: also the rules that are built in"),
    quiet: option.flag("With check: print nothing"),
    for: option.text("PROGRAM", `With export: ${exportTargets.join(", ")}`, notEmpty),
  },
  details: [
    "list: the mode and every rule by its source, with those that are not in force or can never decide.",
    "explain TOOL PATH: which rule decides, who wrote it, the names it was compared with, and what would allow it.",
    "export --for PROGRAM: the deny and ask rules in that program's own form, for its settings; what it cannot express is on stderr.",
    "check TOOL PATH...: exit code 0 if the tool may do it to every path without asking, 1 if not.",
  ].join("\n"),
  examples: [
    "filehand permissions list",
    "filehand permissions explain Edit src/config.ts",
    "filehand permissions check Read .env package.json",
    'filehand permissions explain Read .env --allow "Read(/.env)" --json',
    "filehand permissions export --for claude-code",
  ],
  run: (given, host) =>
    orJsonFailure(given, host, async () => {
      const [word, tool, ...paths] = given.parameters;
      if (word === "export") return exportPermissions(given, host);
      if (!isWord(word))
        throw new UsageError(`There is no "${word}" of permissions, use list, explain, check or export`);
      requireParameters(word, tool, paths);
      const { filehand } = await openSession(given, host, "people", { ruleFaults: "reported by the command" });
      try {
        return words[word](filehand.permissions, tool ?? "", paths, given, host);
      } catch (error) {
        // Exit code 1 would say that it is not allowed.
        if (error instanceof FilehandError && error.code === "UNKNOWN_TOOL") throw new UsageError(error.message);
        throw error;
      }
    }),
};

async function exportPermissions(given: Given, host: Host): Promise<ExitCode> {
  const [, more] = given.parameters;
  if (more !== undefined)
    throw new UsageError(`"${more}" is one argument too many: filehand permissions export --for codex`);
  const target = oneOf("program to export for", given.text("for") ?? "", exportTargets);
  const { filehand, confinable } = await openSession(given, host, "people", { ruleFaults: "reported by the command" });
  const { text, left } = exportOf(target, filehand, confinable, host);
  if (given.flag("json")) return printJson({ for: target, text, left }, host);
  for (const { rule, why } of left) {
    host.stderr.write(`filehand: left out: ${rule.verdict} ${escapeName(rule.text)} (${rule.source}): ${why}\n`);
  }
  return print(text.trimEnd(), host);
}

function exportOf(target: ExportTarget, filehand: Filehand, confinable: Confinable, host: Host): Exported {
  const list = filehand.permissions.list();
  if (target === "bwrap") {
    const command = confinedCommand(confinable, masksOf(filehand, "hidden"), host);
    return { text: command.map(shellQuoted).join(" "), left: [] };
  }
  if (target === "landlock") {
    const why = "Landlock cannot take away a file below a folder that it allows, use bwrap";
    const left = narrowing(list).map((rule) => ({ rule, why }));
    return { text: JSON.stringify(rightsOfCommand(confinable, host), undefined, 2), left };
  }
  return exportRules(list, target);
}

function requireParameters(word: keyof typeof words, tool: string | undefined, paths: readonly string[]): void {
  if (word === "list") {
    if (tool !== undefined) throw new UsageError(`"${tool}" is one argument too many: filehand permissions list`);
    return;
  }
  if (tool === undefined) throw new UsageError(`The tool is missing: filehand permissions ${word} Edit src/config.ts`);
  if (paths.length === 0)
    throw new UsageError(`The path is missing: filehand permissions ${word} ${tool} src/config.ts`);
  if (word === "explain" && paths.length > 1) throw new UsageError("explain takes one path, check takes several");
}
