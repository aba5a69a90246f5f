/** Recorded shell commands, classified by their words; no command is ever run. Linear in the length of the command. Pure. */

import * as nodePath from "node:path";
import type { Action, FileFact } from "./conversation.ts";

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

/** One command of a line, with the files that its output is redirected to. */
interface SimpleCommand {
  readonly words: readonly string[];
  readonly targets: readonly string[];
  /** Its input is the output of the command before it. */
  readonly isPiped: boolean;
}

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

/** Quotes are taken off, comments and the bodies of heredocs are left out. What a substitution runs counts as a command, too. */
function simpleCommands(text: string): readonly SimpleCommand[] {
  const commands: SimpleCommand[] = [];
  let words: string[] = [];
  let targets: string[] = [];
  let word: string | undefined;
  let isPiped = false;
  let isTarget = false;
  const heredocs: string[] = [];
  const endWord = (): void => {
    if (word === undefined) return;
    if (isTarget) targets.push(word);
    else words.push(word);
    isTarget = false;
    word = undefined;
  };
  const endCommand = (next: "piped" | "alone"): void => {
    endWord();
    if (words.length > 0 || targets.length > 0) commands.push({ words, targets, isPiped });
    [words, targets, isPiped, isTarget] = [[], [], next === "piped", false];
  };
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at] ?? "";
    const next = text[at + 1];
    if (sign === "\\") {
      if (next !== "\n") word = (word ?? "") + (next ?? "");
      at += 1;
    } else if (sign === "'" || sign === '"') {
      const end = closing(text, at, sign);
      word = (word ?? "") + text.slice(at + 1, end);
      at = end;
    } else if (sign === "#" && word === undefined) {
      const end = text.indexOf("\n", at);
      at = end === -1 ? text.length : end - 1;
    } else if (sign === "<" && next === "<" && text[at + 2] !== "<") {
      const [mark = "", name = ""] = /^<<-?\s{0,9}["']?([A-Za-z_]\w{0,99})["']?/.exec(text.slice(at, at + 120)) ?? [];
      if (name !== "") heredocs.push(name);
      endWord();
      at += Math.max(mark.length, 2) - 1;
    } else if (sign === "\n" && heredocs.length > 0) {
      endCommand("alone");
      for (const name of heredocs.splice(0)) at = endOfHeredoc(text, at, name);
      at -= 1;
    } else if (sign === ">") {
      // The number of a descriptor before it is no word.
      if (word !== undefined && /^[12&]$/.test(word)) word = undefined;
      endWord();
      if (next === ">" || next === "|") at += 1;
      isTarget = true;
    } else if (sign === "|" || sign === ";" || sign === "&" || sign === "\n" || sign === "(" || sign === ")") {
      if (sign === "&" && isTarget && word === undefined) {
        word = "&";
        continue;
      }
      if ((sign === "|" || sign === "&") && next === sign) {
        endCommand("alone");
        at += 1;
      } else endCommand(sign === "|" ? "piped" : "alone");
    } else if (sign === " " || sign === "\t" || sign === "\r") endWord();
    else word = (word ?? "") + sign;
  }
  endCommand("alone");
  return commands;
}

/** Where a quotation ends; at the end of the text if it does not. */
function closing(text: string, from: number, quote: string): number {
  for (let at = from + 1; at < text.length; at += 1) {
    if (quote === '"' && text[at] === "\\") at += 1;
    else if (text[at] === quote) return at;
  }
  return text.length;
}

/** The position after the line that ends a heredoc. */
function endOfHeredoc(text: string, from: number, name: string): number {
  for (let start = from + 1; start <= text.length; ) {
    const end = text.indexOf("\n", start);
    const line = text.slice(start, end === -1 ? text.length : end);
    if (line.trim() === name) return end === -1 ? text.length : end;
    if (end === -1) break;
    start = end + 1;
  }
  return text.length;
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

/** What a client puts where it left out a part of the output. */
const cutOutput = /(?:tokens|chars|characters|lines) truncated|output truncated|truncated output/i;

/** The read that a command is, if it only prints lines of one file, with the lines as they were printed. */
export function linesRead(
  command: string,
  output: string,
): { readonly action: Action; readonly facts: readonly FileFact[] } | undefined {
  if (command.length > 1_000 || cutOutput.test(output)) return undefined;
  const all = simpleCommands(command);
  const [start] = all;
  const folder = start?.words[0] === "cd" && start.words.length === 2 ? start.words[1] : undefined;
  const [one, two, ...more] = folder === undefined ? all : all.slice(1);
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
  const path =
    folder === undefined || nodePath.posix.isAbsolute(range.path)
      ? range.path
      : nodePath.posix.join(folder, range.path);
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
