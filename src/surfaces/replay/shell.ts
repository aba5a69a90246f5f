/** Recorded shell commands, classified by their words; no command is ever run. Linear in the length of the command. Pure. */

import * as nodePath from "node:path";
import { cutOutput, simpleCommands } from "../../text/text.ts";
import type { Action, FileFact } from "./conversation.ts";
import { pathIn } from "./places.ts";

/** How a command changes files, and whether a watched workspace could take that back (`session.observe`, `filehand batch --observe`). */
export const shellChangeKinds = {
  remove: "undone",
  move: "undone",
  copy: "undone",
  "make folder or file": "undone",
  "edit in place": "undone",
  redirect: "undone",
  format: "undone",
  git: "undone",
  patch: "undone",
  /** Fills folders that are ignored, such as node_modules: those are not watched. */
  install: "not undone",
} as const;
export type ShellChange = keyof typeof shellChangeKinds;

/** Characters of a command that are looked at; a longer one has a file in a heredoc, which changes nothing of this. */
const commandCharsMax = 100_000;

export function shellChanges(command: string): readonly ShellChange[] {
  const found = new Set<ShellChange>();
  for (const { words, targets } of simpleCommands(command.slice(0, commandCharsMax))) {
    const change = changeOf(words);
    if (change !== undefined) found.add(change);
    if (targets.some(isFileOfProject)) found.add("redirect");
  }
  return [...found];
}

/** Scratch files and devices are nobody's work. */
const isFileOfProject = (path: string): boolean => path !== "" && !/^(?:&|\/dev\/|\/tmp\/|\/var\/tmp\/|\$)/.test(path);

/** Programs that start another one, and their options that take no value. */
const starters = new Set([
  "sudo",
  "env",
  "command",
  "time",
  "nice",
  "nohup",
  "xargs",
  "exec",
  "then",
  "do",
  "else",
  "{",
  "(",
]);

const byName: Readonly<Record<string, ShellChange>> = {
  rm: "remove",
  rmdir: "remove",
  unlink: "remove",
  del: "remove",
  "remove-item": "remove",
  mv: "move",
  rename: "move",
  "move-item": "move",
  cp: "copy",
  rsync: "copy",
  install: "copy",
  "copy-item": "copy",
  mkdir: "make folder or file",
  touch: "make folder or file",
  ln: "make folder or file",
  "new-item": "make folder or file",
  "set-content": "redirect",
  "add-content": "redirect",
  "out-file": "redirect",
  patch: "patch",
  apply_patch: "patch",
  black: "format",
  isort: "format",
  rustfmt: "format",
};

const gitWords = new Set([
  "checkout",
  "restore",
  "reset",
  "stash",
  "clean",
  "apply",
  "am",
  "merge",
  "rebase",
  "pull",
  "cherry-pick",
  "revert",
  "switch",
]);
const installers = new Set([
  "npm",
  "pnpm",
  "yarn",
  "bun",
  "pip",
  "pip3",
  "uv",
  "poetry",
  "gem",
  "bundle",
  "composer",
  "brew",
  "apt",
  "apt-get",
]);
const installWords = new Set(["install", "i", "ci", "add", "remove", "uninstall", "update", "upgrade", "sync"]);
/** Programs that format only where an option says that they write. */
const writesWith: Readonly<Record<string, RegExp>> = {
  prettier: /^(?:--write|-w)$/,
  biome: /^(?:--write|--fix|--apply|--apply-unsafe)$/,
  eslint: /^--fix$/,
  oxlint: /^--fix$/,
  ruff: /^(?:format|--fix)$/,
  gofmt: /^-w$/,
  goimports: /^-w$/,
  cargo: /^(?:fmt|fix)$/,
  go: /^(?:fmt|generate)$/,
  dart: /^(?:format|fix)$/,
  "clang-format": /^-i$/,
};

function changeOf(all: readonly string[]): ShellChange | undefined {
  let at = 0;
  while (at < all.length && (starters.has(all[at] ?? "") || /^\w+=/.test(all[at] ?? ""))) at += 1;
  const [first = "", ...given] = all.slice(at);
  const runs =
    first === "npx" || first === "bunx" || first === "uvx" ? given.filter((word) => !word.startsWith("-")) : undefined;
  const name = nodePath.posix.basename(runs?.[0] ?? first).toLowerCase();
  const args = runs === undefined ? given : given.slice(given.indexOf(runs[0] ?? "") + 1);
  const [word] = args.filter((one) => !one.startsWith("-"));
  if (Object.hasOwn(byName, name)) return byName[name];
  if (name === "git") {
    const doing = args.find((one, index) => !one.startsWith("-") && args[index - 1] !== "-C") ?? "";
    if (doing === "rm") return "remove";
    if (doing === "mv") return "move";
    return gitWords.has(doing) ? "git" : undefined;
  }
  if (name === "sed" || name === "perl" || name === "ruby")
    return args.some((one) => /^-[a-zA-Z]{0,8}i|^--in-place/.test(one)) ? "edit in place" : undefined;
  if (name === "awk" || name === "gawk") return args.includes("inplace") ? "edit in place" : undefined;
  if (name === "tee") return args.some((one) => !one.startsWith("-") && isFileOfProject(one)) ? "redirect" : undefined;
  if (name === "find") return args.includes("-delete") ? "remove" : execOf(args);
  const writes = Object.hasOwn(writesWith, name) ? writesWith[name] : undefined;
  if (writes !== undefined && args.some((one) => writes.test(one))) return "format";
  return installers.has(name) && installWords.has(word ?? "") ? "install" : undefined;
}

function execOf(args: readonly string[]): ShellChange | undefined {
  const at = args.findIndex((one) => one === "-exec" || one === "-execdir");
  return at === -1 ? undefined : changeOf(args.slice(at + 1));
}

/** A patch that a command passes to `apply_patch`, as Codex understands it. */
export function patchInCommand(command: string): string | undefined {
  const head = /^\s{0,99}apply_patch\s{1,9}<<-?\s{0,9}["']?([A-Za-z_]\w{0,99})["']?[ \t]{0,99}\n/.exec(
    command.slice(0, 400),
  );
  if (head === null) return undefined;
  const end = command.lastIndexOf(`\n${head[1]}`);
  return end === -1 ? command.slice(head[0].length) : command.slice(head[0].length, end + 1);
}

/** The read that a command is, if it only prints lines of one file, with the lines as they were printed. */
export function linesRead(
  { command, folder }: Pick<Action & { readonly verb: "shell" }, "command" | "folder">,
  output: string,
): { readonly action: Action; readonly facts: readonly FileFact[] } | undefined {
  if (command.length > 1_000 || cutOutput.test(output)) return undefined;
  const all = simpleCommands(command);
  const [start] = all;
  const into = start?.words[0] === "cd" && start.words.length === 2 ? start.words[1] : undefined;
  const [one, two, ...more] = into === undefined ? all : all.slice(1);
  if (
    one === undefined ||
    more.length > 0 ||
    one.targets.length > 0 ||
    (two !== undefined && (!two.isPiped || two.targets.length > 0))
  )
    return undefined;
  const numbered = one.words[0] === "nl" && one.words[1] === "-ba" ? one.words[2] : undefined;
  const range =
    numbered === undefined
      ? rangeOf(one.words)
      : two === undefined
        ? { path: numbered, from: 1, to: undefined }
        : rangeOf([...two.words, numbered]);
  if (range === undefined || (numbered === undefined && two !== undefined)) return undefined;
  const path = pathIn(into === undefined ? folder : pathIn(folder, into), range.path);
  const shown = output
    .split("\n")
    .map((line) => (numbered === undefined ? line : line.replace(/^ {0,9}\d{1,9}\t/, "")));
  if (shown.at(-1) === "") shown.pop();
  const { from, to } = range;
  const linesMax = to === undefined ? undefined : to - from + 1;
  const isEnd = linesMax === undefined || shown.length < linesMax;
  const text = `${shown.join("\n")}${shown.length > 0 ? "\n" : ""}`;
  const fact: FileFact =
    isEnd && from === 1
      ? { path, at: "before", is: "whole", text }
      : { path, at: "before", is: "lines", from, lines: shown, ...(isEnd ? { linesTotal: from + shown.length } : {}) };
  return {
    action: { verb: "read", path, from: from === 1 ? undefined : from, linesMax },
    facts: shown.length === 0 ? [] : [fact],
  };
}

interface Range {
  readonly path: string;
  readonly from: number;
  readonly to: number | undefined;
}

/** `cat FILE`, `sed -n '10,20p' FILE`, `head -n 20 FILE`. */
function rangeOf(words: readonly string[]): Range | undefined {
  const [name, ...args] = words;
  const path = args.at(-1);
  if (path === undefined || path.startsWith("-") || /[*?$`]/.test(path)) return undefined;
  if (name === "cat") return args.length === 1 ? { path, from: 1, to: undefined } : undefined;
  if (name === "sed" && args[0] === "-n" && args.length === 3) {
    const [, from, to = from] = /^(\d{1,7})(?:,(\d{1,7}))?p$/.exec(args[1] ?? "") ?? [];
    if (from === undefined || Number(from) < 1 || Number(to) < Number(from)) return undefined;
    return { path, from: Number(from), to: Number(to) };
  }
  if (name !== "head") return undefined;
  const [, count] = /^(?:-n )?-?(\d{1,7})$/.exec(args.slice(0, -1).join(" ")) ?? [];
  return count === undefined ? undefined : { path, from: 1, to: Number(count) };
}
