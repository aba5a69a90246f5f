/** Help, made from the commands' own tables. */

import type { Command, Options } from "./command.ts";
import { commands } from "./commands/index.ts";
import { commonOptions } from "./parse.ts";

export function helpOfAll(): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  return [
    "Filehand: the file tools that coding agents work with",
    "",
    "Usage: filehand <command> [options]",
    "",
    "Commands:",
    ...commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    "",
    "Options of every command:",
    ...optionLines(commonOptions),
    "",
    "Examples:",
    ...commands.map(({ examples }) => `  ${examples[0] ?? ""}`),
    "",
    "Exit codes: 0 done, 1 the tool said no, 2 wrong usage",
    "More on a command: filehand <command> --help",
  ].join("\n");
}

export function helpOf(command: Command): string {
  const own = optionLines(command.options);
  return [
    command.summary,
    "",
    `Usage: ${["filehand", command.name, ...command.parameters, "[options]"].join(" ")}`,
    ...(command.details === undefined ? [] : ["", command.details]),
    ...(own.length > 0 ? ["", "Options:", ...own] : []),
    "",
    "Options of every command:",
    ...optionLines(commonOptions),
    "",
    "Examples:",
    ...command.examples.map((example) => `  ${example}`),
  ].join("\n");
}

function optionLines(options: Options): readonly string[] {
  const rows = Object.entries(options).map(
    ([name, { value, words, short }]) =>
      [`${short === undefined ? "" : `-${short}, `}--${name}${value === undefined ? "" : ` ${value}`}`, words] as const,
  );
  const width = Math.max(16, ...rows.map(([left]) => left.length));
  return rows.map(([left, words]) => `  ${left.padEnd(width)}  ${words}`);
}
