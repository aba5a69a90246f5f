/** `filehand completion`: completion scripts for bash, zsh and fish, and the man page, made of the table of commands. */

import type { Command, Option, Options } from "./command.ts";
import { commonOptions, oneOf } from "./parse.ts";

export const shells = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof shells)[number];

/** Single quotes of a shell; in fish a backslash is special between them as well. */
const quoted = (text: string, shell: Shell): string =>
  shell === "fish" ? `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'` : `'${text.replaceAll("'", "'\\''")}'`;

const takesValue = ({ type }: Option): boolean => type !== "flag";

/** Options whose value is a file or a folder, by the name of the value. */
const namesFile = ({ value }: Option): boolean => value === "FILE" || value === "DIR";

/** `--root`, and `-h` where there is one. */
const spellings = (name: string, { short }: Option): readonly string[] => [
  `--${name}`,
  ...(short === undefined ? [] : [`-${short}`]),
];

export function completionFor(shell: Shell, commands: readonly Command[], common: Options): string {
  switch (shell) {
    case "bash":
      return bash(commands, common);
    case "zsh":
      return zsh(commands, common);
    case "fish":
      return fish(commands, common);
  }
}

function bash(commands: readonly Command[], common: Options): string {
  const words = (options: Options): string =>
    Object.entries(options)
      .flatMap(([name, one]) => spellings(name, one))
      .join(" ");
  const valued = [common, ...commands.map(({ options }) => options)].flatMap((options) =>
    Object.entries(options).flatMap(([name, one]) => (takesValue(one) ? spellings(name, one) : [])),
  );
  return [
    "# bash completion for filehand; use it with: source <(filehand completion bash)",
    "_filehand() {",
    '  local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" command="" skip="" word',
    `  local valued=${quoted(` ${[...new Set(valued)].join(" ")} `, "bash")}`,
    '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do',
    '    if [[ -n $skip ]]; then skip=""; continue; fi',
    '    case "$word" in',
    '      -*) [[ $valued == *" $word "* ]] && skip=1 ;;',
    '      *) command="$word"; break ;;',
    "    esac",
    "  done",
    "  COMPREPLY=()",
    '  if [[ $valued == *" $prev "* && -n $prev ]]; then COMPREPLY=($(compgen -f -- "$cur")); return; fi',
    `  local options=${quoted(words(common), "bash")}`,
    '  case "$command" in',
    `    "") [[ $cur == -* ]] || COMPREPLY=($(compgen -W ${quoted(commands.map(({ name }) => name).join(" "), "bash")} -- "$cur")) ;;`,
    ...commands.map(({ name, options }) => `    ${name}) options="$options "${quoted(words(options), "bash")} ;;`),
    "  esac",
    '  if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W "$options" -- "$cur"))',
    '  elif [[ -n $command ]]; then COMPREPLY=($(compgen -f -- "$cur")); fi',
    "}",
    "complete -o filenames -o bashdefault -F _filehand filehand",
    "",
  ].join("\n");
}

/** Brackets and colons have a meaning in the specifications of `_arguments` and `_describe`. */
const zshWords = (words: string): string => words.replace(/[[\]:\\]/g, "\\$&");

function zsh(commands: readonly Command[], common: Options): string {
  const specs = (options: Options): string =>
    Object.entries(options)
      .flatMap(([name, one]) =>
        spellings(name, one).map((spelling) => {
          const times = one.type === "list" ? "*" : "";
          const value = takesValue(one) ? `:${one.value ?? "VALUE"}:${namesFile(one) ? "_files" : ""}` : "";
          return quoted(`${times}${spelling}[${zshWords(one.words)}]${value}`, "zsh");
        }),
      )
      .join(" ");
  return [
    "#compdef filehand",
    "# zsh completion for filehand; put it into a folder of $fpath as _filehand, or: source <(filehand completion zsh)",
    "_filehand() {",
    "  local -a commands common",
    '  local curcontext="$curcontext" state line',
    `  commands=(${commands.map(({ name, summary }) => quoted(`${name}:${zshWords(summary)}`, "zsh")).join(" ")})`,
    `  common=(${specs(common)})`,
    "  _arguments -C $common '1:command:->command' '*::argument:->arguments'",
    '  case "$state" in',
    "    command) _describe command commands ;;",
    "    arguments)",
    '      case "$line[1]" in',
    ...commands.map(({ name, options }) => `        ${name}) _arguments $common ${specs(options)} '*:file:_files' ;;`),
    "      esac ;;",
    "  esac",
    "}",
    // Sourced, it registers itself; from $fpath it is called.
    'if [[ "$funcstack[1]" == _filehand ]]; then _filehand "$@"; elif (( $+functions[compdef] )); then compdef _filehand filehand; fi',
    "",
  ].join("\n");
}

function fish(commands: readonly Command[], common: Options): string {
  const line = (condition: string, [name, one]: readonly [string, Option]): string =>
    [
      `complete -c filehand -n ${condition} -l ${name}`,
      ...(one.short === undefined ? [] : [`-s ${one.short}`]),
      ...(takesValue(one) ? [namesFile(one) ? "-r" : "-x"] : []),
      `-d ${quoted(one.words, "fish")}`,
    ].join(" ");
  const names = commands.map(({ name }) => name).join(" ");
  return [
    "# fish completion for filehand; use it with: filehand completion fish | source",
    `set -l filehand_commands ${names}`,
    ...commands.map(
      ({ name, summary }) =>
        `complete -c filehand -f -n "not __fish_seen_subcommand_from $filehand_commands" -a ${name} -d ${quoted(summary, "fish")}`,
    ),
    ...Object.entries(common).map((one) => line("true", one)),
    ...commands.flatMap(({ name, options }) =>
      Object.entries(options).map((one) => line(quoted(`__fish_seen_subcommand_from ${name}`, "fish"), one)),
    ),
    "",
  ].join("\n");
}

/** The man page, in man(7). `version`: of the package. */
export function manPage(commands: readonly Command[], common: Options, version: string): string {
  const text = (words: string): string =>
    words
      .replaceAll("\\", "\\e")
      .replaceAll("-", "\\-")
      .replace(/^([.'])/gm, "\\&$1");
  const optionEntries = (options: Options): readonly string[] =>
    Object.entries(options).flatMap(([name, one]) => [
      ".TP",
      `\\fB${spellings(name, one).map(text).join("\\fR, \\fB")}\\fR${one.value === undefined ? "" : ` \\fI${text(one.value)}\\fR`}`,
      text(one.words),
    ]);
  return [
    `.TH FILEHAND 1 "" "filehand ${version}" "User Commands"`,
    ".SH NAME",
    "filehand \\- the file tools that coding agents work with",
    ".SH SYNOPSIS",
    "\\fBfilehand\\fR \\fIcommand\\fR [\\fIoptions\\fR]",
    ".SH OPTIONS OF EVERY COMMAND",
    "They may also stand before the command.",
    ...optionEntries(common),
    ".SH COMMANDS",
    ...commands.flatMap(({ name, summary, parameters, options, details, examples }) => [
      `.SS ${text(["filehand", name, ...parameters].join(" "))}`,
      `${text(summary)}.`,
      ...(details === undefined ? [] : [".PP", text(details)]),
      ...optionEntries(options),
      ".PP",
      examples.length === 1 ? "Example:" : "Examples:",
      ".PP",
      ".nf",
      ...examples.map(text),
      ".fi",
    ]),
    ".SH EXIT STATUS",
    "0 done, 1 the tool refused or failed, 2 wrong usage.",
    ".SH FILES",
    text("~/.config/filehand/filehand.jsonc: the user's settings. filehand.jsonc in a folder: those of a project."),
    "",
  ].join("\n");
}

/** `commands`: the whole table, which this command is a member of. */
export const completionOf = (commands: () => readonly Command[]): Command => ({
  name: "completion",
  summary: "Print a script that completes commands and options in your shell",
  parameters: [`<${shells.join("|")}>`],
  options: {},
  details: [
    "bash: put source <(filehand completion bash) into ~/.bashrc.",
    "zsh: put source <(filehand completion zsh) into ~/.zshrc, after compinit.",
    "fish: filehand completion fish > ~/.config/fish/completions/filehand.fish",
  ].join("\n"),
  examples: ["filehand completion bash", "filehand completion fish > ~/.config/fish/completions/filehand.fish"],
  async run(given, host) {
    const shell = oneOf("shell", given.parameters[0] ?? "", shells);
    host.stdout.write(completionFor(shell, commands(), commonOptions));
    return 0;
  },
});
